"""Which site, origin and domain a URL belongs to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.model.site import host_of, key64, origin_of, registrable_domain, site_of
from gossamer.model.url import Canonicalizer

canonical = Canonicalizer()


@pytest.mark.parametrize(
    ("url", "site", "host", "origin"),
    [
        ("http://a.org/", "a.org", "a.org", "http://a.org"),
        ("https://a.org/x//y?u=http://b.org/", "a.org", "a.org", "https://a.org"),
        ("http://a.org:8080/x", "a.org:8080", "a.org", "http://a.org:8080"),
        ("http://[::1]/", "[::1]", "[::1]", "http://[::1]"),
        ("http://[::1]:81/", "[::1]:81", "[::1]", "http://[::1]:81"),
        ("http://a.org", "a.org", "a.org", "http://a.org"),
    ],
)
def test_site_host_and_origin(url: str, site: str, host: str, origin: str) -> None:
    assert (site_of(url), host_of(site_of(url)), origin_of(url)) == (site, host, origin)


def test_both_schemes_are_one_site_but_two_origins() -> None:
    assert site_of("http://a.org/") == site_of("https://a.org/")
    assert origin_of("http://a.org/") != origin_of("https://a.org/")


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("a.org", "a.org"),
        ("www.a.org", "a.org"),
        ("news.bbc.co.uk", "bbc.co.uk"),
        ("co.uk", "co.uk"),
        ("org", "org"),
        ("localhost", "localhost"),
        ("x.github.io", "x.github.io"),
        ("www.xn--e1afmkfd.xn--p1ai", "xn--e1afmkfd.xn--p1ai"),
        ("10.1.2.3", "10.1.2.3"),
        ("[2001:db8::1]", "[2001:db8::1]"),
    ],
)
def test_registrable_domain(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain


@given(st.text(max_size=40).map(lambda text: canonical.parse(f"http://{text}/")))
def test_every_canonical_host_has_a_domain_it_ends_with(url: object) -> None:
    if isinstance(url, str):
        host = host_of(site_of(url))
        domain = registrable_domain(host)
        assert host == domain or host.endswith("." + domain)
        assert registrable_domain(domain) == domain


@given(st.text())
def test_key64_fits_a_signed_column(text: str) -> None:
    assert -(1 << 63) <= key64(text) < 1 << 63


def test_key64_is_pinned_because_databases_hold_it() -> None:
    assert key64("") == 3244421341483603138
    assert key64("http://a.org/") == -3997783274152395041
    assert key64("\ud800") != key64("?")


def test_key64_tells_urls_apart() -> None:
    assert len({key64(f"http://a.org/{n}") for n in range(10_000)}) == 10_000

"""What "the same page" means, as promises about the canonical form."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.model.decision import Decision
from gossamer.model.url import Canonicalizer, CanonicalRules, parse_base, resolve_base

canonical = Canonicalizer()

HOSTS = st.sampled_from(
    ["a.org", "A.ORG.", "a..", "1..", "x.1..", "[::1]", "0x7f.1", "пример.рф", "u:p@a.org", "a%2eb"]
)
PIECES = st.sampled_from(
    ["a", "..", ".", "%2e", "%2%65", "%%32%65", "%7e", "%e4", ";sid=1", ";JSESSIONID=x", "(S(q))", "/",
     "//", "я", " ", "\t", "\\", "?", "#", "&", "=", "utm_source=1", "utm%5fx=2", "b=2", "PHPSESSID=9",
     "%", "%2", ":", "@"]
)  # fmt: skip
URLISH = st.builds(
    lambda scheme, host, pieces: f"{scheme}://{host}/{''.join(pieces)}",
    st.sampled_from(["http", "HTTPS", "http"]),
    HOSTS,
    st.lists(PIECES, max_size=12),
)


def parsed(text: str) -> str:
    result = canonical.parse(text)
    assert isinstance(result, str), result
    return result


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HTTP://Example.ORG", "http://example.org/"),
        ("http://example.org:80/", "http://example.org/"),
        ("https://example.org:443/", "https://example.org/"),
        ("http://example.org:8080/", "http://example.org:8080/"),
        ("http://example.org./a", "http://example.org/a"),
        ("http://пример.рф/", "http://xn--e1afmkfd.xn--p1ai/"),
        ("http://a.org/a/./b/../c", "http://a.org/a/c"),
        ("http://a.org/a/%2E%2e/c", "http://a.org/c"),
        ("http:\\\\a.org\\b", "http://a.org/b"),
        ("  http://a.org/x \n", "http://a.org/x"),
        ("http://a.org/a\tb\nc", "http://a.org/abc"),
        ("http://a.org/a b", "http://a.org/a%20b"),
        ("http://a.org/я?я", "http://a.org/%D1%8F?%D1%8F"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://[0:0::1]:80/", "http://[::1]/"),
        ("http://a.org/#top", "http://a.org/"),
        ("http://a.org/?", "http://a.org/"),
        ("http://user:secret@a.org/x", "http://a.org/x"),
        ("http://a.org/%7euser/%e4", "http://a.org/~user/%E4"),
        ("http://a.org/a%2fb", "http://a.org/a%2Fb"),
        ("http://a.org/100%", "http://a.org/100%"),
    ],
)
def test_writes_one_url_one_way(text: str, expected: str) -> None:
    assert parsed(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://a.org/?utm_source=x&id=1&UTM_Medium=y", "http://a.org/?id=1"),
        ("http://a.org/?utm%5Fsource=x&id=1", "http://a.org/?id=1"),
        ("http://a.org/?fbclid=1", "http://a.org/"),
        ("http://a.org/?PHPSESSID=1&b=2&a=1", "http://a.org/?b=2&a=1"),
        ("http://a.org/?ASPSESSIONIDABC=1", "http://a.org/"),
        ("http://a.org/?a=1&&b=2&", "http://a.org/?a=1&b=2"),
        ("http://a.org/?my_utm_source=x", "http://a.org/?my_utm_source=x"),
        ("http://a.org/x;jsessionid=A1.node?y=1", "http://a.org/x?y=1"),
        ("http://a.org/x;jsessi%6Fnid=A1", "http://a.org/x"),
        ("http://a.org/x;v=1", "http://a.org/x;v=1"),
        ("http://a.org/(S(abc123))/x", "http://a.org/x"),
        ("http://a.org/(S(abc123))", "http://a.org/"),
        ("http://a.org/wiki/Rome_(S(x))", "http://a.org/wiki/Rome_(S(x))"),
    ],
)
def test_drops_what_tracks_visitors_and_nothing_else(text: str, expected: str) -> None:
    assert parsed(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://a.org/x/..;sid=1/y", "http://a.org/y"),
        ("http://a.org/.;sid=1", "http://a.org/"),
        ("http://1../", "http://0.0.0.1/"),
        ("http://a.org/%2%65%2%65", "http://a.org/%2%65%2%65"),
        ("http://a.org/%%32%65", "http://a.org/%%32e"),
    ],
)
def test_cutting_and_decoding_leaves_nothing_to_cut_or_decode(text: str, expected: str) -> None:
    assert parsed(text) == expected == parsed(expected)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "url.syntax"),
        ("/relative", "url.syntax"),
        ("//host/only", "url.syntax"),
        ("http://", "url.syntax"),
        ("http://a.org:99999/", "url.syntax"),
        ("http://a b.org/", "url.syntax"),
        ("http://x.1../", "url.syntax"),
        ("http://a.org/\ud800", "url.syntax"),
        ("http://./", "url.host"),
        ("mailto:a@b.org", "url.scheme"),
        ("javascript:void(0)", "url.scheme"),
        ("ftp://a.org/", "url.scheme"),
        ("data:text/html,x", "url.scheme"),
    ],
)
def test_garbage_is_refused_by_name_with_a_reason(text: str, rule: str) -> None:
    result = canonical.parse(text)
    assert isinstance(result, Decision)
    assert (result.allowed, result.rule) == (False, rule)
    assert result.reason
    assert "\n" not in result.reason


@given(st.one_of(URLISH, st.text(), st.text().map("http://a.org/".__add__), st.text().map("http://".__add__)))
@example("http://foo.1../")
@example("http://a/%2e%2E;sid=1/b")
def test_canonical_form_is_a_fixed_point_and_nothing_raises(text: str) -> None:
    once = canonical.parse(text)
    if isinstance(once, str):
        assert canonical.parse(once) == once
    else:
        assert not once.allowed


@given(URLISH, st.one_of(st.text(), st.lists(PIECES, max_size=8).map("".join)))
def test_resolving_any_reference_gives_a_canonical_url_or_a_reason(base: str, reference: str) -> None:
    start = canonical.parse(base)
    if isinstance(start, Decision):
        return
    found = canonical.resolve(parse_base(start), reference)
    if isinstance(found, str):
        assert canonical.parse(found) == found
        assert "#" not in found
    else:
        assert not found.allowed


@given(URLISH)
def test_canonical_urls_hold_no_fragment_credentials_or_white_space(text: str) -> None:
    result = canonical.parse(text)
    if isinstance(result, str):
        assert result.startswith(("http://", "https://"))
        assert result.isascii()
        assert not any(char.isspace() for char in result)
        assert "#" not in result
        assert "@" not in result.split("/")[2]


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("c", "http://a.org/x/c"),
        ("/c", "http://a.org/c"),
        ("../c", "http://a.org/c"),
        ("?q=1", "http://a.org/x/y?q=1"),
        ("#f", "http://a.org/x/y"),
        ("", "http://a.org/x/y"),
        ("//b.org", "http://b.org/"),
        ("///b.org/c", "http://b.org/c"),
        (" ////b.org", "http://b.org/"),
        ("\\\\\\b.org", "http://b.org/"),
        ("https:c", "https://c/"),
    ],
)
def test_resolves_as_browsers_do(reference: str, expected: str) -> None:
    assert canonical.resolve(parse_base("http://a.org/x/y"), reference) == expected


def test_rules_are_the_settings_choice() -> None:
    mine = Canonicalizer(CanonicalRules(tracking=("from", "ref_*"), sessions=()))
    assert mine.parse("http://a.org/?from=x&ref_id=1&utm_source=k") == "http://a.org/?utm_source=k"
    none = Canonicalizer(CanonicalRules(tracking=(), sessions=()))
    assert none.parse("http://a.org/?utm_source=k&PHPSESSID=1") == "http://a.org/?utm_source=k&PHPSESSID=1"


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        (None, "http://a.org/x/c"),
        ("", "http://a.org/x/c"),
        ("/base/", "http://a.org/base/c"),
        ("https://b.org/z/", "https://b.org/z/c"),
        ("javascript:1", "http://a.org/x/c"),
        ("http://[bad", "http://a.org/x/c"),
        ("\ud800", "http://a.org/x/c"),
    ],
)
def test_base_href_counts_only_where_it_is_usable(href: str | None, expected: str) -> None:
    assert canonical.resolve(resolve_base("http://a.org/x/y", href), "c") == expected

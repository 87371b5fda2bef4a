"""Which hosts belong to the crawl, in each of the three modes."""

from __future__ import annotations

import pytest

from gossamer.errors import UsageError
from gossamer.scope import HostScope, Mode


def inside(scope: HostScope, url: str) -> bool:
    first, again = scope.decide(url, 0.0), scope.decide(url, 0.0)
    assert first == again
    assert first.rule == scope.name
    assert first.reason
    return first.allowed


@pytest.mark.parametrize(
    ("mode", "entries", "url", "expected"),
    [
        ("host", ["a.org"], "http://a.org/x", True),
        ("host", ["a.org"], "https://a.org/x", True),
        ("host", ["https://A.org/some/page?q"], "http://a.org/", True),
        ("host", ["a.org"], "http://www.a.org/", False),
        ("host", ["www.a.org"], "http://a.org/", False),
        ("host", ["a.org"], "http://a.org:8080/", False),
        ("host", ["a.org:8080"], "http://a.org:8080/", True),
        ("host", ["пример.рф"], "http://xn--e1afmkfd.xn--p1ai/", True),
        ("host", ["[::1]:81"], "http://[::1]:81/", True),
        ("host", ["a.org"], "http://a.org.evil.com/", False),
        ("host", ["a.org"], "http://b.org/?u=http://a.org/", False),
        ("host", [], "http://a.org/", False),
        ("domain", ["www.bbc.co.uk"], "http://news.bbc.co.uk/", True),
        ("domain", ["www.bbc.co.uk"], "http://bbc.co.uk:8080/", True),
        ("domain", ["www.bbc.co.uk"], "http://itv.co.uk/", False),
        ("domain", ["a.org"], "http://nota.org/", False),
        ("domain", ["github.io"], "http://someone.github.io/", False),
        ("domain", ["10.1.2.3"], "http://10.1.2.3/", True),
        ("domain", ["10.1.2.3"], "http://9.1.2.3/", False),
        ("domain", ["[::1]"], "http://[::1]/", True),
        ("list", ["a.org"], "http://a.org/", True),
        ("list", ["a.org"], "http://a.org:8080/", True),
        ("list", ["a.org:81"], "http://a.org/", False),
        ("list", ["a.org"], "http://www.a.org/", False),
        ("list", ["*.a.org"], "http://www.a.org/", True),
        ("list", ["*.a.org"], "http://x.y.a.org:81/", True),
        ("list", ["*.a.org:81"], "http://x.a.org:81/", True),
        ("list", ["*.a.org:81"], "http://x.a.org/", False),
        ("list", ["*.a.org"], "http://a.org/", False),
        ("list", ["*.a.org"], "http://evila.org/", False),
        ("list", ["*.рф"], "http://xn--e1afmkfd.xn--p1ai/", True),
        ("list", ["*"], "http://anything.example/", True),
        ("list", ["127.0.0.1"], "http://127.0.0.1:5000/", True),
    ],
)
def test_modes(mode: Mode, entries: list[str], url: str, expected: bool) -> None:
    assert inside(HostScope(mode, entries), url) is expected


def test_a_refusal_names_the_mode_and_the_site() -> None:
    verdict = HostScope("domain", ["a.org"]).decide("http://b.org:81/", 0.0)
    assert verdict.rule == "scope.domain"
    assert verdict.reason == "b.org:81 is not the domain of this crawl, a.org"


def test_seeds_that_come_later_make_a_wider_scope_and_leave_the_old_one() -> None:
    old = HostScope("host", ["a.org"])
    assert not inside(old, "http://b.org/")
    new = old.with_hosts(["http://b.org/start"])
    assert inside(new, "http://b.org/")
    assert inside(new, "http://a.org/")
    assert not inside(old, "http://b.org/")
    assert new.with_hosts(["a.org", "b.org"]) is new


@pytest.mark.parametrize(
    ("mode", "entry"),
    [
        ("host", ""),
        ("host", "a b"),
        ("host", "*.a.org"),
        ("host", "ftp://a.org/"),
        ("domain", "*.a.org"),
        ("list", "*a.org"),
        ("list", "a.*.org"),
        ("list", "*."),
    ],
)
def test_wrong_entries_are_told_in_one_line(mode: Mode, entry: str) -> None:
    with pytest.raises(UsageError) as caught:
        HostScope(mode, [entry])
    assert "\n" not in str(caught.value)


def test_an_unknown_mode_is_told() -> None:
    with pytest.raises(UsageError, match="host, domain or list"):
        HostScope("planet", [])


def test_memory_of_sites_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.scope.hosts.REMEMBERED_SITES", 10)
    scope = HostScope("host", ["a.org"])
    for number in range(100):
        assert not inside(scope, f"http://h{number}.org/")
    assert len(scope._seen) <= 10
    assert inside(scope, "http://a.org/")

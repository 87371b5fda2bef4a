"""The first filter that matches decides; what each pattern is compared with."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import UsageError
from gossamer.scope import DEFAULT_DENY_SUFFIXES, FilterRule, Filters
from gossamer.scope.filters import Kind, deny_suffixes


def says(rules: list[FilterRule], url: str) -> bool | None:
    verdict = Filters(rules).decide(url, 0.0)
    return None if verdict is None else verdict.allowed


@pytest.mark.parametrize(
    ("kind", "pattern", "url", "matches"),
    [
        ("prefix", "https://a.org/x", "https://a.org/xy", True),
        ("prefix", "https://a.org/x", "http://a.org/xy", False),
        ("prefix", "https://A.org", "https://a.org/", True),
        ("prefix", "https://a.org", "https://a.org.evil.com/", False),
        ("prefix", "//a.org/x", "http://a.org/x", True),
        ("prefix", "a.org/x", "https://a.org/x", True),
        ("prefix", "a.org/x", "https://b.org/a.org/x", False),
        ("prefix", "a.org:81", "http://a.org:81/", True),
        ("prefix", "a.org:81", "http://a.org/", False),
        ("prefix", "/search?q=", "http://any.org/search?q=1", True),
        ("prefix", "/search", "http://any.org/x/search", False),
        ("prefix", "/новости", "http://a.org/%D0%BD%D0%BE%D0%B2%D0%BE%D1%81%D1%82%D0%B8/1", True),
        ("prefix", "http://пример.рф/я", "http://xn--e1afmkfd.xn--p1ai/%D1%8F", True),
        ("prefix", "/X", "http://a.org/x", False),
        ("suffix", ".jpg", "http://a.org/x.jpg", True),
        ("suffix", ".jpg", "http://a.org/x.JPG", True),
        ("suffix", ".JPG", "http://a.org/x.jpg?size=2", True),
        ("suffix", ".jpg", "http://a.org/?f=x.jpg", False),
        ("suffix", ".jpg", "http://a.org/x.jpg/comments", False),
        ("suffix", ".jpg", "http://a.jpg/", False),
        ("suffix", ".org", "http://a.org/", False),
        ("suffix", ".tar.gz", "http://a.org/x.tar.gz", True),
        ("suffix", ".tar.gz", "http://a.org/x.gz", False),
        ("suffix", "/print", "http://a.org/x/Print?y", True),
        ("suffix", "/", "http://a.org/x/", True),
        ("suffix", "-я.html", "http://a.org/x-%D1%8F.html", True),
        ("suffix", "//a.org", "http://a.org/", True),
        ("suffix", "//a.org", "http://x.y.a.org:81/z", True),
        ("suffix", "//a.org", "http://nota.org/", False),
        ("suffix", "//.a.org", "http://x.a.org/", True),
        ("suffix", "//.a.org", "http://a.org/", False),
        ("suffix", "//.РФ", "http://xn--e1afmkfd.xn--p1ai/", True),
        ("regex", r"[?&]sort=", "http://a.org/?x&sort=1", True),
        ("regex", r"/\d+$", "http://a.org/12", True),
        ("regex", r"/\d+$", "http://a.org/12x", False),
        ("regex", r"(?i)LOGIN", "http://a.org/login", True),
        ("regex", r"LOGIN", "http://a.org/login", False),
        ("regex", r"^http://a\.org/x{,2}\Z", "http://a.org/xx", True),
    ],
)
def test_what_a_pattern_is_compared_with(kind: Kind, pattern: str, url: str, matches: bool) -> None:
    assert says([FilterRule(kind, "deny", pattern)], url) is (False if matches else None)
    assert says([FilterRule(kind, "allow", pattern)], url) is (True if matches else None)


def test_an_allow_rule_saves_from_the_rules_below_it_only() -> None:
    allow = FilterRule("prefix", "allow", "/maps/")
    deny = FilterRule("suffix", "deny", ".png")
    assert says([allow, deny], "http://a.org/maps/1.png") is True
    assert says([deny, allow], "http://a.org/maps/1.png") is False


def test_a_final_deny_turns_allow_rules_into_the_only_way_in() -> None:
    rules = [FilterRule("prefix", "allow", "/news/"), FilterRule("regex", "deny", ".")]
    assert says(rules, "http://a.org/news/1") is True
    assert says(rules, "http://a.org/about") is False


def test_who_decided_is_named() -> None:
    rules = [
        FilterRule("prefix", "allow", "/a"),
        FilterRule("suffix", "deny", ".zip", "no_archives"),
        FilterRule("regex", "deny", "x"),
    ]
    filters = Filters(rules)
    named = filters.decide("http://b.org/b.zip", 0.0)
    assert named is not None
    assert named.rule == "filter.no_archives"
    assert named.reason == "filter 2, deny suffix '.zip', matches"
    placed = filters.decide("http://b.org/x", 0.0)
    assert placed is not None
    assert placed.rule == "filter.deny.3"


def test_verdicts_list_every_match_in_order() -> None:
    rules = [
        FilterRule("regex", "deny", "x"),
        FilterRule("prefix", "deny", "/no"),
        FilterRule("suffix", "allow", "x"),
    ]
    verdicts = Filters(rules).verdicts("http://a.org/x", 0.0)
    assert [v.rule for v in verdicts] == ["filter.deny.1", "filter.allow.3"]
    assert [v.allowed for v in Filters(rules).verdicts("http://a.org/y", 0.0)] == [True]


@pytest.mark.parametrize(
    "rule",
    [
        FilterRule("regex", "deny", "("),
        FilterRule("regex", "deny", "a{99999999999999999999}"),
        FilterRule("regex", "deny", "[\n"),
        FilterRule("prefix", "deny", ""),
        FilterRule("suffix", "deny", ""),
        FilterRule("prefix", "deny", "http://"),
        FilterRule("prefix", "deny", "a b.org/"),
        FilterRule("suffix", "deny", "//"),
        FilterRule("glob", "deny", "*"),
        FilterRule("regex", "maybe", "x"),
    ],
)
def test_wrong_rules_are_told_in_one_line(rule: FilterRule) -> None:
    with pytest.raises(UsageError) as caught:
        Filters([rule])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["prefix", "suffix", "regex"])
def test_a_pattern_has_five_hundred_characters_at_most(kind: Kind) -> None:
    Filters([FilterRule(kind, "deny", "/" + "a" * 499)])
    with pytest.raises(UsageError, match="has 501 characters: the limit is 500") as caught:
        Filters([FilterRule(kind, "deny", "/" + "a" * 500)])
    assert len(str(caught.value)) < 200


def test_a_page_with_a_long_address_can_still_be_taken_down() -> None:
    url = "http://a.org/" + "a" * 1_900
    filters = Filters([], [FilterRule("regex", "deny", f"^{url}$", "removed")])
    verdict = filters.decide(url, 0.0)
    assert verdict is not None and not verdict.allowed
    assert filters.verdicts(url, 0.0) == [verdict]


def test_default_suffixes_keep_documents_and_sitemaps() -> None:
    rules = deny_suffixes(DEFAULT_DENY_SUFFIXES)
    for name in ("a.jpg", "a.CSS", "b.js", "c.woff2", "d.tar.gz", "e.exe", "f.mp4", "g.svg"):
        assert says(rules, f"http://a.org/{name}") is False, name
    documents = "a.html a.htm a.php a.pdf a.txt a.xml a.doc a.docx a.odt a.asp a.aspx a.jsp a.md a.rss a.json a.com a"
    for name in documents.split():
        assert says(rules, f"http://a.org/{name}") is None, name
    assert says(rules, "http://a.org/sitemap.xml.gz") is True
    assert deny_suffixes(()) == []


PATTERNS = {
    "prefix": ["/a", "/b/", "//x.org", "x.org/a", "http://x.org/b", "/"],
    "suffix": [".gz", ".tar.gz", "a", "/b", "//x.org", "//.org", ".a"],
    "regex": ["a.b", "^http:", "(b)", "(?i)X", "a|z", "gz$"],
}
RULES = st.lists(
    st.sampled_from(sorted(PATTERNS)).flatmap(
        lambda kind: st.builds(
            FilterRule, st.just(kind), st.sampled_from(["allow", "deny"]), st.sampled_from(PATTERNS[kind])
        )
    ),
    max_size=8,
)
URLS = st.builds(
    lambda scheme, host, path: f"{scheme}://{host}/{path}",
    st.sampled_from(["http", "https"]),
    st.sampled_from(["x.org", "y.x.org", "x.org:81", "z.net", "[::1]"]),
    st.text("ab/.gztrX?", max_size=10),
)


@given(RULES, URLS)
def test_many_rules_at_once_decide_as_one_after_another(rules: list[FilterRule], url: str) -> None:
    one_by_one = (says([rule], url) for rule in rules)
    assert says(rules, url) == next((said for said in one_by_one if said is not None), None)


def test_only_the_operators_filters_are_numbered_and_counted() -> None:
    own = [
        FilterRule("prefix", "deny", "/a"),
        FilterRule("prefix", "deny", "/b", off=True),
        FilterRule("prefix", "deny", "/c"),
    ]
    gone = [FilterRule("prefix", "deny", "http://a.org/gone/", "removed.x")]
    filters = Filters(own, gone, deny_suffixes([".jpg"]))
    said = [verdict.reason for verdict in filters.verdicts("http://a.org/c", 0.0)]
    assert said == ["filter 3, deny prefix '/c', matches"]
    assert filters.decide("http://a.org/b", 0.0) is None
    assert filters.verdicts("http://a.org/x", 0.0)[0].reason.startswith(
        "none of your 2 filters matches, and scope.skip_files does not"
    )
    assert Filters(own[:1]).verdicts("http://a.org/x", 0.0)[0].reason == "none of your 1 filter matches"
    [removed] = filters.verdicts("http://a.org/gone/1", 0.0)
    assert (removed.rule, removed.reason) == ("filter.removed.x", "deny prefix 'http://a.org/gone/' matches")

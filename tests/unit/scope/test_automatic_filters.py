"""Automatic filters: what they match, what they never refuse, and on what evidence they are proposed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.model.site import key64
from gossamer.scope.automatic import (
    AutomaticFilter,
    AutomaticRule,
    FilterConfig,
    FilterKind,
    SiteFilters,
    groups_of,
    is_probe,
)
from gossamer.scope.parameters import ParameterColumns, without
from gossamer.scope.proposals import (
    DOCUMENT,
    DUPLICATE,
    FIT,
    NEAR,
    VISITED,
    Proposal,
    SiteColumns,
    name_of,
    propose_prefix,
    propose_yield,
)
from gossamer.scope.shape import path_shape
from gossamer.scope.statistics import Counts, prefix_of, roll_up

CONFIG = FilterConfig(useful=5, known=10)
PATHS = st.text("ab/?=&1-*", max_size=30).map(lambda text: "http://a.org/" + text)
KINDS: list[FilterKind] = ["prefix", "shape", "parameter"]


def rule(*filters: tuple[FilterKind, str], fits: object = lambda _url: False, site: str = "a.org") -> AutomaticRule:
    return AutomaticRule([AutomaticFilter(site, *one) for one in filters], fits)


@pytest.mark.parametrize(
    ("kind", "pattern", "url", "refused"),
    [
        ("prefix", "/tag/", "http://a.org/tag/x", True),
        ("prefix", "/tag/", "http://a.org/tag/x/page/2", True),
        ("prefix", "/tag/", "http://a.org/tag/x?sort=1", True),
        ("prefix", "/tag/", "http://a.org/tag/", False),
        ("prefix", "/tag/", "http://a.org/tagged/x", False),
        ("prefix", "/tag/", "http://b.org/tag/x", False),
        ("prefix", "/shop/?sort", "http://a.org/shop/shoes?sort=price", True),
        ("prefix", "/shop/?sort", "http://a.org/shop/shoes", False),
        ("shape", "/<n>/<n>/<n>/", "http://a.org/2024/05/17/", True),
        ("shape", "/<n>/<n>/<n>/", "http://a.org/2024/05/17/title/", False),
        ("shape", "/<n>/*/feed/", "http://a.org/2024/title/feed/", True),
        ("shape", "/<n>/*/feed/", "http://a.org/2024/title/amp/", False),
        ("shape", "/*?page", "http://a.org/list?page=2", True),
        ("parameter", "replytocom", "http://a.org/x/?a=1&replytocom=2", True),
        ("parameter", "replytocom", "http://a.org/x/?a=replytocom", False),
    ],
)
def test_what_a_filter_refuses(kind: FilterKind, pattern: str, url: str, refused: bool) -> None:
    decision = rule((kind, pattern)).decide(url, 0.0)
    assert (decision is not None) == refused
    if decision is not None:
        assert decision.rule == f"automatic.{kind}" and pattern in decision.reason and not decision.allowed


@given(PATHS, st.lists(st.tuples(st.sampled_from(KINDS), PATHS), max_size=8))
def test_a_quick_look_never_hides_a_match(url: str, others: list[tuple[FilterKind, str]]) -> None:
    """Filters made of the URL's own groups, and of others."""
    patterns = [*groups_of(path_shape(url)), *((kind, path_shape(other)) for kind, other in others)]
    for kind, pattern in patterns:
        filters = SiteFilters([AutomaticFilter("a.org", kind, pattern)])
        if filters.match(path_shape(url)) is not None:
            assert filters.may_match(url)


@given(PATHS, st.integers(0, 20))
def test_every_group_that_a_url_counts_in_is_a_filter_that_refuses_it(url: str, pick: int) -> None:
    groups = list(groups_of(path_shape(url)))
    kind, pattern = groups[pick % len(groups)]
    assert rule((kind, pattern)).decide(url, 0.0) is not None


@given(PATHS, st.sampled_from(KINDS), st.text("ab/?&<n>*", max_size=10))
def test_no_filter_refuses_a_url_that_counts_in_another_group(url: str, kind: FilterKind, pattern: str) -> None:
    counted = (kind, pattern) in set(groups_of(path_shape(url)))
    assert (SiteFilters([AutomaticFilter("a.org", kind, pattern)]).match(path_shape(url)) is not None) == counted


@given(st.lists(PATHS, min_size=1, max_size=20), st.lists(st.tuples(st.sampled_from(KINDS), PATHS), max_size=8))
def test_a_url_that_fits_a_document_rule_is_never_refused(
    urls: list[str], filters: list[tuple[FilterKind, str]]
) -> None:
    wide = [one for _, url in filters for one in groups_of(path_shape(url))]

    def fits(url: str) -> bool:
        return key64(url) % 3 == 0

    everything = rule(*wide, *(one for url in urls for one in groups_of(path_shape(url))), fits=fits)
    for url in urls:
        assert (everything.decide(url, 0.0) is None) == fits(url)


def test_a_few_urls_pass_as_probes_and_always_the_same() -> None:
    urls = [f"http://a.org/tag/t{number}" for number in range(2000)]
    some = AutomaticRule([AutomaticFilter("a.org", "prefix", "/tag/")], lambda _url: False, probe=50)
    passed = [url for url in urls if some.decide(url, 0.0) is None]
    assert passed == [url for url in urls if is_probe(url, 50)]
    assert 10 < len(passed) < 90


def sums_of(**leaves: tuple[int, int]) -> dict[str, Counts]:
    return roll_up((f"/{name}/", Counts(known=known, fit=fit)) for name, (known, fit) in leaves.items())


def patterns(proposals: list[Proposal]) -> list[str]:
    return [one.pattern for one in proposals]


def test_the_seeds_rule_takes_prefixes_larger_than_all_that_is_useful() -> None:
    assert patterns(propose_prefix(sums_of(news=(8, 8), tag=(9, 0), old=(8, 0)), CONFIG)) == ["/tag/"]


def test_the_seeds_rule_waits_for_enough_useful_urls() -> None:
    assert propose_prefix(sums_of(news=(4, 4), tag=(100, 0)), CONFIG) == []


def test_one_useful_url_saves_a_prefix() -> None:
    assert propose_prefix(sums_of(news=(8, 8), tag=(100, 1)), CONFIG) == []


def test_of_nested_prefixes_the_seeds_rule_proposes_the_widest() -> None:
    sums = roll_up([("/news/", Counts(8, 8)), ("/tag/a/", Counts(20)), ("/tag/b/", Counts(20))])
    assert patterns(propose_prefix(sums, CONFIG)) == ["/tag/"]


@pytest.mark.parametrize(("useful", "proposed"), [(60, True), (6, False)])
def test_a_small_group_is_useless_only_where_useful_urls_are_common(useful: int, proposed: bool) -> None:
    groups: list[tuple[FilterKind, str, Counts]] = [("prefix", "/tag/", Counts(known=15))]
    found = propose_yield(groups, Counts(known=100, fit=useful), CONFIG, ruled=True)
    assert bool(found) == proposed


def test_without_rules_only_visits_count() -> None:
    site = Counts(known=1000, visited=200, documents=150, near=10)
    unseen: tuple[FilterKind, str, Counts] = ("prefix", "/new/", Counts(known=500, visited=5, failed=5))
    copies: tuple[FilterKind, str, Counts] = ("prefix", "/print/", Counts(known=60, visited=50, documents=30, near=30))
    good: tuple[FilterKind, str, Counts] = ("prefix", "/text/", Counts(known=60, visited=50, documents=1))
    assert patterns(propose_yield([unseen, copies, good], site, CONFIG, ruled=False)) == ["/print/"]


@given(st.lists(st.tuples(PATHS, st.integers(0, 63)), max_size=30))
def test_columns_count_each_group_as_one_would_by_hand(urls: list[tuple[str, int]]) -> None:
    columns = SiteColumns()
    for place, (url, flags) in enumerate(urls):
        columns.add(place, url, flags)
    groups = columns.groups()
    by_hand = {one for url, _ in urls for one in groups_of(path_shape(url))}
    assert len(groups) == len(by_hand)
    for kind, pattern in by_hand:
        group = groups.find(kind, pattern)
        assert group is not None
        inside = [
            (place, bits) for place, (url, bits) in enumerate(urls) if (kind, pattern) in groups_of(path_shape(url))
        ]
        assert sorted(groups.members(group).tolist()) == [place for place, _ in inside]
        counts = groups.counts_of(group)
        assert (counts.known, counts.fit) == (len(inside), sum(bool(bits & FIT) for _, bits in inside))
        assert counts.near == sum(bool(bits & NEAR) for _, bits in inside)
        assert name_of(int(groups.keys[group]), urls[inside[0][0]][0]) == (kind, pattern)


@given(st.lists(PATHS, max_size=30))
def test_prefixes_of_the_columns_agree_with_the_statistics(urls: list[str]) -> None:
    columns = SiteColumns()
    for place, url in enumerate(urls):
        columns.add(place, url, VISITED)
    groups = columns.groups()
    for prefix, counts in roll_up((prefix_of(path_shape(url)), Counts(1, visited=1)) for url in urls).items():
        if prefix != "/":
            group = groups.find("prefix", prefix)
            assert group is not None and groups.counts_of(group) == counts


class Site:
    """Visits to the pages of a site, for what they tell about parameters."""

    def __init__(self) -> None:
        self.parameters, self.columns = ParameterColumns(), SiteColumns()

    def page(self, url: str) -> None:
        self.columns.add(key64(url), url, VISITED | DOCUMENT)
        self.parameters.add(url, True, "")

    def copy(self, url: str, of: str) -> None:
        self.columns.add(key64(url), url, VISITED | DUPLICATE)
        self.parameters.add(url, False, of)

    def says_nothing(self, name: str) -> bool:
        found = self.parameters.parameters(np.array(self.columns.keys), self.columns.has(DOCUMENT))
        return next(one for one in found if one.name == name).says_nothing(CONFIG.groups)


def site_with(parameter: str, pages: int = 12) -> Site:
    site = Site()
    for number in range(pages):
        site.page(f"http://a.org/p/{number}")
        site.copy(f"http://a.org/p/{number}?{parameter}=7", f"http://a.org/p/{number}")
    return site


def test_a_parameter_that_never_changed_the_text_says_nothing() -> None:
    assert site_with("print").says_nothing("print")


def test_few_pages_are_no_evidence() -> None:
    assert not site_with("print", pages=5).says_nothing("print")


def test_one_other_text_is_enough_against_it() -> None:
    site = site_with("print")
    site.page("http://a.org/p/3?print=8")
    assert not site.says_nothing("print")


def test_a_parameter_is_kept_where_a_page_is_known_only_with_it() -> None:
    site = site_with("sid")
    site.page("http://a.org/q/1?sid=1")
    assert not site.says_nothing("sid")


def test_a_parameter_that_tells_pages_apart_stays_though_another_does_not() -> None:
    site = Site()
    for number in range(12):
        site.page(f"http://a.org/view?id={number}")
        site.copy(f"http://a.org/view?id={number}&utm=x", f"http://a.org/view?id={number}")
    assert site.says_nothing("utm") and not site.says_nothing("id")


@given(st.lists(st.sampled_from(["a=1", "b=2", "a", "c="]), max_size=5), st.sampled_from("abc"))
def test_a_url_without_a_parameter_does_not_name_it(pairs: list[str], name: str) -> None:
    url = "http://a.org/x" + ("?" + "&".join(pairs) if pairs else "")
    rest = without(url, name)
    assert rest == without(rest, name)
    assert name not in [pair.partition("=")[0] for pair in rest.partition("?")[2].split("&")]

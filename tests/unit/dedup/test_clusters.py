"""One page stands for its cluster: always the same one, for a reason that is said."""

from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.dedup.clusters import MIN_CONFIDENCE, Member, choose

NOW = datetime(2026, 11, 10, 12, tzinfo=UTC).timestamp()
DAY = 86_400.0


def _page(name: str, **known) -> Member:
    return Member(**{"url": f"https://{name}.example/page", "first_seen": NOW, **known})


def _chosen(*members: Member) -> tuple[str, str]:
    found = choose(members)
    return found.member.url.removeprefix("https://").removesuffix(".example/page"), found.reason


def test_what_other_pages_name_canonical_comes_before_everything_else():
    named = _page("a", canonical_for=3, published="2026-11-09", rank=0.1)
    older = _page("b", published="2020-01-01", first_seen=NOW - 9 * DAY, rank=9.0)
    assert _chosen(older, named) == ("a", "3 pages name it canonical")


def test_one_page_that_names_it_is_spoken_of_as_one():
    assert _chosen(_page("a", canonical_for=1), _page("b"))[1] == "1 page names it canonical"


def test_of_pages_nobody_names_the_one_published_first_stands_for_all():
    early = _page("b", published="2026-11-01")
    assert _chosen(_page("a", published="2026-11-02", first_seen=NOW - DAY), early) == ("b", "published first")


def test_hours_do_not_decide_who_published_first():
    """Publishers round to the hour, and name no time zone."""
    members = _page("a", published="2026-11-01T10:00"), _page("b", published="2026-11-01T09:00", first_seen=NOW + 1)
    assert _chosen(*members) == ("a", "seen first")


@pytest.mark.parametrize(
    "doubtful",
    [
        {"published": "2019-01-01", "confidence": MIN_CONFIDENCE / 2},
        {"published": "2026"},
        {"published": "2026-11-30"},
    ],
    ids=["a guess", "a year", "after it was seen"],
)
def test_a_date_that_is_not_believed_does_not_count(doubtful):
    assert _chosen(_page("a", **doubtful), _page("b", first_seen=NOW - DAY)) == ("b", "seen first")


def test_a_date_after_the_page_was_seen_is_no_reason():
    members = _page("a", published="2026-11-30"), _page("b", published="2026-12-01", first_seen=NOW + 30 * DAY)
    assert _chosen(*members) == ("a", "seen first")


def test_a_page_seen_before_the_others_were_published_was_first_even_without_a_date():
    dated = _page("a", published="2026-11-05")
    assert _chosen(dated, _page("b", first_seen=NOW - 30 * DAY)) == ("b", "seen first")


def test_a_date_beats_no_date_where_nothing_speaks_against_it():
    dated = _page("b", published="2026-11-05")
    assert _chosen(_page("a", first_seen=NOW - DAY), dated) == ("b", "published first")


def test_then_the_one_seen_first_then_the_best_ranked_then_the_shortest_address():
    assert _chosen(_page("a", rank=5.0), _page("b", first_seen=NOW - 1)) == ("b", "seen first")
    assert _chosen(_page("a", rank=1.0), _page("b", rank=2.0)) == ("b", "best ranked")
    assert _chosen(_page("a"), _page("b", rank=0.0)) == ("b", "best ranked")
    assert _chosen(_page("longer"), _page("short")) == ("short", "shortest address")
    assert _chosen(_page("b"), _page("a")) == ("a", "shortest address")


def test_a_page_alone_stands_for_itself():
    assert _chosen(_page("a")) == ("a", "the only page")


def test_there_is_no_cluster_without_pages():
    with pytest.raises(ValueError):
        choose([])


members = st.builds(
    Member,
    url=st.integers(0, 40).map(lambda n: f"https://{'x' * (n % 7)}{n}.example/"),
    first_seen=st.integers(0, 3).map(lambda days: NOW + days * DAY),
    canonical_for=st.integers(0, 2),
    published=st.sampled_from(["", "2026", "2026-11-08", "2026-11-09", "2026-11-12"]),
    confidence=st.sampled_from([0.2, 1.0]),
    rank=st.sampled_from([None, 0.5, 2.0]),
)
clusters = st.lists(members, min_size=1, max_size=8, unique_by=lambda member: member.url)


@given(clusters, st.randoms(use_true_random=False))
def test_the_order_of_the_members_does_not_matter(cluster, dice):
    shuffled = list(cluster)
    dice.shuffle(shuffled)
    assert choose(shuffled) == choose(cluster)
    assert choose(cluster).member in cluster
    assert choose(cluster).reason


@given(clusters)
def test_one_more_page_that_names_it_keeps_the_chosen_one(cluster):
    best = choose(cluster).member
    named = msgspec.structs.replace(best, canonical_for=best.canonical_for + 1)
    assert choose([named, *(member for member in cluster if member is not best)]).member == named

"""Wishes of pages: meta elements and X-Robots-Tag."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.wishes import NOTHING, RobotsMeta, combine, parse_header, parse_meta


def header(*values: str) -> RobotsMeta:
    return parse_header(values, "Gossamer")


def meta(*elements: tuple[str, str]) -> RobotsMeta:
    return parse_meta(elements, "Gossamer")


@pytest.mark.parametrize(
    ("value", "noindex", "nofollow", "noarchive"),
    [
        ("", False, False, False),
        ("all", False, False, False),
        ("index, follow", False, False, False),
        ("noindex", True, False, False),
        ("nofollow", False, True, False),
        ("none", True, True, False),
        ("noarchive", False, False, True),
        ("NOINDEX,NoFollow", True, True, False),
        (" noindex ,\tnofollow , noarchive ", True, True, True),
        ("noindex nofollow", True, True, False),
        ("noindex;nofollow", True, True, False),
        ("noindexing, xnofollow", False, False, False),
        ("max-snippet: 20, noindex", True, False, False),
        ("max-image-preview:large, nofollow", False, True, False),
        ("index, noindex", True, False, False),
    ],
)
def test_words(value: str, noindex: bool, nofollow: bool, noarchive: bool) -> None:
    for found in (header(value), meta(("robots", value))):
        assert (found.noindex, found.nofollow, found.noarchive) == (noindex, nofollow, noarchive)


def test_what_is_meant_for_other_crawlers_is_ignored() -> None:
    assert header("otherbot: noindex, nofollow") is NOTHING
    assert meta(("otherbot", "noindex"), ("description", "noindex")) is NOTHING


def test_what_is_meant_for_us_counts() -> None:
    assert header("gossamer: noindex").noindex
    assert header("GOSSAMER: noindex, nofollow").nofollow
    assert meta(("Gossamer", "noindex")).noindex


def test_a_name_holds_to_the_end_of_its_value_only() -> None:
    found = header("otherbot: noindex, nofollow", "noarchive")
    assert found == RobotsMeta(noarchive=True)
    assert header("otherbot: noindex, gossamer: nofollow") == RobotsMeta(nofollow=True)
    assert header("noarchive, otherbot: noindex") == RobotsMeta(noarchive=True)


def test_the_strictest_wish_holds_over_all_sources() -> None:
    found = combine([meta(("robots", "nofollow"), ("gossamer", "index, follow")), header("noindex")])
    assert (found.noindex, found.nofollow, found.noarchive) == (True, True, False)


@pytest.mark.parametrize(
    ("date", "epoch"),
    [
        ("2027-03-01", 1_803_859_200.0),
        ("2027-03-01T12:00:00Z", 1_803_902_400.0),
        ("2027-03-01T12:00:00+02:00", 1_803_895_200.0),
        ("Monday, 01-Mar-27 12:00:00 GMT", 1_803_902_400.0),
        ("Mon, 01 Mar 2027 12:00:00 GMT", 1_803_902_400.0),
        ("1 Mar 2027 12:00:00 GMT", 1_803_902_400.0),
    ],
)
def test_unavailable_after_is_noindex_from_that_time(date: str, epoch: float) -> None:
    found = header(f"unavailable_after: {date}, nofollow")
    assert found == RobotsMeta(nofollow=True, unavailable_after=epoch)
    assert not found.noindex_at(epoch - 1)
    assert found.noindex_at(epoch)
    assert meta(("robots", f"nofollow, Unavailable_After:{date}")) == found


def test_the_earliest_end_holds() -> None:
    found = header("unavailable_after: 2027-03-01", "unavailable_after: 2026-03-01", "nofollow")
    assert found.unavailable_after == 1_772_323_200.0


def test_a_date_nobody_understands_changes_nothing() -> None:
    assert header("unavailable_after: soon, noindex") == RobotsMeta(noindex=True)


def test_a_date_for_another_crawler_is_ignored() -> None:
    assert header("otherbot: unavailable_after: 1 Mar 2027 12:00:00 GMT") is NOTHING


def test_ai_signals_are_recorded_and_change_nothing_else() -> None:
    found = combine([meta(("robots", "noai, noimageai"), ("tdm-reservation", " 1 ")), header("noai")])
    assert found == RobotsMeta(ai_signals=("noai", "noimageai", "tdm-reservation=1"))


@given(st.lists(st.text(max_size=60), max_size=3))
def test_no_value_raises(values: list[str]) -> None:
    assert isinstance(header(*values), RobotsMeta)
    assert isinstance(meta(*[("robots", value) for value in values]), RobotsMeta)


flags = st.builds(RobotsMeta, st.booleans(), st.booleans(), st.booleans())


@given(st.lists(flags, max_size=5))
def test_joining_never_loosens(wishes: list[RobotsMeta]) -> None:
    joined = combine(wishes)
    for name in ("noindex", "nofollow", "noarchive"):
        assert getattr(joined, name) is any(getattr(wish, name) for wish in wishes)

"""Trap guards refuse what grows without end, and leave real pages alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.scope.traps import GUARDS, TrapGuard, TrapLimits

NOW = 1_750_000_000.0  # June 2025
guard = TrapGuard()


def refused_by(url: str, rules: TrapGuard = guard) -> str:
    verdict = rules.decide(url, NOW)
    if verdict is None:
        return ""
    assert not verdict.allowed
    assert verdict.reason
    return verdict.rule


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("http://a.org/" + "x" * 2036, "trap.length"),
        ("http://a.org" + "".join(f"/{n}" for n in range(21)), "trap.depth"),
        ("http://a.org" + "".join(f"/{n}" for n in range(21)) + "/", "trap.depth"),
        ("http://a.org/x/y/x/z/x/w/x", "trap.repeat"),
        ("http://a.org/x/x/x/x?q=1", "trap.repeat"),
        ("http://a.org/a/b/a/b/a/b", "trap.repeat"),
        ("http://a.org/s/a/b/c/a/b/c/a/b/c/page.html", "trap.repeat"),
        ("http://a.org//////x", "trap.repeat"),
        ("http://a.org/?q=" + "x" * 511, "trap.query"),
        ("http://a.org/?" + "&".join(f"p{n}=1" for n in range(21)), "trap.query"),
        ("http://a.org/?f=1&f=2&f=3&f=4", "trap.query"),
        ("http://a.org/cal/2028/01/", "trap.calendar"),
        ("http://a.org/2150/12/31/anything.html", "trap.calendar"),
        ("http://a.org/2031-05-02", "trap.calendar"),
        ("http://a.org/2031-05.html", "trap.calendar"),
        ("http://a.org/2031/5/2", "trap.calendar"),
        ("http://a.org/events/2031/5", "trap.calendar"),
        ("http://a.org/cal/1989/12/", "trap.calendar"),
        ("http://a.org/2024/05/2031-05-02/", "trap.calendar"),
        ("http://a.org/?year=2031", "trap.calendar"),
        ("http://a.org/?year=1980&month=5", "trap.calendar"),
        ("http://a.org/cal?date=2031-05-02", "trap.calendar"),
        ("http://a.org/cal?startDate=20310502&view=month", "trap.calendar"),
        ("http://a.org/cal?month=203105", "trap.calendar"),
        ("http://a.org/cal?date=02.05.2031", "trap.calendar"),
        ("http://a.org/cal?date=2031%2F05%2F02", "trap.calendar"),
    ],
)
def test_refuses_traps_by_the_name_of_the_guard(url: str, rule: str) -> None:
    assert refused_by(url) == rule


@pytest.mark.parametrize(
    "url",
    [
        "http://a.org/",
        "http://a.org/" + "x" * 2035,
        "http://a.org" + "".join(f"/{n}" for n in range(20)) + "/",
        "http://a.org/x/x/x",
        "http://a.org/en/docs/en/guide/en/",
        "http://a.org/a/b/a/b",
        "http://a.org/?" + "&".join(f"p{n}=1" for n in range(20)),
        "http://a.org/?f=1&f=2&f=3",
        "http://a.org/2027/12/31/",
        "http://a.org/1990/01/01/",
        "http://a.org/2024/05/17/title",
        "http://a.org/1965/03/20/archives/hotel-opens.html",
        "http://a.org/1941-06-22-the-war-begins",
        "http://a.org/topic/1850/3",
        "http://a.org/topic/2050",
        "http://a.org/news/4523/10",
        "http://a.org/news/20310502",
        "http://a.org/films?year=1972",
        "http://a.org/?update=2150",
        "http://a.org/?id=2031&page=2",
        "http://a.org/?PubDate=Thursday%2C%2031%20May",
        "http://a.org/?next=/1950/01/",
        "http://a.org/?t=1899999999&date=1700000000",
    ],
)
def test_leaves_real_pages_alone(url: str) -> None:
    assert refused_by(url) == ""


def test_the_calendar_moves_with_time() -> None:
    url = "http://a.org/calendar/2029/06/"
    later = NOW + 3 * 365.25 * 86_400
    assert guard.decide(url, NOW) is not None
    assert guard.decide(url, later) is None


@pytest.mark.parametrize(
    ("limits", "url"),
    [
        (TrapLimits(url_length=20), "http://a.org/12345678"),
        (TrapLimits(path_depth=1), "http://a.org/a/b"),
        (TrapLimits(segment_repeats=1), "http://a.org/a/a"),
        (TrapLimits(run_repeats=2), "http://a.org/a/b/a/b"),
        (TrapLimits(query_length=3), "http://a.org/?a=11"),
        (TrapLimits(query_parameters=1), "http://a.org/?a&b"),
        (TrapLimits(parameter_repeats=1), "http://a.org/?a=1&a=2"),
        (TrapLimits(calendar_years_ahead=0), "http://a.org/2026/01/"),
        (TrapLimits(calendar_first_year=2000), "http://a.org/1999/01/"),
    ],
)
def test_every_limit_is_the_settings_choice(limits: TrapLimits, url: str) -> None:
    assert refused_by(url) == ""
    assert refused_by(url, TrapGuard(limits)) != ""


def test_reasons_carry_the_figures() -> None:
    verdict = guard.decide("http://a.org/?f=1&f=2&f=3&f=4", NOW)
    assert verdict is not None
    assert verdict.reason == "the parameter 'f' occurs 4 times, more than 3"


def test_verdicts_name_every_guard_that_objects() -> None:
    url = "http://a.org" + "/x" * 25 + "?year=2099"
    assert [v.rule for v in guard.verdicts(url, NOW)] == ["trap.depth", "trap.repeat", "trap.calendar"]
    assert [v.allowed for v in guard.verdicts("http://a.org/", NOW)] == [True]


def test_a_huge_url_of_half_repeated_segments_is_judged_at_once() -> None:
    url = "http://a.org/" + "/".join(str(n // 2) for n in range(200_000))
    assert {v.rule for v in guard.verdicts(url, NOW)} >= {"trap.length", "trap.depth"}


SEGMENTS = st.sampled_from(
    ["a", "b", "", "2031", "2024", "1950", "05", "5", "2031-05-02", "events", "x.html", "a/b", "a/b/a/b"]
)
PAIRS = st.sampled_from(["a=1", "a=2", "year=2031", "year=1950", "month=5", "date=20310502", "q=/a/b/a", "b"])
URLS = st.builds(
    lambda path, query: "http://a.org/" + "/".join(path) + ("?" + "&".join(query) if query else ""),
    st.lists(SEGMENTS, max_size=14),
    st.lists(PAIRS, max_size=7),
)
LIMITS = st.builds(
    TrapLimits,
    url_length=st.integers(15, 90),
    path_depth=st.integers(1, 20),
    segment_repeats=st.integers(1, 4),
    run_repeats=st.integers(2, 4),
    query_length=st.integers(5, 60),
    query_parameters=st.integers(1, 7),
    parameter_repeats=st.integers(1, 4),
)


@given(URLS, LIMITS)
def test_the_cheap_look_never_overrules_a_guard(url: str, limits: TrapLimits) -> None:
    slow = next((name for name, judge in GUARDS.items() if judge(url, limits, NOW)), "")
    assert refused_by(url, TrapGuard(limits)) == slow

"""The policies' year is counted right, a real index agrees with it, and the report says what was measured."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studies.merge.findings import STEADY, report
from studies.merge.pictures import HOURLY
from studies.merge.policies import (
    POLICIES,
    Course,
    Held,
    Load,
    Policy,
    levels,
    numbers,
    one_segment,
    ours,
    simulate,
)
from studies.merge.updating import Look, Measuring, Result, Step, measure
from studies.scratch import in_memory

LOADS = st.builds(
    Load,
    pages=st.integers(3, 8),
    replaced=st.integers(0, 2),
    a_day=st.integers(1, 7),
    most=st.sampled_from([10, 25, 10**9]),
    changing=st.sampled_from([0.2, 1.0]),
)


def count_by_hand(policy: Policy, load: Load, updates: int) -> tuple[Counter[int], list[int]]:
    """Rewrites of every version of every page, and the segments after each update: document by document."""
    segments: list[tuple[Held, set[tuple[int, int]]]] = []
    rewrites: Counter[tuple[int, int]] = Counter()
    course = []
    for update in range(updates):
        pages = numbers(load, update, 1)
        for _, living in segments:
            living.difference_update([version for version in living if version[0] in pages])
        segments = [(held, living) for held, living in segments if living]
        new = {(page, update) for page in pages}
        rewrites.update(dict.fromkeys(new, 0))
        segments.append((Held(len(new), len(new)), new))
        for held, living in segments:
            held.alive = len(living)
        while groups := policy([held for held, _ in segments], (update + 1) % load.a_day == 0):
            members = [segments[position] for position in groups[0]]
            level = 1 + max(held.level for held, _ in members)
            if len(members) == 1:
                members[0][0].level = level
                continue
            merged = set().union(*(living for _, living in members))
            rewrites.update(merged)
            segments = [one for position, one in enumerate(segments) if position not in groups[0]]
            segments.append((Held(len(merged), len(merged), level), merged))
        course.append(len(segments))
    return Counter(rewrites.values()), course


class TestYear:
    """What is counted without an index."""

    @settings(max_examples=40)
    @given(st.sampled_from(sorted(POLICIES)), LOADS, st.integers(1, 60))
    def test_every_version_of_every_page_is_counted_as_by_hand(self, name: str, load: Load, updates: int) -> None:
        course = simulate(POLICIES[name], load, updates)
        rewrites, segments = count_by_hand(POLICIES[name], load, updates)
        assert course.written == sum(rewrites.values())
        assert course.rewritten == sum(times * count for times, count in rewrites.items())
        assert course.worst == max(rewrites)
        assert course.often == sum(count for times, count in rewrites.items() if times > 5)
        assert course.segments.tolist() == segments

    @given(st.integers(1, 80), st.integers(1, 20))
    def test_one_segment_rewrites_a_document_with_its_own_update_and_every_one_after_it(
        self, updates: int, pages: int
    ) -> None:
        course = simulate(one_segment, Load(pages, 0, 24), updates)
        assert course.by_update.tolist() == [updates - max(1, update) for update in range(updates)]
        assert set(course.segments.tolist()) == {1}

    @pytest.mark.parametrize(("days", "segments"), [(1, 1), (6, 6), (7, 1), (28, 1), (29, 2), (112, 1), (448, 1)])
    def test_levels_make_one_segment_of_a_day_a_week_four_weeks_and_so_on(self, days: int, segments: int) -> None:
        assert simulate(levels, Load(10, 0, 6), 6 * days).segments[-1] == segments

    def test_levels_rewrite_no_document_more_than_four_times_a_year_and_five_times_in_five_quarters(self) -> None:
        assert simulate(levels, Load(10, 0, 6), 6 * 365).worst == 4
        assert simulate(levels, Load(10, 0, 6), 6 * 448).worst == 5

    def test_ours_rewrites_no_document_more_than_five_times_in_a_year_of_updates_every_hour(self) -> None:
        course = simulate(ours, Load(), 24 * 365)
        assert course.worst <= 5
        assert course.segments.max() < 60

    def test_same_seed_same_year(self) -> None:
        first, again, other = (simulate(ours, Load(), 400, seed).by_update.tolist() for seed in (1, 1, 2))
        assert first == again != other

    @given(LOADS, st.integers(0, 40))
    def test_an_update_has_no_page_twice_and_none_beyond_those_there_are(self, load: Load, update: int) -> None:
        pages = numbers(load, update, 1)
        assert len(set(pages)) == len(pages) <= load.pages
        assert all(0 <= page < load.most for page in pages)


@pytest.mark.parametrize(("ways", "updates"), [(("one segment",), 4), (("levels", "ours"), 16)])
def test_real_indexes_rewrite_what_the_policies_say(ways: tuple[str, ...], updates: int) -> None:
    load = Load(3, 1, 2)
    plan = Measuring(load=load, updates=updates, ways=ways, seldom=1, looks=2, queries=5)
    with in_memory("test") as folder:
        results = measure(folder, plan)
    for result in results:
        course = simulate(POLICIES[result.way], load, updates)
        assert (result.written, result.rewritten) == (course.written, course.rewritten), result.way
        assert [step.segments for step in result.steps] == course.segments.tolist(), result.way
        assert [look.documents for look in result.looks] == [updates, 2 * updates]


def test_between_its_timed_updates_one_segment_takes_all_others() -> None:
    plan = Measuring(load=Load(3, 1, 4), updates=4, ways=("one segment",), seldom=2, looks=1, queries=2)
    with in_memory("test") as folder:
        [result] = measure(folder, plan)
    assert [(step.documents, step.segments) for step in result.steps] == [(4, 1), (8, 1)]


def measured(way: str, seconds: float) -> Result:
    """Eighty-four updates that all take the same time."""
    steps = [Step(30 * number, seconds, seconds, seconds, 3) for number in range(1, 85)]
    return Result(way, steps, [Look(2520, 3, 0.5)], written=2520, rewritten=2520)


@pytest.fixture(scope="module")
def years() -> dict[str, dict[str, Course]]:
    return {HOURLY: {name: simulate(policy, Load(), 24 * 365) for name, policy in POLICIES.items()}}


@pytest.mark.parametrize(("seconds", "saved", "met"), [(0.02, "80%", True), (0.05, "50%", False)])
def test_the_report_says_what_was_measured(years, seconds: float, saved: str, met: bool) -> None:
    results = [measured("one segment", 0.1), measured("levels", 0.03), measured("ours", seconds)]
    found = report(Measuring(load=Load(30, 6, 6), updates=84), results, years)
    time, rewrites = found.goals[:2]
    assert (saved in time.found, time.met) == (True, met)
    assert rewrites.met
    assert saved in found.ours
    assert [len(row) for table in found.tables for row in table.rows] == [
        len(table.columns) for table in found.tables for _ in table.rows
    ]


@pytest.mark.parametrize("worst", [5, 9])
def test_the_report_says_where_ours_is_worse(years, worst: int) -> None:
    steady = years[HOURLY] | {"ours": msgspec.structs.replace(years[HOURLY]["ours"], worst=worst)}
    results = [measured("one segment", 0.1), measured("levels", 0.03), measured("ours", 0.02)]
    found = report(Measuring(load=Load(30, 6, 6), updates=84), results, years | {STEADY: steady})
    assert found.goals[-1].met == (worst <= 5)
    assert ("Ours is worse" in found.differs) == (worst > 5)

"""When sources are polled: laws for any history, and what histories of known habits lead to."""

from __future__ import annotations

import math
from itertools import pairwise
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.revisit.poll_budget import price_for
from gossamer.revisit.polls import (
    CEILING,
    DAY,
    FLOOR,
    HOUR,
    LEAST_PRICE,
    Habit,
    next_poll,
    polled,
    retirement,
    retry_after,
    start,
)

NOW = 1_728_000_000.0
"""Friday, 2024-10-04, 0:00 UTC."""
PRICE = 5_000.0

moments = st.floats(min_value=0, max_value=2e10, allow_nan=False)
History = list[tuple[float, list[float], list[float]]]
"""Of each poll: seconds since the one before, news, entries listed."""
histories = st.lists(
    st.tuples(st.floats(0, 1e7), st.lists(moments, max_size=8), st.lists(moments, max_size=8)), min_size=1, max_size=8
)


def lived(history: History, quiet: bool = False) -> Habit:
    habit, at = start(NOW, quiet), NOW
    for passed, news, listed in history:
        at += passed
        habit = polled(habit, at, news, listed)
    return habit


def regular(every: float, days: float, poll_every: float = HOUR, dated: bool = True) -> Habit:
    """The habit of a source with a piece of news at equal distances, day and night."""
    habit = polled(start(NOW), NOW, [], [0.0] * 20)
    published, at = NOW, NOW
    while at < NOW + days * DAY:
        at += poll_every
        news = []
        while published + every <= at:
            published += every
            news.append(published if dated else 0.0)
        habit = polled(habit, at, news)
    return habit


def interval(habit: Habit, price: float = PRICE) -> float:
    return next_poll(habit, habit.polled_at, price) - habit.polled_at


# --- laws ----------------------------------------------------------------------------------------------


@given(histories, st.floats(0, 1e15), st.floats(0, 1e9), st.floats(60, 86_400), st.floats(1, 1_000))
def test_the_next_poll_is_due_within_its_bounds(
    history: History, price: float, later: float, floor: float, span: float
) -> None:
    habit = lived(history)
    ceiling = min(floor * span, 60 * DAY)
    due = next_poll(habit, 0.0, price, floor, ceiling) - habit.polled_at
    assert floor - 1e-5 <= due <= max(ceiling, floor) + 1e-5
    now = habit.polled_at + later
    assert now <= next_poll(habit, now, price, floor, ceiling) <= max(now, habit.polled_at + ceiling, now + 1e-5)


@given(histories, st.booleans())
def test_no_history_leads_to_nonsense(history: History, quiet: bool) -> None:
    habit = lived(history, quiet)
    numbers = [habit.news, habit.seconds, habit.rate, habit.silence, *habit.hours, *habit.hours_seen]
    numbers += [*habit.days, *habit.days_seen]
    assert all(math.isfinite(number) and number >= 0 for number in numbers)
    assert habit.rate > 0
    assert habit.polls == len(history)
    assert habit.unchanged <= habit.polls
    assert habit.hits <= habit.polls


@given(histories)
def test_the_same_history_leads_to_the_same_habit(history: History) -> None:
    assert lived(history) == lived(history)


@given(histories)
def test_a_habit_survives_being_stored(history: History) -> None:
    habit = lived(history)
    stored = msgspec.msgpack.encode(habit)
    assert msgspec.msgpack.decode(stored, type=Habit) == habit
    assert len(stored) < 700


@given(st.floats(1e-9, 1e-2), st.floats(1.01, 100), st.floats(1, 1e9))
def test_who_is_busier_is_polled_earlier(rate: float, times: float, price: float) -> None:
    calm = Habit(rate * 1e6, 1e6, polled_at=NOW, polls=1)
    busy = Habit(rate * times * 1e6, 1e6, polled_at=NOW, polls=1)
    assert next_poll(busy, NOW, price) <= next_poll(calm, NOW, price)


@given(histories, st.floats(1, 1e9), st.floats(1.01, 100))
def test_a_higher_price_never_means_an_earlier_poll(history: History, price: float, times: float) -> None:
    habit = lived(history)
    assert interval(habit, price) <= interval(habit, price * times) + 1e-5


def test_intervals_go_with_the_root_of_the_rate() -> None:
    once, fourfold = (Habit(per_day * 100, 100 * DAY, polled_at=NOW, polls=1) for per_day in (1, 4))
    assert interval(once) == pytest.approx(math.sqrt(2 * PRICE * DAY), rel=1e-6)
    assert interval(once) == pytest.approx(2 * interval(fourfold), rel=1e-6)


@given(st.integers(1, 60), st.integers(0, 1_000), st.floats(0.2, 60))
def test_the_price_keeps_the_budget(count: int, seed: int, daily: float) -> None:
    random = Random(seed)
    habits = [Habit(10 ** random.uniform(-3, 2) * 50, 50 * DAY, polled_at=NOW, polls=1) for _ in range(count)]
    budget = count * daily / DAY
    price = price_for(habits, budget)
    assert sum(1 / interval(habit, price) for habit in habits) == pytest.approx(budget, rel=0.01)


def test_a_budget_out_of_reach_gives_the_nearest() -> None:
    habits = [Habit(per_day * 50, 50 * DAY, polled_at=NOW, polls=1) for per_day in (0.1, 1, 10)]
    assert [interval(habit, price_for(habits, 1.0)) for habit in habits] == [FLOOR] * 3
    assert [interval(habit, price_for(habits, 1e-9)) for habit in habits] == [CEILING] * 3
    assert price_for([], 1.0) > 0


# --- histories -----------------------------------------------------------------------------------------


def test_a_source_never_polled_is_due_now() -> None:
    assert next_poll(start(NOW), NOW + 5, PRICE) == NOW + 5


def test_a_source_of_unknown_habits_is_asked_every_few_minutes() -> None:
    known = polled(start(NOW), NOW, [], [])
    assert FLOOR <= interval(known, LEAST_PRICE) <= 300.0


def test_it_slows_down_hour_by_hour_without_news_and_not_before() -> None:
    habit, gaps = polled(start(NOW), NOW, [], []), {}
    while (since := habit.polled_at - NOW) < 30 * DAY:
        gap = interval(habit, LEAST_PRICE)
        for name, age in (("hour", HOUR), ("day", DAY), ("week", 7 * DAY), ("month", 29 * DAY)):
            if since >= age:
                gaps.setdefault(name, gap)
        habit = polled(habit, habit.polled_at + gap, [])
    assert gaps["hour"] < 600.0
    assert 900.0 < gaps["day"] < HOUR
    assert gaps["day"] < gaps["week"] < gaps["month"] < DAY


def test_ten_pieces_of_news_a_day_are_known_within_five_minutes() -> None:
    habit = regular(DAY / 10, days=30, poll_every=300.0)
    assert interval(habit, LEAST_PRICE) <= 300.0


def test_a_list_of_all_pages_is_not_taken_for_one_of_news() -> None:
    news, everything = (polled(start(NOW, quiet), NOW, [], []) for quiet in (False, True))
    assert interval(everything, LEAST_PRICE) > 5 * interval(news, LEAST_PRICE)


def test_a_large_answer_is_asked_for_less_often() -> None:
    small, usual, large = (polled(start(NOW), NOW, [], [], size) for size in (1_000, 500_000, 50_000_000))
    assert interval(small) == interval(usual)
    assert interval(large) == pytest.approx(10 * interval(usual), rel=0.01)
    unchanged = polled(large, NOW + HOUR, [])
    assert unchanged.size == large.size


def test_a_source_without_an_answer_is_asked_again_ever_later_but_every_day() -> None:
    habit = polled(start(NOW), NOW, [], [])
    at, gaps = NOW + FLOOR, []
    for _ in range(12):
        gaps.append(retry_after(habit, at))
        at += gaps[-1]
    assert gaps[:3] == [FLOOR, 2 * FLOOR, 4 * FLOOR]
    assert gaps[-1] == DAY
    assert retry_after(None, NOW) == DAY
    assert retry_after(None, NOW, ceiling=600.0) == 600.0


def test_news_every_ten_minutes_are_polled_so() -> None:
    habit = regular(600.0, days=3, poll_every=1_200.0)
    assert interval(habit, 300.0) == pytest.approx(600.0, abs=90)


@pytest.mark.parametrize("dated", [True, False])
@pytest.mark.parametrize("every", [20 * 60.0, 2 * HOUR, 9 * HOUR])
def test_the_rate_is_learned_with_dates_and_without(every: float, dated: bool) -> None:
    assert regular(every, days=30, poll_every=1.7 * HOUR, dated=dated).rate == pytest.approx(1 / every, rel=0.15)


def test_the_first_listing_tells_the_rate() -> None:
    listed = [NOW - hours * HOUR for hours in range(0, 40, 2)]
    habit = polled(start(NOW - 1), NOW, listed, listed)
    assert habit.rate == pytest.approx(1 / (2 * HOUR), rel=0.25)


def test_a_dead_source_is_known_from_its_first_listing() -> None:
    listed = [NOW - (800 + days) * DAY for days in range(20)]
    habit = polled(start(NOW - 1), NOW, listed, listed)
    assert interval(habit, 50_000.0) > 3 * DAY


def test_a_listing_without_dates_or_with_one_date_for_all_is_no_storm() -> None:
    undated = polled(start(NOW), NOW, [], [0.0] * 20)
    assert undated.rate == start(NOW).rate
    generated = polled(start(NOW), NOW, [], [NOW] * 20)
    calmed = polled(generated, NOW + DAY, [])
    assert interval(calmed) > 1.5 * interval(generated)


def test_a_silent_source_is_polled_ever_more_rarely() -> None:
    habit = polled(start(NOW), NOW, [], [])
    gaps = []
    for _ in range(30):
        gaps.append(interval(habit, 20_000.0))
        habit = polled(habit, habit.polled_at + gaps[-1], [])
    assert all(earlier <= later * 1.05 for earlier, later in pairwise(gaps))
    assert gaps[-1] == CEILING
    assert gaps[0] < DAY


def test_a_source_that_falls_silent_is_noticed_within_a_week() -> None:
    habit = regular(HOUR, days=30)
    before = interval(habit)
    for _ in range(7 * 24):
        habit = polled(habit, habit.polled_at + HOUR, [])
    assert interval(habit) > 3 * before


def test_a_source_that_comes_back_to_life_is_noticed() -> None:
    habit = polled(start(NOW), NOW, [], [NOW - 900 * DAY, NOW - 901 * DAY])
    for _ in range(20):
        habit = polled(habit, habit.polled_at + CEILING, [])
    assert interval(habit) == CEILING
    for _ in range(3):
        at = next_poll(habit, habit.polled_at, PRICE)
        gap = at - habit.polled_at
        habit = polled(habit, at, [habit.polled_at + x * 3 * HOUR for x in range(1, int(gap // (3 * HOUR)) + 1)])
    assert interval(habit) < 12 * HOUR


def test_a_night_is_slept_through() -> None:
    """News at 8, 9, … 19 o'clock only: polls stop in the evening and start in the morning."""
    habit = polled(start(NOW), NOW, [], [])
    for hour in range(1, 24 * 21):
        at = NOW + hour * HOUR
        habit = polled(habit, at, [at - 1_800] if 8 <= (hour - 1) % 24 < 20 else [])
    midnight = NOW + 21 * DAY
    by_night = interval(msgspec.structs.replace(habit, polled_at=midnight), 3_000.0)
    by_day = interval(msgspec.structs.replace(habit, polled_at=midnight + 12 * HOUR), 3_000.0)
    assert by_night > 3 * by_day
    assert 6 * HOUR < by_night < 10 * HOUR


def test_a_weekend_is_slept_through() -> None:
    habit = polled(start(NOW), NOW, [], [])
    for hour in range(1, 24 * 56):
        at = NOW + hour * HOUR
        weekend = ((hour - 1) // 24) % 7 in (1, 2)
        habit = polled(habit, at, [] if weekend else [at - 1_800])
    saturday = NOW + 57 * DAY
    by_weekend = interval(msgspec.structs.replace(habit, polled_at=saturday), 3_000.0)
    by_week = interval(msgspec.structs.replace(habit, polled_at=saturday + 3 * DAY), 3_000.0)
    assert by_weekend > 2 * by_week


def test_news_of_the_future_count_but_change_nothing_else() -> None:
    habit = regular(HOUR, days=7)
    ahead = polled(habit, habit.polled_at + HOUR, [habit.polled_at + 30 * DAY])
    now = polled(habit, habit.polled_at + HOUR, [habit.polled_at + 1_800])
    assert ahead == now


def test_old_entries_shown_again_are_no_storm() -> None:
    habit = regular(6 * HOUR, days=20)
    flood = polled(habit, habit.polled_at + HOUR, [NOW - days * DAY for days in range(200)])
    assert flood.rate < 1.2 * habit.rate
    assert flood.unchanged == 0


def test_a_clock_that_went_back_does_no_harm() -> None:
    habit = regular(HOUR, days=2)
    assert polled(habit, habit.polled_at - DAY, []).polled_at == habit.polled_at


def test_a_short_list_is_polled_before_it_scrolls_away() -> None:
    habit = msgspec.structs.replace(regular(HOUR, days=10), listed=10)
    assert interval(habit, 1e12) <= 5.5 * HOUR
    assert interval(msgspec.structs.replace(habit, listed=0), 1e12) == CEILING


def test_what_scrolled_away_is_reckoned_with() -> None:
    """Ten entries within an hour, all new after a day: that is ten an hour, not ten a day."""
    habit = polled(start(NOW), NOW, [], [0.0] * 10)
    at = NOW + DAY
    shown = [at - minutes * 60 for minutes in range(6, 66, 6)]
    assert polled(habit, at, shown, shown).rate > 2 * polled(habit, at, shown, [*shown, NOW - DAY]).rate


# --- the end -------------------------------------------------------------------------------------------


def test_a_sitemap_is_retired_after_many_polls_over_a_long_time() -> None:
    habit = polled(start(NOW), NOW, [], [NOW - DAY])
    for _ in range(8):
        assert not retirement(habit)
        assert retirement(habit) == ""
        habit = polled(habit, habit.polled_at + 8 * DAY, [])
    assert retirement(habit)
    assert retirement(habit) == "unchanged in 8 polls in a row, over 64 days"
    assert not retirement(polled(habit, habit.polled_at + DAY, [0.0]))


def test_many_polls_within_days_retire_nothing() -> None:
    habit = polled(start(NOW), NOW, [], [])
    for _ in range(100):
        habit = polled(habit, habit.polled_at + HOUR, [])
    assert not retirement(habit)
    assert retirement(habit, polls=50, seconds=DAY)

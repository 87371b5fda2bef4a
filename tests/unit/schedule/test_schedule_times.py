"""Times of a plan: right over changes of the clocks and ends of months, and one run for all that was missed."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import UsageError
from gossamer.schedule.config import Schedule
from gossamer.schedule.times import TimeOfDay, next_at, next_start, parse_at, parse_every

ZURICH = ZoneInfo("Europe/Zurich")
ZONES = [ZoneInfo(name) for name in (
    "UTC", "Europe/Zurich", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu", "Africa/Cairo",
)]  # fmt: skip
MOMENTS = st.integers(
    int(datetime(2000, 1, 1, tzinfo=UTC).timestamp()), int(datetime(2035, 1, 1, tzinfo=UTC).timestamp())
)
TIMES = st.builds(
    TimeOfDay,
    st.integers(0, 23),
    st.integers(0, 59),
    st.none() | st.integers(0, 6),
).flatmap(
    lambda at: st.just(at) if at.weekday is not None else st.builds(
        TimeOfDay, st.just(at.hour), st.just(at.minute), st.none(), st.none() | st.integers(1, 31)
    )
)  # fmt: skip


def moment(text: str, zone: ZoneInfo = ZURICH) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()


def shown(at: float, zone: ZoneInfo = ZURICH) -> str:
    return datetime.fromtimestamp(at, zone).strftime("%Y-%m-%d %H:%M:%S")


@pytest.mark.parametrize(
    ("at", "after", "expected"),
    [
        ("03:30", "2026-11-15 03:29:59", "2026-11-15 03:30:00"),
        ("03:30", "2026-11-15 03:30:00", "2026-11-16 03:30:00"),
        ("3:30", "2026-12-31 23:59:59", "2027-01-01 03:30:00"),
        ("sun 03:30", "2026-11-15 03:30:00", "2026-11-22 03:30:00"),
        ("Sunday 03:30", "2026-11-15 03:00:00", "2026-11-15 03:30:00"),
        ("1 03:30", "2026-11-15 00:00:00", "2026-12-01 03:30:00"),
        ("31 03:30", "2026-02-01 00:00:00", "2026-02-28 03:30:00"),
        ("31 03:30", "2028-02-01 00:00:00", "2028-02-29 03:30:00"),
        ("31 03:30", "2026-04-30 04:00:00", "2026-05-31 03:30:00"),
        # 2026-03-29 has no 02:30: at two o'clock it is three.
        ("02:30", "2026-03-29 00:00:00", "2026-03-29 03:00:00"),
        ("02:30", "2026-03-29 03:00:00", "2026-03-30 02:30:00"),
        # 2026-10-25 has it twice.
        ("02:30", "2026-10-25 00:00:00", "2026-10-25 02:30:00"),
    ],
)
def test_the_next_start(at: str, after: str, expected: str) -> None:
    assert shown(next_at(parse_at(at), moment(after), ZURICH)) == expected


def test_a_time_that_comes_twice_is_a_start_once() -> None:
    first = next_at(parse_at("02:30"), moment("2026-10-25 00:00"), ZURICH)
    assert datetime.fromtimestamp(first, UTC).strftime("%H:%M") == "00:30"
    assert shown(next_at(parse_at("02:30"), first, ZURICH)) == "2026-10-26 02:30:00"


@given(TIMES, MOMENTS, st.sampled_from(ZONES))
def test_a_start_is_later_and_none_lies_between(at: TimeOfDay, after: int, zone: ZoneInfo) -> None:
    found = next_at(at, after, zone)
    assert found > after
    # Asked from anywhere between, the answer is the same; asked from the start itself, it is another.
    assert next_at(at, (after + found) / 2, zone) == found
    assert next_at(at, found - 0.5, zone) == found
    assert next_at(at, found, zone) > found


@given(st.integers(0, 23), st.integers(0, 59), MOMENTS, st.sampled_from(ZONES))
def test_every_day_has_one_start_even_where_the_clocks_change(
    hour: int, minute: int, begin: int, zone: ZoneInfo
) -> None:
    at, starts = TimeOfDay(hour, minute), [float(begin)]
    for _ in range(400):
        starts.append(next_at(at, starts[-1], zone))
    gaps = [later - earlier for earlier, later in pairwise(starts[1:])]
    assert all(22 * 3600 <= gap <= 26 * 3600 or zone.key == "Pacific/Apia" for gap in gaps)
    days = [datetime.fromtimestamp(one, zone).date() for one in starts[1:]]
    assert len(set(days)) >= len(days) - 1  # Samoa once left a day out, and what was due on it came a day later


@given(TIMES, MOMENTS, st.sampled_from(ZONES))
def test_the_clock_on_the_wall_shows_the_time_or_has_just_skipped_it(at: TimeOfDay, after: int, zone: ZoneInfo) -> None:
    wall = datetime.fromtimestamp(next_at(at, after, zone), zone)
    if (wall.hour, wall.minute, wall.second) != (at.hour, at.minute, 0):
        before = datetime.fromtimestamp(wall.timestamp() - 1, zone)
        assert before.utcoffset() != wall.utcoffset()
        wall = before
    assert at.is_on(wall.date()) or at.is_on(wall.date() + timedelta(days=1))


@given(st.dates(date(2000, 1, 1), date(2040, 12, 28)), st.integers(1, 31))
def test_every_month_has_exactly_one_day_of_the_month(day: date, number: int) -> None:
    month = [day.replace(day=1) + timedelta(days=n) for n in range(31)]
    month = [one for one in month if one.month == day.month]
    assert sum(TimeOfDay(0, 0, day=number).is_on(one) for one in month) == 1


@given(
    st.sampled_from(["10m", "1h", "1d"]) | st.just(""),
    MOMENTS,
    st.integers(0, 40 * 86_400),
    st.sampled_from(ZONES),
)
def test_however_long_the_machine_was_off_one_run_makes_up_for_it(
    every: str, last: int, off: int, zone: ZoneInfo
) -> None:
    schedule = Schedule(run="rank", every=every) if every else Schedule(run="rank", at="03:30")
    now = float(last + off)
    due = next_start(schedule, last, last, now, zone)
    assert due is not None and due > last
    if due <= now:  # it is run at once, and then not again until its next time
        again = next_start(schedule, now, last, now, zone)
        assert again is not None and again > now


def test_an_interval_begins_at_once_and_counts_from_start_to_start() -> None:
    hourly = Schedule(run="rank", every="1h")
    assert next_start(hourly, None, 1000.0, 5000.0, ZURICH) == 1000.0
    assert next_start(hourly, 5000.0, 1000.0, 5001.0, ZURICH) == 5000.0 + 3600


def test_a_time_of_day_that_was_first_seen_today_missed_nothing_yesterday() -> None:
    nightly = Schedule(run="rank", at="03:30")
    noon = moment("2026-11-15 12:00")
    assert shown(next_start(nightly, None, noon, noon, ZURICH) or 0) == "2026-11-16 03:30:00"
    # The machine was off that night, and the time was never run: it is made up for.
    assert shown(next_start(nightly, None, noon, noon + 86_400, ZURICH) or 0) == "2026-11-16 03:30:00"


def test_a_clock_that_was_set_back_delays_nothing() -> None:
    now = moment("2026-11-15 12:00")
    assert next_start(Schedule(run="rank", every="1h"), now + 86_400, now + 86_400, now, ZURICH) == now + 3600
    late = next_start(Schedule(run="rank", at="13:00"), now + 86_400, now + 86_400, now, ZURICH)
    assert shown(late or 0) == "2026-11-15 13:00:00"


def test_what_runs_all_the_time_has_no_next_start() -> None:
    assert next_start(Schedule(run="serve", always=True), None, 0.0, 1.0, ZURICH) is None


@pytest.mark.parametrize(("text", "seconds"), [("30m", 1800), ("6h", 21_600), ("1d", 86_400), ("1.5H", 5400)])
def test_spans(text: str, seconds: float) -> None:
    assert parse_every(text) == seconds


@pytest.mark.parametrize("text", ["", "30", "0m", "-1h", "1y", "h", "1h30m", "0.1s"])
def test_a_span_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="30m"):
        parse_every(text)


@pytest.mark.parametrize("text", ["", "24:00", "3:60", "0 03:30", "32 03:30", "su 03:30", "noon", "03:30 sun", "3"])
def test_a_time_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="03:30"):
        parse_at(text)


@given(st.text(max_size=12))
def test_any_text_is_a_time_or_a_sentence(text: str) -> None:
    for parse in (parse_at, parse_every):
        try:
            parse(text)
        except UsageError as error:
            assert "write" in str(error)

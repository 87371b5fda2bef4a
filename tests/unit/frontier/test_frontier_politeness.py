"""The laws of politeness, for any sequence of events."""

from __future__ import annotations

from itertools import pairwise

import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import assume, given

from gossamer.frontier.politeness import (
    DAY,
    PolitenessConfig,
    SiteClock,
    answered,
    believable,
    gap,
    limited,
    robots_changed,
    taken_over,
    troubled,
)

NOW = 1_700_000_000.0

seconds = st.floats(0, 1000, allow_nan=False)
configs = st.builds(
    PolitenessConfig,
    delay=st.floats(0, 60),
    backoff_first=st.floats(0.1, 60),
    backoff_cap=st.floats(60, 7200),
    crawl_delay_cap=st.floats(1, DAY),
)
crawl_delays = st.one_of(st.none(), st.floats(-10, 2 * DAY, allow_nan=False))
jitters = st.floats(0, 1)
clocks = st.builds(
    SiteClock,
    crawl_delay=st.floats(0, 2 * DAY),
    trouble=st.integers(0, 50),
    not_before=st.floats(NOW - DAY, NOW + DAY),
    least_delay=st.sampled_from([0.0, 3.0, 600.0]),
)
events = st.lists(
    st.tuples(
        st.sampled_from(["answered", "troubled", "taken over", "robots", "restart"]),
        seconds,
        seconds,
        st.one_of(st.none(), st.floats(0, 3 * DAY)),
        crawl_delays,
        jitters,
    ),
    max_size=30,
)


@given(configs, events)
def test_the_gap_the_server_sees_is_never_shorter_than_the_delay(
    config: PolitenessConfig, story: list[tuple[str, float, float, float | None, float | None, float]]
) -> None:
    """We ask no earlier than the clock says; the server sees the request somewhere between
    then and the head of its response. Whatever happens, the next one comes a delay later."""
    clock, now = SiteClock(), NOW
    seen: float | None = None
    answered_at, owed = NOW, 0.0
    for what, idle, latency, retry_after, crawl_delay, jitter in story:
        now = max(now + idle, clock.not_before)
        if what == "robots":
            # It came with the last request, so its delay counts from there.
            clock = robots_changed(clock, crawl_delay, answered_at, config)
            owed = max(config.delay, min(clock.crawl_delay, config.crawl_delay_cap))
        elif what == "taken over":
            clock = taken_over(clock, now, config)
        elif what == "restart":
            clock = believable(clock, now, config)
        else:
            started = now
            assert seen is None or started - seen >= owed - 1e-6
            answered_at = now = now + latency
            seen = started + latency * jitter
            owed = max(config.delay, min(clock.crawl_delay, config.crawl_delay_cap))
            if what == "answered":
                clock = answered(clock, now, config)
            else:
                clock = troubled(clock, now, "503", config, retry_after, jitter)


@given(configs, clocks, crawl_delays)
def test_a_crawl_delay_only_slows(config: PolitenessConfig, clock: SiteClock, crawl_delay: float | None) -> None:
    without, slowed = (robots_changed(clock, asked, NOW, config) for asked in (None, crawl_delay))
    assert gap(slowed, config) >= gap(without, config) >= config.delay
    assert slowed.not_before >= without.not_before


@given(configs, clocks, st.floats(0, DAY), st.floats(0, DAY))
def test_a_longer_crawl_delay_is_never_faster(
    config: PolitenessConfig, clock: SiteClock, one: float, other: float
) -> None:
    short, long = (robots_changed(clock, asked, NOW, config) for asked in sorted([one, other]))
    assert gap(short, config) <= gap(long, config)


@given(configs, clocks)
def test_a_crawl_delay_is_believed_up_to_its_cap(config: PolitenessConfig, clock: SiteClock) -> None:
    calm = msgspec.structs.replace(clock, trouble=0)
    assert gap(calm, config) <= max(config.delay, config.crawl_delay_cap, clock.least_delay)


@given(configs, clocks, st.floats(0, DAY))
def test_an_operators_delay_only_slows(config: PolitenessConfig, clock: SiteClock, least: float) -> None:
    free = msgspec.structs.replace(clock, least_delay=0.0)
    after = limited(free, least, NOW, config)
    assert gap(after, config) >= max(gap(free, config), least)
    assert after.not_before >= free.not_before
    if least:
        assert after.not_before >= NOW + least, "the last request may have been a moment ago"
    lifted = limited(after, 0.0, NOW, config)
    assert gap(lifted, config) == gap(free, config)
    assert lifted.not_before == after.not_before, "lifting a limit does not shorten a wait"


@given(configs, clocks, crawl_delays, jitters)
def test_an_operators_delay_outlives_all_that_happens(
    config: PolitenessConfig, clock: SiteClock, crawl_delay: float | None, jitter: float
) -> None:
    for after in (
        answered(clock, NOW, config),
        troubled(clock, NOW, "503", config, None, jitter),
        taken_over(clock, NOW, config),
        robots_changed(clock, crawl_delay, NOW, config),
        believable(clock, NOW, config),
    ):
        assert after.least_delay == clock.least_delay


@given(configs, st.lists(jitters, min_size=2, max_size=40))
def test_back_off_grows_up_to_its_cap(config: PolitenessConfig, shaken: list[float]) -> None:
    clock = SiteClock()
    waits, bare = [], []
    for jitter in shaken:
        at = clock.not_before
        bare.append(troubled(clock, at, "503", config).not_before - at)
        clock = troubled(clock, at, "503", config, jitter=jitter)
        waits.append(clock.not_before - at)
    assert all(later >= earlier - 1e-6 for earlier, later in pairwise(bare))
    longest = max(config.backoff_cap, gap(clock, config))
    assert max(bare) <= longest + 1e-6
    assert max(waits) <= max(config.backoff_cap * 1.25, gap(clock, config)) + 1e-6
    assert bare[0] >= config.backoff_first or bare[0] >= config.backoff_cap


def test_back_off_doubles() -> None:
    config = PolitenessConfig(delay=1, backoff_first=5, backoff_cap=100)
    clock, waits = SiteClock(), []
    for _ in range(7):
        before = clock.not_before
        clock = troubled(clock, before, "503", config)
        waits.append(clock.not_before - before)
    assert waits == [5, 10, 20, 40, 80, 100, 100]


def test_jitter_keeps_sites_from_coming_back_in_step() -> None:
    config = PolitenessConfig(backoff_first=8)
    waits = {troubled(SiteClock(), NOW, "503", config, jitter=j / 10).not_before for j in range(10)}
    assert len(waits) == 10


@given(configs, st.integers(0, 20))
def test_trouble_is_forgiven_step_by_step(config: PolitenessConfig, troubles: int) -> None:
    clock = SiteClock()
    for _ in range(troubles):
        clock = troubled(clock, clock.not_before, "503", config)
    gaps = [gap(clock, config)]
    for left in reversed(range(troubles)):
        clock = answered(clock, clock.not_before, config)
        assert (clock.trouble, clock.reason) == (left, "")
        gaps.append(gap(clock, config))
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] == config.delay
    assert answered(clock, clock.not_before, config).trouble == 0


def test_a_recovering_site_is_asked_gently() -> None:
    config = PolitenessConfig(delay=1)
    assert [gap(SiteClock(trouble=n), config) for n in (0, 1, 2, 5, 50)] == [1, 2, 4, 32, 32]


@given(configs, clocks, st.floats(0, 10 * DAY), jitters)
def test_retry_after_is_honoured(config: PolitenessConfig, clock: SiteClock, retry_after: float, jitter: float) -> None:
    after = troubled(clock, NOW, "429", config, retry_after, jitter)
    assert after.not_before >= NOW + min(retry_after, config.retry_after_cap)
    assert after.not_before >= troubled(clock, NOW, "429", config, None, jitter).not_before
    said = f"; Retry-After: {retry_after:.0f} s" if retry_after else ""
    assert (after.reason, after.trouble) == (f"429{said}", clock.trouble + 1)


@given(configs, clocks, st.floats(0, DAY), st.one_of(st.none(), seconds), crawl_delays, jitters)
def test_no_event_lets_us_ask_earlier(
    config: PolitenessConfig, clock: SiteClock, later: float, retry_after: float | None,
    crawl_delay: float | None, jitter: float,
) -> None:  # fmt: skip
    at = NOW + later
    for after in (
        answered(clock, at, config),
        troubled(clock, at, "503", config, retry_after, jitter),
        taken_over(clock, at, config),
        robots_changed(clock, crawl_delay, at, config),
    ):
        assert after.not_before >= clock.not_before


@given(configs, clocks)
def test_a_site_taken_over_counts_as_asked_just_now(config: PolitenessConfig, clock: SiteClock) -> None:
    after = taken_over(clock, NOW, config)
    assert after.not_before >= NOW + gap(clock, config)
    assert after.trouble == clock.trouble


@given(configs, events, st.floats(0, DAY))
def test_a_clock_that_was_set_at_a_right_time_is_believed(
    config: PolitenessConfig,
    story: list[tuple[str, float, float, float | None, float | None, float]],
    later: float,
) -> None:
    clock, now = SiteClock(), NOW
    for what, idle, latency, retry_after, crawl_delay, jitter in story:
        now = max(now + idle, clock.not_before) + latency
        if what == "robots":
            clock = robots_changed(clock, crawl_delay, now, config)
        elif what == "troubled":
            clock = troubled(clock, now, "503", config, retry_after, jitter)
        elif what == "answered":
            clock = answered(clock, now, config)
    assert believable(clock, now + later, config) == clock


@given(configs, clocks, st.floats(2 * DAY, 4000 * DAY))
def test_a_clock_set_in_a_wrong_future_does_not_stop_the_site(
    config: PolitenessConfig, clock: SiteClock, ahead: float
) -> None:
    """The system clock was ahead when the site was asked, and is right again."""
    assume(gap(clock, config) <= DAY)
    wrong = answered(clock, NOW + ahead, config)
    after = believable(wrong, NOW, config)
    assert after.not_before == NOW + gap(wrong, config)
    assert (after.trouble, after.crawl_delay) == (wrong.trouble, wrong.crawl_delay)


@pytest.mark.parametrize(("ip_delay", "expected"), [(None, 4.0), (0.5, 0.5), (0.0, 0.0)])
def test_an_address_has_the_delay_of_a_site_unless_told_otherwise(ip_delay: float | None, expected: float) -> None:
    assert PolitenessConfig(delay=4.0, ip_delay=ip_delay).address_delay == expected

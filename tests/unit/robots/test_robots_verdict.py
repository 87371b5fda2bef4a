"""What answers to /robots.txt mean over time; the matrix of statuses is in tests/spec."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.model.outcome import Outcome, of_status
from gossamer.robots.rules import MAX_BYTES
from gossamer.robots.verdict import (
    OF_OUTCOME,
    Answer,
    Kind,
    RobotsConfig,
    RobotsState,
    after_fetch,
    is_fresh,
    verdict,
)

NOW = 1_800_000_000.0
HOUR, DAY = 3_600.0, 86_400.0
CONFIG = RobotsConfig()


def fetch(
    previous: RobotsState | None,
    status: int,
    now: float = NOW,
    body: bytes = b"",
    retry_after: float | None = None,
    outcome: Outcome | None = None,
    config: RobotsConfig = CONFIG,
) -> RobotsState:
    return after_fetch(previous, status, outcome or of_status(status), body, now, retry_after, config)


def answer(state: RobotsState, now: float, config: RobotsConfig = CONFIG) -> Answer:
    return verdict(state, now, config).answer


def test_every_outcome_has_a_row() -> None:
    assert set(OF_OUTCOME) == set(Outcome)


def test_a_good_answer_holds_for_a_day_and_no_longer() -> None:
    state = fetch(None, 200, body=b"x")
    assert (state.kind, state.body, state.good_at) == (Kind.RULES, b"x", NOW)
    assert is_fresh(state, NOW)
    assert is_fresh(state, NOW + DAY - 1)
    assert not is_fresh(state, NOW + DAY)


def test_a_setting_cannot_make_it_hold_longer_than_a_day() -> None:
    assert not is_fresh(fetch(None, 200, config=RobotsConfig(max_age=90 * DAY)), NOW + DAY)
    assert not is_fresh(fetch(None, 200, config=RobotsConfig(max_age=HOUR)), NOW + HOUR)


def test_a_clock_that_was_set_back_makes_a_state_stale() -> None:
    state = fetch(None, 200)
    assert is_fresh(state, NOW - 60), "clocks of two machines may differ a little"
    assert not is_fresh(state, NOW - DAY)


def test_the_last_good_copy_rules_through_failures_until_it_is_too_old() -> None:
    state = fetch(None, 200, body=b"rules")
    for day in range(1, 31):
        state = fetch(state, 503, now=NOW + day * DAY)
        assert state.kind is Kind.UNREACHABLE
        assert (answer(state, state.fetched_at), state.body) == (Answer.ASK_RULES, b"rules")
    assert answer(state, NOW + 30 * DAY + 1) is Answer.DENY, "the copy ages also between two tries"


def test_unreachable_without_a_copy_denies_for_ever_by_default() -> None:
    state = fetch(None, 0, outcome=Outcome.DNS_FAILED)
    state = fetch(state, 500, now=NOW + 400 * DAY)
    assert answer(state, NOW + 400 * DAY) is Answer.DENY


def test_unreachable_for_long_allows_where_the_setting_says_so() -> None:
    config = RobotsConfig(allow_long_unreachable=True)
    state = fetch(None, 500, config=config)
    state = fetch(state, 0, now=NOW + 29 * DAY, outcome=Outcome.TIMEOUT, config=config)
    assert answer(state, NOW + 29 * DAY, config) is Answer.DENY
    assert answer(state, NOW + 30 * DAY, config) is Answer.ALLOW


def test_one_good_answer_ends_a_run_of_failures() -> None:
    config = RobotsConfig(allow_long_unreachable=True)
    state = fetch(fetch(None, 500), 404, now=NOW + 20 * DAY)
    assert (state.failing_since, state.failures) == (0.0, 0)
    state = fetch(state, 500, now=NOW + 40 * DAY)
    assert answer(state, NOW + 60 * DAY, config) is Answer.DENY, "20 days since it began anew"


def test_a_4xx_drops_the_copy() -> None:
    state = fetch(fetch(None, 200, body=b"old rules"), 404, now=NOW + DAY)
    assert (answer(state, NOW + DAY), state.body, state.good_at) == (Answer.ALLOW, b"", 0.0)
    assert answer(fetch(state, 503, now=NOW + 2 * DAY), NOW + 2 * DAY) is Answer.DENY


def test_429_means_waiting_even_with_a_good_copy_and_keeps_the_copy() -> None:
    good = fetch(None, 200, body=b"rules")
    state = fetch(good, 429, now=NOW + DAY, retry_after=7_200)
    found = verdict(state, NOW + DAY, CONFIG)
    assert (found.answer, found.until) == (Answer.WAIT, NOW + DAY + 7_200)
    assert is_fresh(state, NOW + DAY + 7_199)
    assert not is_fresh(state, NOW + DAY + 7_200)
    failed = fetch(state, 503, now=NOW + 2 * DAY)
    assert answer(failed, NOW + 2 * DAY) is Answer.ASK_RULES


def test_waits_double_up_to_the_cap_and_begin_anew_after_an_answer() -> None:
    state, now, waits = None, NOW, []
    for _ in range(10):
        state = fetch(state, 429, now=now)
        waits.append(state.retry_at - now)
        now = state.retry_at
    assert waits[:4] == [600, 1_200, 2_400, 4_800]
    assert waits[-1] == DAY
    again = fetch(fetch(state, 200, now=now), 500, now=now + DAY)
    assert again.retry_at - again.fetched_at == 600


@pytest.mark.parametrize(("asked", "wait"), [(None, 600), (5, 600), (0, 600), (-3, 600), (1_000, 1_000), (1e12, DAY)])
@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_can_lengthen_a_wait_but_not_without_end(status: int, asked: float | None, wait: float) -> None:
    state = fetch(None, status, retry_after=asked)
    assert state.retry_at == state.expires_at == NOW + wait


def test_304_confirms_the_copy() -> None:
    good = fetch(None, 200, body=b"rules")
    state = fetch(good, 304, now=NOW + DAY)
    assert (state.kind, state.body, state.good_at) == (Kind.RULES, b"rules", NOW + DAY)
    assert fetch(None, 304).kind is Kind.UNREACHABLE, "nothing to confirm"
    assert fetch(fetch(None, 404), 304).kind is Kind.UNREACHABLE


def test_an_address_that_our_guard_refuses_denies_also_with_a_copy() -> None:
    state = fetch(fetch(None, 200, body=b"x"), 0, outcome=Outcome.ADDRESS_REFUSED)
    assert (state.kind, answer(state, NOW)) == (Kind.DENY_ALL, Answer.DENY)


@pytest.mark.parametrize("outcome", [Outcome.TIMEOUT, Outcome.BROKEN_RESPONSE])
def test_a_4xx_counts_even_where_its_body_does_not_arrive(outcome: Outcome) -> None:
    assert fetch(None, 404, outcome=outcome).kind is Kind.ALLOW_ALL
    assert fetch(None, 408, outcome=outcome).kind is Kind.ALLOW_ALL
    assert fetch(None, 429, outcome=outcome).kind is Kind.DEFERRED


def test_a_file_over_the_fetch_limit_is_used_where_the_part_that_counts_arrived() -> None:
    whole = fetch(None, 200, body=b"a\n" * MAX_BYTES, outcome=Outcome.TOO_LARGE)
    assert (whole.kind, len(whole.body)) == (Kind.RULES, MAX_BYTES)
    part = fetch(None, 200, body=b"a\n" * 1_000, outcome=Outcome.TOO_LARGE)
    assert part.kind is Kind.UNREACHABLE


def test_the_stored_copy_is_within_the_limit() -> None:
    assert len(fetch(None, 200, body=b"Disallow: /\n" * 100_000).body) <= MAX_BYTES


def test_an_empty_file_is_a_good_copy() -> None:
    state = fetch(fetch(None, 200, body=b""), 503, now=NOW + DAY)
    assert answer(state, NOW + DAY) is Answer.ASK_RULES


answers = st.tuples(
    st.sampled_from([0, 200, 301, 304, 404, 408, 429, 500, 503]),
    st.sampled_from(list(Outcome)),
    st.floats(0, 40 * DAY),
    st.none() | st.floats(-10, 1e9),
)


@given(st.lists(answers, min_size=1, max_size=8))
def test_laws_over_any_history(history: list[tuple[int, Outcome, float, float | None]]) -> None:
    """A state survives storage, is fresh for a day at most, and failures never allow anything."""
    state, now = None, NOW
    for status, outcome, later, retry_after in history:
        now += later
        state = after_fetch(state, status, outcome, b"x", now, retry_after, CONFIG)
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(state), type=RobotsState) == state
        assert now < state.expires_at <= now + DAY
        assert state.reason
        assert state.reason.isprintable()
        if state.kind in (Kind.UNREACHABLE, Kind.DEFERRED, Kind.DENY_ALL):
            assert answer(state, now) is not Answer.ALLOW

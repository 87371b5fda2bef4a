"""Estimators of change rates: what a visit teaches, and that known rates are found again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.revisit.buckets import DAY, YEAR
from gossamer.revisit.change import DEFAULT_RATE, Evidence, GammaFilter, StepWise, estimator, expected_rate

NEVER_FORGETS = GammaFilter(memory=0.0)
shapes = st.floats(0.01, 1e4)
seconds = st.floats(1.0, 1e10)


def _after(filter_, a, b, gap, changed):
    after = filter_.observe(np.array([a]), np.array([b]), np.array([gap]), np.array([changed]))
    return float(after[0][0]), float(after[1][0])


@given(shapes, seconds, seconds)
def test_a_visit_that_finds_nothing_new_only_adds_its_gap(a, b, gap):
    assert _after(NEVER_FORGETS, a, b, gap, False) == (a, b + gap)


@given(shapes, seconds, seconds)
def test_a_change_raises_the_expected_rate_and_none_lowers_it(a, b, gap):
    raised_a, raised_b = _after(NEVER_FORGETS, a, b, gap, True)
    lowered_a, lowered_b = _after(GammaFilter(memory=YEAR), a, b, gap, False)
    assert raised_a / raised_b >= a / b * (1 - 1e-9)
    # Both changes may vanish in rounding where the gap is next to nothing, or the change was certain anyway.
    assert lowered_a / lowered_b <= a / b * (1 + 1e-12)
    if 0.01 < gap / b < 100 and a < 10:
        assert raised_a / raised_b > a / b > lowered_a / lowered_b


@given(st.floats(0.1, 50.0), st.floats(0.01, 20.0))
def test_a_belief_after_a_change_has_the_mean_and_variance_of_the_true_one(a, gap):
    """The true posterior by numerical integration over the rate, with b = 1, on a logarithmic scale."""
    logs = np.linspace(-60.0 / min(a, 1.0) - 5.0, 8.0, 20_001)
    rates = np.exp(logs)
    density = np.exp(a * logs - rates) * -np.expm1(-rates * gap)
    density /= density.sum()
    mean = float((density * rates).sum())
    variance = float((density * (rates - mean) ** 2).sum())
    shape, rate = _after(NEVER_FORGETS, a, 1.0, gap, True)
    assert shape / rate == pytest.approx(mean, rel=1e-6)
    assert shape / rate**2 == pytest.approx(variance, rel=1e-5)


def test_a_change_within_no_time_teaches_nothing_and_breaks_nothing():
    assert _after(NEVER_FORGETS, 0.5, DAY, 0.0, True) == (0.5, DAY)


@given(shapes, seconds, st.floats(0.0, 1e12), st.booleans())
def test_beliefs_stay_finite_and_positive(a, b, gap, changed):
    after = _after(GammaFilter(memory=YEAR), a, b, gap, changed)
    assert np.isfinite(after).all()
    assert min(after) > 0.0


@pytest.mark.parametrize("shape", [0.1, 0.2, 0.5, 1.0, 3.0, 40.0])
def test_the_median_of_a_belief_parts_it_in_halves(shape):
    draws = np.random.default_rng(1).gamma(shape, size=400_000)
    median = float(GammaFilter(median=True).rates(np.array([shape]), np.array([1.0]))[0])
    assert (draws < median).mean() == pytest.approx(0.5, abs=0.005)


def _visits(rate, gaps, rng):
    return rng.random(gaps.shape) < -np.expm1(-rate * gaps)


@pytest.mark.parametrize("period_days", [0.5, 3.0, 20.0, 100.0])
@pytest.mark.parametrize("mean_gap_days", [2.0, 15.0])
def test_a_known_rate_is_found_again_from_irregular_visits(period_days, mean_gap_days):
    """Counting changes per time fails here: at a gap of 15 days a page that changes daily shows one change a visit.

    Where 29 visits of 30 find a change they tell little, and the belief is no longer shaped like a Gamma.
    """
    rng, rate = np.random.default_rng(7), 1.0 / (period_days * DAY)
    pages, visits = 400, 300
    found = NEVER_FORGETS
    a, b = found.start([[]] * pages)
    for _ in range(visits):
        gaps = rng.exponential(mean_gap_days * DAY, pages)
        a, b = found.observe(a, b, gaps, _visits(rate, gaps, rng))
    assert np.median(found.rates(a, b)) == pytest.approx(rate, rel=0.1 if mean_gap_days < 10 * period_days else 0.35)
    spread = np.quantile(found.rates(a, b), [0.1, 0.9]) / rate
    assert 0.4 < spread[0] < spread[1] < 2.0


def test_a_page_that_changes_its_habit_is_followed_by_a_filter_that_forgets():
    rng, gap = np.random.default_rng(3), np.full(50, 5 * DAY)

    def after_habits(found):
        a, b = found.start([[]] * 50)
        for rate, visits in ((1 / (2 * DAY), 300), (1 / (200 * DAY), 600)):
            for _ in range(visits):
                a, b = found.observe(a, b, gap, _visits(rate, gap, rng))
        return np.median(found.rates(a, b)) * 200 * DAY

    assert after_habits(GammaFilter(memory=YEAR)) == pytest.approx(1.0, rel=0.5)
    assert after_habits(NEVER_FORGETS) > 5.0


def test_steps_go_down_after_a_change_and_up_after_none():
    steps = StepWise(shorter=0.5, longer=1.5, floor=DAY, ceiling=100 * DAY)
    periods, rest = np.array([10 * DAY, 10 * DAY]), np.zeros(2)
    after, _ = steps.observe(periods, rest, np.full(2, DAY), np.array([True, False]))
    assert after.tolist() == [5 * DAY, 15 * DAY]
    assert steps.rates(after, rest).tolist() == [1 / (5 * DAY), 1 / (15 * DAY)]


@given(st.lists(st.booleans(), max_size=60), st.floats(0.0, 1e9))
def test_steps_never_leave_their_bounds(history, exposure):
    steps = StepWise(floor=2 * DAY, ceiling=50 * DAY)
    a, b = steps.start([[Evidence(10.0, 5.0, exposure)]])
    for changed in history:
        a, b = steps.observe(a, b, np.array([DAY]), np.array([changed]))
        assert 2 * DAY <= a[0] <= 50 * DAY


def test_a_page_of_which_nothing_is_known_is_believed_to_change_once_a_month():
    assert expected_rate([]) == DEFAULT_RATE
    assert expected_rate([Evidence(0.0, 0.0, 0.0)] * 4) == DEFAULT_RATE
    a, b = NEVER_FORGETS.start([[]])
    assert a[0] / b[0] == pytest.approx(1 / (30 * DAY))


def test_a_class_with_much_evidence_speaks_for_itself_and_one_with_little_follows_its_parent():
    everything = Evidence(visits=10_000, changes=100, exposure=10_000 * DAY)
    busy = Evidence(visits=10_000, changes=5_000, exposure=10_000 * DAY)
    hardly_seen = Evidence(visits=1, changes=1, exposure=DAY)
    parent = expected_rate([everything])
    assert parent == pytest.approx(0.01 / DAY, rel=0.05)
    assert expected_rate([busy, everything]) == pytest.approx(np.log(2) / DAY, rel=0.05)
    assert parent < expected_rate([hardly_seen, everything]) < 3 * parent


def test_a_class_that_changed_at_every_visit_has_a_finite_rate():
    assert 1 / DAY < expected_rate([Evidence(50, 50, 50 * DAY)]) < 10 / DAY


def test_estimators_are_set_up_for_their_policy():
    assert estimator("steps", "age", 60.0, 600.0) == StepWise(floor=60.0, ceiling=600.0)
    assert estimator("gamma", "freshness", 60.0, 600.0).median
    assert not estimator("gamma", "age", 60.0, 600.0).median

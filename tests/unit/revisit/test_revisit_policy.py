"""Plans spend their budget, keep their bounds, and are the best of their kind."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.revisit.buckets import BUCKETS, DAY, YEAR
from gossamer.revisit.freshness import mean_age, mean_freshness
from gossamer.revisit.policy import POLICIES, plan
from gossamer.revisit.rates import histogram_of, rates_of

FLOOR, CEILING = 3600.0, 2 * YEAR
RATES, ONES = rates_of(np.arange(BUCKETS)), np.ones(BUCKETS)
counts = st.one_of(st.just(0.0), st.floats(0.01, 1e7))
histograms = st.one_of(
    st.lists(counts, min_size=BUCKETS, max_size=BUCKETS).map(np.array),
    st.builds(lambda bucket, pages: np.eye(BUCKETS)[bucket] * pages, st.integers(0, BUCKETS - 1), st.floats(1, 1e6)),
    st.just(np.zeros(BUCKETS)),
)
policies = st.sampled_from(POLICIES)


def _plan(policy, histogram, budget, **bounds):
    return plan(policy, histogram, budget, **{"floor": FLOOR, "ceiling": CEILING, **bounds})


def _mean(values, histogram):
    return float((values * histogram).sum() / histogram.sum())


@given(policies, histograms, st.floats(0.0, 1.0))
def test_the_budget_is_spent_whatever_pages_there_are(policy, histogram, part):
    least, most = histogram.sum() / CEILING, histogram.sum() / FLOOR
    budget = least + part * (most - least)
    intervals = _plan(policy, histogram, budget).intervals(RATES, ONES)
    assert (histogram / intervals).sum() == pytest.approx(budget, rel=0.01)
    assert (intervals >= FLOOR * (1 - 1e-12)).all()
    assert (intervals <= CEILING * (1 + 1e-12)).all()


@given(policies, histograms, st.floats(7.0, 500.0))
def test_the_budget_is_spent_at_common_periods_too(policy, histogram, days):
    budget = histogram.sum() / (days * DAY)
    intervals = _plan(policy, histogram, budget).intervals(RATES, ONES)
    assert (histogram / intervals).sum() == pytest.approx(budget, rel=0.01)


@given(policies, st.lists(st.floats(0.05, 20.0), min_size=BUCKETS, max_size=BUCKETS), st.floats(2.0, 400.0))
def test_the_budget_is_spent_where_pages_weigh_differently(policy, weights, days):
    weights = np.array(weights)
    budget = BUCKETS / (days * DAY)
    intervals = _plan(policy, ONES, budget, weights=weights).intervals(RATES, weights)
    assert (1 / intervals).sum() == pytest.approx(budget, rel=0.01)


def test_pages_of_one_rate_may_be_counted_by_weight():
    histogram, weights = np.ones((2, BUCKETS)) * [[90.0], [10.0]], np.array([[0.5], [5.5]])
    budget = histogram.sum() / (30 * DAY)
    made = _plan("age", histogram, budget, weights=weights)
    spent = (
        histogram / made.intervals(np.tile(RATES, (2, 1)).ravel(), np.repeat(weights, BUCKETS)).reshape(2, -1)
    ).sum()
    assert spent == pytest.approx(budget, rel=0.01)


@pytest.mark.parametrize("policy", POLICIES)
def test_too_small_and_too_large_budgets_end_at_the_bounds(policy):
    assert _plan(policy, ONES, 0.0).intervals(RATES, ONES) == pytest.approx(CEILING)
    assert _plan(policy, ONES, 1e9).intervals(RATES, ONES) == pytest.approx(FLOOR)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_plan_without_pages_is_one_for_the_first_page(policy):
    first = np.array([1 / (30 * DAY)]), np.ones(1)
    for days in (1, 100):
        assert _plan(policy, np.zeros(BUCKETS), 1 / (days * DAY)).intervals(*first) == pytest.approx(days * DAY)
    assert _plan(policy, np.zeros(BUCKETS), 0.0).intervals(*first) == pytest.approx(CEILING)


@given(policies, histograms, st.floats(0.0, 10.0))
def test_pages_off_the_scale_get_an_interval_within_bounds(policy, histogram, weight):
    rates, weights = np.array([0.0, 1e-20, 1.0, 1e12]), np.full(4, weight)
    intervals = _plan(policy, histogram, histogram.sum() / (30 * DAY)).intervals(rates, weights)
    assert ((intervals >= FLOOR) & (intervals <= CEILING)).all()


@given(histograms.filter(lambda h: h.sum() > 0), st.floats(1.0, 500.0))
def test_each_optimal_policy_is_the_best_at_what_it_is_for(histogram, days):
    budget = histogram.sum() / (days * DAY)
    intervals = {policy: _plan(policy, histogram, budget).intervals(RATES, ONES) for policy in POLICIES}
    fresh = {policy: _mean(mean_freshness(RATES, every), histogram) for policy, every in intervals.items()}
    old = {policy: _mean(mean_age(RATES, every), histogram) for policy, every in intervals.items()}
    assert fresh["freshness"] >= max(fresh.values()) - 1e-6
    assert old["age"] <= min(old.values()) * (1 + 1e-6)


@pytest.mark.parametrize(
    ("policy", "value"),
    [("freshness", mean_freshness), ("age", lambda *page: -mean_age(*page))],
    ids=["freshness", "age"],
)
def test_no_exchange_of_visits_between_two_pages_improves_an_optimal_plan(policy, value):
    """A visit more for any page is worth no more than a visit less costs any other that has some to lose."""
    pages = slice(0, BUCKETS, 4)
    rates, histogram = RATES[pages], np.zeros(BUCKETS)
    histogram[pages] = 1.0
    intervals = _plan(policy, histogram, len(rates) / (10 * DAY), floor=1.0).intervals(rates, np.ones(len(rates)))
    often, has_some = 1 / intervals, intervals < 0.99 * CEILING
    step = often[has_some].min() / 100
    gain = value(rates, 1 / (often + step)) - value(rates, intervals)
    loss = value(rates, intervals) - value(rates, 1 / np.maximum(often - step, 1e-15))
    assert has_some.sum() > 3
    assert gain.max() <= loss[has_some].min() * 1.001


def test_for_freshness_what_changes_too_fast_is_given_up_but_not_for_age():
    often_changed, budget = RATES > 24 / DAY, BUCKETS / (20 * DAY)
    given_up = _plan("freshness", ONES, budget).intervals(RATES, ONES)
    kept = _plan("age", ONES, budget).intervals(RATES, ONES)
    assert given_up[often_changed] == pytest.approx(CEILING)
    assert kept[often_changed].max() < 30 * DAY
    assert (np.diff(kept) <= 1.0).all(), "for age, what changes faster is not visited less"


@pytest.mark.parametrize("policy", ["proportional", "freshness", "age"])
def test_pages_that_matter_more_are_visited_more_often(policy):
    rate = np.full(3, 1 / (40 * DAY))
    made = _plan(policy, histogram_of(rate), 3 / (20 * DAY))
    light, even, heavy = made.intervals(rate, np.array([0.3, 1.0, 3.0]))
    assert light > even > heavy


def test_uniform_and_proportional_are_what_they_are_called():
    budget = BUCKETS / (20 * DAY)
    assert _plan("uniform", ONES, budget).intervals(RATES, ONES) == pytest.approx(20 * DAY)
    visits = _plan("proportional", ONES, budget, floor=1e-6, ceiling=1e15).intervals(RATES, ONES) * RATES
    assert visits == pytest.approx(visits[0])


def test_what_is_no_plan_is_refused():
    with pytest.raises(ValueError, match="unknown policy"):
        _plan("often", ONES, 1.0)
    with pytest.raises(ValueError, match="floor"):
        _plan("age", ONES, 1.0, floor=10.0, ceiling=1.0)

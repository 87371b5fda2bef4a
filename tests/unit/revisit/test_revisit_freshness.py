"""Freshness and age of copies: the closed forms are the integrals they stand for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.revisit.buckets import BUCKETS, DAY, FASTEST, SLOWEST, freshness_and_age, rate_of
from gossamer.revisit.freshness import age, freshness, mean_age, mean_freshness
from gossamer.revisit.rates import buckets_of, histogram_of, rates_of

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(40)
changes = st.floats(1e-9, 1e4)
"""λt: changes expected since the download."""
times = st.floats(1.0, 1e9)


def _integral(function, end, scale):
    """Gauss-Legendre in pieces that double in length, from far below `scale` on."""
    cuts = np.concatenate([[0.0], np.geomspace(min(scale, end) * 1e-6, end, 80)])
    low, high = cuts[:-1, None], cuts[1:, None]
    x = (high + low) / 2 + (high - low) / 2 * _NODES
    return float((function(x) * _WEIGHTS * (high - low) / 2).sum())


def _one(value):
    return np.array([value])


@given(changes, times)
def test_age_is_its_integral(x, t):
    rate = x / t
    truth = _integral(lambda s: rate * np.exp(-rate * s) * (t - s), t, 1 / rate)
    assert age(_one(rate), t)[0] == pytest.approx(truth, rel=1e-9)


@given(changes, times)
def test_plain_numbers_and_arrays_agree(x, t):
    rate = x / t
    assert freshness_and_age(rate, t) == pytest.approx((freshness(_one(rate), t)[0], age(_one(rate), t)[0]), rel=1e-5)
    assert freshness_and_age(rate, 0.0) == (1.0, 0.0)
    assert [rate_of(bucket) for bucket in range(BUCKETS)] == rates_of(np.arange(BUCKETS)).tolist()


@given(changes, times)
def test_means_over_an_interval_are_their_integrals(x, interval):
    rate = _one(x / interval)
    fresh = _integral(lambda s: freshness(rate, s), interval, 1 / rate[0]) / interval
    old = _integral(lambda s: age(rate, s), interval, 1 / rate[0]) / interval
    assert mean_freshness(rate, interval)[0] == pytest.approx(fresh, rel=1e-9)
    assert mean_age(rate, interval)[0] == pytest.approx(old, rel=1e-9)


@given(changes, times, st.floats(1.001, 10.0))
def test_copies_only_grow_staler_and_older(x, t, more):
    rate = _one(x / t)
    assert freshness(rate, t * more)[0] <= freshness(rate, t)[0] <= 1.0
    assert mean_freshness(rate, t * more)[0] <= mean_freshness(rate, t)[0] <= 1.0
    assert age(rate, t * more)[0] > age(rate, t)[0] > 0.0
    assert mean_age(rate, t * more)[0] > mean_age(rate, t)[0] > 0.0


def test_a_page_that_never_changes_stays_fresh_and_ageless():
    never, long = np.zeros(1), 1e9
    assert freshness(never, long)[0] == mean_freshness(never, long)[0] == 1.0
    assert age(never, long)[0] == mean_age(never, long)[0] == 0.0
    assert mean_freshness(_one(1.0), 0.0)[0] == 1.0
    assert mean_age(_one(1.0), 0.0)[0] == 0.0


def test_of_a_page_that_always_changes_the_age_is_the_time_since_the_visit():
    assert age(_one(1e9), 100.0)[0] == pytest.approx(100.0)
    assert mean_age(_one(1e9), 100.0)[0] == pytest.approx(50.0)


def test_pages_and_times_may_be_many():
    rates, ages = np.array([1.0, 2.0, 3.0]) / DAY, np.array([1.0, 2.0, 3.0]) * DAY
    assert freshness(rates, ages) == pytest.approx(np.exp([-1.0, -4.0, -9.0]))


@given(st.floats(SLOWEST, FASTEST))
def test_a_rate_is_near_the_rate_of_its_bucket(rate):
    bucket = buckets_of(_one(rate))
    assert 0 <= bucket[0] < BUCKETS
    assert 0.86 < rates_of(bucket)[0] / rate < 1.16


def test_rates_off_the_scale_fall_into_the_last_buckets():
    assert buckets_of(np.array([0.0, 1e-30, 1e9, np.inf])).tolist() == [0, 0, BUCKETS - 1, BUCKETS - 1]


def test_every_bucket_is_its_own_and_pages_are_counted():
    every = np.arange(BUCKETS)
    assert (buckets_of(rates_of(every)) == every).all()
    assert histogram_of(rates_of(np.array([3, 3, 7])))[[3, 7]].tolist() == [2.0, 1.0]
    assert histogram_of(np.array([])).sum() == 0.0

"""How fresh and how old copies of pages are expected to be.

A page changes at random moments, λ times a second in the mean. A copy is *fresh* until the first change after its
download; from then on it has an *age*, the time since that change. After t seconds a copy is fresh with probability
e^(−λt), and its expected age is

    Age(λ, t) = ∫₀ᵗ λe^(−λx) (t − x) dx = t − (1 − e^(−λt)) / λ

The closed forms subtract numbers that are nearly equal where λt is small: there the first terms of their series are
used, which are exact to the last digits.
"""

from __future__ import annotations

import numpy as np

from gossamer.revisit.rates import Floats

_SMALL = 1e-2
"""λt below which the series is used: the first term left out is 1e-14 of the sum or less."""


def freshness(rates: Floats, t: Floats | float) -> Floats:
    """Probability that copies made `t` seconds ago are still like the page."""
    return np.exp(-rates * np.asarray(t, dtype=np.float64))


def age(rates: Floats, t: Floats | float) -> Floats:
    """Expected seconds since copies made `t` seconds ago went out of date; a fresh copy counts as 0."""
    t = np.asarray(t, dtype=np.float64)
    return t * _lag(rates * t)


def mean_freshness(rates: Floats, interval: Floats | float) -> Floats:
    """Share of the time for which pages visited every `interval` seconds have a fresh copy."""
    return _share(rates * np.asarray(interval, dtype=np.float64))


def mean_age(rates: Floats, interval: Floats | float) -> Floats:
    """Age in seconds, averaged over time, of the copies of pages visited every `interval` seconds."""
    interval = np.asarray(interval, dtype=np.float64)
    return interval * _mean_lag(rates * interval)


def _share(x: Floats) -> Floats:
    """(1 − e^−x) / x."""
    safe = np.where(x > 0.0, x, 1.0)
    return np.where(x > 0.0, -np.expm1(-safe) / safe, 1.0)


def _lag(x: Floats) -> Floats:
    """1 − (1 − e^−x) / x."""
    series = x / 2 * (1 - x / 3 * (1 - x / 4 * (1 - x / 5 * (1 - x / 6 * (1 - x / 7)))))
    return np.where(x < _SMALL, series, 1.0 - _share(x))


def _mean_lag(x: Floats) -> Floats:
    """1/2 − 1/x + (1 − e^−x) / x²."""
    series = x / 6 * (1 - x / 4 * (1 - x / 5 * (1 - x / 6 * (1 - x / 7 * (1 - x / 8)))))
    safe = np.where(x > 0.0, x, 1.0)
    return np.where(x < _SMALL, series, 0.5 - _lag(safe) / safe)

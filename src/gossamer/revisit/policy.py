"""How a budget of visits is shared among pages that change at different rates.

`uniform` visits every page equally often, `proportional` as often as it changes (times its weight). `freshness` keeps
the largest (weighted) share of copies fresh, `age` keeps copies from growing old. These two find the frequencies at
which one more visit is worth the same wherever it goes, the *price* μ. With x = λ · interval (changes per visit):

    freshness   μ = w/λ  · g(x)    g(x) = 1 − (1 + x) e^−x      bounded: what changes too fast is not worth its visits
    age         μ = w/λ² · h(x)    h(x) = x²/2 − g(x)           unbounded: nothing is given up

So an interval is the inverse of g or h, read from a table, divided by λ. What a policy spends falls as the price
rises; the price that spends the budget is found on a grid that is refined twice. Between the last two prices
frequencies are mixed, so that the budget is met exactly even where the value of a visit is flat.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec
import numpy as np

from gossamer.revisit.buckets import BUCKETS, DAY
from gossamer.revisit.rates import Floats, rates_of

Policy = Literal["uniform", "proportional", "freshness", "age"]
POLICIES: tuple[Policy, ...] = ("uniform", "proportional", "freshness", "age")

_GRID, _ROUNDS = 40, 3
_LEAST_RATE = 1e-30
_CENTRES = rates_of(np.arange(BUCKETS))


def _gain_fresh(x: Floats) -> Floats:
    """g(x) = 1 − (1 + x) e^−x."""
    series = x**2 / 2 * (1 - 2 * x / 3 * (1 - 3 * x / 8 * (1 - 4 * x / 15 * (1 - 5 * x / 24))))
    return np.where(x < 0.02, series, -np.expm1(-x) - x * np.exp(-x))


def _gain_age(x: Floats) -> Floats:
    """h(x) = x²/2 − g(x)."""
    series = x**3 / 3 * (1 - 3 * x / 8 * (1 - 4 * x / 15 * (1 - 5 * x / 24 * (1 - 6 * x / 35))))
    return np.where(x < 0.02, series, x**2 / 2 - _gain_fresh(x))


def _table(gain: Callable[[Floats], Floats], low: float, high: float, points: int) -> tuple[Floats, Floats]:
    """Logarithms of gains, rising, and of the x they belong to."""
    x = np.geomspace(low, high, points)
    logs, places = np.unique(np.log(gain(x)), return_index=True)
    return logs, np.log(x[places])


# Beyond 35 changes per visit g is 1 to the last digit.
_FRESH = _table(_gain_fresh, 1e-9, 35.0, 2400)
_AGE = _table(_gain_age, 1e-9, 1e9, 2400)


def _uniform(rates: Floats, weights: Floats, price: Floats) -> Floats:
    return np.broadcast_to(price, np.broadcast_shapes(rates.shape, weights.shape, price.shape))


def _proportional(rates: Floats, weights: Floats, price: Floats) -> Floats:
    return price / (rates * weights)


def _freshest(rates: Floats, weights: Floats, price: Floats) -> Floats:
    gain = np.log(price * rates / weights)
    return np.exp(np.interp(gain, *_FRESH, right=np.inf)) / rates


def _youngest(rates: Floats, weights: Floats, price: Floats) -> Floats:
    return np.exp(np.interp(np.log(price * rates * rates / weights), *_AGE)) / rates


_INTERVALS: dict[str, Callable[[Floats, Floats, Floats], Floats]] = {
    "uniform": _uniform,
    "proportional": _proportional,
    "freshness": _freshest,
    "age": _youngest,
}
"""Policy → intervals of pages with these rates and weights at a price; longer as the price rises."""


class Plan(msgspec.Struct, frozen=True):
    """How often pages are visited: what `plan` found for a budget."""

    policy: Policy
    floor: float
    ceiling: float
    """Seconds between two visits, at least and at most."""
    low: float
    high: float
    """Prices a hair below and above the right one: at `low` too much is spent, at `high` too little."""
    share: float
    """Share of the frequencies at `low` in the mixture that meets the budget."""

    def intervals(self, rates: Floats, weights: Floats) -> Floats:
        """Seconds until the next visit of pages that change at `rates` and matter as much as `weights`."""
        prices = np.array([[self.low], [self.high]])
        often, rarely = _frequencies(self.policy, rates, weights, prices, self.floor, self.ceiling)
        frequencies: Floats = self.share * often + (1.0 - self.share) * rarely
        return np.clip(1.0 / frequencies, self.floor, self.ceiling)


def plan(
    policy: Policy,
    histogram: Floats,
    budget: float,
    *,
    floor: float,
    ceiling: float,
    weights: Floats | float = 1.0,
) -> Plan:
    """The plan that spends `budget` visits a second on pages counted by the bucket of their rate.

    `weights` are the weights of the pages in `histogram`. Where weights differ much within a bucket, both may have
    further axes before the last one, e.g. one row per class of weight. Where pages at their floor cannot spend the
    budget it is not spent; where pages at their ceiling need more than the budget they get it. Where there are no pages
    yet, the plan is made for one that changes once a month.
    """
    if policy not in _INTERVALS:
        raise ValueError(f"unknown policy {policy!r}")
    if not 0.0 < floor <= ceiling:
        raise ValueError("0 < floor <= ceiling must hold")
    pages, weights = np.broadcast_arrays(np.asarray(histogram, dtype=np.float64), np.asarray(weights, dtype=np.float64))
    rates = np.broadcast_to(_CENTRES, pages.shape)
    some = pages > 0.0
    pages, rates, weights = pages[some], rates[some], weights[some]
    if not pages.size:
        pages, rates, weights = np.ones(1), np.full(1, 1.0 / (30.0 * DAY)), np.ones(1)
    low, high = _bracket(policy, rates, weights, floor, ceiling)
    at_low = at_high = budget
    for _ in range(_ROUNDS):
        prices = np.exp(np.linspace(np.log(low), np.log(high), _GRID))
        spent = _frequencies(policy, rates, weights, prices[:, None], floor, ceiling) @ pages
        at = int(np.clip(np.searchsorted(-spent, -budget), 1, _GRID - 1))
        low, high, at_low, at_high = prices[at - 1], prices[at], spent[at - 1], spent[at]
    share = (budget - at_high) / (at_low - at_high) if at_low > at_high else float(budget >= at_low)
    return Plan(policy, floor, ceiling, float(low), float(high), float(np.clip(share, 0.0, 1.0)))


def _frequencies(
    policy: Policy, rates: Floats, weights: Floats, prices: Floats, floor: float, ceiling: float
) -> Floats:
    """Visits a second of each page (columns) at each price (rows)."""
    intervals = _INTERVALS[policy](np.maximum(rates, _LEAST_RATE), np.maximum(weights, _LEAST_RATE), prices)
    return 1.0 / np.clip(intervals, floor, ceiling)


def _bracket(policy: Policy, rates: Floats, weights: Floats, floor: float, ceiling: float) -> tuple[float, float]:
    """Prices at which every page is at its floor, and at its ceiling."""
    weights = np.maximum(weights, _LEAST_RATE)
    if policy == "uniform":
        return floor, ceiling
    if policy == "proportional":
        return float(np.min(floor * rates * weights)), float(np.max(ceiling * rates * weights))
    worth = weights / rates if policy == "freshness" else weights / rates**2
    gain = _gain_fresh if policy == "freshness" else _gain_age
    return float(np.min(worth * gain(floor * rates))) * 0.99, float(np.max(worth * gain(ceiling * rates))) * 1.01

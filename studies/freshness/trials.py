"""What the study `freshness` measures: every policy, with true and with learned rates, on real and made-up changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec
import numpy as np

from gossamer.revisit.buckets import DAY, YEAR
from gossamer.revisit.change import Estimator, estimator
from gossamer.revisit.freshness import age, mean_age, mean_freshness
from gossamer.revisit.policy import POLICIES, Policy
from gossamer.revisit.rates import Floats
from studies.freshness.change_history import History, poisson_history, read_history
from studies.freshness.revisiting import CEILING, FLOOR, Crawler, Outcome, Trial, Truth, fine_step, never

TRUE, YEARLY = "true", "true each year"
LEARNED = ("gamma", "steps")
_MEDIAN_CHANGE = 50 * DAY
_SPREAD = 1.5
"""Of the logarithm of made-up rates: the fastest tenth of the pages changes weekly, the slowest once a year."""


class Collection(msgspec.Struct, frozen=True):
    """Changes, and the time that counts: before it is learned."""

    name: str
    """Of tables."""
    title: str
    history: History
    start: float
    counted: float

    @property
    def real(self) -> bool:
        """Whether the changes are those of a real site."""
        return self.history.rates is None

    def trial(self, period: float, step: float, seed: int) -> Trial:
        """All time that counts, with one visit per page and `period` days."""
        return Trial(self.history, self.counted, self.history.end, period, step, self.start, seed=seed)


class Result(msgspec.Struct, frozen=True):
    """What one policy reached with one budget."""

    collection: str
    period: float
    """Days per visit and page."""
    policy: str
    rates: str
    """How it knows the rates: `true`, `true each year`, `gamma` or `steps`; `""` where it needs none."""
    outcome: Outcome


class Measure(msgspec.Struct, frozen=True):
    """A figure that was measured, and what the closed form says."""

    found: float
    expected: float
    error: float
    """Standard error of what was found, from how much pages differ from their expectation."""

    @property
    def errors(self) -> float:
        """By how many standard errors both differ."""
        return abs(self.found - self.expected) / self.error


class Check(msgspec.Struct, frozen=True):
    """Pages with known rates, visited at one interval."""

    interval: float
    """Days."""
    freshness: Measure
    """Over time."""
    last_age: Measure
    """Age(λ, t) of S3.7: that of a copy when it is visited again; days."""
    mean_age: Measure
    """Over time; days."""

    @property
    def measures(self) -> tuple[Measure, Measure, Measure]:
        """All three."""
        return self.freshness, self.last_age, self.mean_age


class Findings(msgspec.Struct, frozen=True):
    """Everything that was measured."""

    collections: Sequence[Collection]
    periods: Sequence[float]
    results: Sequence[Result]
    unvisited: dict[str, Outcome]
    """Collection → what comes of no visits."""
    checks: Sequence[Check]

    def get(self, collection: str, period: float, policy: str, rates: str) -> Outcome:
        """One outcome."""
        key = (collection, period, policy, rates)
        return next(one.outcome for one in self.results if (one.collection, one.period, one.policy, one.rates) == key)

    def contestants(self, collection: str) -> list[tuple[str, str]]:
        """Policies and how they know the rates, in the order of the results."""
        return list(dict.fromkeys((one.policy, one.rates) for one in self.results if one.collection == collection))

    def ratio(self, collection: str, period: float, policy: str, rates: str) -> float:
        """Freshness as a share of that of the same policy that knows the rates."""
        known = self.get(collection, period, policy, TRUE if policy != "uniform" else "")
        return self.get(collection, period, policy, rates).freshness / known.freshness


def poisson_collection(pages: int, learn: float, count: float, seed: int) -> Collection:
    """Made-up pages with log-normal rates that change at random moments; years to learn and years that count."""
    rates = np.exp(np.random.default_rng(seed).normal(0.0, _SPREAD, pages)) / _MEDIAN_CHANGE
    history = poisson_history(rates, (learn + count) * YEAR, seed)
    return Collection("poisson", "Poisson pages", history, 0.0, learn * YEAR)


def recorded_collection(path: Path, every: int = 1, learn: float = math.inf, count: float = 10.0) -> Collection:
    """Each `every`-th page of a history file; its last years count, but no more than half of them."""
    history = read_history(path)
    counted = max(history.end - count * YEAR, (float(history.born.min()) + history.end) / 2)
    name = path.name.removesuffix(".tsv.gz")
    return Collection(name, name, history.every(every), counted - learn * YEAR, counted)


def compare(
    collections: Sequence[Collection], periods: Sequence[float], quick: bool, seed: int, tell: Callable[[str], None]
) -> list[Result]:
    """Every policy with every way to know the rates, for each budget."""
    results = []
    for collection in collections:
        for period in periods:
            tell(f"{collection.title}: a visit per page every {period:g} days")
            trial = collection.trial(period, max(DAY, 2 * fine_step(period)) if quick else fine_step(period), seed)
            for policy in POLICIES:
                for rates, knows in ways_to_know(policy, collection.real and not quick).items():
                    outcome = Crawler(trial, policy, knows).run()
                    results.append(Result(collection.name, period, policy, rates, outcome))
    return results


def ways_to_know(policy: Policy, yearly: bool) -> dict[str, Estimator | Truth]:
    """Those who know the rates, and the estimators as the live crawler sets them up; `uniform` looks at none."""
    if policy == "uniform":
        return {"": Truth()}
    ways: dict[str, Estimator | Truth] = {TRUE: Truth()}
    if yearly:
        ways[YEARLY] = Truth(YEAR)
    return ways | {
        "gamma": estimator("gamma", policy, FLOOR, CEILING),
        "steps": estimator("steps", policy, FLOOR, CEILING),
    }


def unvisited(collections: Iterable[Collection]) -> dict[str, Outcome]:
    """What the copies are worth if no page is ever visited again."""
    return {one.name: never(one.trial(1.0, DAY, 0)) for one in collections}


def check_closed_form(history: History, interval: float) -> Check:
    """Visit pages with known rates every `interval` days, and hold what comes out against the closed forms."""
    if history.rates is None:
        raise ValueError("the rates of a real site are not known")
    seconds, rates = interval * DAY, history.rates
    rounds = int(history.end / seconds) - 1
    end = seconds * (1 + rounds)
    trial = Trial(history, seconds, end, interval, min(DAY, seconds / 8), renew=False, spread=0.0)
    crawler = Crawler(trial, "uniform", estimator("gamma", "uniform", FLOOR, CEILING))
    crawler.run()
    span = end - seconds
    return Check(
        interval,
        _measure(1 - crawler.stale / span, mean_freshness(rates, seconds)),
        _measure(crawler.late / crawler.visited / DAY, age(rates, seconds) / DAY),
        _measure(crawler.age / span / DAY, mean_age(rates, seconds) / DAY),
    )


def _measure(found: Floats, expected: Floats) -> Measure:
    error = float(np.std(found - expected, ddof=1)) / math.sqrt(len(found))
    return Measure(float(found.mean()), float(expected.mean()), error)

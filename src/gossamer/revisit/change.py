"""How often pages change, learned from irregular visits that only tell *changed* or *not changed*.

Two estimators have one contract: the state of a page is two numbers, and batches of pages are learned from at once.

`StepWise` keeps a period that gets shorter after each change that is seen and longer after none. It is simple, and it
is blind to how long the page was left alone: where visits are few every one finds a change, and the period falls to
its floor.

`GammaFilter` keeps a belief about the page's rate λ of changes, a Gamma distribution with shape a and a rate of b
seconds. Nothing changed in τ seconds has the likelihood e^(−λτ) and makes it Gamma(a, b + τ), exactly. At least one
change has the likelihood 1 − e^(−λτ); the outcome is a mixture, replaced by the Gamma of the same mean and variance:

    E λ  = a/b         · (1 − r^(a+1)) / (1 − r^a)      with r = b / (b + τ)
    E λ² = a(a+1)/b²   · (1 − r^(a+2)) / (1 − r^a)

The rate it answers is the mean of the belief, or its median: the policy `freshness` gives up pages that change too
fast, and a mean, drawn up by rates that are possible but not likely, makes it give up too many. A page that was never
visited is believed to change like the pages of its class: see `expected_rate`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

import msgspec
import numpy as np

from gossamer.revisit.buckets import DAY, YEAR
from gossamer.revisit.rates import Bools, Floats

DEFAULT_RATE = 1.0 / (30.0 * DAY)
"""Changes a second of a page of which nothing is known: one in a month."""
_CLASS_CHANGES = 2.0
"""Changes that a class must have shown until it counts as much as the next more general class."""
_FLAT, _STEEP, _BEND = math.exp(-np.euler_gamma), math.log(2.0) - 1.0 / 3.0, 0.1435
_TINY = 1e-9


class Evidence(NamedTuple):
    """What revisits showed of a class of pages."""

    visits: float
    changes: float
    """Visits that found a change."""
    exposure: float
    """Seconds between the visits and those before them, added up."""


class Estimator(Protocol):
    """Learns from visits how often pages change."""

    def start(self, priors: Sequence[Sequence[Evidence]]) -> tuple[Floats, Floats]:
        """States of new pages, each with the evidence of its classes from specific to general."""
        ...

    def observe(self, a: Floats, b: Floats, gaps: Floats, changed: Bools) -> tuple[Floats, Floats]:
        """States after visits `gaps` seconds after the last ones."""
        ...

    def rates(self, a: Floats, b: Floats) -> Floats:
        """Expected changes per second."""
        ...


class StepWise(msgspec.Struct, frozen=True):
    """A period that steps up and down."""

    shorter: float = 0.7
    """Factor of the period after a change."""
    longer: float = 1.2
    """Factor of the period after none."""
    floor: float = 0.25 * DAY
    """Shortest period, in seconds: pages made anew on every request always seem to change."""
    ceiling: float = 2.0 * YEAR
    """Longest period, in seconds."""

    def start(self, priors: Sequence[Sequence[Evidence]]) -> tuple[Floats, Floats]:
        """The mean period of the page's classes; the second number is not used."""
        periods = 1.0 / np.array([expected_rate(classes) for classes in priors])
        return np.clip(periods, self.floor, self.ceiling), np.zeros(len(priors))

    def observe(self, a: Floats, b: Floats, gaps: Floats, changed: Bools) -> tuple[Floats, Floats]:
        """One step for each page; how long the page was left alone does not count."""
        return np.clip(a * np.where(changed, self.shorter, self.longer), self.floor, self.ceiling), b

    def rates(self, a: Floats, b: Floats) -> Floats:
        """One change per period."""
        return 1.0 / a


class GammaFilter(msgspec.Struct, frozen=True):
    """A Gamma belief about the rate, moved by each visit as the laws of probability ask."""

    strength: float = 0.1
    """Shape of a new page's belief: the changes its class counts for. Small: pages of a class differ much."""
    memory: float = 2.0 * YEAR
    """Seconds after which half of what was learned is forgotten, for pages that change their habits; 0: never. A belief
    never gets weaker than that of a new page."""
    median: bool = False
    """Whether `rates` are medians, not means."""

    def start(self, priors: Sequence[Sequence[Evidence]]) -> tuple[Floats, Floats]:
        """Beliefs whose means are the rates of the pages' classes."""
        shape = np.full(len(priors), self.strength)
        return shape, shape / np.array([expected_rate(classes) for classes in priors])

    def observe(self, a: Floats, b: Floats, gaps: Floats, changed: Bools) -> tuple[Floats, Floats]:
        """The beliefs after the visits; a gap of no time teaches nothing."""
        gaps = np.maximum(gaps, 0.0)
        if self.memory:
            kept = np.maximum(np.exp2(-gaps / self.memory), np.minimum(self.strength / a, 1.0))
            a, b = a * kept, b * kept
        shape, rate = _after_change(a, b, np.maximum(gaps, _TINY * b))
        learned = changed & (gaps > 0.0)
        return np.where(learned, shape, a), np.where(learned, rate, b + np.where(changed, 0.0, gaps))

    def rates(self, a: Floats, b: Floats) -> Floats:
        """The mean or median of each belief."""
        return (_median_shape(a) if self.median else a) / b


def estimator(name: Literal["gamma", "steps"], policy: str, floor: float, ceiling: float) -> Estimator:
    """The estimator of that name, set up for a policy and its shortest and longest interval in seconds."""
    if name == "steps":
        return StepWise(floor=floor, ceiling=ceiling)
    return GammaFilter(strength=0.5, median=True) if policy == "freshness" else GammaFilter()


def _after_change(a: Floats, b: Floats, gaps: Floats) -> tuple[Floats, Floats]:
    """The Gamma with the mean and variance of a belief after at least one change in `gaps` seconds."""
    log_r = -np.log1p(gaps / b)
    none, one, two = (-np.expm1((a + power) * log_r) for power in (0.0, 1.0, 2.0))
    mean = a / b * one / none
    spread = np.maximum((1.0 + 1.0 / a) * two * none / one**2 - 1.0, _TINY)
    shape = 1.0 / spread
    return shape, shape / mean


def _median_shape(a: Floats) -> Floats:
    """The median of Gamma(a, 1), within 1 %.

    It is 2^(−1/a) · (a + c), where c goes from e^−γ for small a to ln 2 − 1/3 for large a (bounds by Lyon, 2021).
    """
    small = _BEND / (a + _BEND)
    return np.exp2(-1.0 / a) * (a + small * _FLAT + (1.0 - small) * _STEEP)


def expected_rate(classes: Sequence[Evidence]) -> float:
    """Changes per second of a page known by its classes only, given from specific to general.

    Each class, from the general to the specific, corrects the rate of the one before: that rate counts as much as
    `_CLASS_CHANGES` seen changes, so a class with few changes is close to its parent, one with many speaks for itself.
    """
    rate = DEFAULT_RATE
    for evidence in reversed(classes):
        if evidence.visits > 0.0 and evidence.exposure > 0.0:
            changes = _rate_of(evidence) * evidence.exposure
            rate = (_CLASS_CHANGES + changes) / (_CLASS_CHANGES / rate + evidence.exposure)
    return rate


def _rate_of(evidence: Evidence) -> float:
    """The rate at which changes were as likely to be seen as they were; several within a gap are seen as one."""
    unchanged = (evidence.visits - min(evidence.changes, evidence.visits) + 0.5) / (evidence.visits + 0.5)
    return -math.log(unchanged) * evidence.visits / evidence.exposure

"""A crawler that only revisits, on virtual time, with the estimators and plans of the live one.

It visits the pages of a history. It learns of a page when the page is born and downloads it (which is free here: new
pages have a budget of their own); a page that is deleted leaves. It has one visit per page and `period`, takes the
pages that are due first, and makes a new plan each week. All that a visit tells it is whether the page has changed
since the visit before. A new page's prior is what visits so far have shown of its directory and of the site.

*Freshness* is the share of page-time in which the copy is like the page, *age* the mean time since the copy was
overtaken, 0 while it is fresh.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.revisit.buckets import DAY, YEAR
from gossamer.revisit.change import Estimator, Evidence
from gossamer.revisit.freshness import freshness
from gossamer.revisit.policy import Policy, plan
from gossamer.revisit.rates import Floats, histogram_of
from studies.freshness.change_history import History, Pages

FLOOR, CEILING = DAY / 4, 2 * YEAR
_REPLAN = 7 * DAY
_UNKNOWN_RATE = 1 / YEAR
_ROUNDING = 1e-6
"""Of visits: ten tenths of a visit are one."""


class Truth(msgspec.Struct, frozen=True):
    """Knows the rates: of all the time that counts, or of each `window` of so many seconds."""

    window: float = np.inf


class Outcome(msgspec.Struct, frozen=True):
    """What a crawler reached."""

    freshness: float
    age: float
    """Days."""
    expected: float
    """Freshness that the crawler itself expected, by its rates."""
    visits: int
    found: float
    """Share of its visits that found a change."""


class Trial(msgspec.Struct, frozen=True):
    """What all crawlers that are compared have in common."""

    history: History
    counted: float
    """Moment from which on it counts."""
    end: float
    period: float
    """Days per visit and page."""
    step: float = DAY
    """Seconds of virtual time between two batches of visits."""
    start: float = 0.0
    """Moment from which on it is learned, if there are pages by then."""
    ceiling: float = CEILING
    renew: bool = True
    """Whether every copy is renewed when counting begins, so that nobody inherits another's past."""
    spread: float = 0.05
    """Share by which intervals are made longer or shorter by chance: pages that were added together would be visited
    together for ever."""
    seed: int = 5

    @property
    def page_time(self) -> Floats:
        """Seconds of each page's life that count."""
        lived: Floats = np.minimum(self.history.died, self.end) - np.maximum(self.history.born, self.counted)
        return lived.clip(0.0)


def fine_step(period: float) -> float:
    """A step that is short beside a period in days."""
    return DAY / 4 if period < 14 else DAY


def never(trial: Trial) -> Outcome:
    """What comes of no visits at all: each page is downloaded once, when counting begins or it is born."""
    history = trial.history
    lives = np.flatnonzero(trial.page_time > 0.0)
    first = np.maximum(history.born[lives], trial.counted)
    old = np.minimum(history.died[lives], trial.end) - history.next_changes(lives, first)
    old, total = np.maximum(old, 0.0), float(trial.page_time.sum())
    return Outcome(1 - float(old.sum()) / total, float((old**2).sum()) / 2 / total / DAY, 1.0, 0, 0.0)


class Crawler:
    """See the module's text."""

    def __init__(self, trial: Trial, policy: Policy, knows: Estimator | Truth) -> None:
        self.trial, self.history, self.policy, self.knows = trial, trial.history, policy, knows
        self.rng = np.random.default_rng(trial.seed)
        names = self.history.names
        classes = {name: number for number, name in enumerate(dict.fromkeys(map(_directory, names)))}
        self.class_of = np.array([classes[_directory(name)] for name in names])
        self.seen = np.zeros((3, len(classes)))
        """Visits, changes and seconds of each directory."""
        self.last = np.zeros(len(names))
        self.due, self.overtaken = np.full(len(names), np.inf), np.full(len(names), np.inf)
        self.a, self.b, self.rates = np.ones(len(names)), np.ones(len(names)), np.full(len(names), _UNKNOWN_RATE)
        self.stale, self.age = np.zeros(len(names)), np.zeros(len(names))
        """Seconds that each page's copy was overtaken, and its age in seconds added up over time."""
        self.visited, self.late = np.zeros(len(names)), np.zeros(len(names))
        """Visits that count, and the ages of copies when they were visited, added up."""
        self.allowance = 0.0
        self.found = 0
        self.expected: list[float] = []

    def run(self) -> Outcome:
        """Crawl until the end."""
        trial, history = self.trial, self.history
        learns = not isinstance(self.knows, Truth)
        start = max(float(history.born.min()), trial.start) if learns else trial.counted
        moments: Floats = start + trial.step * np.arange(1.0, int((trial.end - start) / trial.step + 1e-6) + 1)
        counting, replan, window_end = False, -np.inf, -np.inf
        arrivals, departures = _batches(history.born, moments), _batches(history.died, moments)
        for now, new, gone in zip(moments, arrivals, departures, strict=True):
            self._enter(new, now - trial.step)
            if isinstance(self.knows, Truth) and now > window_end:
                window_end = self._look_up(now, self.knows.window)
                replan = now
            if now >= replan:
                self._make_plan(now, again=not learns)
                replan = now + _REPLAN
            self._schedule(new, self.last[new])
            self._leave(gone)
            if trial.renew and not counting and now > trial.counted:
                counting = True
                self._renew_all()
            self._visit(now)
        self._close(np.flatnonzero(self.alive), trial.end)
        return self._outcome()

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Pages that are known and not deleted."""
        finite: NDArray[np.bool_] = np.isfinite(self.due)
        return finite

    def _outcome(self) -> Outcome:
        total, visits = float(self.trial.page_time.sum()), int(self.visited.sum())
        expected = float(np.mean(self.expected)) if self.expected else 1.0
        stale, age = float(self.stale.sum()) / total, float(self.age.sum()) / total
        return Outcome(1 - stale, age / DAY, expected, visits, self.found / max(visits, 1))

    def _enter(self, new: Pages, now: float) -> None:
        """New pages are downloaded when they are born."""
        if not new.size:
            return
        self.last[new] = np.maximum(self.history.born[new], now)
        self.due[new] = now
        self.overtaken[new] = self.history.next_changes(new, self.last[new])
        if not isinstance(self.knows, Truth):
            self.a[new], self.b[new] = self.knows.start(self._priors(new))
            self.rates[new] = self.knows.rates(self.a[new], self.b[new])

    def _priors(self, new: Pages) -> list[list[Evidence]]:
        everything = Evidence(*self.seen.sum(axis=1))
        return [[Evidence(*self.seen[:, number]), everything] for number in self.class_of[new]]

    def _look_up(self, now: float, window: float) -> float:
        """Read the rates of the present window from the future; returns its end."""
        trial = self.trial
        window = min(window, trial.end - trial.counted)
        start = trial.counted + (now - trial.counted) // window * window
        known = self.history.rates
        self.rates = self.history.mean_rates(start, start + window) if known is None else known
        return start + window

    def _make_plan(self, now: float, again: bool) -> None:
        pages = np.flatnonzero(self.alive)
        self.budget = len(pages) / (self.trial.period * DAY)
        self.plan = plan(
            self.policy, histogram_of(self.rates[pages]), self.budget, floor=FLOOR, ceiling=self.trial.ceiling
        )
        if again:
            self._schedule(pages, self.last[pages])
        if now > self.trial.counted:
            self.expected.append(float(freshness(self.rates[pages], now - self.last[pages]).mean()))

    def _schedule(self, pages: Pages, since: Floats | float) -> None:
        if not pages.size:
            return
        intervals = self.plan.intervals(self.rates[pages], np.ones(len(pages)))
        spread = self.trial.spread
        self.due[pages] = since + intervals * self.rng.uniform(1.0 - spread, 1.0 + spread, len(pages))

    def _renew_all(self) -> None:
        pages, now = np.flatnonzero(self.alive), self.trial.counted
        self.last[pages], self.overtaken[pages] = now, self.history.next_changes(pages, now)
        intervals = self.plan.intervals(self.rates[pages], np.ones(len(pages)))
        self.due[pages] = now + intervals * self.rng.uniform(0.0, 1.0, len(pages))

    def _leave(self, gone: Pages) -> None:
        if not gone.size:
            return
        self._close(gone, self.history.died[gone])
        self.due[gone] = self.overtaken[gone] = np.inf

    def _visit(self, now: float) -> None:
        """As many visits as the budget allows, to the pages that are due first."""
        self.allowance += self.budget * self.trial.step
        count = min(int(self.allowance + _ROUNDING), int(self.alive.sum()))
        self.allowance -= count
        if not count:
            return
        pages = np.argpartition(self.due, count - 1)[:count]
        changed, gaps = self.overtaken[pages] <= now, now - self.last[pages]
        self._close(pages, now)
        if now > self.trial.counted:
            self.visited[pages] += 1
            self.late[pages] += np.maximum(now - self.overtaken[pages], 0.0)
            self.found += int(changed.sum())
        if not isinstance(self.knows, Truth):
            self._learn(self.knows, pages, gaps, changed)
        self.last[pages], self.overtaken[pages] = now, self.history.next_changes(pages, now)
        self._schedule(pages, now)

    def _learn(self, estimator: Estimator, pages: Pages, gaps: Floats, changed: NDArray[np.bool_]) -> None:
        self.a[pages], self.b[pages] = estimator.observe(self.a[pages], self.b[pages], gaps, changed)
        self.rates[pages] = estimator.rates(self.a[pages], self.b[pages])
        for row, values in enumerate((np.ones(len(pages)), changed, gaps)):
            self.seen[row] += np.bincount(self.class_of[pages], values, self.seen.shape[1])

    def _close(self, pages: Pages, now: Floats | float) -> None:
        """Add up how long, since it counts, copies that are renewed or dropped were stale, and how old."""
        overtaken, counted = self.overtaken[pages], self.trial.counted
        old = np.maximum(np.maximum(now, counted) - overtaken, 0.0)
        before = np.maximum(counted - overtaken, 0.0)
        self.stale[pages] += old - before
        self.age[pages] += (old**2 - before**2) / 2


def _directory(name: str) -> str:
    return name.rpartition("/")[0]


def _batches(times: Floats, moments: Floats) -> Iterator[Pages]:
    """The pages whose time comes before each moment and not before the one before it."""
    order = np.argsort(times, kind="stable")
    cuts = np.searchsorted(times[order], moments)
    return (order[low:high] for low, high in itertools.pairwise([0, *cuts]))

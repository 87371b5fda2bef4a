"""Freshness and age that each revisit policy reaches on 24 years of changes of a real site.

    python bench/revisit.py                          changes of www.openbsd.org, 1996 to 2020 (../shared/data/history)
    python bench/revisit.py --history FILE.tsv.gz    lines of: unix time, A/M/D, page
    python bench/revisit.py --tune                   settings of the estimators, on the years before 2010 only

A virtual crawler visits the pages from 1996 on. It learns of a page when it is added and downloads it (which is free
here: new pages have a budget of their own); a page that is deleted leaves. It has one visit per page and `period`,
takes the pages that are due first, and makes a new plan each week. All that a visit tells it is whether the page has
changed since the visit before. A new page's prior is what visits so far have shown of its directory and of the site.

Counted are the years from 2010 on, when every copy is renewed once: *freshness* is the share of page-time in which the
copy is like the page, *age* the mean time since the copy was overtaken (0 while it is fresh), in days. `true` is the
same policy that knows each page's mean rate of changes in the years counted, from the future; `yearly` knows that of
each year. Both get the same visits.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.revisit.change import Estimator, Evidence, GammaFilter, StepWise, estimator
from gossamer.revisit.freshness import freshness
from gossamer.revisit.policy import POLICIES, Policy, plan
from gossamer.revisit.rates import DAY, YEAR, Floats, histogram_of

HISTORY = Path("../shared/data/history/openbsd-www-to-2020.tsv.gz")
PERIODS = (7.0, 30.0, 120.0)
"""Days per visit and page: three budgets."""
FLOOR, CEILING = DAY / 4, 2 * YEAR
REPLAN = 7 * DAY
Pages = NDArray[np.int64]
_APART = 1e11
"""Seconds between the histories of two pages on one number line."""


class History(msgspec.Struct, frozen=True):
    """Pages and their changes. A page that was deleted and added again counts as another page."""

    names: list[str]
    born: Floats
    died: Floats
    keys: Floats
    """page · _APART + time of every change, rising; at the end inf."""

    def next_changes(self, pages: Pages, after: Floats | float) -> Floats:
        """Time of the first change of each page after a moment, inf where there is none."""
        base = pages * _APART
        found = self.keys[np.searchsorted(self.keys, base + after, side="right")] - base
        return np.where(found < _APART, found, np.inf)

    def mean_rates(self, start: float, end: float) -> Floats:
        """Changes per second of each page while it lived between two moments, else in its whole life."""
        base = np.arange(len(self.names)) * _APART
        first, last = np.maximum(self.born, start), np.minimum(self.died, end)
        outside = last <= first
        first, last = np.where(outside, self.born, first), np.where(outside, self.died, last)
        counts = np.searchsorted(self.keys, base + last) - np.searchsorted(self.keys, base + first, side="right")
        return counts / np.maximum(last - first, DAY)


def read_history(path: Path, end: float) -> History:
    """The history in a file, up to a moment."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        events = sorted(
            (int(when), kind, name) for when, kind, name in (line.rstrip("\n").split("\t") for line in lines)
        )
    names: list[str] = []
    born: list[float] = []
    died: list[float] = []
    keys: list[float] = []
    living: dict[str, int] = {}
    for when, kind, name in events:
        if when >= end:
            break
        if kind == "D":
            if name in living:
                died[living.pop(name)] = when
        elif name in living:
            keys.append(living[name] * _APART + when)
        else:
            living[name] = len(names)
            names.append(name)
            born.append(when)
            died.append(end)
    return History(names, np.array(born), np.array(died), np.sort(np.array([*keys, np.inf])))


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
    """Moment from which on it counts; then every copy is renewed, so that nobody inherits another's past."""
    end: float
    period: float
    """Days per visit and page."""
    ceiling: float = CEILING
    seed: int = 5

    @property
    def step(self) -> float:
        """Seconds of virtual time between two batches of visits."""
        return DAY / 4 if self.period < 14 else DAY


class Crawler:
    """Visits the pages of a history, in steps of virtual time."""

    def __init__(self, trial: Trial, policy: Policy, knows: Estimator | Truth) -> None:
        self.trial, self.history, self.policy, self.knows = trial, trial.history, policy, knows
        self.rng = np.random.default_rng(trial.seed)
        names = self.history.names
        classes = {name: number for number, name in enumerate(dict.fromkeys(map(_directory, names)))}
        self.class_of = np.array([classes[_directory(name)] for name in names])
        self.seen = np.zeros((3, len(classes)))
        self.last, self.due, self.overtaken = (
            np.zeros(len(names)),
            np.full(len(names), np.inf),
            np.full(len(names), np.inf),
        )
        self.a, self.b, self.rates = np.ones(len(names)), np.ones(len(names)), np.full(len(names), 1 / YEAR)
        self.allowance = self.stale = self.age = 0.0
        self.visits = self.found = 0
        self.expected: list[float] = []

    def run(self) -> Outcome:
        """Crawls until the end."""
        trial, history = self.trial, self.history
        learns = not isinstance(self.knows, Truth)
        start = float(history.born.min()) if learns else trial.counted
        moments = np.arange(start, trial.end, trial.step) + trial.step
        counting, replan, window_end = False, 0.0, -np.inf
        for now, new, gone in zip(
            moments, _batches(history.born, moments), _batches(history.died, moments), strict=True
        ):
            self._enter(new, now - trial.step)
            if not learns and now > window_end:
                window_end = self._look_up(now)
                replan = now
            if now >= replan:
                self._make_plan(now, again=not learns)
                replan = now + REPLAN
            self._schedule(new, self.last[new])
            self._leave(gone)
            if not counting and now > trial.counted:
                counting = True
                self._renew_all()
            self._visit(now)
        self._close(np.flatnonzero(self.alive), trial.end)
        lived = np.minimum(history.died, trial.end) - np.maximum(history.born, trial.counted)
        total = float(np.maximum(lived, 0.0).sum())
        found = self.found / max(self.visits, 1)
        return Outcome(
            1 - self.stale / total, self.age / total / DAY, float(np.mean(self.expected)), self.visits, found
        )

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Pages that are known and not deleted."""
        return np.isfinite(self.due)

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

    def _look_up(self, now: float) -> float:
        """Reads the rates of the present window from the future; returns its end."""
        trial, window = self.trial, min(self.knows.window, self.trial.end - self.trial.counted)
        start = trial.counted + (now - trial.counted) // window * window
        self.rates = self.history.mean_rates(start, start + window)
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
        """A tenth of chance keeps pages that were added together from being visited together for ever."""
        intervals = self.plan.intervals(self.rates[pages], np.ones(len(pages)))
        self.due[pages] = since + intervals * self.rng.uniform(0.95, 1.05, len(pages))

    def _renew_all(self) -> None:
        pages, now = np.flatnonzero(self.alive), self.trial.counted
        self.last[pages], self.overtaken[pages] = now, self.history.next_changes(pages, now)
        intervals = self.plan.intervals(self.rates[pages], np.ones(len(pages)))
        self.due[pages] = now + intervals * self.rng.uniform(0.0, 1.0, len(pages))

    def _leave(self, gone: Pages) -> None:
        self._close(gone, self.history.died[gone])
        self.due[gone] = self.overtaken[gone] = np.inf

    def _visit(self, now: float) -> None:
        """As many visits as the budget allows, to the pages that are due first."""
        self.allowance += self.budget * self.trial.step
        count = min(int(self.allowance), int(self.alive.sum()))
        self.allowance -= count
        if not count:
            return
        pages = np.argpartition(self.due, count - 1)[:count]
        changed, gaps = self.overtaken[pages] <= now, now - self.last[pages]
        self._close(pages, now)
        if now > self.trial.counted:
            self.visits, self.found = self.visits + count, self.found + int(changed.sum())
        if not isinstance(self.knows, Truth):
            self.a[pages], self.b[pages] = self.knows.observe(self.a[pages], self.b[pages], gaps, changed)
            self.rates[pages] = self.knows.rates(self.a[pages], self.b[pages])
            for row, values in enumerate((np.ones(count), changed, gaps)):
                self.seen[row] += np.bincount(self.class_of[pages], values, self.seen.shape[1])
        self.last[pages], self.overtaken[pages] = now, self.history.next_changes(pages, now)
        self._schedule(pages, now)

    def _close(self, pages: Pages, now: Floats | float) -> None:
        """Adds up how long, since it counts, copies that are renewed or dropped were stale, and how old."""
        overtaken, counted = self.overtaken[pages], self.trial.counted
        old = np.maximum(np.maximum(now, counted) - overtaken, 0.0)
        before = np.maximum(counted - overtaken, 0.0)
        self.stale += float(np.sum(old - before))
        self.age += float(np.sum(old**2 - before**2)) / 2


def _directory(name: str) -> str:
    return name.rpartition("/")[0]


def _batches(times: Floats, moments: Floats) -> Iterator[Pages]:
    """The pages whose time comes before each moment and not before the one before it."""
    order = np.argsort(times, kind="stable")
    cuts = np.searchsorted(times[order], moments)
    return (order[low:high] for low, high in itertools.pairwise([0, *cuts]))


Contestants = dict[str, Estimator | Truth]


def contestants(policy: Policy) -> Contestants:
    """Those who know the rates, and the estimators as they come."""
    return {
        "true": Truth(),
        "yearly": Truth(YEAR),
        "gamma": estimator("gamma", policy, FLOOR, CEILING),
        "steps": estimator("steps", policy, FLOOR, CEILING),
    }


def compare(trial: Trial, choose: Callable[[Policy], Contestants]) -> None:
    """Prints what each policy reaches with each way to know the rates, beside the true ones."""
    print(
        f"\nOne visit per page in {trial.period:.0f} days; no page longer unseen than {trial.ceiling / DAY:.0f} days\n"
    )
    heads = ("freshness", "÷ true", "stale", "÷ true", "age, d", "÷ true", "expected", "visits", "found")
    print(f"{'':14}{'':14}" + "".join(f"{head:>10}" for head in heads))
    for policy in POLICIES:
        best: Outcome | None = None
        for name, knows in choose(policy).items():
            got = Crawler(trial, policy, knows).run()
            best = best or got
            stale, least = 1 - got.freshness, 1 - best.freshness
            cells = f"{got.freshness:10.4f}{got.freshness / best.freshness:10.4f}{stale:10.4f}{stale / least:10.2f}"
            cells += f"{got.age:10.3f}{got.age / best.age:10.2f}{got.expected:10.4f}{got.visits:10}{got.found:10.3f}"
            print(f"{policy:14}{name if policy != 'uniform' else 'any':14}" + cells, flush=True)
            if policy == "uniform":
                break  # it does not look at rates


def settings(_policy: Policy) -> Contestants:
    """Estimators with other settings: strength of the prior, years of memory, mean or median; the two steps."""
    filters = {
        f"{strength:g} {years:g}y{' median' if median else ''}": GammaFilter(strength, years * YEAR, median)
        for median, strength, years in itertools.product((False, True), (0.1, 0.5), (0, 2))
    }
    steps = {f"{s:g} {g:g}": StepWise(s, g, FLOOR, CEILING) for s, g in ((0.5, 1.5), (0.7, 1.2), (0.8, 1.05))}
    return {"true": Truth(), **filters, **steps}


def _describe(history: History) -> None:
    times = history.keys[:-1] % _APART
    together = np.unique(times // 3600, return_counts=True)[1]
    shares = ", ".join(f"{together[together >= n].sum() / len(times):.0%} with {n - 1} others" for n in (5, 20, 50))
    print(f"{len(history.names)} pages, {len(times)} changes; of the changes, {shares} or more within the hour")


def _moment(year: int) -> float:
    return datetime(year, 1, 1, tzinfo=UTC).timestamp()


def main() -> None:
    """Runs what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--history", type=Path, default=HISTORY)
    parser.add_argument("--periods", type=float, nargs="+", default=PERIODS, help="days per visit and page")
    parser.add_argument(
        "--ceiling", type=float, default=CEILING / DAY, help="days after which a page is visited anyway"
    )
    parser.add_argument("--tune", action="store_true", help="compare settings, on the years before 2010")
    parser.add_argument("--seed", type=int, default=5)
    args = parser.parse_args()
    began = time.perf_counter()
    counted, end = (_moment(2005), _moment(2010)) if args.tune else (_moment(2010), _moment(2020))
    history = read_history(args.history, end)
    _describe(history)
    for period in args.periods:
        compare(
            Trial(history, counted, end, period, args.ceiling * DAY, args.seed), settings if args.tune else contestants
        )
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()

"""When pages came, changed and went: from a file, from a recorded web, or made up with known rates.

All changes of all pages lie on one line of numbers, each page's after those of the page before, so that the next change
of thousands of pages is one search.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.errors import UsageError
from gossamer.lab.webs.web import RecordedWeb
from gossamer.revisit.buckets import DAY
from gossamer.revisit.rates import Floats

Pages = NDArray[np.int64]
_APART = 1e10
"""Seconds between the histories of two pages on the line; more than from 1970 to any moment that counts."""


class History(msgspec.Struct, frozen=True):
    """Pages and their changes. A page that was deleted and added again counts as another page."""

    names: list[str]
    born: Floats
    died: Floats
    """When each page was deleted, or the end of the history."""
    keys: Floats
    """page · _APART + time of every change, rising; at the end inf."""
    rates: Floats | None = None
    """Changes per second of each page where they are known because the history was made from them."""

    @property
    def changes(self) -> int:
        """How many there are."""
        return len(self.keys) - 1

    @property
    def end(self) -> float:
        """Until when it goes."""
        return float(self.died.max())

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
        rates: Floats = counts / np.maximum(last - first, DAY)
        return rates

    def every(self, step: int) -> History:
        """Only each `step`-th page."""
        if step == 1:
            return self
        pages, times = np.divmod(self.keys[:-1], _APART)
        kept = pages % step == 0
        keys = np.append(pages[kept] // step * _APART + times[kept], np.inf)
        rates = None if self.rates is None else self.rates[::step]
        return History(self.names[::step], self.born[::step], self.died[::step], keys, rates)


def read_history(path: Path, end: float = np.inf) -> History:
    """The history in a file of lines `time TAB A, M or D TAB page`, up to a moment or to its last line."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            events = sorted((int(when), kind, name) for when, kind, name in (_fields(line) for line in lines))
    except (OSError, EOFError, ValueError) as error:
        raise UsageError(f"{path} is no history of changes: {error}") from error
    if not events:
        raise UsageError(f"{path} has no changes")
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
            died.append(min(end, events[-1][0]))
    return History(names, np.array(born, float), np.array(died, float), np.sort(np.array([*keys, np.inf])))


def _fields(line: str) -> tuple[str, str, str]:
    when, kind, name = line.rstrip("\n").split("\t")
    return when, kind, name


def history_of(web: RecordedWeb) -> History:
    """The history of the pages of a recorded web, as far as it was recorded."""
    rows = np.flatnonzero(web.pages & (web.born < web.facts.ended_at))
    born = np.maximum(web.born[rows], web.facts.started_at)
    times = [web.changes.of(row) for row in rows.tolist()]
    keys = [page * _APART + of_page[of_page > born[page]] for page, of_page in enumerate(times)]
    died = np.full(len(rows), web.facts.ended_at)
    names = [web.urls[row] for row in rows.tolist()]
    return History(names, born, died, np.concatenate([*keys, [np.inf]]))


def poisson_history(rates: Floats, seconds: float, seed: int) -> History:
    """Pages that live from 0 on and change at random moments, so many times a second in the mean."""
    luck = np.random.default_rng(seed)
    counts = luck.poisson(rates * seconds)
    keys = np.repeat(np.arange(len(rates)) * _APART, counts) + luck.uniform(0.0, seconds, int(counts.sum()))
    names = [f"page-{number}" for number in range(len(rates))]
    ends = np.full(len(rates), seconds)
    return History(names, np.zeros(len(rates)), ends, np.append(np.sort(keys), np.inf), rates)

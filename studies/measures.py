"""Measures of a simulated crawl that studies compare orders by; those of `gossamer lab replay` are in the package."""

from __future__ import annotations

import msgspec
import numpy as np

from gossamer.lab.simulation.measures import first_useful
from gossamer.lab.webs.web import NOWHERE, Floats, Ints, RecordedWeb


class Shares(msgspec.Struct, frozen=True):
    """Shares of useful requests along a crawl."""

    requests: Ints
    """How many requests had been made."""
    cumulative: Floats
    """Share of all requests so far."""
    windowed: Floats
    """Share of the requests since the entry before."""


def useful_share(web: RecordedWeb, rows: Ints, step: int) -> Shares:
    """Share of requests that brought a useful page for the first time, after every `step` requests and at the end."""
    total = np.concatenate(([0], np.cumsum(first_useful(web, rows))))
    ends = np.unique(np.append(np.arange(step, len(rows) + 1, step), len(rows)))
    ends = ends[ends > 0]
    starts = np.concatenate(([0], ends[:-1]))
    return Shares(ends, total[ends] / ends, (total[ends] - total[starts]) / (ends - starts))


def coverage(web: RecordedWeb, rows: Ints) -> float:
    """Share of the useful pages that were downloaded, under their own URL or that of a copy; 1 where there is none."""
    useful = int(web.useful.sum())
    return float(first_useful(web, rows).sum() / useful) if useful else 1.0


def mean_rank(rows: Ints, ranks: Floats) -> Floats:
    """Mean rank of the different pages so far; entry k for k + 1 pages."""
    rows = rows[rows != NOWHERE]
    _, first = np.unique(rows, return_index=True)
    found = ranks[rows[np.sort(first)]]
    return np.cumsum(found) / np.arange(1, len(found) + 1)


def area(curve: Floats, best: Floats) -> float:
    """Area under a curve as a share of that under the best one, as far as both go."""
    both = min(len(curve), len(best))
    under = float(best[:both].sum())
    return float(curve[:both].sum()) / under if under else 1.0

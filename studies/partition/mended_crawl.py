"""A crawl in parts whose plan is looked at now and then, and mended when its parts have grown apart.

What `partition.drift` makes of a live crawl, on a recorded graph: directories that looked alike after the first pages
turn out to be of different sizes, and waiting URLs move to other parts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from gossamer.partition.assignment import Assignment, drift
from gossamer.partition.links import SiteGraph
from gossamer.partition.planning import rebalanced
from gossamer.partition.sizes import Sizes

EVERY = 200
"""Steps between two looks."""

Queues = Sequence[deque[int]]


class Mended(msgspec.Struct, frozen=True):
    """What came of it."""

    acceleration: float
    times: int
    """How often the plan was mended."""
    moved: float
    """Share of the site's pages that waited in one part and were moved to another, all times together."""


def crawl_mending(graph: SiteGraph, plan: Assignment, threshold: float) -> Mended:
    """Crawl in parts from the roots on; the plan is mended where a part is so much larger than its fair share."""
    known, done = np.zeros(graph.pages, bool), np.zeros(graph.pages, bool)
    parts = plan.parts_of(graph.urls)
    queues: Queues = [deque() for _ in range(plan.parts)]
    known[graph.roots] = True
    for root in graph.roots.tolist():
        queues[parts[root]].append(root)
    steps = times = moved = 0
    while turn := [queue.popleft() for queue in queues if queue]:
        steps += 1
        for page in turn:
            done[page] = True
            linked = graph.targets[graph.starts[page] : graph.starts[page + 1]]
            for found in linked[~known[linked]].tolist():
                known[found] = True
                queues[parts[found]].append(found)
        if steps % EVERY == 0 and drift(np.bincount(parts[known], minlength=plan.parts).tolist()) > threshold:
            plan = rebalanced(plan, Sizes([graph.urls[page] for page in np.flatnonzero(known)]))
            now = plan.parts_of(graph.urls)
            times, moved = times + 1, moved + int((now != parts)[known & ~done].sum())
            parts, queues = now, _dealt_anew(queues, now)
    return Mended(graph.pages / steps if steps else 1.0, times, moved / max(graph.pages, 1))


def _dealt_anew(queues: Queues, parts: npt.NDArray[np.int32]) -> Queues:
    anew: Queues = [deque() for _ in queues]
    for queue in queues:
        for page in queue:
            anew[parts[page]].append(page)
    return anew

"""A simulated crawl whose plan is looked at now and then, and mended when its parts have grown apart."""

from __future__ import annotations

from collections import deque

import msgspec
import numpy as np

from gossamer.partition.assignment import Assignment, drift
from gossamer.partition.links import SiteGraph
from gossamer.partition.planning import rebalanced
from gossamer.partition.sizes import Sizes

EVERY = 200
"""Steps between two looks."""


class Mended(msgspec.Struct, frozen=True):
    """What came of it."""

    acceleration: float
    times: int
    """How often the plan was mended."""
    moved: float
    """Share of the site's pages that waited in one part and were moved to another, all times together."""


def crawl_mending(graph: SiteGraph, plan: Assignment, threshold: float) -> Mended:
    """A crawl in parts from the home page on."""
    known, done = np.zeros(graph.pages, bool), np.zeros(graph.pages, bool)
    parts = plan.parts_of(graph.urls)
    queues: list[deque[int]] = [deque() for _ in range(plan.parts)]
    queues[parts[graph.home]].append(graph.home)
    known[graph.home] = True
    steps = times = moved = 0
    while turn := [queue.popleft() for queue in queues if queue]:
        steps += 1
        for page in turn:
            done[page] = True
            linked = graph.targets[graph.starts[page] : graph.starts[page + 1]]
            for found in linked[~known[linked]].tolist():
                known[found] = True
                queues[parts[found]].append(found)
        counts = np.bincount(parts[known], minlength=plan.parts).tolist()
        if steps % EVERY == 0 and drift(counts) > threshold:
            plan = rebalanced(plan, Sizes([graph.urls[page] for page in np.flatnonzero(known)]))
            now = plan.parts_of(graph.urls)
            times, moved = times + 1, moved + int((now != parts)[known & ~done].sum())
            parts = now
            queues = _sorted_anew(queues, parts)
    return Mended(graph.pages / steps, times, moved / graph.pages)


def _sorted_anew(queues: list[deque[int]], parts: np.ndarray) -> list[deque[int]]:
    anew: list[deque[int]] = [deque() for _ in queues]
    for queue in queues:
        for page in queue:
            anew[parts[page]].append(page)
    return anew

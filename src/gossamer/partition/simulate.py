"""Simulates crawls of a recorded link graph, to predict the gain of a split before the first request.

Two rules. *The papers'*: crawlers do not talk to each other. Each starts at the home page and at two pages of each of
its
key paths, and follows links to its own key paths and to paths that are no key paths; it drops links to key paths of
others. So small paths are fetched several times, and pages that only a dropped link leads to are lost. Its acceleration
counts downloads of the busiest crawler, as if nobody ever waited.

*Ours*: every URL belongs to one part, and a part hands links of other parts to them. No page is fetched twice, and none
is lost; the question is how even the parts are and how long a part has nothing to do because its pages are not found
yet. So time is simulated: in each step every part that has something to fetch fetches one page, and the pages found on
it can be fetched in the next step.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from gossamer.partition.assignment import Assignment
from gossamer.partition.links import UNREACHED, Ints, SiteGraph
from gossamer.partition.measures import Measures, measured
from gossamer.partition.paths import deal_out, key_paths
from gossamer.partition.seeds import key_path_seeds, seed_pages

_ANYBODY = -1


def by_seed_rule(graph: SiteGraph, parts: int) -> Measures:
    """The gain of the papers' split into so many parts."""
    keys = key_paths(graph.path_sizes)
    owners = dict(zip(keys, deal_out([graph.path_sizes[path] for path in keys], parts), strict=True))
    seeds = key_path_seeds(keys, graph)
    page_owner = np.array([owners.get(path, _ANYBODY) for path in graph.path_names], np.int64)[graph.path_numbers]
    fetched = np.zeros(graph.pages, np.int64)
    busiest = 0
    for part in range(parts):
        open_ = (page_owner == part) | (page_owner == _ANYBODY)
        open_[graph.home] = True
        own = [page for path, pages in seeds.items() if owners[path] == part for page in pages]
        begin = np.unique(np.concatenate([graph.roots, np.array(own, np.int64)]))
        reached = graph.distances(begin, open_) != UNREACHED
        fetched += reached
        busiest = max(busiest, int(reached.sum()))
    return measured(int(fetched.sum()), int((fetched > 0).sum()), graph.pages, busiest)


class Run(msgspec.Struct, frozen=True):
    """A simulated crawl by our rule."""

    measures: Measures
    pages: tuple[int, ...]
    """Pages of each part."""
    steps: int
    """How long it took, in downloads of one part."""

    @property
    def waiting(self) -> float:
        """Share of the time in which the largest part had nothing to fetch."""
        return 1.0 - max(self.pages) / self.steps if self.steps else 0.0


def in_parts(graph: SiteGraph, assignment: Assignment, seeded: bool = True) -> Run:
    """The gain of a crawl in parts; a site that nobody has seen yet has no seeds but its roots."""
    parts = assignment.parts_of(graph.urls)
    seeds = [page for pages in seed_pages(assignment, graph) for page in pages] if seeded else []
    downloads, steps = _crawl(graph, parts, assignment.parts, seeds)
    measures = measured(int(downloads.sum()), int((downloads > 0).sum()), graph.pages, steps)
    sizes = np.bincount(parts, downloads, assignment.parts).astype(int)
    return Run(measures, tuple(sizes.tolist()), steps)


def _crawl(graph: SiteGraph, parts: npt.NDArray[np.int32], count: int, seeds: Sequence[int]) -> tuple[Ints, int]:
    """How often each page is fetched, and in how many steps."""
    downloads = np.zeros(graph.pages, np.int64)
    known = np.zeros(graph.pages, bool)
    queues: list[deque[int]] = [deque() for _ in range(count)]
    part_of = parts.tolist()

    def find(pages: Sequence[int]) -> None:
        for page in pages:
            known[page] = True
            queues[part_of[page]].append(page)

    find(list(dict.fromkeys([*graph.roots.tolist(), *seeds])))
    steps = 0
    while turn := [queue.popleft() for queue in queues if queue]:
        steps += 1
        for page in turn:
            downloads[page] += 1
            linked = graph.targets[graph.starts[page] : graph.starts[page + 1]]
            find(linked[~known[linked]].tolist())
    return downloads, steps

"""Does every useful page stay reachable when some pages are no longer fetched?

A filter that cuts lists of pages may cut the only path to an article. So before it becomes active the stored links are
walked twice from the crawl's starts (seeds, and URLs that sitemaps, feeds and other sites named): once as they are,
once
around the pages that the filter would refuse. The walk is breadth first, a whole ring of pages at a time, because
Python
per link would take a hundred times as long.

Links that are missing here can only make the answer stricter, never looser.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]

UNREACHED = -1


class Graph:
    """Links between pages 0…n-1, each once, by the page they are on."""

    def __init__(self, pages: int, sources: npt.NDArray[Any], targets: npt.NDArray[Any]) -> None:
        """`sources` and `targets`: the two ends of each link, in any order, repeated or not."""
        pairs = _distinct(sources.astype(np.int64) * max(pages, 1) + targets)
        self.pages = pages
        self.targets: Ints = (pairs % max(pages, 1)).astype(np.int32)
        counts = np.bincount(pairs // max(pages, 1), minlength=pages)
        self.starts = np.concatenate(([0], np.cumsum(counts)))

    @property
    def links(self) -> int:
        """Different links."""
        return len(self.targets)

    def distances(self, roots: npt.NDArray[Any], cut: Flags | None = None) -> Ints:
        """Links from the nearest root to each page, `UNREACHED` if there is no path; none goes through a cut page."""
        distance: Ints = np.full(self.pages, UNREACHED, np.int32)
        open_ = np.ones(self.pages, bool) if cut is None else ~cut
        ring = _distinct(roots[open_[roots]]) if len(roots) else roots
        steps = 0
        while len(ring):
            distance[ring] = steps
            open_[ring] = False
            found = self._linked_from(ring)
            ring = _distinct(found[open_[found]])
            steps += 1
        return distance

    def _linked_from(self, ring: npt.NDArray[Any]) -> Ints:
        starts = self.starts[ring]
        counts = self.starts[ring + 1] - starts
        total = int(counts.sum())
        # Place of each link in the list of all links: its page's first one, and how many of that page came before.
        before = np.repeat(starts - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
        return self.targets[before + np.arange(total)]


class Reach(msgspec.Struct, frozen=True):
    """What a cut does to the useful pages that were reachable."""

    useful: int
    """Useful pages that were reachable before."""
    lost: tuple[int, ...]
    """Those of them that would no longer be."""
    mean_before: float
    """Mean number of links from the crawl's starts to a useful page."""
    mean_after: float
    """The same around the cut pages, for those that stay reachable."""

    @property
    def kept(self) -> bool:
        """Whether all of them stay reachable."""
        return not self.lost


class Walk:
    """One site's links, walked once as they are; then asked what each cut would do."""

    def __init__(self, graph: Graph, roots: npt.NDArray[Any], useful: Flags) -> None:
        self._graph, self._roots = graph, roots
        before = graph.distances(roots)
        self._useful = np.flatnonzero(useful & (before != UNREACHED))
        self._mean = _mean(before[self._useful])

    @property
    def links(self) -> int:
        """Different links of the graph."""
        return self._graph.links

    def without(self, cut: Flags) -> Reach:
        """What happens to the useful pages if the others that are cut are never fetched."""
        cut = cut.copy()
        cut[self._useful] = False  # a useful page is never refused
        after = self._graph.distances(self._roots, cut)[self._useful]
        lost = self._useful[after == UNREACHED]
        return Reach(len(self._useful), tuple(lost.tolist()), self._mean, _mean(after[after != UNREACHED]))


def _distinct(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The different values in order; `np.unique` hashes them, which takes ten times as long."""
    ordered = np.sort(values, kind="stable")
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def _mean(distances: Ints) -> float:
    return float(distances.mean()) if len(distances) else 0.0

"""The link graph of one site, as arrays: the base of predictions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.partition.paths import path_of

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

UNREACHED = -1


class SiteGraph:
    """Pages 0…n-1 of a site that can be reached from the crawl's starts, and the links between them."""

    def __init__(
        self, urls: Sequence[str], sources: npt.NDArray[Any], targets: npt.NDArray[Any], home: int, roots: Sequence[int]
    ) -> None:
        """`home`: the home page; `roots`: further pages that are known from the start. Links may be repeated;
        unreachable pages are left out."""
        pages, begin = len(urls), np.unique(np.array([home, *roots], np.int64))
        starts, ends = _rows(pages, sources.astype(np.int64), targets.astype(np.int64))
        kept = np.flatnonzero(_distances(pages, starts, ends, begin, np.ones(pages, bool)) != UNREACHED)
        place = np.full(pages, UNREACHED, np.int64)
        place[kept] = np.arange(len(kept))
        # All targets of a reached page are reached: only whole rows go.
        inside = np.repeat(place, np.diff(starts)) != UNREACHED
        self.starts = np.concatenate(([0], np.cumsum(np.diff(starts)[kept])))
        self.targets = place[ends[inside]]
        self.urls = [urls[page] for page in kept.tolist()]
        self.home, self.roots = int(place[home]), place[begin]

    @property
    def pages(self) -> int:
        """How many pages."""
        return len(self.urls)

    @property
    def links(self) -> int:
        """Different links."""
        return len(self.targets)

    @cached_property
    def sources(self) -> Ints:
        """The page that each link is on."""
        return np.repeat(np.arange(self.pages), np.diff(self.starts))

    @cached_property
    def in_degree(self) -> Ints:
        """Pages that link to each page."""
        return np.bincount(self.targets, minlength=self.pages)

    @cached_property
    def depth(self) -> Ints:
        """Links from the home page or another root."""
        return self.distances(self.roots, np.ones(self.pages, bool))

    @cached_property
    def _paths(self) -> tuple[list[str], Ints]:
        names, numbers = np.unique(np.array([path_of(url) for url in self.urls], object), return_inverse=True)
        return names.tolist(), numbers.astype(np.int64)

    @property
    def path_names(self) -> list[str]:
        """The paths of the site, as the papers define them."""
        return self._paths[0]

    @property
    def path_numbers(self) -> Ints:
        """Which path each page has."""
        return self._paths[1]

    @cached_property
    def path_sizes(self) -> dict[str, int]:
        """Pages of each path."""
        return dict(zip(self.path_names, np.bincount(self.path_numbers).tolist(), strict=True))

    def distances(self, begin: Ints, open_: Flags) -> Ints:
        """Links from the nearest of some pages to each, over open pages only; `UNREACHED` if there is no path."""
        return _distances(self.pages, self.starts, self.targets, begin, open_)

    def same_path(self) -> float:
        """The share of a page's links that stay in its own path, on average over pages with links."""
        same = self.path_numbers[self.sources] == self.path_numbers[self.targets]
        out = np.diff(self.starts)
        linking = out > 0
        kept = np.bincount(self.sources, same, self.pages)[linking] / out[linking]
        return float(kept.mean()) if len(kept) else 1.0

    def crossing(self, parts: npt.NDArray[Any]) -> float:
        """The share of links that lead from one part to another."""
        return float((parts[self.sources] != parts[self.targets]).mean()) if self.links else 0.0


def _rows(pages: int, sources: Ints, targets: Ints) -> tuple[Ints, Ints]:
    """Different links by the page they are on: where each page's begin, and where they lead."""
    pairs = np.sort(sources * max(pages, 1) + targets)
    pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])] if len(pairs) else pairs
    starts = np.concatenate(([0], np.cumsum(np.bincount(pairs // max(pages, 1), minlength=pages))))
    return starts.astype(np.int64), pairs % max(pages, 1)


def _distances(pages: int, starts: Ints, targets: Ints, begin: Ints, open_: Flags) -> Ints:
    """Breadth first, a whole ring of pages at a time."""
    distance = np.full(pages, UNREACHED, np.int64)
    ring, steps, left = begin[open_[begin]], 0, open_.copy()
    while len(ring):
        distance[ring] = steps
        left[ring] = False
        firsts, counts = starts[ring], starts[ring + 1] - starts[ring]
        before = np.repeat(firsts - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
        found = targets[before + np.arange(int(counts.sum()))]
        found = np.sort(found[left[found]])
        ring = found[np.append(True, found[1:] != found[:-1])] if len(found) else found
        steps += 1
    return distance

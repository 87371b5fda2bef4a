"""Hubs and authorities (HITS) for a query: which of the pages found do pages that know the subject link to?

The pages found are the *root set*. With the pages they link to, and some of those that link to them, they are the
*base set*. A page there is a good authority when good hubs link to it, and a good hub when it links to good
authorities; the values are the largest eigenvector of that relation, by iteration from equal values.

Links inside a site are left out unless told otherwise: menus are no recommendations. Of the pages that link to a page
of the root set at most `MOST_INTO` are taken, or one popular page would fill the base set.
"""

from __future__ import annotations

from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_INTO = 50
TOLERANCE = 1e-6
"""Sum of changes that is enough for an order of results. Two subjects of equal weight take hundreds of iterations."""
MOST_ITERATIONS = 300


class Neighbours(Protocol):
    """Where links can be looked up, such as `jobs.graph_files.GraphFiles`."""

    def into(self, nodes: ArrayLike) -> tuple[Ints, Ints]:
        """Sources and targets of all links to some nodes, sources of a target ascending."""
        ...

    def out_of(self, nodes: ArrayLike) -> tuple[Ints, Ints]:
        """Sources and targets of all links from some nodes."""
        ...


class Hits(msgspec.Struct, frozen=True):
    """Hubs and authorities of a base set; each sums to 1 where there is a link at all, else to 0."""

    nodes: Ints
    """The base set, ascending."""
    hubs: Floats
    authorities: Floats
    iterations: int
    residual: float
    """Sum of the changes of the authorities in the last iteration."""
    converged: bool


def hits(
    links: Neighbours,
    root: ArrayLike,
    site_of: NDArray[np.integer] | None = None,
    *,
    most_into: int = MOST_INTO,
    tolerance: float = TOLERANCE,
    most_iterations: int = MOST_ITERATIONS,
) -> Hits:
    """Hubs and authorities for the root set's base set; with `site_of` (of every node), without links inside a site."""
    base = base_set(links, root, site_of, most_into)
    sources, targets = _apart(*links.into(base), site_of)
    inside = np.isin(sources, base)
    rows, columns = np.searchsorted(base, sources[inside]), np.searchsorted(base, targets[inside])
    matrix = csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(base), len(base)))
    matrix.data[:] = 1.0  # a link that is named twice counts once
    return _iterate(base, matrix, tolerance, most_iterations)


def base_set(
    links: Neighbours, root: ArrayLike, site_of: NDArray[np.integer] | None = None, most_into: int = MOST_INTO
) -> Ints:
    """The root set, what it links to, and for each of its pages up to `most_into` that link there; ascending."""
    start = np.unique(np.asarray(root, np.int64))
    sources, targets = _apart(*links.into(start), site_of)
    order = np.lexsort((sources, targets))
    ranked = targets[order]
    place = np.arange(len(order)) - np.searchsorted(ranked, ranked)  # among the links to the same page
    linking = sources[order][place < most_into]
    _, linked = _apart(*links.out_of(start), site_of)
    return np.unique(np.concatenate([start, linking, linked]))


def _apart(sources: Ints, targets: Ints, site_of: NDArray[np.integer] | None) -> tuple[Ints, Ints]:
    """The links between two pages, with `site_of` between two sites."""
    kept = sources != targets
    if site_of is not None:
        kept &= site_of[sources] != site_of[targets]
    return sources[kept], targets[kept]


def _iterate(base: Ints, matrix: csr_array, tolerance: float, most: int) -> Hits:
    back = matrix.T.tocsr()
    authorities = np.zeros(len(base))
    hubs = _shares(np.ones(len(base)))
    residual, iterations = np.inf, 0
    while iterations < most and residual > tolerance:
        before, authorities = authorities, _shares(back @ hubs)
        hubs = _shares(matrix @ authorities)
        residual = float(np.abs(authorities - before).sum())
        iterations += 1
    return Hits(base, hubs, authorities, iterations, residual, residual <= tolerance)


def _shares(values: Floats) -> Floats:
    total = values.sum()
    return values / total if total > 0 else np.zeros(len(values))

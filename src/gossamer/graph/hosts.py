"""Ranks of sites: PageRank on the graph in which a site is one node.

The weight of a link between two sites is the number of *pages* of the one that link to the other, whatever to and how
often: a page has one vote for a site. Counting links instead would let one page with a list of five hundred deep links
outvote a hundred pages that recommend another site once. Links inside a site are left out: a site does not
vouch for itself. What a site passes on is shared out in proportion to these votes, so a large site counts for no
more than its rank.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array

from gossamer.graph.edges import distinct
from gossamer.graph.pagerank import Piece, Ranked, Rules, iterate, proportional

Ints = NDArray[np.int64]


def votes(first: int, indptr: NDArray[Any], sources: NDArray[Any], site_of: NDArray[Any], sites: int) -> Ints:
    """Source page · sites + site linked to, ascending and each once, of the links to a run of pages from `first` on.

    The votes of several runs are one sorted set again after `edges.distinct`.
    """
    rows = len(indptr) - 1
    to = np.repeat(np.asarray(site_of[first : first + rows]), np.diff(indptr))
    across = np.asarray(site_of)[sources] != to
    return distinct(np.asarray(sources)[across].astype(np.int64) * sites + to[across])


def site_links(found: Ints, site_of: NDArray[Any], sites: int) -> Any:
    """A sparse matrix of votes, rows by the site voted for, columns by the site that votes; sums up where added."""
    pages, to = np.divmod(found, max(sites, 1))
    weights = coo_array((np.ones(len(found)), (to, np.asarray(site_of)[pages])), shape=(sites, sites))
    return csr_array(weights)


def rank_sites(
    weights: Any, rules: Rules | None = None, *, teleport: ArrayLike | None = None, start: ArrayLike | None = None
) -> Ranked:
    """The ranks of sites, from a matrix as `site_links` gives it; the mean is 1."""
    given = np.asarray(weights.sum(axis=0), np.float64)
    to = None if teleport is None else proportional(teleport)
    whole = Piece(0, weights, np.flatnonzero(given == 0), to)
    return iterate([whole], np.where(given == 0, 1.0, given), rules or Rules(), start)

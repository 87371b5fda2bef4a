"""PageRank of a recorded web, or of what a crawl has seen of it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse

from gossamer.graph.pagerank import rank
from gossamer.lab.webs.web import Floats, RecordedWeb
from gossamer.model.site import key64


def pagerank(web: RecordedWeb, read: npt.NDArray[np.bool_] | None = None) -> Floats:
    """Rank of each URL, 1 on the average; `read`: only the links of these pages are known."""
    sources, targets = web.links.rows, web.links.values
    if read is not None:
        sources, targets = sources[read[sources]], targets[read[sources]]
    n = len(web)
    links = scipy.sparse.csr_matrix((np.ones(len(sources)), (targets, sources)), shape=(n, n))
    links.sum_duplicates()
    return rank(links.indptr, links.indices, np.bincount(links.indices, minlength=n)).values


def keyed(web: RecordedWeb, ranks: Floats, which: npt.NDArray[np.bool_] | None = None) -> dict[int, float]:
    """Key of the URL → rank, as strategies look it up; of all URLs, or of some."""
    rows = np.arange(len(web)) if which is None else np.flatnonzero(which)
    return {key64(web.urls[row]): float(ranks[row]) for row in rows.tolist()}


def seen_after(web: RecordedWeb, rows: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """After these downloads: which pages are read, and which URLs are known."""
    read = np.zeros(len(web), bool)
    read[rows] = True
    known = read.copy()
    known[web.links.values[read[web.links.rows]]] = True
    return read, known

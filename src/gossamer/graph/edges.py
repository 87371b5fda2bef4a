"""From pairs of pages to what ranks are computed from.

Links lie by target: for each page, the pages that link to it. A link counts once however often a page repeats it, and
a page's link to itself says nothing about the page.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

Ints = NDArray[np.int64]
Numbers = NDArray[np.int32]


def distinct(values: Ints) -> Ints:
    """Each value once, ascending; sorts in place.

    `np.unique` hashes whole numbers, which took 42 s for 6 million pairs of node numbers where this takes 1.5 s.
    """
    values.sort()
    return values[np.append(True, values[1:] != values[:-1])] if len(values) else values


def links_by_target(sources: ArrayLike, targets: ArrayLike, nodes: int) -> tuple[Ints, Numbers]:
    """Where the links to each node begin (and the end of the last), and their sources, ascending."""
    source, target = np.asarray(sources, np.int64), np.asarray(targets, np.int64)
    apart = source != target
    codes = distinct(target[apart] * nodes + source[apart])
    rows, columns = np.divmod(codes, max(nodes, 1))
    indptr = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=nodes), out=indptr[1:])
    return indptr, columns.astype(np.int32)


def out_degrees(sources: ArrayLike, nodes: int) -> Numbers:
    """Links from each node, of sources as `links_by_target` gives them."""
    return np.bincount(np.asarray(sources), minlength=nodes).astype(np.int32)


def link_matrix(
    indptr: NDArray[Any], sources: NDArray[Any], nodes: int, ones: NDArray[np.float64] | None = None
) -> Any:
    """A sparse matrix with a 1 for each link, rows by target, on these very arrays; `ones` may be shared by many."""
    index = np.int32 if int(indptr[-1]) < 1 << 31 else np.int64
    matrix = csr_array((len(indptr) - 1, nodes))
    # Set, not given to the constructor: that would copy pieces of mapped files.
    matrix.indptr, matrix.indices = np.asarray(indptr, index), np.asarray(sources, index)
    matrix.data = np.ones(len(sources)) if ones is None else ones[: len(sources)]
    return matrix

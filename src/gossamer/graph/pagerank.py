"""PageRank: a page is worth what the pages that link to it pass on.

Two forms, both iterated until a page's rank changes by less than the tolerance in the mean:

    paper         PR(A) = (1 - d) + d · Σ PR(w) / out(w)               pages without links keep what they have
    normalised    PR(A) = (1 - d + d · D) · t(A) + d · Σ PR(w) / out(w)

where the sum is over the pages w that link to A, D is what pages without links hold (per page of the graph), and t says
where somebody goes who follows no link: 1 for every page, or more for some and nothing for the others, with mean 1.
The ranks of the normalised form have the mean 1, those of the papers' less, since what flows into a page without links
is gone.

An iteration shrinks the distance between any two vectors of ranks (of the same sum) by d at least, in the sum of
absolute differences. So there is one result, whatever the start, and the last change tells how near it is: the mean
error of a rank is at most residual · d / (1 - d). A start near the result only saves iterations.

The rows of the matrix are cut into pieces with a fixed order of summation: pieces may be computed by threads, processes
or machines, in any order, and the result is the same to the last bit.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from gossamer.graph.edges import link_matrix

Floats = NDArray[np.float64]
Form: TypeAlias = Literal["normalised", "paper"]
Each: TypeAlias = Callable[..., Iterable[Any]]
"""Works like `map`, may use threads."""
Tell: TypeAlias = Callable[[int, float], None]
"""Told after each iteration how many there were, and the residual."""

DAMPING = 0.85
TOLERANCE = 1e-8
"""Mean change of a rank whose mean is 1: with 0.85, ranks are right to 6e-8 in the mean."""
MOST_ITERATIONS = 500
EDGES_OF_A_PIECE = 1 << 19
"""Small enough to share out evenly, large enough that handing out (some 50 µs) does not count."""


class Ranked(msgspec.Struct, frozen=True):
    """Ranks, and how they were reached."""

    values: Floats
    iterations: int
    residual: float
    """Mean change of a rank in the last iteration."""
    converged: bool
    """Whether that is within the tolerance."""


class Rules(msgspec.Struct, frozen=True):
    """What is computed, and how exactly."""

    form: Form = "normalised"
    damping: float = DAMPING
    tolerance: float = TOLERANCE
    most_iterations: int = MOST_ITERATIONS

    def __post_init__(self) -> None:
        if not (0 <= self.damping < 1 and self.tolerance >= 0 and self.most_iterations >= 1):
            raise ValueError(
                "damping is from 0 to below 1, the tolerance not negative, and there is one iteration at least"
            )

    def base(self, dangling: float, nodes: int) -> float:
        """What every page is given, before `teleport` shares it out; `dangling`: all that pages without links hold."""
        lost = self.damping * dangling / nodes if self.form == "normalised" else 0.0
        return 1.0 - self.damping + lost


class Piece(msgspec.Struct, frozen=True):
    """Some rows of the matrix."""

    first: int
    """Its first node."""
    matrix: Any
    """scipy CSR: rows by target; an entry is what the target gets of each unit its source passes on."""
    dangling: NDArray[np.int64]
    """Its rows without links to other pages."""
    teleport: Floats | None = None
    """Of its rows; None is 1 everywhere."""

    @property
    def rows(self) -> slice:
        """Its nodes."""
        return slice(self.first, self.first + self.matrix.shape[0])

    def advance(self, passed: Floats, before: Floats, base: float, damping: float) -> tuple[Floats, float, float]:
        """The next ranks of its rows, the sum of their changes, and what those without links hold.

        `passed` is what each node of the graph gives to each of its targets, `before` the present ranks of the rows.
        """
        after: Floats = self.matrix @ passed
        after *= damping
        after += base if self.teleport is None else base * self.teleport
        change = after - before
        return after, float(np.abs(change, out=change).sum()), float(after[self.dangling].sum())


def rank(
    indptr: NDArray[Any],
    sources: NDArray[Any],
    out: NDArray[Any],
    rules: Rules | None = None,
    *,
    teleport: ArrayLike | None = None,
    start: ArrayLike | None = None,
    each: Each = map,
    tell: Tell | None = None,
) -> Ranked:
    """The ranks of a graph, given as `edges.links_by_target` and `edges.out_degrees` give it.

    `start` is the vector to begin with, such as earlier ranks. The `map` of a pool of threads as `each` makes use of
    more cores, since matrix products do not hold the interpreter's lock.
    """
    to = None if teleport is None else proportional(teleport)
    return iterate(pieces_of(0, indptr, sources, out, to), np.maximum(out, 1), rules or Rules(), start, each, tell)


def pieces_of(
    first: int, indptr: NDArray[Any], sources: NDArray[Any], out: NDArray[Any], teleport: Floats | None = None
) -> list[Piece]:
    """The pieces of the links to a run of nodes from `first` on; `out` and `teleport` are those of the whole graph."""
    cuts = piece_cuts(indptr, EDGES_OF_A_PIECE)
    ones = np.ones(int(np.diff(indptr[cuts]).max(initial=0)))
    found = []
    for low, high in itertools.pairwise(cuts):
        part = sources[indptr[low] : indptr[high]]
        matrix = link_matrix(indptr[low : high + 1] - indptr[low], part, len(out), ones)
        rows = slice(first + low, first + high)
        found.append(
            Piece(rows.start, matrix, np.flatnonzero(out[rows] == 0), None if teleport is None else teleport[rows])
        )
    return found


def iterate(
    pieces: Sequence[Piece],
    shares: NDArray[Any],
    rules: Rules,
    start: ArrayLike | None = None,
    each: Each = map,
    tell: Tell | None = None,
) -> Ranked:
    """Iterate to the tolerance; `shares` is in how many parts each node's rank is passed on."""
    nodes = len(shares)
    ranks = first_ranks(start, nodes, rules.form)
    if not nodes:
        return Ranked(ranks, 0, 0.0, True)
    passed = ranks / shares
    dangling = math.fsum(float(ranks[piece.rows][piece.dangling].sum()) for piece in pieces)

    def advance(piece: Piece) -> tuple[float, float]:
        rows = piece.rows
        after, change, held = piece.advance(passed, ranks[rows], base, rules.damping)
        ranks[rows] = after
        return change, held

    residual, iterations = math.inf, 0
    while iterations < rules.most_iterations and residual > rules.tolerance:
        base = rules.base(dangling, nodes)
        parts = list(each(advance, pieces))
        np.divide(ranks, shares, out=passed)
        residual = math.fsum(part[0] for part in parts) / nodes
        dangling = math.fsum(part[1] for part in parts)
        iterations += 1
        if tell is not None:
            tell(iterations, residual)
    return Ranked(ranks, iterations, residual, residual <= rules.tolerance)


def first_ranks(start: ArrayLike | None, nodes: int, form: Form) -> Floats:
    """A start as the iteration needs it: of the normalised form all vectors have the mean 1."""
    if start is None:
        return np.ones(nodes)
    ranks = np.array(start, np.float64)
    if ranks.shape != (nodes,) or not np.isfinite(ranks).all() or (ranks < 0).any():
        raise ValueError(f"a start has {nodes} finite ranks, none of them negative")
    return proportional(ranks) if form == "normalised" else ranks


def proportional(weights: ArrayLike) -> Floats:
    """Weights in the same proportions with the mean 1."""
    found = np.array(weights, np.float64)
    total = float(found.sum())
    if len(found) and not (np.isfinite(total) and total > 0 and (found >= 0).all()):
        raise ValueError("weights are finite, none of them is negative and one at least is not 0")
    found *= len(found) / total if len(found) else 1.0
    return found


def teleport_to(chosen: ArrayLike, nodes: int) -> Floats:
    """Where a reader goes who comes back to some chosen nodes only, to each as often as to any other."""
    weights = np.zeros(nodes)
    weights[np.asarray(chosen, np.int64)] = 1.0
    return proportional(weights)


def piece_cuts(indptr: NDArray[Any], edges: int) -> list[int]:
    """First rows of pieces of about so many links, and the end; they depend on the graph alone."""
    rows, total = len(indptr) - 1, int(indptr[-1])
    wanted = np.searchsorted(indptr, np.arange(edges, total, edges), side="right") - 1
    return sorted({0, *(int(row) for row in wanted if 0 < row < rows), rows})

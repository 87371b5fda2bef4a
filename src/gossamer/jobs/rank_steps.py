"""The tasks of the rank job: one block in one iteration, and one block's votes for sites.

A task reads the graph as mapped files, which its process keeps open from one iteration to the next.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.graph.hosts import votes
from gossamer.graph.pagerank import Piece, pieces_of
from gossamer.jobs.graph_files import GraphFiles, read_array, write_array
from gossamer.store.place import Place, open_place

Floats = NDArray[np.float64]

_BLOCKS_KEPT = 64
"""Blocks that a process keeps open; they are mapped files, hardly memory."""


class Step(msgspec.Struct, frozen=True):
    """A task: one block in one iteration."""

    place: str
    graph: str
    made_at: float
    """Of the graph: a process that lives long may have seen another one under its name."""
    work: str
    block: int
    iteration: int
    base: float
    damping: float
    personal: bool


def advance(step: Step) -> list[tuple[float, float]]:
    """Compute a block's next ranks: returns of each piece the sum of changes and what pages without links hold."""
    place = open_place(step.place)
    pieces = _pieces(step.place, step.graph, step.made_at, step.block, step.work if step.personal else None)
    passed = _passed(step.place, step.graph, step.made_at, step.work, step.iteration)
    ranks = read_slice(place, step.work, step.iteration, step.block)
    first, after, parts = pieces[0].first, [], []
    for piece in pieces:
        before = ranks[piece.rows.start - first : piece.rows.stop - first]
        values, *sums = piece.advance(passed, before, step.base, step.damping)
        after.append(values)
        parts.append((sums[0], sums[1]))
    place.put(slice_name(step.work, step.iteration + 1, step.block), np.concatenate(after).tobytes())
    return parts


@lru_cache(maxsize=4)
def _graph(place: str, prefix: str, made_at: float) -> GraphFiles:
    return GraphFiles(open_place(place), prefix)


@lru_cache(maxsize=_BLOCKS_KEPT)
def _pieces(place: str, prefix: str, made_at: float, number: int, work: str | None) -> list[Piece]:
    graph = _graph(place, prefix, made_at)
    teleport = None if work is None else read_array(graph.place, f"{work}teleport.npy")
    return pieces_of_block(graph, number, teleport)


def pieces_of_block(graph: GraphFiles, number: int, teleport: Floats | None) -> list[Piece]:
    """The pieces of a block, the same wherever it is computed."""
    block = graph.block(number)
    return pieces_of(block.first, block.indptr, block.sources, graph.out(), teleport)


@lru_cache(maxsize=1)
def _passed(place: str, prefix: str, made_at: float, work: str, iteration: int) -> Floats:
    """What each node gives to each of its targets; kept for the other blocks that this process computes."""
    graph = _graph(place, prefix, made_at)
    passed = np.empty(graph.info.nodes)
    out = graph.out()
    for number, first in enumerate(graph.info.blocks):
        part = read_slice(graph.place, work, iteration, number)
        rows = slice(first, first + len(part))
        np.divide(part, np.maximum(out[rows], 1), out=passed[rows])
    return passed


def slice_name(work: str, iteration: int, block: int) -> str:
    """The file of a block's ranks after so many iterations: bare float64."""
    return f"{work}ranks-{iteration:05d}-{block:05d}.f64"


def read_slice(place: Place, work: str, iteration: int, block: int) -> Floats:
    """A block's ranks after so many iterations."""
    return np.frombuffer(place.get(slice_name(work, iteration, block)), np.float64)


def count_votes(task: tuple[str, str, float, str, int]) -> int:
    """Write a block's votes for sites; returns their number."""
    url, prefix, made_at, work, number = task
    graph = _graph(url, prefix, made_at)
    block = graph.block(number)
    found = votes(block.first, block.indptr, block.sources, graph.site_numbers(), graph.info.sites)
    write_array(graph.place, votes_name(work, number), found)
    return len(found)


def votes_name(work: str, number: int) -> str:
    """The file of a block's votes."""
    return f"{work}votes-{number:05d}.npy"

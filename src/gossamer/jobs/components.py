"""Connected components of a graph that no single machine has to hold: large star and small star.

(Kiveris, Lattanzi, Mirrokni, Rastogi, Vassilvitskii: Connected Components in MapReduce and Beyond, 2014.) In a *large
star* every node ties its larger neighbours to the smallest node it knows; in a *small star* its smaller ones, and
itself. The two in turn keep components together and never add edges, and end with each component a star around its
smallest node. Chains of a thousand nodes take about ten rounds; near duplicates, which know each other, two or three.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gossamer.engine.exchange import partition_of, write_parts
from gossamer.jobs.context import JobContext, numbered, part_table, run_stage
from gossamer.store.place import Place, open_place

EDGES = pa.schema([("node", pa.int64()), ("other", pa.int64())])
"""An edge, stored with `node`; the same edge is stored with its other node too."""
Ints = NDArray[np.int64]


class _StarTask(msgspec.Struct, frozen=True):
    work: str
    files: list[str]
    part: int
    parts: int
    name: str


class _Edges(msgspec.Struct, frozen=True):
    """How many edges there are, and a number that is the same for the same edges."""

    count: int
    mark: int


def write_edges(place: Place, name: str, left: Ints, right: Ints, parts: int) -> None:
    """Write edges, each to the parts of both of its nodes."""
    _write(place, name, np.concatenate([left, right]), np.concatenate([right, left]), parts)


def connect(context: JobContext, files: list[str], parts: int) -> list[str]:
    """Turn a graph (files of `write_edges`) into stars around the smallest node of each component; returns their
    files."""
    before: tuple[int, int] | None = None
    round_ = 0
    while True:
        large = [numbered(f"stars/large-{round_}", part) for part in range(parts)]
        found = run_stage(context, "connecting", _large_star, _tasks(context, files, large, parts))
        present = sum(one.count for one in found), sum(one.mark for one in found) % (1 << 64)
        if present == before:
            return files
        before = present
        files = [numbered(f"stars/small-{round_}", part) for part in range(parts)]
        run_stage(context, "connecting", _small_star, _tasks(context, large, files, parts))
        round_ += 1


def labels(place: Place, files: list[str], part: int) -> dict[int, int]:
    """Node → smallest node of its component, for the nodes of a part; those without an edge are missing."""
    node, other = _read(place, files, part)
    starts, smallest = _smallest(node, other)
    return dict(zip(node[starts].tolist(), np.minimum(node[starts], smallest[starts]).tolist(), strict=True))


def _tasks(context: JobContext, files: list[str], names: list[str], parts: int) -> list[_StarTask]:
    return [_StarTask(context.work, files, part, parts, name) for part, name in enumerate(names)]


def _large_star(task: _StarTask) -> _Edges:
    """Task: tie each node's larger neighbours to the smallest node that it knows, itself included."""
    place = open_place(task.work)
    node, other = _read(place, task.files, task.part)
    _, smallest = _smallest(node, other)
    larger = other > node
    child, root = other[larger], np.minimum(node, smallest)[larger]
    # The edge belongs to its larger node: a small star uses that one only.
    _write(place, task.name, child, root, task.parts)
    once = node > other
    return _Edges(int(once.sum()), _mark(node[once], other[once]))


def _small_star(task: _StarTask) -> None:
    """Task: tie each node and its smaller neighbours to the smallest of them."""
    place = open_place(task.work)
    node, other = _read(place, task.files, task.part)
    starts, smallest = _smallest(node, other)
    tied = other != smallest
    child = np.concatenate([other[tied], node[starts]])
    root = np.concatenate([smallest[tied], smallest[starts]])
    write_edges(place, task.name, child, root, task.parts)


def _read(place: Place, files: list[str], part: int) -> tuple[Ints, Ints]:
    """The edges of a part in order, each once."""
    table = part_table(place, files, part, EDGES)
    node, other = table.column("node").to_numpy(), table.column("other").to_numpy()
    order = np.lexsort((other, node))
    node, other = node[order], other[order]
    new = np.ones(len(node), bool)
    new[1:] = (node[1:] != node[:-1]) | (other[1:] != other[:-1])
    return node[new], other[new]


def _smallest(node: Ints, other: Ints) -> tuple[NDArray[Any], Ints]:
    """Where each node's edges begin, and for each edge the smallest neighbour of its node."""
    starts = np.flatnonzero(np.concatenate([np.ones(min(1, len(node)), bool), node[1:] != node[:-1]]))
    counts = np.diff(np.concatenate([starts, [len(node)]]))
    return starts, np.repeat(other[starts], counts)


def _mark(node: Ints, other: Ints) -> int:
    mixed = node.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15) ^ other.view(np.uint64)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return int((mixed ^ (mixed >> np.uint64(32))).sum(dtype=np.uint64))


def _write(place: Place, name: str, node: Ints, other: Ints, parts: int) -> None:
    table = pa.Table.from_arrays([pa.array(node, pa.int64()), pa.array(other, pa.int64())], schema=EDGES)
    write_parts(place, name, table, partition_of(node, parts), parts)

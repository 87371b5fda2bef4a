"""Shared by the tasks of the link graph: the plan, the partition of keys, and files that live only as long as the job.

Keys are spread by their size (`engine.exchange.range_of`): the partitions in order hold the keys in order, so sorted
partitions make a sorted whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gossamer.engine.exchange import read_part
from gossamer.store.place import Place, open_place

Ints = NDArray[np.int64]
Numbers = NDArray[np.int32]


class Plan(msgspec.Struct, frozen=True):
    """How a job is cut; it depends on the data alone, so every engine gets the same."""

    segments: list[str]
    """Names in order; their places in this list are the numbers that records carry."""
    pieces: list[list[int]]
    """Numbers of the segments that a task reads."""
    partitions: int
    removed: list[str]
    """Beginnings of URLs that the operator took out."""


class Task(msgspec.Struct, frozen=True):
    """A task's whole argument."""

    place: str
    work: str
    """Prefix of the job's own files."""
    graph: str
    """Prefix of the graph's files."""
    segments: str
    """Place of the segments."""
    number: int
    """Which piece or partition."""
    first: int = 0
    """Number of the partition's first node."""
    block: int = 0
    """Number of the partition among those that have nodes."""
    hops: int = 0
    """Steps of chains that were taken before."""

    def open(self) -> Place:
        """The place of the job's files."""
        return open_place(self.place)

    def plan(self, place: Place) -> Plan:
        """How the job is cut."""
        return msgspec.json.decode(place.get(f"{self.work}plan.json"), type=Plan)

    def own(self, name: str) -> str:
        """The file of this task of one kind."""
        return f"{self.work}{name}-{self.number:05d}"

    def files(self, name: str, count: int) -> list[str]:
        """The files that so many tasks wrote of one kind."""
        return [f"{self.work}{name}-{number:05d}" for number in range(count)]


def places_in(keys: Ints, wanted: Ints) -> Ints:
    """Places of keys among the sorted ones, -1 for missing ones."""
    if not len(keys):
        return np.full(len(wanted), -1, np.int64)
    found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[found] == wanted, found, -1)


def column(rows: pa.Table | pa.RecordBatch, name: str) -> NDArray[Any]:
    """A column without nulls as an array."""
    array: NDArray[Any] = rows.column(name).to_numpy()
    return array


def received(place: Place, names: Sequence[str], part: int, form: pa.Schema) -> pa.Table:
    """All rows of a partition."""
    return pa.Table.from_batches(list(read_part(place, names, part)), form)

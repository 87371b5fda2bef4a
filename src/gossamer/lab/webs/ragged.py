"""Lists of different lengths in two arrays: millions of links need no million of Python objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt


class Ragged(msgspec.Struct, frozen=True):
    """Row `n` is `values[starts[n]:starts[n + 1]]`."""

    starts: npt.NDArray[np.int64]
    values: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def of(self, row: int) -> npt.NDArray[Any]:
        """The values of one row."""
        return self.values[self.starts[row] : self.starts[row + 1]]

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many values each row has."""
        return np.diff(self.starts)

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """The row of each value."""
        return np.repeat(np.arange(len(self)), self.counts)

    def some(self, rows: npt.NDArray[np.int64]) -> Ragged:
        """Some of the rows, in the order given."""
        counts = self.counts[rows]
        starts = np.concatenate(([0], np.cumsum(counts)))
        places = np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], counts)
        return Ragged(starts, self.values[places])

    def is_same_as(self, other: Ragged) -> bool:
        """Whether both hold the same rows."""
        return np.array_equal(self.starts, other.starts) and np.array_equal(self.values, other.values)


def ragged(rows: Iterable[Sequence[Any]], dtype: npt.DTypeLike) -> Ragged:
    """Rows given one by one."""
    lists = list(rows)
    starts = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(row) for row in lists], out=starts[1:])
    values = np.fromiter((value for row in lists for value in row), dtype, int(starts[-1]))
    return Ragged(starts, values)


def nothing(rows: int, dtype: npt.DTypeLike) -> Ragged:
    """So many empty rows."""
    return Ragged(np.zeros(rows + 1, np.int64), np.empty(0, dtype))

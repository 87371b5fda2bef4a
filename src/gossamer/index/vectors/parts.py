"""A file of vectors: written once, whole, and only read from then on.

    head      64 bytes: magic, version, rows, numbers of a vector, checksum of all that follows
    keys      of the pages, 8 bytes each
    hashes    of the texts that the vectors were made from, 8 bytes each
    scales    what one step of a vector's numbers is worth, 4 bytes each
    signs     a bit for each number, in words of 8 bytes: enough to find what may be near
    steps     the numbers, a byte each, from -127 to 127

Everything is little-endian. A vector of 384 numbers takes 452 bytes.
"""

from __future__ import annotations

import os
import struct
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import CorruptError
from gossamer.index.commits import storing

_HEAD = struct.Struct("<4sIQII40x")
_MAGIC = b"GVEC"
_VERSION = 1
_MOST_STEPS = 127

Keys = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Floats = NDArray[np.float32]


def sign_words(size: int) -> int:
    """Words of 8 bytes that hold a bit for each number of a vector."""
    return -(-size // 64)


def signs_of(vectors: NDArray[Any]) -> NDArray[np.uint64]:
    """Which numbers of vectors are above 0, as bits."""
    bits = np.zeros((len(vectors), 64 * sign_words(vectors.shape[1])), np.bool_)
    bits[:, : vectors.shape[1]] = vectors > 0
    return np.packbits(bits, axis=1).view("<u8")


class Rows:
    """Vectors of pages, in memory or in a file."""

    def __init__(
        self, keys: Keys, hashes: Hashes, scales: Floats, signs: NDArray[np.uint64], steps: NDArray[np.int8]
    ) -> None:
        self.keys, self.hashes, self.scales, self.signs, self.steps = keys, hashes, scales, signs, steps

    def __len__(self) -> int:
        return len(self.keys)

    def taken(self, rows: NDArray[Any]) -> Rows:
        """Some of the rows, in memory."""
        return Rows(self.keys[rows], self.hashes[rows], self.scales[rows], self.signs[rows], self.steps[rows])

    def products(self, vector: Floats, rows: NDArray[np.intp]) -> Floats:
        """How alike a vector and those of some rows are."""
        # Not `@`: for so few numbers, its threads cost more than they save.
        found = np.einsum("ij,j->i", self.steps[rows].astype(np.float32), vector)
        return np.asarray(found * self.scales[rows], np.float32)


def made(keys: Keys, hashes: Hashes, vectors: Floats) -> Rows:
    """Rows of vectors, each number brought to a byte."""
    scales = np.maximum(np.abs(vectors).max(1, initial=0.0) / _MOST_STEPS, 1e-12).astype("<f4")
    steps = np.rint(vectors / scales[:, None]).astype(np.int8)
    return Rows(keys.astype("<i8"), hashes.astype("<u8"), scales, signs_of(steps), steps)


def joined(several: list[Rows]) -> Rows:
    """Rows one after the other."""
    names = ("keys", "hashes", "scales", "signs", "steps")
    return Rows(*(np.concatenate([getattr(one, name) for one in several]) for name in names))


def write(path: Path, rows: Rows) -> None:
    """Write a file of rows; it is on the disk when this returns, and counts when somebody names it."""
    columns = [np.ascontiguousarray(one).data for one in (rows.keys, rows.hashes, rows.scales, rows.signs, rows.steps)]
    checksum = 0
    for column in columns:
        checksum = zlib.crc32(column, checksum)
    with storing(path.parent), path.open("wb") as file:
        file.write(_HEAD.pack(_MAGIC, _VERSION, len(rows), rows.steps.shape[1], checksum))
        for column in columns:
            file.write(column)
        file.flush()
        os.fsync(file.fileno())


def read(path: Path) -> Rows:
    """The rows of a file, mapped into memory; raises `CorruptError` if a bit of it is not as it was written."""
    try:
        with path.open("rb") as file:
            magic, version, count, size, checksum = _HEAD.unpack(file.read(_HEAD.size))
        data = np.asarray(np.memmap(path, np.uint8, "r", _HEAD.size))
    except (OSError, ValueError, struct.error) as error:
        raise _corrupt(path) from error
    widths = (8, 8, 4, 8 * sign_words(size), size)
    if (magic, version) != (_MAGIC, _VERSION) or len(data) != count * sum(widths) or zlib.crc32(data.data) != checksum:
        raise _corrupt(path)
    ends = np.cumsum([0, *(count * width for width in widths)])
    keys, hashes, scales, signs, steps = (data[start:end] for start, end in pairwise(ends))
    return Rows(
        keys.view("<i8"), hashes.view("<u8"), scales.view("<f4"), signs.view("<u8").reshape(count, sign_words(size)),
        steps.view(np.int8).reshape(count, size),
    )  # fmt: skip


def _corrupt(path: Path) -> CorruptError:
    return CorruptError(
        f"the vectors in {path} are damaged: delete {path.parent} and run `gossamer index --vectors`; "
        "searches go by words until then"
    )

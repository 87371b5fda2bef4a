"""From the tasks of one stage to those of the next, by key: every row goes to the task that has its part.

A map task writes *one* file, whatever the number of parts, with the rows of a part side by side; a reduce task reads
its part out of each such file. With a file for each pair of tasks a hundred by a hundred would be ten thousand, and
an object store asks a fee and a moment for each.

The file: pieces, then an index of them as msgpack, its length in 8 bytes (little endian), and the 8 bytes `GOSPART1`.
A piece is a whole Arrow IPC stream, compressed by zstd, with rows of one part. There are several pieces of a part
where the task had more rows than its memory allows: each time that is used up a run of pieces goes to a local file.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Protocol

import msgspec
import numpy as np
import pyarrow as pa

from gossamer.errors import CorruptError, StorageError

MEMORY = 256 << 20
"""Bytes a writer uses at most, about, unless told otherwise."""

_COPIES = 3
"""Times the rows are in memory while a run is written: as they came, in a row, and sorted."""

_MAGIC = b"GOSPART1"
_TAIL = 32 * 1024
"""Bytes from the end that are read at first: nearly always all of the index."""

_BATCH_ROWS = 64 * 1024
_SIGN, _HALF = np.uint64(1 << 63), np.uint64(32)


class Files(Protocol):
    """What is needed of a `store.place.Place`."""

    def put(self, name: str, data: bytes | memoryview) -> None:
        """Write a file."""
        ...

    def upload(self, name: str, source: Path) -> None:
        """Write a file with the content of a local one."""
        ...

    def get_range(self, name: str, start: int, length: int) -> bytes:
        """A piece of a file."""
        ...

    def size(self, name: str) -> int | None:
        """Bytes of a file; None where there is none."""
        ...


class _Index(msgspec.Struct, frozen=True):
    pieces: list[list[tuple[int, int]]]
    """For each part the start and length of its pieces, in the order in which the rows were added."""
    rows: list[int]
    """For each part its rows."""


def partition_of(keys: np.ndarray[Any, Any], parts: int) -> np.ndarray[Any, Any]:
    """The part of each 64-bit key: keys that are alike in their low or high bits are spread, too; stable for ever."""
    mixed = np.ascontiguousarray(keys).astype(np.int64, copy=False).view(np.uint64).copy()
    # The finaliser of splitmix64: every bit of the key changes half of the bits of the result.
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return (mixed % np.uint64(parts)).astype(np.int32)


def range_of(keys: np.ndarray[Any, Any], parts: int) -> np.ndarray[Any, Any]:
    """The part of each 64-bit key where parts are to follow each other: a greater key has never a lesser part. Keys
    that are hashes are spread evenly, others may not be."""
    high = (np.ascontiguousarray(keys).astype(np.int64, copy=False).view(np.uint64) ^ _SIGN) >> _HALF
    return ((high * np.uint64(parts)) >> _HALF).astype(np.int32)


class PartWriter:
    """Writes one file of parts, batch after batch; nothing is to be seen of it before `close`.

    In a `with` block it is closed at the end, and dropped where an error left the block.
    """

    def __init__(self, place: Files, name: str, parts: int, memory: int = MEMORY) -> None:
        self._place = place
        self._name = name
        self._limit = max(memory // _COPIES, 1)
        self._batches: list[pa.Table] = []
        self._parts: list[np.ndarray[Any, Any]] = []
        self._held = 0
        self._runs: list[tuple[IO[bytes], list[tuple[int, int]]]] = []
        self._rows = np.zeros(parts, np.int64)
        self._written = False

    def add(self, rows: pa.Table | pa.RecordBatch, part_of_row: np.ndarray[Any, Any]) -> None:
        """Rows and the part of each."""
        table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
        part = np.asarray(part_of_row)
        if len(part) != table.num_rows:
            raise ValueError(f"{table.num_rows} rows and parts for {len(part)}")
        if len(part) and not 0 <= part.min() <= part.max() < len(self._rows):
            raise ValueError(f"part {part.min()} or {part.max()} is not one of {len(self._rows)}")
        step = self._rows_that_fit(table)
        for start in range(0, table.num_rows, step):
            piece = table.slice(start, step)
            self._batches.append(piece)
            self._parts.append(part[start : start + step])
            self._held += piece.nbytes
            if self._held > self._limit:
                self._spill()

    def close(self) -> list[int]:
        """Write the file; how many rows each part has."""
        if self._runs:
            if self._batches:
                self._spill()
            self._merge()
        else:
            sink = pa.BufferOutputStream()
            pieces = self._write_run(sink)
            sink.write(_packed(_Index([[piece] if piece[1] else [] for piece in pieces], self._rows.tolist())))
            self._place.put(self._name, memoryview(sink.getvalue()))
        self._written = True
        self.drop()
        return self._rows.tolist()

    def drop(self) -> None:
        """Forget the rows; close local files."""
        self._batches, self._parts, self._held = [], [], 0
        for file, _ in self._runs:
            file.close()
        self._runs = []

    def __enter__(self) -> PartWriter:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None and not self._written:
            self.close()
        else:
            self.drop()

    def _rows_that_fit(self, table: pa.Table) -> int:
        return max(int(table.num_rows * self._limit / max(table.nbytes, 1)), 1)

    def _write_run(self, sink: Any) -> list[tuple[int, int]]:
        """Write the rows held as pieces in the order of the parts; where each begins and how long it is."""
        pieces = [(0, 0)] * len(self._rows)
        if not self._batches:
            return pieces
        part = np.concatenate(self._parts)
        table = pa.concat_tables(self._batches).combine_chunks()
        self._batches, self._parts, self._held = [], [], 0
        counts = np.bincount(part, minlength=len(self._rows))
        self._rows += counts
        # Small integers are sorted by counting them.
        order = np.argsort(part.astype(np.uint16 if len(counts) <= 1 << 16 else np.int64), kind="stable")
        table = table.take(pa.array(order))
        ends = np.cumsum(counts)
        for number in np.flatnonzero(counts).tolist():
            start = sink.tell()
            _write_stream(sink, table.slice(int(ends[number] - counts[number]), int(counts[number])))
            pieces[number] = start, sink.tell() - start
        return pieces

    def _spill(self) -> None:
        with _storing():
            file = tempfile.TemporaryFile(prefix="gossamer-exchange-")  # noqa: SIM115 - closed by drop
            self._runs.append((file, []))
            self._runs[-1][1].extend(self._write_run(pa.PythonFile(file, "w")))

    def _merge(self) -> None:
        """From runs with all parts to parts with all runs; the bytes of the pieces stay as they are."""
        with _storing(), tempfile.NamedTemporaryFile(prefix="gossamer-exchange-") as whole:
            found: list[list[tuple[int, int]]] = [[] for _ in self._rows]
            for number, pieces_of_part in enumerate(found):
                for file, pieces in self._runs:
                    start, length = pieces[number]
                    if length:
                        file.seek(start)
                        pieces_of_part.append((whole.tell(), length))
                        whole.write(file.read(length))
            whole.write(_packed(_Index(found, self._rows.tolist())))
            whole.flush()
            self._place.upload(self._name, Path(whole.name))


def write_parts(
    place: Files,
    name: str,
    rows: pa.Table | Iterable[pa.RecordBatch],
    part_of_row: np.ndarray[Any, Any],
    parts: int,
    memory: int = MEMORY,
) -> list[int]:
    """Write rows, with the part of each, as one file; how many each part has."""
    writer, start = PartWriter(place, name, parts, memory), 0
    try:
        for batch in [rows] if isinstance(rows, pa.Table) else rows:
            writer.add(batch, part_of_row[start : start + batch.num_rows])
            start += batch.num_rows
        if start != len(part_of_row):
            raise ValueError(f"{start} rows and parts for {len(part_of_row)}")
        return writer.close()
    finally:
        writer.drop()


def read_part(place: Files, names: Iterable[str], part: int) -> Iterator[pa.RecordBatch]:
    """The rows of a part, file by file in the order of the names, and in each in the order in which it got them."""
    for name in names:
        for start, length in _read_index(place, name).pieces[part]:
            try:
                yield from pa.ipc.open_stream(pa.py_buffer(place.get_range(name, start, length)))
            except pa.ArrowInvalid as error:
                raise CorruptError(f"{name}: part {part} is damaged: run the job again ({error})") from error


def _read_index(place: Files, name: str) -> _Index:
    size = place.size(name)
    if size is None:
        raise StorageError(f"{name} is missing: run the job again")
    tail = place.get_range(name, max(size - _TAIL, 0), min(size, _TAIL))
    length = int.from_bytes(tail[-16:-8], "little")
    if tail[-8:] != _MAGIC or length + 16 > size:
        raise CorruptError(f"{name} is not a whole file of parts: run the job again")
    if length + 16 > len(tail):
        tail = place.get_range(name, size - length - 16, length + 16)
    try:
        return msgspec.msgpack.decode(tail[-length - 16 : -16], type=_Index)
    except msgspec.MsgspecError as error:
        raise CorruptError(f"{name}: its index is damaged: run the job again ({error})") from error


def _packed(index: _Index) -> bytes:
    data = msgspec.msgpack.encode(index)
    return data + len(data).to_bytes(8, "little") + _MAGIC


def _write_stream(sink: Any, table: pa.Table) -> None:
    options = pa.ipc.IpcWriteOptions(compression="zstd", use_threads=False)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=_BATCH_ROWS)


@contextlib.contextmanager
def _storing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(f"cannot write to {tempfile.gettempdir()}: {error.strerror}") from error

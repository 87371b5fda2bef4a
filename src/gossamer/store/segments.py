"""One commit of one worker, written once and read often.

Writing, in this order, from one thread:

    writer = SegmentWriter(segments, new_segment_id(worker, now, n))
    places = writer.write_archive(responses, now)      # before the transaction, of what is likely to be kept
    writer.write_links(links)                          # before the transaction
    writer.write_pages(rows)                           # inside it: rows hold its verdicts
    writer.sync()                                      # inside it, last before COMMIT

After `sync` the files survive a power cut. If the transaction fails, `abandon`; if it is
run again, `write_pages` and `sync` are called again, with its new verdicts. Any error in
between removes what was written. The two large files are safe before the transaction, so
its lock is held for one small file only; `write_archive` is called again inside it only
if a verdict keeps a response that nobody expected to be kept.

Reading: a page is one row group of one file, a response is one record. Files are
immutable, so open ones are kept and shared by all threads of a process.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from itertools import accumulate
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from gossamer.model.counts import counted
from gossamer.model.records import Link, PageRow, Response
from gossamer.store import archive, layout, schema
from gossamer.store.archive import Place, StoredResponse
from gossamer.store.durable import corrupt, reading, storing, write_new
from gossamer.store.segment_folder import Segments, opened

OPEN_FILES = 16
"""Parquet files kept open by `read_page`; one of 100,000 pages takes 9 ms to open and then 7 MB."""


class SegmentWriter:
    """Writes the files of one segment; see the head of this file for the order."""

    def __init__(self, segments: Segments, segment_id: str, *, archive: bool = True) -> None:
        if layout.worker_of(segment_id) is None:
            raise ValueError(f"not a segment id: {segment_id!r}")
        self.segment_id = segment_id
        self.bytes = 0
        """Size of the files written so far."""
        self._segments = segments
        self._archive = archive
        self._sizes: dict[str, int] = {}
        self._is_published = False
        with storing(f"{segments}/{segment_id}"):
            self._folder = segments.build(segment_id)

    def write_archive(
        self, responses: Sequence[Response], now: float, info: Mapping[str, str] | None = None
    ) -> list[Place | None]:
        """Store raw responses, in place of an earlier call's; returns offset and length of each, None if there is
        nothing to store. `info` goes into the `warcinfo` record: software, operator, http-header-user-agent, robots."""
        if not self._archive:
            return [None] * len(responses)
        self._make_room(layout.RESPONSES)
        data, places = archive.pack(responses, info or {}, now)
        self._write(layout.RESPONSES, data)
        return places

    def write_links(self, pages: Sequence[tuple[str, float, Sequence[Link]]]) -> None:
        """Stores the links of pages: source URL, time of the visit, links."""
        self._write_table(layout.LINKS, schema.links_table(pages), schema.LINK_GROUP, schema.LINKS_OPTIONS)

    def write_pages(self, rows: Sequence[PageRow]) -> None:
        """Store the page rows, in place of an earlier call's; a row's position is its row number from now on."""
        self._make_room(layout.PAGES)
        table = schema.pages_table(rows)
        self._write_table(layout.PAGES, table, schema.PAGE_GROUP, schema.PAGES_OPTIONS, finish=False)

    def sync(self) -> None:
        """Put the segment in place and wait until all of it is safe."""
        with self._all_or_nothing():
            self._segments.publish(self.segment_id)
        self._is_published = True

    def abandon(self) -> None:
        """Removes everything that was written."""
        self._segments.discard(self.segment_id)

    def _make_room(self, name: str) -> None:
        """Remove a file of an earlier attempt."""
        with self._all_or_nothing():
            if self._is_published:
                self._folder, self._is_published = self._segments.take_back(self.segment_id), False
            (self._folder / name).unlink(missing_ok=True)

    def _write_table(
        self, name: str, table: pa.Table, group: int, options: dict[str, Any], finish: bool = True
    ) -> None:
        sink = pa.BufferOutputStream()
        schema.write_tables(sink, table.schema, [table], group, options)
        self._write(name, memoryview(sink.getvalue()), finish)

    def _write(self, name: str, data: bytes | memoryview, finish: bool = True) -> None:
        with self._all_or_nothing():
            self._sizes[name] = write_new(self._folder / name, data)
            self.bytes = sum(self._sizes.values())
            if finish:
                self._segments.finish(self.segment_id, name)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        try:
            with storing(f"{self._segments}/{self.segment_id}"):
                yield
        except BaseException:
            self.abandon()
            raise


class TableFile:
    """An open Parquet file of a segment: checksums verified, schema and version checked."""

    def __init__(self, path: Path, expected: pa.Schema) -> None:
        self.path = path
        self._newest = expected
        with reading(path):
            self._file = pq.ParquetFile(path, page_checksum_verification=True, pre_buffer=False)
            self._check(expected)
            metadata = self._file.metadata
            sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        self.starts: list[int] = list(accumulate(sizes, initial=0))
        """First row of each row group, and the number of rows at the end."""
        if self.rows != metadata.num_rows:  # else the rows at the end would be missing silently
            raise corrupt(path, f"its footer names both {metadata.num_rows} rows and {self.rows}")
        self._lock = Lock()

    @property
    def rows(self) -> int:
        """How many rows the file has."""
        return self.starts[-1]

    def read_group(self, group: int, columns: Sequence[str] | None = None) -> pa.Table:
        """One row group."""
        with reading(self.path), self._lock:  # Parquet's reader keeps state; several threads share this one
            table = self._file.read_row_group(group, columns=columns)
            table.validate(full=True)
            table = schema.completed(table, self._newest, columns)
        if table.num_rows != self.starts[group + 1] - self.starts[group]:
            raise corrupt(self.path, f"row group {group} has {table.num_rows} rows")
        return table

    def groups(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """All row groups in order, one in memory at a time."""
        for group in range(len(self.starts) - 1):
            yield self.read_group(group, columns)

    def page(self, row: int) -> PageRow:
        """One row of a `pages` file."""
        if not 0 <= row < self.rows:
            raise corrupt(self.path, f"there is no row {row}, only {counted(self.rows, 'row')}")
        group = bisect_right(self.starts, row) - 1
        with reading(self.path):
            return schema.page_row(self.read_group(group), row - self.starts[group])

    def pages(self, rows: Collection[int]) -> Iterator[tuple[int, PageRow]]:
        """Some rows of a `pages` file, each with its number; every row group is read once."""
        for group, start in enumerate(self.starts[:-1]):
            here = sorted(row for row in rows if start <= row < self.starts[group + 1])
            if here:
                with reading(self.path):
                    table = self.read_group(group)
                    found = [(row, schema.page_row(table, row - start)) for row in here]
                yield from found

    def values(self, rows: Collection[int], columns: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Some columns of some rows, each with its number; every row group is read once."""
        for group, start in enumerate(self.starts[:-1]):
            here = sorted(row for row in rows if start <= row < self.starts[group + 1])
            if here:
                with reading(self.path):
                    found = self.read_group(group, columns).take([row - start for row in here]).to_pylist()
                yield from zip(here, found, strict=True)

    def may_hold(self, group: int, column: str, value: str) -> bool:
        """Whether a row group's bounds leave room for a value."""
        with reading(self.path):
            place = self._file.schema_arrow.get_field_index(column)
            bounds = self._file.metadata.row_group(group).column(place).statistics
            return bounds is None or not bounds.has_min_max or bounds.min <= value <= bounds.max

    def _check(self, expected: pa.Schema) -> None:
        version = schema.version_of(self._file)
        if version > schema.VERSION:
            raise corrupt(self.path, f"a newer Gossamer wrote schema {version}; upgrade to read it")
        if version < 1 or not self._file.schema_arrow.equals(schema.schema_at(version, expected)):
            raise corrupt(self.path, "its columns are not those of a segment")


def open_pages(segments: Segments, segment_id: str) -> TableFile:
    """The `pages` of a segment; kept open for the next caller."""
    return opened(segments, segment_id, layout.PAGES, _shared_pages)


def open_links(segments: Segments, segment_id: str) -> TableFile:
    """The `links` of a segment."""
    return opened(segments, segment_id, layout.LINKS, lambda path: TableFile(path, schema.LINKS_SCHEMA))


def open_pages_once(segments: Segments, segment_id: str) -> TableFile:
    """The `pages` of a segment for one complete pass: it does not push others out of the shared ones."""
    return opened(segments, segment_id, layout.PAGES, lambda path: TableFile(path, schema.PAGES_SCHEMA))


def _shared_pages(path: Path) -> TableFile:
    with reading(path):
        stat = path.stat()
    return _cached_table(path, (stat.st_ino, stat.st_size, stat.st_mtime_ns), schema.PAGES_SCHEMA)


@lru_cache(maxsize=OPEN_FILES)
def _cached_table(path: Path, _identity: tuple[int, int, int], expected: pa.Schema) -> TableFile:
    return TableFile(path, expected)


def read_page(segments: Segments, segment_id: str, row: int) -> PageRow:
    """One page: one row group is read."""
    return open_pages(segments, segment_id).page(row)


def read_response(segments: Segments, segment_id: str, offset: int, length: int | None = None) -> StoredResponse:
    """The raw response at a page row's `warc_offset`; the length, if known, saves reading too far."""
    read = partial(segments.read_range, segment_id, layout.RESPONSES)
    return archive.read_response(f"{segments}/{segment_id}/{layout.RESPONSES}", read, offset, length)


def iter_pages(
    segments: Segments,
    ids: Iterable[str],
    columns: Sequence[str] | None = None,
    outcomes: Iterable[str] | None = None,
) -> Iterator[pa.RecordBatch]:
    """The rows of some segments in order, all columns or some, all outcomes or some.

    One row group is in memory at a time.
    """
    names = list(columns) if columns is not None else schema.PAGES_SCHEMA.names
    wanted = pa.array(list(outcomes), pa.string()) if outcomes is not None else None
    needed = names if wanted is None or "outcome" in names else [*names, "outcome"]
    for segment_id in ids:
        for table in open_pages_once(segments, segment_id).groups(needed):
            if wanted is not None:
                import pyarrow.compute as pc  # 9 MiB: workers, which only write segments, do without

                table = table.filter(pc.is_in(table.column("outcome"), wanted))
            yield from table.select(names).to_batches()


class SegmentCheck(msgspec.Struct, frozen=True):
    """What a verified segment holds."""

    pages: int
    links: int
    records: int
    """Responses in the archive."""


def check_segment(segments: Segments, segment_id: str) -> SegmentCheck:
    """Read every byte of a segment; raises `CorruptError` at the first thing wrong. Checked: schemas, page checksums,
    the gzip CRC and length of each record, and that each page row points to the response of its own URL."""
    stored = {}
    if segments.size(segment_id, layout.RESPONSES) is not None:
        for record in archive.iter_records(segments.file(segment_id, layout.RESPONSES)):
            if record.url:
                stored[record.offset] = (record.length, record.url)
    where = f"{segments}/{segment_id}/{layout.RESPONSES}"
    pages = _check_pages(open_pages(segments, segment_id), stored, where)
    links = sum(table.num_rows for table in open_links(segments, segment_id).groups())
    return SegmentCheck(pages, links, len(stored))


def _check_pages(pages: TableFile, stored: Mapping[int, tuple[int, str]], where: str) -> int:
    for group, table in enumerate(pages.groups()):
        places = (table.column(name).to_pylist() for name in ("warc_offset", "warc_length", "url"))
        for index, (offset, length, url) in enumerate(zip(*places, strict=True)):
            if offset is not None and stored.get(offset) != (length, url):
                raise corrupt(
                    where,
                    f"no response of {url} at byte {offset}, where row {pages.starts[group] + index} says",
                )
    return pages.rows

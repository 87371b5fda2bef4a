"""Many small segments become one.

A commit every half second makes 170,000 folders a day. `plan` says which to merge:
all segments with the same number of decimal digits in their size, as soon as there
are ten, so that

- a merged segment has at least one digit more than each of its parts, and a byte is
  copied at most once per digit: O(log n) times;
- at most nine segments of each size below `FULL` remain: 72 and the full ones.

`compact` writes the new segment and syncs it; then it stops. The caller swaps in one
transaction: the old ids become "merged into the new one, from row n on", so nothing
that points at (segment, row) is rewritten. Only then the old folders are deleted. A
crash before the swap leaves the new folder as an orphan, one after it the old ones.

Rows keep their order, segment after segment. WARC files are joined byte by byte, which
is what one gzip member per record allows; `warc_offset` is shifted accordingly.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.store import layout, schema
from gossamer.store.durable import SegmentMissingError, corrupt, discard, publish, start_building, storing
from gossamer.store.segments import TableFile

ENOUGH = 10
FULL = 10**8
"""Bytes from which a segment is left alone. A merged one then has 0.1 to 1 GB: few enough
files for a terabyte (some thousand), small enough to copy while a crawl runs."""

_OFFSET = schema.PAGES_SCHEMA.get_field_index("warc_offset")
_COPY = 1 << 20


class CompactedSegment(msgspec.Struct, frozen=True):
    """What the caller's swap needs to know."""

    segment_id: str
    first_rows: dict[str, int]
    """Old id → the row its rows start at in the new segment."""
    pages: int
    links: int
    bytes: int


def plan(sizes: Mapping[str, int], full: int = FULL) -> list[list[str]]:
    """Which segments to merge, given the bytes of each in order of time.

    Each group is of one size class and at least ten long; a group ends when it is full.
    """
    classes: dict[int, list[str]] = {}
    for segment_id, size in sizes.items():
        if size < full:
            classes.setdefault(size_class(size), []).append(segment_id)
    return [group for _, members in sorted(classes.items()) for group in _cut(members, sizes, full)]


def size_class(size: int) -> int:
    """The number of decimal digits."""
    return len(str(size))


def _cut(members: Sequence[str], sizes: Mapping[str, int], full: int) -> Iterator[list[str]]:
    group: list[str] = []
    total = 0
    for segment_id in members:
        group.append(segment_id)
        total += sizes[segment_id]
        if len(group) >= ENOUGH and total >= full:
            yield group
            group, total = [], 0
    if len(group) >= ENOUGH:
        yield group


def compact(root: Path, ids: Sequence[str], new_id: str) -> CompactedSegment:
    """Merges segments, in this order, into a new one that is complete and on the disk on return.

    One row group of each kind is in memory at a time. On any error nothing new remains.
    """
    with storing(root / new_id):
        folder = start_building(root, new_id)
    try:
        with storing(root / new_id):
            starts, archived = _archive_starts(root, ids)
            first_rows, pages = _merge_pages(root, ids, starts, folder)
            links = _merge_links(root, ids, folder)
            if archived:
                _merge_archives(root, ids, folder / layout.RESPONSES)
            publish(root, new_id)
    except BaseException:
        discard(root, new_id)
        raise
    return CompactedSegment(new_id, first_rows, pages, links, layout.segment_bytes(root, new_id))


def _archive_starts(root: Path, ids: Sequence[str]) -> tuple[list[int], int]:
    """Where each segment's archive will start, and the size of all."""
    starts, total = [], 0
    for segment_id in ids:
        starts.append(total)
        path = root / segment_id / layout.RESPONSES
        total += path.stat().st_size if path.exists() else 0
    return starts, total


def _merge_pages(root: Path, ids: Sequence[str], starts: Sequence[int], folder: Path) -> tuple[dict[str, int], int]:
    first_rows: dict[str, int] = {}
    total = 0

    def tables() -> Iterator[pa.Table]:
        nonlocal total
        for segment_id, start in zip(ids, starts, strict=True):
            pages = TableFile(root / segment_id / layout.PAGES, schema.PAGES_SCHEMA)
            first_rows[segment_id] = total
            total += pages.rows
            for table in pages.groups():
                _check_reach(root / segment_id / layout.RESPONSES, table)
                yield _shifted(table, start)

    merged = _regrouped(tables(), schema.PAGE_GROUP)
    with (folder / layout.PAGES).open("xb") as file:
        schema.write_tables(file, schema.PAGES_SCHEMA, merged, schema.PAGE_GROUP, schema.PAGES_MERGE_OPTIONS)
    return first_rows, total


def _shifted(table: pa.Table, start: int) -> pa.Table:
    moved = pc.add(table.column(_OFFSET), pa.scalar(start, pa.int64()))
    return table.set_column(_OFFSET, schema.PAGES_SCHEMA.field(_OFFSET), moved)


def _check_reach(path: Path, table: pa.Table) -> None:
    """A cut-off archive must not be joined: all later records would be pointed at wrongly."""
    end = pc.max(pc.add(table.column("warc_offset"), table.column("warc_length"))).as_py()
    if end is None:
        return
    if not path.exists():
        raise SegmentMissingError(f"{path} is missing: restore it from a backup before merging the segment")
    if end > path.stat().st_size:
        raise corrupt(path, f"it ends before byte {end}, where the last response should end")


def _merge_links(root: Path, ids: Sequence[str], folder: Path) -> int:
    files = (TableFile(root / segment_id / layout.LINKS, schema.LINKS_SCHEMA) for segment_id in ids)
    merged = _regrouped((table for file in files for table in file.groups()), schema.LINK_GROUP)
    with (folder / layout.LINKS).open("xb") as file:
        return schema.write_tables(file, schema.LINKS_SCHEMA, merged, schema.LINK_GROUP, schema.LINKS_MERGE_OPTIONS)


def _merge_archives(root: Path, ids: Sequence[str], target: Path) -> None:
    with target.open("xb") as output:
        for segment_id in ids:
            path = root / segment_id / layout.RESPONSES
            if path.exists():
                with path.open("rb") as source:
                    shutil.copyfileobj(source, output, _COPY)


def _regrouped(tables: Iterator[pa.Table], group: int) -> Iterator[pa.Table]:
    """The same rows in tables of `group` rows; the last may be shorter."""
    waiting: list[pa.Table] = []
    count = 0
    for table in tables:
        waiting.append(table)
        count += table.num_rows
        while count >= group:
            joined = pa.concat_tables(waiting)
            yield joined.slice(0, group).combine_chunks()
            waiting, count = [joined.slice(group)], count - group
    if count:
        yield pa.concat_tables(waiting).combine_chunks()

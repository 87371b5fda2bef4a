"""Many small segments become one.

`merge_plan` says which. `compact` writes the new segment and syncs it; then it stops. The caller swaps in one
transaction: the old ids become "merged into the new one, from row n on", so nothing
that points at (segment, row) is rewritten. Only then the old folders are deleted. A
crash before the swap leaves the new folder as an orphan, one after it the old ones.

Rows keep their order, segment after segment. WARC files are joined byte by byte, which
is what one gzip member per record allows; `warc_offset` is shifted accordingly.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.store import layout, schema
from gossamer.store.durable import SegmentMissingError, corrupt, reading, storing
from gossamer.store.segment_folder import Segments, opened
from gossamer.store.segments import open_links, open_pages_once

_OFFSET = schema.PAGES_SCHEMA.get_field_index("warc_offset")
_COPY = 1 << 20


class CompactedSegment(msgspec.Struct, frozen=True):
    """Data for the caller's swap."""

    segment_id: str
    first_rows: dict[str, int]
    """Old id → the row its rows start at in the new segment."""
    pages: int
    links: int
    bytes: int


def compact(segments: Segments, ids: Sequence[str], new_id: str) -> CompactedSegment:
    """Merge segments, in this order, into a new one that is complete and safe on return. One row group of each kind is
    in memory at a time. On any error nothing new remains."""
    where = f"{segments}/{new_id}"
    with storing(where):
        folder = segments.build(new_id)
    try:
        with storing(where):
            archives = [segments.size(segment_id, layout.RESPONSES) for segment_id in ids]
            first_rows, pages = _merge_pages(segments, ids, archives, folder)
            links = _merge_links(segments, ids, folder)
            if any(archives):
                _merge_archives(segments, ids, archives, folder / layout.RESPONSES)
            size = sum(path.stat().st_size for path in folder.iterdir())
            segments.publish(new_id)
    except BaseException:
        segments.discard(new_id)
        raise
    finally:
        # Else a process that merges once an hour would keep the memory of its largest merge.
        pa.default_memory_pool().release_unused()
    return CompactedSegment(new_id, first_rows, pages, links, size)


def _merge_pages(
    segments: Segments, ids: Sequence[str], archives: Sequence[int | None], folder: Path
) -> tuple[dict[str, int], int]:
    first_rows: dict[str, int] = {}
    total = 0

    def tables() -> Iterator[pa.Table]:
        nonlocal total
        start = 0
        for segment_id, archived in zip(ids, archives, strict=True):
            pages = open_pages_once(segments, segment_id)
            first_rows[segment_id] = total
            total += pages.rows
            for table in pages.groups():
                check_reach(f"{segments}/{segment_id}/{layout.RESPONSES}", archived, table)
                yield _shifted(table, start)
            start += archived or 0

    merged = _regrouped(tables(), schema.PAGE_GROUP)
    with (folder / layout.PAGES).open("xb") as file:
        schema.write_tables(file, schema.PAGES_SCHEMA, merged, schema.PAGE_GROUP, schema.PAGES_MERGE_OPTIONS)
    return first_rows, total


def _shifted(table: pa.Table, start: int) -> pa.Table:
    moved = pc.add(table.column(_OFFSET), pa.scalar(start, pa.int64()))
    return table.set_column(_OFFSET, schema.PAGES_SCHEMA.field(_OFFSET), moved)


def check_reach(where: str, size: int | None, table: pa.Table) -> None:
    """A cut-off archive must not be joined: all later records would have wrong offsets."""
    end = pc.max(pc.add(table.column("warc_offset"), table.column("warc_length"))).as_py()
    if end is None:
        return
    if size is None:
        raise SegmentMissingError(f"{where} is missing: restore it from a backup before merging the segment")
    if end > size:
        raise corrupt(where, f"it ends before byte {end}, where the last response should end")


def _merge_links(segments: Segments, ids: Sequence[str], folder: Path) -> int:
    files = (open_links(segments, segment_id) for segment_id in ids)
    merged = _regrouped((table for file in files for table in file.groups()), schema.LINK_GROUP)
    with (folder / layout.LINKS).open("xb") as file:
        return schema.write_tables(file, schema.LINKS_SCHEMA, merged, schema.LINK_GROUP, schema.LINKS_MERGE_OPTIONS)


def _merge_archives(segments: Segments, ids: Sequence[str], archives: Sequence[int | None], target: Path) -> None:
    with target.open("xb") as output:
        for segment_id, size in zip(ids, archives, strict=True):
            if size:
                with opened(segments, segment_id, layout.RESPONSES, _open_archive) as source:
                    shutil.copyfileobj(source, output, _COPY)


def _open_archive(path: Path) -> BinaryIO:
    with reading(path):
        return path.open("rb")


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

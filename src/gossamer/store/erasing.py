"""Rewrites a segment without some visits: of pages that nobody may keep, or that newer visits have superseded.

Files of segments never change, so a new segment takes the place of the old one. Every row keeps its place, so that
nothing
that points to (segment, row) has to be rewritten. An erased visit keeps URL, time and status only; a superseded one
also
its outcome, since a redirect or an error may be the last that is known of the URL. Their raw responses are cut out of
the
archive, and their links are gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.model.outcome import Outcome
from gossamer.model.records import PageRow
from gossamer.store import layout, schema
from gossamer.store.compaction import CompactedSegment, check_reach
from gossamer.store.durable import corrupt, reading, storing
from gossamer.store.segment_folder import Segments, opened
from gossamer.store.segments import open_links, open_pages_once

ERASED = "taken down, and erased"
SUPERSEDED = "superseded, and thinned out"
"""The reasons in the rows of erased visits."""

_COPY = 1 << 20
_OFFSET = schema.PAGES_SCHEMA.get_field_index("warc_offset")
_OUTCOME = schema.PAGES_SCHEMA.get_field_index("outcome")
_NEEDED = ["url", "fetched_at", "reason"]
_LEFT = ("url", "site", "domain", "fetched_at", "status", "worker")

_Holes = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Gone = Callable[[pa.Table, int], Mask]
"""Which rows go, of a table with at least URL, time and reason, given the number of its first row."""


def of_urls(gone: Callable[[str], bool]) -> Gone:
    """All visits to some URLs, unless they are erased already."""

    def mask(table: pa.Table, _first: int) -> Mask:
        pairs = zip(table.column("url").to_pylist(), table.column("reason").to_pylist(), strict=True)
        return np.fromiter((reason != ERASED and gone(url) for url, reason in pairs), np.bool_, table.num_rows)

    return mask


def superseded(current: npt.NDArray[np.int64], before: float) -> Gone:
    """All visits earlier than a time, except for those in the rows that are `current`."""
    current = np.sort(current)
    limit = pa.scalar(round(before * 1e6), pa.int64())

    def mask(table: pa.Table, first: int) -> Mask:
        old = pc.less(table.column("fetched_at").cast(pa.int64()), limit)
        goes: Mask = pc.and_not(old, _is_blank(table)).to_numpy(zero_copy_only=False).copy()
        begin, end = np.searchsorted(current, (first, first + table.num_rows))
        goes[current[begin:end] - first] = False
        return goes

    return mask


def visits_of(segments: Segments, segment_id: str, gone: Gone) -> tuple[int, int]:
    """How many visits of a segment are to go, and how many are not blank yet."""
    found = full = first = 0
    for table in open_pages_once(segments, segment_id).groups(_NEEDED):
        found += int(gone(table, first).sum())
        first += table.num_rows
        full += table.num_rows - int(pc.sum(_is_blank(table)).as_py() or 0)
    return found, full


def _is_blank(table: pa.Table) -> pa.ChunkedArray:
    return pc.is_in(table.column("reason"), pa.array([ERASED, SUPERSEDED]))


def erase(segments: Segments, segment_id: str, new_id: str, gone: Gone, reason: str) -> CompactedSegment:
    """Write a segment anew without some visits; the new one is complete and safe on return. The caller makes the new
    one count, and deletes the old one. On any error nothing new remains."""
    where = f"{segments}/{new_id}"
    with storing(where):
        folder = segments.build(new_id)
    try:
        with storing(where):
            holes, visits = _holes(segments, segment_id, gone)
            pages = _write_pages(segments, segment_id, folder, gone, reason, holes)
            links = _write_links(segments, segment_id, folder, visits)
            if size := segments.size(segment_id, layout.RESPONSES):
                _write_archive(segments, segment_id, folder / layout.RESPONSES, holes.tolist(), size)
            total = sum(path.stat().st_size for path in folder.iterdir())
            segments.publish(new_id)
    except BaseException:
        segments.discard(new_id)
        raise
    return CompactedSegment(new_id, {segment_id: 0}, pages, links, total)


def _holes(segments: Segments, segment_id: str, gone: Gone) -> tuple[_Holes, pa.Array]:
    """Offset and length of the responses to cut out, in order; and the visits that go, as `_visits` names them."""
    archived, where = segments.size(segment_id, layout.RESPONSES), f"{segments}/{segment_id}/{layout.RESPONSES}"
    holes: set[tuple[int, int]] = set()
    visits: list[pa.ChunkedArray] = []
    first = 0
    for table in open_pages_once(segments, segment_id).groups([*_NEEDED, "warc_offset", "warc_length"]):
        check_reach(where, archived, table)  # offsets are shifted: a cut-off archive could not be restored any more
        goes = table.filter(pa.array(gone(table, first)))
        first += table.num_rows
        places = zip(goes.column("warc_offset").to_pylist(), goes.column("warc_length").to_pylist(), strict=True)
        holes.update((start, length) for start, length in places if start is not None)
        visits.append(_visits(goes.column("url"), goes.column("fetched_at")))
    named = [chunk for one in visits for chunk in one.chunks]
    found = np.array(sorted(holes), np.int64).reshape(-1, 2)
    return found, pa.concat_arrays(named) if named else pa.array([], pa.string())


def _visits(urls: pa.ChunkedArray, times: pa.ChunkedArray) -> pa.ChunkedArray:
    """A visit as a text: URL and time of a link name its visit."""
    return pc.binary_join_element_wise(times.cast(pa.int64()).cast(pa.string()), urls.cast(pa.string()), " ")


def _write_pages(segments: Segments, segment_id: str, folder: Path, gone: Gone, reason: str, holes: _Holes) -> int:
    starts, cut = holes[:, 0], np.concatenate([[0], np.cumsum(holes[:, 1])])

    def tables() -> Iterator[pa.Table]:
        first = 0
        for table in open_pages_once(segments, segment_id).groups():
            yield _moved(_blanked(table, np.flatnonzero(gone(table, first)), reason), starts, cut)
            first += table.num_rows

    with (folder / layout.PAGES).open("xb") as file:
        return schema.write_tables(file, schema.PAGES_SCHEMA, tables(), schema.PAGE_GROUP, schema.PAGES_MERGE_OPTIONS)


def _blanked(table: pa.Table, places: npt.NDArray[np.intp], reason: str) -> pa.Table:
    """The rows with blank ones in place of those that go."""
    if not places.size:
        return table
    blank = PageRow("", "", "", fetched_at=0.0, status=0, worker="", outcome=Outcome.REFUSED.value, reason=reason)
    blanks = schema.pages_table([blank]).take(pa.array(np.zeros(len(places), np.int64)))
    going = table.take(pa.array(places))
    told = pc.equal(going.column("outcome"), Outcome.DOCUMENT.value)  # a document without a text is none
    going = going.set_column(
        _OUTCOME, going.schema.field(_OUTCOME), pc.if_else(told, Outcome.REFUSED.value, going.column("outcome"))
    )
    for name in (*_LEFT, "outcome", "target") if reason == SUPERSEDED else _LEFT:
        place = schema.PAGES_SCHEMA.get_field_index(name)
        field = schema.PAGES_SCHEMA.field(place)
        blanks = blanks.set_column(place, field, going.column(name).cast(field.type))
    order = np.arange(table.num_rows)
    order[places] = table.num_rows + np.arange(len(places))
    return pa.concat_tables([table.cast(schema.PAGES_SCHEMA), blanks]).take(pa.array(order)).combine_chunks()


def _moved(table: pa.Table, starts: npt.NDArray[np.int64], cut: npt.NDArray[np.int64]) -> pa.Table:
    """The rows with the new offsets of their responses when the holes are cut out; `cut`: bytes before each."""
    if not starts.size:
        return table
    offsets = table.column(_OFFSET).combine_chunks()
    found = offsets.fill_null(0).to_numpy()
    moved = pa.array(found - cut[np.searchsorted(starts, found)], mask=offsets.is_null().to_numpy(zero_copy_only=False))
    return table.set_column(_OFFSET, schema.PAGES_SCHEMA.field(_OFFSET), moved)


def _write_links(segments: Segments, segment_id: str, folder: Path, visits: pa.Array) -> int:
    def standing() -> Iterator[pa.Table]:
        for table in open_links(segments, segment_id).groups():
            yield table.filter(pc.invert(pc.is_in(_visits(table.column("source"), table.column("fetched_at")), visits)))

    with (folder / layout.LINKS).open("xb") as file:
        return schema.write_tables(file, schema.LINKS_SCHEMA, standing(), schema.LINK_GROUP, schema.LINKS_MERGE_OPTIONS)


def _write_archive(
    segments: Segments, segment_id: str, target: Path, holes: Sequence[tuple[int, int]], size: int
) -> None:
    with target.open("xb") as output, opened(segments, segment_id, layout.RESPONSES, _open) as source:
        at = 0
        for start, length in [*holes, (size, 0)]:
            _copy(source, output, at, start)
            at = start + length


def _copy(source: BinaryIO, output: BinaryIO, start: int, end: int) -> None:
    source.seek(start)
    while start < end:
        piece = source.read(min(_COPY, end - start))
        if not piece:
            raise corrupt(source.name, f"it ends before byte {end}")
        output.write(piece)
        start += len(piece)


def _open(path: Path) -> BinaryIO:
    with reading(path):
        return path.open("rb")

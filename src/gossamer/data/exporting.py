"""Pages, links and URLs of a crawl as record batches, for `gossamer export`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from itertools import chain

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder
from gossamer.data.holding import held
from gossamer.data.page_markdown import MarkdownMaker
from gossamer.database.database import Database
from gossamer.errors import CorruptError, GossamerError, OperationError
from gossamer.frontier.steering.removals import Covered, covered
from gossamer.frontier.views import inspect
from gossamer.frontier.views.segments import document_rows, document_rows_of, follow, merged_segments
from gossamer.settings import Settings
from gossamer.store.durable import SegmentMissingError
from gossamer.store.schema import EXPORTED_SCHEMA, LINKS_SCHEMA
from gossamer.store.segments import open_links, open_pages

_CHUNK = 2000
_MARKDOWN_ROWS = 100
"""Pages whose Markdown is in memory."""
MARKDOWN = pa.field("markdown", pa.string())

Lost = dict[str, CorruptError]
"""Segments that could not be read, or not whole, and why: the export continues without them, and reports them. Without
such a list, the first of them is an error.
"""

URLS_SCHEMA = pa.schema(
    [
        ("url", pa.string()),
        ("state", pa.string()),
        ("outcome", pa.string()),
        ("rule", pa.string()),
        ("reason", pa.string()),
        ("status", pa.int32()),
        ("depth", pa.int32()),
        ("level", pa.int32()),
        ("via", pa.string()),
        ("found_on", pa.string()),
        ("found_at", pa.float64()),
        ("fetched_at", pa.float64()),
        ("due_at", pa.float64()),
        ("attempts", pa.int32()),
        ("target", pa.string()),
    ]
)


def pages(folder: DataFolder, db: Database, lost: Lost | None = None) -> tuple[pa.Schema, Iterator[pa.Table]]:
    """The newest version of every document."""
    return EXPORTED_SCHEMA, (table for _, table in stored_pages(folder, db, lost))


def pages_with_markdown(
    folder: DataFolder, db: Database, settings: Settings, lost: Lost | None = None
) -> tuple[pa.Schema, Iterator[pa.Table]]:
    """The same with a column `markdown`."""
    return EXPORTED_SCHEMA.append(MARKDOWN), _with_markdown(folder, db, MarkdownMaker(folder, settings, db), lost)


def _with_markdown(folder: DataFolder, db: Database, maker: MarkdownMaker, lost: Lost | None) -> Iterator[pa.Table]:
    done = 0
    with ExitStack() as stack:
        # The archive of a segment must stay where it is until its last page is made.
        with suppress(GossamerError):
            stack.enter_context(held(folder, SystemClock(), lambda: done))
        for segment, table in stored_pages(folder, db, lost):
            for start in range(0, table.num_rows, _MARKDOWN_ROWS):
                part = table.slice(start, _MARKDOWN_ROWS)
                column = maker.column(segment, part, partial(_leave_out, lost, segment))
                yield part.append_column(MARKDOWN, column)
                done += 1


def stored_pages(
    folder: DataFolder, db: Database, lost: Lost | None = None, sites: Sequence[str] | None = None
) -> Iterator[tuple[str, pa.Table]]:
    """The newest version of every document, in tables with the segment that holds them; `sites`: only of these."""
    rows: dict[str, list[int]] = defaultdict(list)
    merged, out = merged_segments(db), covered(db)
    places = document_rows(db) if sites is None else chain.from_iterable(document_rows_of(db, site) for site in sites)
    for segment, row in places:
        segment, row = follow(merged, segment, row)
        rows[segment].append(row)
    while rows:
        segment = min(rows)
        wanted = sorted(rows.pop(segment))
        try:
            file = open_pages(folder.segments, segment)
        except CorruptError as error:
            if not (isinstance(error, SegmentMissingError) and _moved(db, segment, wanted, rows)):
                _leave_out(lost, segment, error)
            continue
        for group, start in enumerate(file.starts[:-1]):
            end = file.starts[group + 1]
            here = [row - start for row in wanted if start <= row < end]
            if here:
                try:
                    table = file.read_group(group, EXPORTED_SCHEMA.names).take(here)
                except CorruptError as error:
                    _leave_out(lost, segment, error)
                    continue
                yield segment, _standing(table, "url", out) if out else table


def _leave_out(lost: Lost | None, segment: str, error: CorruptError) -> None:
    if lost is None:
        raise error
    lost[segment] = error


def _moved(db: Database, segment: str, wanted: list[int], rows: dict[str, list[int]]) -> bool:
    """Whether a missing segment was merged into another meanwhile, from which its rows are then read."""
    place = inspect.place_of(db, segment, 0)
    if place is None or place[0] == segment:
        return False
    rows[place[0]] += [row + place[1] for row in wanted]
    return True


def links(folder: DataFolder, db: Database, lost: Lost | None = None) -> tuple[pa.Schema, Iterator[pa.Table]]:
    """The links of every visit, with the time of the visit; none of a page that was taken down."""
    return LINKS_SCHEMA, _links(folder, db, lost)


def _links(folder: DataFolder, db: Database, lost: Lost | None) -> Iterator[pa.Table]:
    out, done = covered(db), 0
    with ExitStack() as stack:
        are_kept: Callable[[], bool] = _nobody_merges
        # A link cannot be followed into a merged segment, as a page can. A process that cannot write here need not fear
        # a merge.
        with suppress(GossamerError):
            are_kept = stack.enter_context(held(folder, SystemClock(), lambda: done))
        for table in _link_tables(folder, inspect.segment_ids(db), are_kept, lost):
            yield _standing(table, "source", out) if out else table
            done += 1


def _nobody_merges() -> bool:
    return True


def _link_tables(
    folder: DataFolder, names: list[str], are_kept: Callable[[], bool], lost: Lost | None
) -> Iterator[pa.Table]:
    for name in names:
        try:
            yield from open_links(folder.segments, name).groups()
        except CorruptError as error:
            if are_kept():
                _leave_out(lost, name, error)
                continue
            raise OperationError(
                f"the export stopped for so long that segment {name} was merged into another, and its links cannot "
                "be separated there: run it again, with -o FILE if the consumer is slow"
            ) from error


def _standing(table: pa.Table, column: str, out: Covered) -> pa.Table:
    """The rows of pages that were not taken down; many of them may still have to leave the table."""
    urls = table.column(column).cast(pa.string())
    kept = pa.array([url for url in urls.unique().to_pylist() if not out(url)], pa.string())
    return table.filter(pc.is_in(urls, kept))


def urls(folder: DataFolder, db: Database, lost: Lost | None = None) -> tuple[pa.Schema, Iterator[pa.Table]]:
    """Every URL of the table with its state and the reason."""
    return URLS_SCHEMA, _urls(db)


def _urls(db: Database) -> Iterator[pa.Table]:
    chunk: list[dict[str, object]] = []
    for record in inspect.all_urls(db):
        row = {name: value for name, value in msgspec.structs.asdict(record).items() if name in URLS_SCHEMA.names}
        row["reason"] = record.reason or ""
        chunk.append(row)
        if len(chunk) >= _CHUNK:
            yield pa.Table.from_pylist(chunk, URLS_SCHEMA)
            chunk = []
    if chunk:
        yield pa.Table.from_pylist(chunk, URLS_SCHEMA)

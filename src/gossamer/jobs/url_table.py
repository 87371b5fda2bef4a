"""The URL table as files that tasks can read: cut by key range, so that the URLs of a site lie together.

The table is the truth about what a URL is *now*; a segment only knows what a visit once brought. A page that answered
"not modified" is a document still, one that the operator removed is none any more: so jobs over documents start here,
and not from whatever was stored last.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec
import pyarrow as pa

from gossamer.database.database import Database
from gossamer.database.schema import REMOVED
from gossamer.errors import UsageError
from gossamer.jobs.context import JobContext, numbered, put_table
from gossamer.model.outcome import Outcome
from gossamer.store.place import Place

URLS = pa.schema(
    [
        ("site_id", pa.int64()),
        ("key", pa.int64()),
        ("url", pa.string()),
        ("state", pa.int8()),
        ("fit", pa.int8()),
        ("outcome", pa.string()),
        ("target", pa.string()),
        ("content_hash", pa.string()),
        ("cluster", pa.int64()),
        ("joined", pa.int8()),
        ("seen_at", pa.float64()),
        ("cluster_site", pa.int64()),
        ("cluster_pages", pa.int64()),
        ("named", pa.int64()),
        ("segment", pa.string()),
        ("row", pa.int64()),
    ]
)
"""A row of the table; `cluster_site` is where the page lies that represents its cluster. Segment and row are those
where it lay when the table was read; `named` are the pages that name a document as their canonical one."""
ROWS_OF_A_FILE = 200_000

_COLUMNS = (
    "u.site_id, u.key, u.url, u.state, u.fit, u.outcome, u.target, u.content_hash, u.cluster, u.joined, "
    "COALESCE(m.seen_at, u.fetched_at), c.site_id, c.pages, {named}, u.segment, u.segment_row"
)
_NAMED = (
    "(SELECT COUNT(*) FROM aliases a WHERE a.target_site = u.site_id AND a.target_key = u.key "
    f"AND a.outcome = '{Outcome.ALIAS.value}')"
)
_TABLES = (
    "urls u LEFT JOIN clusters c ON c.id = u.cluster "
    "LEFT JOIN members m ON m.cluster = u.cluster AND m.site_id = u.site_id AND m.key = u.key"
)
_DOCUMENTS = f"WHERE u.outcome = '{Outcome.DOCUMENT.value}' AND u.segment IS NOT NULL AND u.state <> {REMOVED}"


class UrlFiles(msgspec.Struct, frozen=True):
    """The table in files of the work place."""

    names: list[str]
    """In the order of their keys."""
    rows: int


def export_urls(context: JobContext, *, documents_only: bool = False, rows_of_a_file: int = ROWS_OF_A_FILE) -> UrlFiles:
    """Write the URL table, or its documents, into the work place."""
    columns = _COLUMNS.format(named=_NAMED if documents_only else "0")
    where = _DOCUMENTS if documents_only else ""
    moved = merged_segments(context.db)
    rows = context.db.iterate(f"SELECT {columns} FROM {_TABLES} {where} ORDER BY u.site_id, u.key")
    place, count = context.place, 0
    names: list[str] = []
    while chunk := list(islice(rows, rows_of_a_file)):
        names.append(numbered("urls", len(names), ".parquet"))
        _write(place, names[-1], _placed(chunk, moved))
        count += len(chunk)
        context.tell("reading the URL table", len(names), len(names))
    if not names:
        what = "document is stored" if documents_only else "URL is known"
        raise UsageError(f"no {what} yet: run `gossamer crawl` first")
    return UrlFiles(names, count)


def _placed(rows: list[tuple[Any, ...]], moved: dict[str, tuple[str, int]]) -> Iterator[tuple[Any, ...]]:
    """Rows that say where their page lies now, after its segment may have been merged into others."""
    for *fields, segment, row in rows:
        if segment in moved:
            segment, row = follow(moved, segment, row)
        yield (*fields, segment, row)


def _write(place: Place, name: str, rows: Iterator[tuple[Any, ...]]) -> None:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(values, field.type) for field, values in zip(URLS, columns, strict=True)]
    put_table(place, name, pa.Table.from_arrays(arrays, schema=URLS))


def merged_segments(db: Database) -> dict[str, tuple[str, int]]:
    """Segment → the one that it was merged into, and the row there that its rows begin at."""
    sql = "SELECT id, merged_into, first_row FROM segments WHERE merged_into IS NOT NULL"
    return {name: (into, first) for name, into, first in db.iterate(sql)}


def follow(moved: dict[str, tuple[str, int]], segment: str, row: int) -> tuple[str, int]:
    """Where a stored row lies now."""
    while segment in moved:
        segment, first = moved[segment]
        row += first
    return segment, row

"""The URL table as files that tasks can read: cut by key range, so that the URLs of a site are together.

The table is the truth about what a URL is *now*; a segment only knows a past visit. A page that answered "not modified"
is
a document still, one that the operator removed is none any more: so jobs over documents start here, and not from the
newest stored rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec
import pyarrow as pa

from gossamer.errors import UsageError
from gossamer.frontier.views.segments import follow, merged_segments
from gossamer.frontier.views.whole_table import table_rows
from gossamer.jobs.context import JobContext, numbered, put_table
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
"""A row of the table; `cluster_site` is the site of its cluster's representative. Segment and row are those at the time
of reading; `named` counts the pages that name a document as their canonical one.
"""
ROWS_OF_A_FILE = 200_000


class UrlFiles(msgspec.Struct, frozen=True):
    """The table in files of the work place."""

    names: list[str]
    """In the order of their keys."""
    rows: int


def export_urls(context: JobContext, *, documents_only: bool = False, rows_of_a_file: int = ROWS_OF_A_FILE) -> UrlFiles:
    """Write the URL table, or its documents, into the work place."""
    moved, rows = merged_segments(context.db), table_rows(context.db, documents_only)
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
    """Rows with the present place of their page, whose segment may have been merged into others."""
    for *fields, segment, row in rows:
        if segment in moved:
            segment, row = follow(moved, segment, row)
        yield (*fields, segment, row)


def _write(place: Place, name: str, rows: Iterator[tuple[Any, ...]]) -> None:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(values, field.type) for field, values in zip(URLS, columns, strict=True)]
    put_table(place, name, pa.Table.from_arrays(arrays, schema=URLS))

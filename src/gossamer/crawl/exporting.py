"""Pages, links and URLs of a crawl as record batches, for `gossamer export`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import msgspec
import pyarrow as pa

from gossamer.crawl.folder import DataFolder
from gossamer.frontier import inspect
from gossamer.frontier.database import Database
from gossamer.frontier.schema import REMOVED
from gossamer.store.schema import LINKS_SCHEMA, PAGES_SCHEMA
from gossamer.store.segments import open_links, open_pages

_CHUNK = 2000

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


def pages(folder: DataFolder, db: Database) -> tuple[pa.Schema, Iterator[pa.Table]]:
    """The newest version of every document that counts."""
    return PAGES_SCHEMA, _pages(folder, db)


def _pages(folder: DataFolder, db: Database) -> Iterator[pa.Table]:
    rows: dict[str, list[int]] = defaultdict(list)
    merged = dict(_merged(db))
    for segment, row in db.iterate(
        "SELECT segment, segment_row FROM urls WHERE outcome = 'document' AND segment IS NOT NULL AND state <> ?",
        (REMOVED,),
    ):
        while segment in merged:
            segment, row = merged[segment][0], row + merged[segment][1]
        rows[segment].append(row)
    for segment in sorted(rows):
        file = open_pages(folder.segments, segment)
        wanted = sorted(rows[segment])
        for group, start in enumerate(file.starts[:-1]):
            end = file.starts[group + 1]
            here = [row - start for row in wanted if start <= row < end]
            if here:
                yield file.read_group(group).take(here)


def _merged(db: Database) -> Iterator[tuple[str, tuple[str, int]]]:
    for segment, into, first in db.execute(
        "SELECT id, merged_into, first_row FROM segments WHERE merged_into IS NOT NULL"
    ):
        yield segment, (into, first)


def links(folder: DataFolder, db: Database) -> tuple[pa.Schema, Iterator[pa.Table]]:
    """The links of every visit, with the time of the visit."""
    ids = inspect.segment_ids(db)
    return LINKS_SCHEMA, (table for name in ids for table in open_links(folder.segments, name).groups())


def urls(folder: DataFolder, db: Database) -> tuple[pa.Schema, Iterator[pa.Table]]:
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

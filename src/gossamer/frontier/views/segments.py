"""Reads segments: which count, which were merged into others, which of their rows are in use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from gossamer.database.database import Database
from gossamer.database.lists import marks
from gossamer.database.schema import REMOVED
from gossamer.model.site import key64

Place = tuple[str, int]
"""A segment and a row of it."""


class LiveSegment(msgspec.Struct, frozen=True):
    """A segment that counts."""

    id: str
    pages: int
    bytes: int


def live_segments(db: Database) -> list[LiveSegment]:
    """The current segments, in order of creation."""
    sql = "SELECT id, pages, bytes FROM segments WHERE merged_into IS NULL ORDER BY created_at, id"
    return [LiveSegment(*row) for row in db.execute(sql)]


def live_before(db: Database, moment: float) -> dict[str, int]:
    """The current segments that were made before a time, with the number of their pages."""
    return dict(db.execute("SELECT id, pages FROM segments WHERE merged_into IS NULL AND created_at < ?", (moment,)))


def has_segments(db: Database) -> bool:
    """Whether anything was ever stored."""
    return bool(db.execute("SELECT 1 FROM segments LIMIT 1"))


def all_count(db: Database, ids: Sequence[str]) -> bool:
    """Whether none of these segments was merged into another or withdrawn; to check if a file is missing."""
    sql = f"SELECT COUNT(*) FROM segments WHERE merged_into IS NULL AND id IN ({marks(ids)})"
    return bool(db.execute(sql, ids)[0][0] == len(ids))


def stored_pages(db: Database) -> int:
    """Pages of all visits that an index follows."""
    return int(db.execute("SELECT COALESCE(SUM(pages), 0) FROM segments WHERE seq IS NOT NULL")[0][0])


def merged_segments(db: Database) -> dict[str, Place]:
    """Segment → the one that it was merged into, and the row there at which its rows begin."""
    sql = "SELECT id, merged_into, first_row FROM segments WHERE merged_into IS NOT NULL"
    return {name: (into, first) for name, into, first in db.iterate(sql)}


def follow(moved: Mapping[str, Place], segment: str, row: int) -> Place:
    """The present place of a stored row."""
    while segment in moved:
        segment, first = moved[segment]
        row += first
    return segment, row


def rows_in_use(db: Database) -> Iterator[Place]:
    """Where the last visit of each URL was written; `follow` says where it is now."""
    yield from db.iterate("SELECT segment, segment_row FROM urls WHERE segment IS NOT NULL")


def document_rows(db: Database) -> Iterator[Place]:
    """The same for each document."""
    yield from db.iterate(
        "SELECT segment, segment_row FROM urls WHERE outcome = 'document' AND segment IS NOT NULL AND state <> ?",
        (REMOVED,),
    )


def document_rows_of(db: Database, site: str) -> list[Place]:
    """The same for the documents of a site, removed ones among them."""
    sql = "SELECT segment, segment_row FROM urls WHERE site_id = ? AND outcome = 'document' AND segment IS NOT NULL"
    return [(segment, row) for segment, row in db.execute(sql, (key64(site),))]

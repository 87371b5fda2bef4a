"""The numbered changes of the crawl: which documents came, and which left, in order.

A change is one transaction. Its number is taken inside it, so numbers are committed in order: a follower that has read
up to n never finds a smaller number later.

The table says what a document *is* now, not the segment that once held it: so a follower ends up equal to the table,
however far behind it was.

Changes are not kept for ever: a follower that is further behind than `forgetting.forgotten` starts over.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks
from gossamer.database.schema import REMOVED


def next_change(db: Database) -> int:
    """The number of the running transaction."""
    rows = db.execute(
        "UPDATE meta SET value = CAST(CAST(value AS BIGINT) + 1 AS TEXT) WHERE key = 'change' RETURNING value"
    )
    return int(rows[0][0])


def last_change(db: Database) -> int:
    """The number of the last committed change."""
    return int(db.execute("SELECT value FROM meta WHERE key = 'change'")[0][0])


def note_departures(db: Database, change: int, gone: Iterable[tuple[int, int]]) -> None:
    """Record that these URLs, by site and key, are no documents any more."""
    db.many(
        "INSERT INTO departures (seq, site_id, key) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        [(change, site_id, key) for site_id, key in sorted(gone)],
    )


class NewSegment(msgspec.Struct, frozen=True):
    """A segment as a worker wrote it, wherever its rows are now."""

    seq: int
    id: str
    pages: int


def new_segments(db: Database, after: int, until: int, most: int = 0) -> list[NewSegment]:
    """Segments of the changes after one number and up to another, in order; `most`: only so many of them."""
    sql = "SELECT seq, id, pages FROM segments WHERE seq > ? AND seq <= ? ORDER BY seq"
    rows = db.execute(f"{sql} LIMIT {most}" if most else sql, (after, until))
    return [NewSegment(*row) for row in rows]


def departed(db: Database, after: int, until: int) -> list[tuple[int, int]]:
    """Site and key of the URLs that left in these changes."""
    return [(row[0], row[1]) for row in db.execute(
        "SELECT DISTINCT site_id, key FROM departures WHERE seq > ? AND seq <= ?", (after, until)
    )]  # fmt: skip


class Departure(NamedTuple):
    """A URL that stopped being a document."""

    seq: int
    site_id: int
    key: int
    url: str


def departures(db: Database, after: int, until: int) -> list[Departure]:
    """The URLs that left in these changes, in order; also those that came back."""
    rows = db.execute(
        "SELECT d.seq, d.site_id, d.key, u.url FROM departures d "
        "JOIN urls u ON u.site_id = d.site_id AND u.key = d.key "
        "WHERE d.seq > ? AND d.seq <= ? ORDER BY d.seq, d.site_id, d.key",
        (after, until),
    )
    return [Departure(*row) for row in rows]


def documents(db: Database, site_id: int, keys: Sequence[int]) -> dict[int, tuple[str, int]]:
    """Those of a site's URLs that are documents now: key → segment and row as the worker wrote them."""
    found: dict[int, tuple[str, int]] = {}
    for chunk in chunks(list(keys)):
        rows = db.execute(
            "SELECT key, segment, segment_row FROM urls WHERE outcome = 'document' AND segment IS NOT NULL "
            f"AND state <> ? AND site_id = ? AND key IN ({marks(chunk)})",
            (REMOVED, site_id, *chunk),
        )
        found.update((key, (segment, row)) for key, segment, row in rows)
    return found

"""Deletes changes that nobody follows any longer: otherwise two tables would grow with every commit ever made.

`segments` has a row for each commit, which says where its rows are after a merge. It is needed for as long as a URL has
its page from it. `departures` says what left with which change, for the index: one that has missed forgotten changes
cannot know what to delete, so it is rebuilt (`forgotten`).
"""

from __future__ import annotations

from collections.abc import Callable, Set
from functools import partial

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks

_FORGOTTEN = "forgotten"
_CHANGES_AT_ONCE = 1_000


def forgotten(db: Database) -> int:
    """Up to which number changes can no longer be followed."""
    rows = db.execute("SELECT value FROM meta WHERE key = ?", (_FORGOTTEN,))
    return int(rows[0][0]) if rows else 0


def last_change_before(db: Database, time: float) -> int:
    """The number of the last change that stored pages before a time."""
    sql = "SELECT seq FROM segments WHERE seq IS NOT NULL AND created_at < ? ORDER BY seq DESC LIMIT 1"
    rows = db.execute(sql, (time,))
    return int(rows[0][0]) if rows else 0


def forget_departures(db: Database, until: int) -> None:
    """Delete departures of the changes up to this one."""
    # First of all: a follower must not take a half-deleted list for a whole one.
    db.patiently(partial(_note, db, until))
    first = db.execute("SELECT MIN(seq) FROM departures")[0][0]  # an earlier run may have been killed half-way
    for start in range(until if first is None else first - 1, until, _CHANGES_AT_ONCE):
        db.patiently(partial(_forget_span, db, start, min(start + _CHANGES_AT_ONCE, until)))


def _forget_span(db: Database, after: int, until: int) -> None:
    with db.transaction():
        db.execute("DELETE FROM departures WHERE seq > ? AND seq <= ?", (after, until))


def _note(db: Database, until: int) -> None:
    with db.transaction():
        db.execute(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (_FORGOTTEN, str(max(until, forgotten(db)))),
        )


def unused_segments(db: Database, is_old: Callable[[str], bool]) -> set[str]:
    """Segments that were merged into others long ago, by the names of both, and from which no URL has its page. A
    process that began to read one before that still looks for its rows."""
    rows = db.iterate("SELECT id, merged_into FROM segments WHERE merged_into IS NOT NULL")
    unused = {segment for segment, into in rows if is_old(segment) and is_old(into)}
    if unused:
        for (segment,) in db.iterate("SELECT segment FROM urls WHERE segment IS NOT NULL"):
            unused.discard(segment)
    return unused


def forget_segments(db: Database, segments: Set[str]) -> int:
    """Delete the rows of merged segments, except those that link to others; returns how many."""
    return sum(db.patiently(partial(_forget, db, [*chunk])) for chunk in chunks(sorted(segments)))


def _forget(db: Database, segments: list[str]) -> int:
    with db.transaction():
        return db.change(
            f"DELETE FROM segments WHERE id IN ({marks(segments)}) AND merged_into IS NOT NULL "
            "AND NOT EXISTS (SELECT 1 FROM segments older WHERE older.merged_into = segments.id)",
            segments,
        )

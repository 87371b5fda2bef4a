"""How many readers were shown which page where, for which query, and how many of them opened it: nothing of who.

A row is a page, a query (a 64-bit hash: the table cannot be read as a list of queries), a day and a place among the
results. It begins with the page, so that a page that is taken down leaves at once, and so that a search finds what is
known of its best pages in as many steps. `preferences` holds, day by day, how many readers preferred which order in the
trials.

Rows are kept for `KEPT_DAYS`. Old ones leave piece by piece, a slice of all keys with each write: no write takes long.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from gossamer.database.database import Database, Row
from gossamer.database.lists import chunks, marks
from gossamer.database.meta import note, noted
from gossamer.database.schema import REMOVED
from gossamer.model.outcome import Outcome

KEPT_DAYS = 90
SLICES = 256
"""Writes after which all old rows have left."""
_MODEL = "clicks"
_FIRST = -(1 << 63)
_SLICE = (1 << 64) // SLICES


class Seen(NamedTuple):
    """A page that readers were shown for a query at a place on a day."""

    site: int
    page: int
    query: int
    day: int
    place: int


class Times(msgspec.Struct):
    """How many readers."""

    shown: int = 0
    opened: int = 0


def record(db: Database, counts: Mapping[Seen, Times], preferred: Mapping[tuple[int, str], int]) -> int:
    """Count; pages that are no documents (any more) are left out. Returns how many rows that concerned."""
    return db.patiently(lambda: _record(db, counts, preferred))


def _record(db: Database, counts: Mapping[Seen, Times], preferred: Mapping[tuple[int, str], int]) -> int:
    with db.transaction():
        documents = _documents(db, counts)
        rows = [(seen, times) for seen, times in sorted(counts.items()) if (seen.site, seen.page) in documents]
        db.many(
            "INSERT INTO choices (page, query, day, place, shown, opened) VALUES (?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (page, query, day, place) "
            "DO UPDATE SET shown = choices.shown + excluded.shown, opened = choices.opened + excluded.opened",
            [(seen.page, seen.query, seen.day, seen.place, times.shown, times.opened) for seen, times in rows],
        )
        db.many(
            "INSERT INTO preferences (day, outcome, times) VALUES (?, ?, ?) ON CONFLICT (day, outcome) "
            "DO UPDATE SET times = preferences.times + excluded.times",
            [(day, outcome, times) for (day, outcome), times in sorted(preferred.items())],
        )
    return len(rows) + len(preferred)


def _documents(db: Database, seen: Iterable[Seen]) -> set[tuple[int, int]]:
    by_site: dict[int, set[int]] = defaultdict(set)
    for one in seen:
        by_site[one.site].add(one.page)
    found: set[tuple[int, int]] = set()
    for site, pages in sorted(by_site.items()):
        for chunk in chunks(sorted(pages)):
            sql = f"SELECT key FROM urls WHERE outcome = ? AND state <> ? AND site_id = ? AND key IN ({marks(chunk)})"
            found.update((site, row[0]) for row in db.execute(sql, (Outcome.DOCUMENT.value, REMOVED, site, *chunk)))
    return found


def of_query(db: Database, query: int, pages: Sequence[int], since: int, least: int) -> list[Row]:
    """Page, day, place, shown and opened of those of some pages that so many readers opened for a query."""
    opened: list[int] = []
    for chunk in chunks(pages):
        sql = (
            f"SELECT page FROM choices WHERE page IN ({marks(chunk)}) AND query = ? AND day >= ? "
            "GROUP BY page HAVING SUM(opened) >= ?"
        )
        opened += [row[0] for row in db.execute(sql, (*chunk, query, since, least))]
    rows: list[Row] = []
    for chunk in chunks(opened):
        sql = (
            f"SELECT page, day, place, shown, opened FROM choices WHERE page IN ({marks(chunk)}) AND query = ? "
            "AND day >= ? ORDER BY page, day, place"
        )
        rows += db.execute(sql, (*chunk, query, since))
    return rows


def sample(db: Database, start: int, since: int, most: int) -> list[Row]:
    """Page, query, place, and sums of shown and opened, of some pages: those whose keys follow `start`."""
    sql = (
        "SELECT page, query, place, SUM(shown), SUM(opened) FROM "
        "(SELECT page, query, place, shown, opened FROM choices WHERE page >= ? AND day >= ? ORDER BY page LIMIT ?) s "
        "GROUP BY page, query, place ORDER BY page, query, place"
    )
    rows = db.execute(sql, (start, since, most))
    if len(rows) < most // 2 and start > _FIRST:
        rows = db.execute(sql, (_FIRST, since, most))
    return [(page, query, place, int(shown), int(opened)) for page, query, place, shown, opened in rows]


def forget(db: Database, pages: Sequence[int]) -> None:
    """Forget what is known of some pages: they were taken down."""
    for chunk in chunks(sorted(pages)):
        db.patiently(partial(_forget, db, chunk))


def _forget(db: Database, pages: Sequence[int]) -> None:
    with db.transaction():
        db.execute(f"DELETE FROM choices WHERE page IN ({marks(pages)})", pages)


def sweep(db: Database, slice: int, before: int) -> None:
    """Delete old rows of one slice of all pages."""
    first = _FIRST + slice % SLICES * _SLICE

    def delete() -> None:
        with db.transaction():
            db.execute(
                "DELETE FROM choices WHERE page >= ? AND page <= ? AND day < ?", (first, first + _SLICE - 1, before)
            )
            db.execute("DELETE FROM preferences WHERE day < ?", (before,))

    db.patiently(delete)


def preferences(db: Database, since: int) -> dict[str, int]:
    """How many readers preferred which order from a day on."""
    rows = db.execute("SELECT outcome, SUM(times) FROM preferences WHERE day >= ? GROUP BY outcome", (since,))
    return {outcome: max(int(times), 0) for outcome, times in rows}


def model(db: Database) -> str:
    """How readers look at results, as JSON; empty where nobody has looked yet."""
    return noted(db, _MODEL) or ""


def keep_model(db: Database, text: str) -> None:
    """Keep it."""

    def keep() -> None:
        with db.transaction():
            note(db, _MODEL, text)

    db.patiently(keep)

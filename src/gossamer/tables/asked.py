"""Readers' queries, counted by day, without who asked, when within the day, or what came next.

A day has a row for each of its first 20,000 different queries; later ones are counted only if they have a row already,
so
that nobody fills the table by typing. Rows are kept for 400 days, a year and its season again.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

import msgspec

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks

DAY = 86_400.0
LONGEST = 200
"""Characters of a query that are kept."""
MOST_A_DAY = 20_000
KEPT_DAYS = 400


class Times(msgspec.Struct):
    """How often a query was asked."""

    times: int = 0
    in_vain: int = 0
    """Of those, how often nothing was found."""


class AskedQuery(msgspec.Struct, frozen=True):
    """A query over some days."""

    query: str
    times: int
    in_vain: int


class DayVolume(msgspec.Struct, frozen=True):
    """One day's searches."""

    day: int
    """Days since 1970."""
    times: int
    in_vain: int
    queries: int
    """How many different ones."""


def day_of(now: float) -> int:
    """The day of a moment, UTC."""
    return int(now // DAY)


def normalised(typed: str) -> str:
    """A query as it is counted: one spelling of letters and case, single spaces, only characters that every database
    stores."""
    seen = "".join(" " if unicodedata.category(one) in ("Cc", "Cs", "Zl", "Zp") else one for one in typed)
    words = unicodedata.normalize("NFC", seen).split()
    return " ".join(word if word == "OR" else word.lower() for word in words)[:LONGEST].strip()


def record(db: Database, day: int, counts: Mapping[str, Times], most: int = MOST_A_DAY) -> int:
    """Count the queries of a day, normalised; returns how many were left out because the day is full."""
    return db.patiently(lambda: _record(db, day, counts, most))


def _record(db: Database, day: int, counts: Mapping[str, Times], most: int) -> int:
    with db.transaction():
        known = _known(db, day, counts)
        rows = int(db.execute("SELECT COUNT(*) FROM asked WHERE day = ?", (day,))[0][0])
        if not rows:
            db.execute("DELETE FROM asked WHERE day < ?", (day - KEPT_DAYS,))
        # The most frequent first: they get the little room that is left.
        fresh = sorted((name for name in counts if name not in known), key=lambda name: (-counts[name].times, name))
        taken = [*sorted(known), *fresh[: max(0, most - rows)]]
        db.many(
            "INSERT INTO asked (day, query, times, in_vain) VALUES (?, ?, ?, ?) ON CONFLICT (day, query) "
            "DO UPDATE SET times = asked.times + excluded.times, in_vain = asked.in_vain + excluded.in_vain",
            [(day, name, counts[name].times, counts[name].in_vain) for name in taken],
        )
    return len(counts) - len(taken)


def _known(db: Database, day: int, counts: Mapping[str, Times]) -> set[str]:
    known: set[str] = set()
    for chunk in chunks(sorted(counts)):
        sql = f"SELECT query FROM asked WHERE day = ? AND query IN ({marks(chunk)})"
        known.update(row[0] for row in db.execute(sql, (day, *chunk)))
    return known


def top(db: Database, since: int, until: int, limit: int = 50) -> list[AskedQuery]:
    """The queries that were asked most from one day to another, both included."""
    return _sums(db, "", "SUM(times) DESC", since, until, limit)


def top_in_vain(db: Database, since: int, until: int, limit: int = 50) -> list[AskedQuery]:
    """The queries that found nothing most often."""
    return _sums(db, "HAVING SUM(in_vain) > 0", "SUM(in_vain) DESC", since, until, limit)


def _sums(db: Database, having: str, order: str, since: int, until: int, limit: int) -> list[AskedQuery]:
    rows = db.execute(
        "SELECT query, SUM(times), SUM(in_vain) FROM asked WHERE day >= ? AND day <= ? GROUP BY query "
        f"{having} ORDER BY {order}, query LIMIT ?",
        (since, until, limit),
    )
    return [AskedQuery(query, int(times), int(in_vain)) for query, times, in_vain in rows]


def volume(db: Database, since: int, until: int) -> list[DayVolume]:
    """Searches day by day, days without any included."""
    rows = db.execute(
        "SELECT day, SUM(times), SUM(in_vain), COUNT(*) FROM asked WHERE day >= ? AND day <= ? GROUP BY day",
        (since, until),
    )
    found = {row[0]: DayVolume(*(int(value) for value in row)) for row in rows}
    return [found.get(day, DayVolume(day, 0, 0, 0)) for day in range(since, until + 1)]

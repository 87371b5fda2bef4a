"""Figures of the crawl over time: one row a minute for two days, then one an hour for two years.

A row holds what `status` would have said at that moment. Its counters are totals over the life of the crawl, so the
difference of any two rows is what happened between them, and an hour is folded by keeping its last minute. Even the
delays
from publication to the search page are a cumulated histogram: each window has a p95 of its own.

The first writer of a minute wins: machines that share a crawl need not agree who writes. The table is bounded: 2,880
minutes and 17,520 hours, some ten megabytes.
"""

from __future__ import annotations

import msgspec

from gossamer.database.database import Database
from gossamer.frontier.views.inspect import Status
from gossamer.tables import delays

MINUTE, HOUR, DAY = 60, 3_600, 86_400
"""Seconds; the first two are spans of rows."""
_MINUTES_KEPT = 2 * DAY
_HOURS_KEPT = 730 * DAY


class Figures(msgspec.Struct, frozen=True):
    """The crawl at one moment; all but the last lines as in `Status`."""

    taken_at: float
    """When it was; the end of an hour, if an hour's minutes were folded."""
    pages: int = 0
    fetched: int = 0
    errors: int = 0
    duplicates: int = 0
    urls_known: int = 0
    urls_due: int = 0
    sites: int = 0
    sites_active: int = 0
    sites_waiting: int = 0
    sites_blocked: int = 0
    sites_paused: int = 0
    workers: int = 0
    segment_bytes: int = 0
    disk_free: int = 0
    """Bytes free on the disk of the data folder, or on that of the segments if it is less."""
    fresh: float = 1.0
    """Expected share of documents that are up to date."""
    age: float = 0.0
    """Seconds for which a document has been out of date, on average."""
    delays: dict[int, int] = {}
    """Announced documents so far by class of their delay (`delays.histogram`)."""

    @property
    def announced(self) -> int:
        """Documents announced by a feed that could be searched by then."""
        return sum(self.delays.values())


def figures_of(standing: Status, now: float, disk_free: int, fresh: tuple[float, float], db: Database) -> Figures:
    """The stored part of a status; `fresh` is freshness and mean age."""
    shared = [name for name in Figures.__struct_fields__ if name in Status.__struct_fields__]
    return Figures(
        taken_at=now,
        segment_bytes=standing.bytes,
        disk_free=disk_free,
        fresh=fresh[0],
        age=fresh[1],
        delays=delays.histogram(db),
        **{name: getattr(standing, name) for name in shared},
    )


def note(db: Database, figures: Figures, last: bool = False) -> bool:
    """Store the figures of a minute, unless they are there; `last`: replace them, because the crawl ends. Returns
    whether they were written."""
    return db.patiently(lambda: _note(db, figures, last))


def _note(db: Database, figures: Figures, last: bool) -> bool:
    row = (MINUTE, int(figures.taken_at) // MINUTE * MINUTE, msgspec.json.encode(figures).decode())
    otherwise = "DO UPDATE SET figures = excluded.figures" if last else "DO NOTHING"
    with db.transaction():
        written = db.change(
            f"INSERT INTO samples (span, at, figures) VALUES (?, ?, ?) ON CONFLICT (span, at) {otherwise}", row
        )
        _fold(db, figures.taken_at)
    return bool(written)


def _fold(db: Database, now: float) -> None:
    """Hours that ended two days ago keep their last minute; rows older than two years go."""
    limit = int(now - _MINUTES_KEPT) // HOUR * HOUR
    oldest = db.execute("SELECT MIN(at) FROM samples WHERE span = ?", (MINUTE,))[0][0]
    if oldest is None or oldest >= limit:
        return
    db.execute(
        "INSERT INTO samples (span, at, figures) SELECT ?, s.at - s.at % ?, s.figures FROM samples s "
        "WHERE s.span = ? AND s.at < ? AND NOT EXISTS (SELECT 1 FROM samples later WHERE later.span = s.span "
        "AND later.at > s.at AND later.at < s.at - s.at % ? + ?) "
        "ON CONFLICT (span, at) DO UPDATE SET figures = excluded.figures",
        (HOUR, HOUR, MINUTE, limit, HOUR, HOUR),
    )
    db.execute("DELETE FROM samples WHERE span = ? AND at < ?", (MINUTE, limit))
    db.execute("DELETE FROM samples WHERE span = ? AND at < ?", (HOUR, int(now) - _HOURS_KEPT))


def history(db: Database, since: float, until: float, step: int = MINUTE) -> list[Figures]:
    """The figures of a window in order of time, the last ones of every `step` seconds."""
    kept: dict[int, str] = {}
    # The hours first: if both exist, the minutes are the newer ones.
    for span in (HOUR, MINUTE):
        rows = db.execute(
            "SELECT s.at, s.figures FROM samples s JOIN (SELECT MAX(at) AS at FROM samples "
            "WHERE span = ? AND at >= ? AND at <= ? GROUP BY at / ?) k ON k.at = s.at WHERE s.span = ? ORDER BY s.at",
            (span, int(since) // span * span, int(until), step, span),
        )
        kept.update((at // step, text) for at, text in rows)
    return [_decoded(text) for _, text in sorted(kept.items())]


def are_several(db: Database) -> bool:
    """Whether a line can be drawn: it takes two points, each between two samples."""
    return len(db.execute("SELECT 1 FROM samples LIMIT 3")) > 2


def is_young(db: Database, now: float) -> bool:
    """Whether the first sample is of the last two hours, or there is none."""
    first = as_of(db, now - 2 * HOUR)
    return first is None or first.taken_at > now - 2 * HOUR


def newest(db: Database) -> Figures | None:
    """The last figures; none before the first."""
    return _one(db, "at >= ?", (0, 0), "DESC")


def as_of(db: Database, moment: float) -> Figures | None:
    """The figures at a moment, or the earliest known if that is later; None if there are none."""
    at = int(moment)
    # An hour's figures are those of its end.
    return _one(db, "at <= ?", (at - HOUR, at), "DESC") or _one(db, "at > ?", (at - HOUR, at), "ASC")


def _one(db: Database, where: str, moments: tuple[int, int], order: str) -> Figures | None:
    """The first by time among the minutes and hours with such a time, or the last."""
    sql = f"SELECT figures FROM samples WHERE span = ? AND {where} ORDER BY at {order} LIMIT 1"
    rows = [row for pair in zip((HOUR, MINUTE), moments, strict=True) for row in db.execute(sql, pair)]
    pick = max if order == "DESC" else min
    return pick((_decoded(row[0]) for row in rows), key=lambda figures: figures.taken_at, default=None)


def _decoded(text: str) -> Figures:
    return msgspec.json.decode(text, type=Figures)


def grown(before: dict[int, int], after: dict[int, int]) -> dict[int, int]:
    """The documents, by class of their delay, that became searchable between two moments: for `delays.summary`."""
    more = {bucket: documents - before.get(bucket, 0) for bucket, documents in after.items()}
    return {bucket: documents for bucket, documents in more.items() if documents > 0}


def within(classes: dict[int, int], seconds: float) -> float:
    """Share of the documents that surely needed no longer; 1 where there are none."""
    total = sum(classes.values())
    quick = sum(documents for bucket, documents in classes.items() if delays.bound(bucket) <= seconds)
    return quick / total if total else 1.0

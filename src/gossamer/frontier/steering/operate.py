"""An operator's orders about URLs: fetch them again, remove them, withdraw a segment."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks
from gossamer.database.schema import DONE, REFUSED, REMOVED, SCHEDULED
from gossamer.errors import UsageError
from gossamer.frontier.changes import next_change, note_departures
from gossamer.frontier.copies.clusters import leave
from gossamer.frontier.recording import requeue, wake
from gossamer.frontier.steering import removing
from gossamer.frontier.steering.filtered_queue import count_urls
from gossamer.frontier.steering.removing import HANDFUL, handfuls_of
from gossamer.model.outcome import ERRORS, Outcome
from gossamer.model.site import key64, site_of
from gossamer.scope.shape import path_shape

_REST = 0.1
"""Seconds between two batches: a process that waits for SQLite tries ten times a second."""
_ROWS = "SELECT key, url, state, outcome, fit FROM urls WHERE site_id = ? AND state IN (?, ?, ?)"


def recrawl(db: Database, prefix: str, now: float) -> int:
    """Queue URLs with a prefix again that are not waiting already; returns how many. They come in batches: a site may
    have millions, and workers wait for each transaction."""
    site_id = key64(site_of(prefix))
    return _by_handfuls(db, site_id, handfuls_of(db, site_id, prefix, (DONE, REFUSED, SCHEDULED)), now)


def recrawl_url(db: Database, url: str, now: float) -> int:
    """Queue one finished URL again; returns whether it was not waiting already. Raises a `UsageError` if it is unknown
    or was taken down."""
    site_id, key = key64(site_of(url)), key64(url)
    rows = db.execute("SELECT state FROM urls WHERE site_id = ? AND key = ?", (site_id, key))
    if not rows:
        raise UsageError(f"{url} is not known: add it with `gossamer inject`")
    if rows[0][0] == REMOVED:
        raise UsageError(f"{url} was taken down: undo the takedown first")
    return db.patiently(partial(_again_in_turn, db, site_id, [key], now))


def recrawl_failed(db: Database, now: float, site: str = "") -> int:
    """Queue every URL again, or every one of a site, whose last visit ended in an error."""
    return recrawl_outcomes(db, ERRORS.listed, now, site)


def recrawl_outcomes(db: Database, outcomes: Sequence[str], now: float, site: str = "") -> int:
    """Queue every URL again, or every one of a site, whose last visit ended in one of these outcomes."""
    sql = f"SELECT DISTINCT site_id FROM outcomes WHERE urls > 0 AND outcome IN ({marks(outcomes)}) ORDER BY site_id"
    sites = [key64(site)] if site else [row[0] for row in db.execute(sql, outcomes)]
    return sum(_by_handfuls(db, site_id, _ended(db, site_id, outcomes), now, outcomes) for site_id in sites)


def _ended(db: Database, site_id: int, outcomes: Sequence[str]) -> Iterator[list[int]]:
    sql = (
        f"SELECT key FROM urls WHERE site_id = ? AND key > ? AND state = ? AND outcome IN ({marks(outcomes)}) "
        "ORDER BY key LIMIT ?"
    )
    last = -(1 << 63)
    while keys := [row[0] for row in db.execute(sql, (site_id, last, DONE, *outcomes, HANDFUL))]:
        yield keys
        last = keys[-1]


def _by_handfuls(
    db: Database, site_id: int, handfuls: Iterator[list[int]], now: float, only: Sequence[str] = ()
) -> int:
    urls = 0
    for number, keys in enumerate(handfuls):
        if number:
            time.sleep(_REST)
        urls += db.patiently(partial(_again_in_turn, db, site_id, keys, now, only))
    return urls


def _again_in_turn(db: Database, site_id: int, keys: Sequence[int], now: float, only: Sequence[str] = ()) -> int:
    with db.transaction():
        return again(db, site_id, keys, now, only)


def again(db: Database, site_id: int, keys: Sequence[int], now: float, only: Sequence[str] = ()) -> int:
    """Queue those of a batch that are finished, refused or scheduled now, inside a transaction; `only`: those that are
    finished with one of these outcomes."""
    if not keys:
        return 0
    rows = {
        row[0]: row
        for chunk in chunks(sorted(keys))
        for row in db.execute(f"{_ROWS} AND key IN ({marks(chunk)})", (site_id, DONE, REFUSED, SCHEDULED, *chunk))
        if not only or (row[2] == DONE and row[3] in only)
    }
    # URLs that were refused when they were found, and never counted, count as known from now on.
    new = [
        (path_shape(url), fit) for _, url, state, outcome, fit in rows.values() if (state, outcome) == (REFUSED, None)
    ]
    for fits in (0, 1):
        if shapes := [shape for shape, fit in new if fit == fits]:
            count_urls(db, site_id, shapes, 1, bool(fits))
    _unschedule(db, site_id, [key for key, row in rows.items() if row[2] == SCHEDULED])
    return requeue(db, site_id, sorted(rows), now)


def _unschedule(db: Database, site_id: int, keys: list[int]) -> None:
    for key in keys:
        db.execute("DELETE FROM schedule WHERE site_id = ? AND key = ?", (site_id, key))
        db.execute("UPDATE urls SET state = ?, due_at = NULL WHERE site_id = ? AND key = ?", (DONE, site_id, key))


def remove(db: Database, what: str, reason: str, now: float) -> int:
    """Take out covered URLs, such as all with a prefix, and keep them out; returns how many there were."""
    return removing.remove(db, what, reason, now)


def withdraw(db: Database, segment: str, now: float) -> int:
    """A segment is lost or wrong: withdraw its claims, and fetch its URLs again."""
    with db.transaction():
        merged = "SELECT s.id FROM segments s JOIN gone g ON s.merged_into = g.id"
        sql = f"WITH RECURSIVE gone(id) AS (SELECT ? UNION {merged}) SELECT id FROM gone"
        ids = [row[0] for row in db.execute(sql, (segment,))]
        sites: dict[int, list[int]] = defaultdict(list)
        for name in ids:
            db.execute("DELETE FROM texts WHERE segment = ?", (name,))
            rows = db.execute("SELECT site_id, key, cluster FROM urls WHERE segment = ?", (name,))
            for site_id, key, cluster in rows:
                sites[site_id].append(key)
                if cluster is not None:
                    leave(db, [((site_id, key), cluster)])
            db.execute(
                "UPDATE urls SET segment = NULL, segment_row = NULL, content_hash = NULL, cluster = NULL, "
                "joined = NULL, etag = NULL, last_modified = NULL WHERE segment = ?",
                (name,),
            )
            db.execute("DELETE FROM segments WHERE id = ?", (name,))
        note_departures(db, next_change(db), [(site_id, key) for site_id, keys in sites.items() for key in keys])
        for site_id, keys in sorted(sites.items()):
            for key in keys:
                wake(db, site_id, key, Outcome.DUPLICATE.value, now)
        return sum(requeue(db, site_id, sorted(keys), now) for site_id, keys in sorted(sites.items()))

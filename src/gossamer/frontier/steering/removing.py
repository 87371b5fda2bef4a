"""Takes URLs out of the table; `restoring` brings them back.

The row of `removals` comes first: from then on no covered URL gets in, and a worker's commit refuses those it has. Then
the URLs leave, a batch for each transaction, so that workers wait for milliseconds and not for minutes if there are a
million. An interrupted removal is marked, and continues when it is called again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from gossamer.database.database import Database, Row
from gossamer.database.lists import chunks, marks
from gossamer.database.schema import DONE, QUEUED, REFUSED, REMOVED, SCHEDULED
from gossamer.frontier.changes import next_change, note_departures
from gossamer.frontier.copies.canonicals import forget
from gossamer.frontier.copies.clusters import leave
from gossamer.frontier.copies.duplicates import claim_of
from gossamer.frontier.freshness import NOT_COUNTED, count_documents, hour_of
from gossamer.frontier.prefixes import PrefixTally
from gossamer.frontier.queueing import count_levels
from gossamer.frontier.recording import change_tally, unschedule, wake
from gossamer.frontier.steering import removals
from gossamer.model.outcome import COPIES, Outcome
from gossamer.model.site import host_of, key64, site_of
from gossamer.scope.shape import path_shape

HANDFUL = 1000
"""URLs of one transaction."""
_SWEPT = 5000
"""Rows of the queue that one transaction reads."""
_FIRST = -(1 << 63)
TURNED_AWAY = "removed.refused"
"""The rule of a removed URL that had been refused when it was found, and never counted as known."""

_ROWS = """SELECT key, url, state, part, due_at, outcome, content_hash, cluster, bucket, checked_at, fit
    FROM urls WHERE site_id = ? AND state <> ?"""
_LEFT_BEHIND = """SELECT q.part, q.level, q.seq, u.state
    FROM queue q JOIN urls u ON u.site_id = q.site_id AND u.key = q.key
    WHERE q.site_id = ? AND (q.part, q.level, q.seq) > (?, ?, ?) ORDER BY q.part, q.level, q.seq LIMIT ?"""

Gone = Callable[[Sequence[int]], None]
"""Called after each batch with the keys of URLs that left, or of those that may come back."""


def silent(_keys: Sequence[int]) -> None:
    """Reports nothing."""


def remove(db: Database, what: str, reason: str, now: float, gone: Gone = silent) -> int:
    """Take out covered URLs (see `removals` for the forms) and keep them out; returns how many left."""

    def begin() -> bool:
        with db.transaction():
            is_open = what in removals.unfinished(db)
            removals.enter(db, what, reason, now)
            return is_open

    def end() -> None:
        with db.transaction():
            removals.finish(db, what)

    # An interrupted removal may have left everything but the queue.
    broke_off = db.patiently(begin)
    urls = 0
    for site_id, site in sites_of(db, what):
        queued = int(broke_off)
        for keys in handfuls_of(db, site_id, what, (QUEUED, SCHEDULED, DONE, REFUSED)):
            taken = db.patiently(partial(_take_out, db, what, site_id, site, keys, reason, now))
            if taken is None:
                return urls
            left, waiting = taken
            urls, queued = urls + len(left), queued + waiting
            gone(left)
        if queued:
            sweep_queue(db, site_id)
    db.patiently(lambda: _forget_hits(db, what))
    db.patiently(end)
    return urls


def sites_of(db: Database, what: str) -> list[tuple[int, str]]:
    """Key and name of the sites that may have covered URLs."""
    if removals.form_of(what) != "host":
        site = site_of(what)
        return [(key64(site), site)]
    rows = db.execute(f"SELECT id, name FROM sites WHERE substr(name, 1, {len(what)}) = ? ORDER BY name", (what,))
    return [(site_id, name) for site_id, name in rows if host_of(name) == what]


def _condition(what: str) -> tuple[str, list[str | int]]:
    """The SQL condition for a covered URL; empty for a host."""
    if removals.form_of(what) == "url":
        return " AND url = ?", [what[1:]]
    starts = removals.beginnings(what)
    if not starts:
        return "", []
    return f" AND ({' OR '.join(f'substr(url, 1, {len(start)}) = ?' for start in starts)})", [*starts]


def handfuls_of(db: Database, site_id: int, what: str, states: tuple[int, ...]) -> Iterator[list[int]]:
    """Keys of the covered URLs of a site in one of these states, read without a turn."""
    condition, values = _condition(what)
    if removals.form_of(what) == "url":
        values, condition = [key64(what[1:]), *values], f" AND key = ?{condition}"
    sql = (
        f"SELECT key FROM urls WHERE site_id = ? AND key > ? AND state IN ({marks(states)}){condition} "
        "ORDER BY key LIMIT ?"
    )
    last = _FIRST
    while keys := [row[0] for row in db.execute(sql, (site_id, last, *states, *values, HANDFUL))]:
        yield keys
        last = keys[-1]


def _rows(db: Database, site_id: int, keys: Sequence[int]) -> list[Row]:
    return [
        row
        for chunk in chunks(keys)
        for row in db.execute(f"{_ROWS} AND key IN ({marks(chunk)})", (site_id, REMOVED, *chunk))
    ]


def _take_out(
    db: Database, what: str, site_id: int, site: str, keys: Sequence[int], reason: str, now: float
) -> tuple[list[int], int] | None:
    """Take out one batch; returns its keys, and how many of them were in the queue. None if the removal was undone
    meanwhile: nobody would bring back URLs that left after that."""
    with db.transaction():
        if not db.execute("SELECT 1 FROM removals WHERE prefix = ?", (what,)):
            return None
        rows = _rows(db, site_id, keys)
        leaving = [row[0] for row in rows]
        _leave_plans(db, site_id, rows)
        _leave_counters(db, site_id, rows)
        db.many(
            "UPDATE urls SET state = ?, outcome = NULL, rule = ?, reason = ?, content_hash = NULL, "
            "cluster = NULL, joined = NULL, due_at = NULL, bucket = NULL, checked_at = NULL, etag = NULL, "
            "last_modified = NULL WHERE site_id = ? AND key = ?",
            [(REMOVED, "removed" if _counted(row) else TURNED_AWAY, reason, site_id, row[0]) for row in rows],
        )
        db.many(
            "DELETE FROM texts WHERE domain = ? AND content_hash = ? AND site_id = ? AND key = ?",
            [(*claim_of(site, row[6]), site_id, row[0]) for row in rows if row[6]],
        )
        db.many("DELETE FROM site_pages WHERE site_id = ? AND key = ?", [(site_id, row[0]) for row in rows])
        forget(db, [row[0] for row in rows if row[5] == Outcome.ALIAS.value])
        leave(db, [((site_id, row[0]), row[7]) for row in rows if row[7] is not None])
        documents = [(site_id, row[0]) for row in rows if row[5] == Outcome.DOCUMENT.value]
        if documents:
            note_departures(db, next_change(db), documents)
        _wake_others(db, site_id, leaving, now)
    return leaving, sum(row[2] == QUEUED for row in rows)


def _counted(row: Row) -> bool:
    """Whether the URL counts as known: not if it was refused when it was found."""
    return row[2] != REFUSED or bool(row[5])


def _leave_plans(db: Database, site_id: int, rows: Sequence[Row]) -> None:
    unschedule(db, site_id, [row[0] for row in rows])
    db.many(
        "DELETE FROM schedule WHERE site_id = ? AND part = ? AND due_at = ? AND key = ?",
        [(site_id, row[3], row[4], row[0]) for row in rows if row[2] == SCHEDULED and row[4] is not None],
    )


def _leave_counters(db: Database, site_id: int, rows: Sequence[Row]) -> None:
    counted = [(row[8], hour_of(row[9])) for row in rows if row[8] is not None and row[8] != NOT_COUNTED]
    count_documents(db, {place: -n for place, n in Counter(counted).items()})
    tally = PrefixTally()
    for row in rows:
        if _counted(row):
            tally.left(site_id, path_shape(row[1]), bool(row[10]), row[5] or "")
    tally.flush(db)
    change_tally(db, Counter({(site_id, name): -n for name, n in Counter(r[5] for r in rows if r[5]).items()}))


def _wake_others(db: Database, site_id: int, keys: Sequence[int], now: float) -> None:
    """Pages that these represented become independent."""
    named: set[int] = set()
    for chunk in chunks(keys):
        sql = f"SELECT DISTINCT target_key FROM aliases WHERE target_site = ? AND target_key IN ({marks(chunk)})"
        named.update(row[0] for row in db.execute(sql, (site_id, *chunk)))
    for key in sorted(named):
        for outcome in COPIES.listed:
            wake(db, site_id, key, outcome, now)


def sweep_queue(db: Database, site_id: int) -> None:
    """Delete rows of the queue whose URLs were removed: nobody gets them, but they count as waiting."""
    place = (-1, -1, -1)

    def sweep() -> list[Row]:
        with db.transaction():
            rows = db.execute(_LEFT_BEHIND, (site_id, *place, _SWEPT))
            leaving = [row[:3] for row in rows if row[3] == REMOVED]
            db.many(
                "DELETE FROM queue WHERE site_id = ? AND part = ? AND level = ? AND seq = ?",
                [(site_id, *row) for row in leaving],
            )
            count_levels(db, {level: -n for level, n in Counter(row[1] for row in leaving).items()})
            return rows

    while rows := db.patiently(sweep):
        place = rows[-1][:3]


def _forget_hits(db: Database, what: str) -> None:
    """Delete alerts' hits of it."""
    condition, values = _condition(what)
    with db.transaction():
        if condition:
            db.execute(f"DELETE FROM alert_hits WHERE 1 = 1{condition}", values)
            return
        rows = db.execute("SELECT alert, key, url FROM alert_hits")
        db.many(
            "DELETE FROM alert_hits WHERE alert = ? AND key = ?",
            [(alert, key) for alert, key, url in rows if host_of(site_of(url)) == what],
        )

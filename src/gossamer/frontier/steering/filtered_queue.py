"""Applies a filter to the queue: first visits leave it when the filter becomes active, and come back when it ends.

Both happen in batches, each a transaction of its own, so that workers need not wait. URLs still queued after a power
failure are refused when they are taken. The counters of the site, its levels, shapes and prefixes stay right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks
from gossamer.database.schema import QUEUED, REFUSED
from gossamer.frontier.prefixes import PrefixTally
from gossamer.frontier.queueing import Queue, count_levels, enqueue
from gossamer.model.records import LEVELS
from gossamer.model.site import key64
from gossamer.scope.automatic import RULE, AutomaticFilter, Fits, SiteFilters, is_probe, reason_of
from gossamer.scope.shape import path_shape

_HANDFUL = 5000
"""Rows that one transaction reads."""
_MIDDLE = LEVELS // 2
"""The level of URLs that come back and never had one: they were refused when they were found."""

_WAITING = """SELECT q.part, q.level, q.seq, q.key, u.url, u.level, u.state
    FROM queue q JOIN urls u ON u.site_id = q.site_id AND u.key = q.key
    WHERE q.site_id = ? AND (q.part, q.level, q.seq) > (?, ?, ?) AND q.level < ?
    AND u.state IN (?, ?) AND u.outcome IS NULL AND u.kind = 'page' ORDER BY q.part, q.level, q.seq LIMIT ?"""


def empty_queue(db: Database, live: AutomaticFilter, fits: Fits, probe: int) -> int:
    """Walk through the queue of the site, batch by batch."""
    site_id, rule = key64(live.site), f"{RULE}.{live.kind}"
    matching = SiteFilters([live])
    left, place = 0, (-1, -1, -1)
    while True:
        with db.transaction():
            rows = db.execute(_WAITING, (site_id, *place, LEVELS, QUEUED, REFUSED, _HANDFUL))
            leaving = [
                (row, shape)
                for row in rows
                if matching.match(shape := path_shape(row[4])) is not None
                and not fits(row[4])
                and not is_probe(row[4], probe)
            ]
            left += _leave(db, site_id, leaving, rule, live.reason)
        if len(rows) < _HANDFUL:
            return left
        place = rows[-1][:3]


def _leave(db: Database, site_id: int, leaving: Sequence[tuple[Any, str]], rule: str, reason: str) -> int:
    """Refuse waiting URLs, and delete rows that a risen URL left behind in the queue."""
    db.many(
        "DELETE FROM queue WHERE site_id = ? AND part = ? AND level = ? AND seq = ?",
        [(site_id, *row[:3]) for row, _ in leaving],
    )
    count_levels(db, {level: -n for level, n in Counter(row[1] for row, _ in leaving).items()})
    counted = [(row, shape) for row, shape in leaving if row[1] == row[5] and row[6] == QUEUED]
    db.many(
        "UPDATE urls SET state = ?, rule = ?, reason = ? WHERE site_id = ? AND key = ?",
        [(REFUSED, rule, reason, site_id, row[3]) for row, _ in counted],
    )
    count_urls(db, site_id, [shape for _, shape in counted], -1)
    return len(counted)


def count_urls(db: Database, site_id: int, shapes: Sequence[str], sign: int, fit: bool = False) -> None:
    """Keep the counters of a site, of its shapes and of its prefixes: URLs come into the table, or are refused."""
    urls, tally = sign * len(shapes), PrefixTally()
    db.execute("UPDATE sites SET known = known + ?, refused = refused - ? WHERE id = ?", (urls, urls, site_id))
    by_shape = Counter(shapes)
    db.many(
        "INSERT INTO shapes (site_id, shape, urls) VALUES (?, ?, ?) "
        "ON CONFLICT (site_id, shape) DO UPDATE SET urls = shapes.urls + excluded.urls",
        [(site_id, key64(shape), sign * n) for shape, n in sorted(by_shape.items())],
    )
    for shape, n in by_shape.items():
        tally.entered(site_id, shape, fit, sign * n)
    tally.flush(db)


def refill_queue(db: Database, ended: AutomaticFilter, others: SiteFilters, now: float) -> int:
    """Queue URLs again that an ended filter had refused, unless one of the `others` refuses them, too."""
    site_id = key64(ended.site)
    sql = (
        f"SELECT key, url, reason FROM urls WHERE state = {REFUSED} AND site_id = ? AND rule = ? AND key >= ? "
        "ORDER BY key LIMIT ?"
    )
    back, first = 0, -(1 << 63)
    while True:
        with db.transaction():
            rows = db.execute(sql, (site_id, f"{RULE}.{ended.kind}", first, _HANDFUL))
            back += _return(
                db, site_id, {key: path_shape(url) for key, url, reason in rows if names(reason, ended)}, others, now
            )
        if len(rows) < _HANDFUL:
            return back
        first = rows[-1][0] + 1


def names(reason: str, one: AutomaticFilter) -> bool:
    """Whether the reason of a refusal names this filter."""
    beginning = reason_of(one.kind, one.pattern)
    return reason == beginning or reason.startswith(f"{beginning}:")


def _return(db: Database, site_id: int, shapes: Mapping[int, str], others: SiteFilters, now: float) -> int:
    taken = [(key, other) for key, shape in shapes.items() if (other := others.match(shape)) is not None]
    db.many(
        "UPDATE urls SET rule = ?, reason = ? WHERE site_id = ? AND key = ?",
        [(f"{RULE}.{other.kind}", other.reason, site_id, key) for key, other in taken],
    )
    free = sorted(shapes.keys() - {key for key, _ in taken})
    ready: dict[int, list[tuple[int, int]]] = {}
    entered: list[str] = []
    for chunk in chunks(free) if free else ():
        found = db.execute(
            f"SELECT key, part, level, outcome FROM urls WHERE site_id = ? AND key IN ({marks(chunk)}) ORDER BY key",
            (site_id, *chunk),
        )
        for key, part, level, outcome in found:
            # Before its first visit a URL that was refused on entry has no level of its own.
            level = level if level or outcome else _MIDDLE
            ready.setdefault(part, []).append((level, key))
            if outcome is None:
                entered.append(shapes[key])
    db.many(
        "UPDATE urls SET state = ?, level = ?, rule = NULL, reason = NULL, attempts = 0, due_at = NULL "
        "WHERE site_id = ? AND key = ?",
        [(QUEUED, level, site_id, key) for items in ready.values() for level, key in items],
    )
    count_urls(db, site_id, entered, 1)
    not_before = db.execute("SELECT not_before FROM sites WHERE id = ?", (site_id,))[0][0] if ready else 0.0
    for part, items in sorted(ready.items()):
        enqueue(db, Queue(site_id, part), items, now, not_before)
    return len(free)

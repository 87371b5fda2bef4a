"""Brings URLs back whose takedown is undone: they are queued and fetched anew, because nothing of them was kept.

URLs that another removal covers stay out, and those that had been refused when they were found are refused still. After
an interruption, call it again for the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from gossamer.database.database import Database, Row
from gossamer.database.lists import chunks, marks
from gossamer.database.schema import DONE, REFUSED, REMOVED
from gossamer.frontier.prefixes import PrefixTally
from gossamer.frontier.recording import requeue
from gossamer.frontier.steering import removals
from gossamer.frontier.steering.filtered_queue import count_urls
from gossamer.frontier.steering.removing import TURNED_AWAY, Gone, handfuls_of, silent, sites_of, sweep_queue
from gossamer.model.records import LEVELS
from gossamer.scope.shape import path_shape

_ROWS = """SELECT key, url, fit, state, rule, outcome FROM urls
    WHERE site_id = ? AND (state = ? OR (state = ? AND rule = ?))"""


def restore(db: Database, what: str, now: float, back: Gone = silent) -> int | None:
    """Let covered URLs in again, unless another removal covers them; returns how many were queued, None if there is no
    such removal."""

    def strike() -> tuple[bool, bool]:
        with db.transaction():
            broke_off = what in removals.unfinished(db)
            return removals.strike(db, what), broke_off

    was_out, broke_off = db.patiently(strike)
    if not was_out:
        return None
    urls = 0
    for site_id, _ in sites_of(db, what):
        if broke_off:  # else URLs queued below would be in the queue twice
            sweep_queue(db, site_id)
        for keys in handfuls_of(db, site_id, what, (REMOVED, REFUSED)):
            urls += db.patiently(partial(_bring_back, db, site_id, keys, what, now))
            back(keys)

    def end() -> None:
        with db.transaction():
            removals.finish_return(db, what)

    db.patiently(end)
    return urls


def _bring_back(db: Database, site_id: int, keys: Sequence[int], what: str, now: float) -> int:
    with db.transaction():
        rows = _rows(db, site_id, keys, what)
        turned_away = [row for row in rows if row[4] == TURNED_AWAY]
        removed = [row for row in rows if row[3] == REMOVED and row[4] != TURNED_AWAY]
        refused = [row for row in rows if row[3] == REFUSED]
        db.many(
            "UPDATE urls SET state = ?, rule = 'restored', reason = ? WHERE site_id = ? AND key = ?",
            [(REFUSED, "it was refused before it was taken down", site_id, row[0]) for row in turned_away],
        )
        _count(db, site_id, removed, [row for row in refused if row[5] is None])
        db.many(
            "UPDATE urls SET state = ?, rule = NULL, reason = NULL WHERE site_id = ? AND key = ?",
            [(DONE, site_id, row[0]) for row in (*removed, *refused)],
        )
        # Before its first visit a URL that was refused on entry has no level of its own.
        db.many(
            "UPDATE urls SET level = ? WHERE site_id = ? AND key = ?",
            [(LEVELS // 2, site_id, row[0]) for row in refused if row[5] is None],
        )
        return requeue(db, site_id, sorted(row[0] for row in (*removed, *refused)), now)


def _rows(db: Database, site_id: int, keys: Sequence[int], what: str) -> list[Row]:
    """Those that nothing else keeps out."""
    out, values = removals.covered(db), (site_id, REMOVED, REFUSED, f"{removals.RULE}{what}")
    return [
        row
        for chunk in chunks(keys)
        for row in db.execute(f"{_ROWS} AND key IN ({marks(chunk)})", (*values, *chunk))
        if not out(row[1])
    ]


def _count(db: Database, site_id: int, removed: Sequence[Row], new: Sequence[Row]) -> None:
    """Keep the counters; `new` were found while they were out, and count as known from now on."""
    tally = PrefixTally()
    for row in removed:
        tally.entered(site_id, path_shape(row[1]), bool(row[2]))
    tally.flush(db)
    for fit in (False, True):
        if shapes := [path_shape(row[1]) for row in new if bool(row[2]) == fit]:
            count_urls(db, site_id, shapes, 1, fit)

"""Applies new intervals to existing plans: plans every finished page anew, in batches."""

from __future__ import annotations

from functools import partial

from gossamer.database.database import Database, Row
from gossamer.database.schema import DONE
from gossamer.frontier.queueing import drop_revisits, move_revisits
from gossamer.frontier.revisits import Finished, Revisits

_HANDFUL = 2000
_SLACK = 1.0
"""Seconds; plans that are closer than that to the right time stay."""
_ROWS = f"""SELECT site_id, key, part, due_at, outcome, fetched_at, checked_at, change_a, change_b, clicks FROM urls
    WHERE state = {DONE} AND fetched_at IS NOT NULL AND (site_id, key) > (?, ?)"""
_NO_SOURCES = " AND hub = 0 AND kind = 'page'"


def replan_visits(db: Database, revisits: Revisits, polls: bool, now: float) -> int:
    """Plan the next visits of all finished pages anew; returns how many plans changed. `polls`: sources are polled, and
    their plans are not touched."""
    sql = f"{_ROWS}{_NO_SOURCES if polls else ''} ORDER BY site_id, key LIMIT {_HANDFUL}"
    changed, last = 0, (-(1 << 63), -(1 << 63))
    while rows := db.execute(sql, last):
        last = rows[-1][:2]
        changed += db.patiently(partial(_replan, db, revisits, rows, now))
    return changed


def _replan(db: Database, revisits: Revisits, rows: list[Row], now: float) -> int:
    with db.transaction():
        moved: list[tuple[int, int, int, float | None, float]] = []
        dropped: list[tuple[int, int, int, float]] = []
        due = revisits.replan([Finished(*row[4:]) for row in rows], now)
        for (site_id, key, part, planned, *_), at in zip(rows, due, strict=True):
            if at is None and planned is not None:
                dropped.append((site_id, part, key, planned))
            elif at is not None and (planned is None or abs(at - planned) > _SLACK):
                moved.append((site_id, part, key, planned, at))
        drop_revisits(db, dropped)
        move_revisits(db, moved)
        return len(moved) + len(dropped)

"""Small figures for monitoring that no other module keeps: each comes from a short table, or from an index."""

from __future__ import annotations

from typing import NamedTuple

from gossamer.database.database import Database

WAITING, FAILING, GIVEN_UP = "waiting", "failing", "given up"
"""States of a message in the outbox."""


class ScheduledRun(NamedTuple):
    """The last run of something that is done by a schedule."""

    machine: str
    name: str
    began_at: float
    ended_at: float | None
    code: int | None


def open_alarms(db: Database) -> dict[str, int]:
    """Alarms that are on, by kind."""
    return dict(db.execute("SELECT kind, COUNT(*) FROM alarms WHERE until IS NULL GROUP BY kind ORDER BY kind"))


def outbox(db: Database) -> dict[str, int]:
    """Unsent messages by state."""
    rows = db.execute(
        "SELECT CASE WHEN due_at IS NULL THEN 2 WHEN attempts > 0 THEN 1 ELSE 0 END, COUNT(*) FROM messages GROUP BY 1"
    )
    counts: dict[int, int] = dict(rows)
    return {state: counts.get(number, 0) for number, state in enumerate((WAITING, FAILING, GIVEN_UP))}


def last_runs(db: Database) -> list[ScheduledRun]:
    """The last run of each schedule on each machine."""
    rows = db.execute(
        "SELECT r.machine, r.name, r.began_at, r.ended_at, r.code FROM schedule_runs r WHERE r.began_at = "
        "(SELECT MAX(o.began_at) FROM schedule_runs o WHERE o.machine = r.machine AND o.name = r.name) "
        "ORDER BY r.machine, r.name"
    )
    return [ScheduledRun(*row) for row in rows]


def newest_stored(db: Database) -> float | None:
    """When results were last stored; None before the first."""
    rows = db.execute("SELECT created_at FROM segments WHERE seq IS NOT NULL ORDER BY seq DESC LIMIT 1")
    return float(rows[0][0]) if rows else None


def stored_after(db: Database, change: int) -> float | None:
    """When the first results after a change were stored; None if there are none."""
    rows = db.execute("SELECT created_at FROM segments WHERE seq > ? ORDER BY seq LIMIT 1", (change,))
    return float(rows[0][0]) if rows else None


def working_since(db: Database, now: float) -> float | None:
    """When the first of the running workers began; None if there is none."""
    first = db.execute("SELECT MIN(started_at) FROM workers WHERE expires_at >= ?", (now,))[0][0]
    return float(first) if first is not None else None

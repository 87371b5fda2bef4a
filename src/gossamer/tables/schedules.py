"""State of the plan of `gossamer run`: runs with their results, pauses, and requests to run something now.

Each machine has a plan of its own, so every row is under the machine's name (empty if there is one machine).
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from gossamer.database.database import Database

_WORDS = 4000
"""Characters of a run's last output that are kept."""
_KEPT = 200
"""Runs of an entry that are kept."""


class Run(msgspec.Struct, frozen=True):
    """One run of an entry."""

    name: str
    began_at: float
    ended_at: float | None
    code: int | None
    """Its exit code, negative for a signal; None while it runs, or if nobody saw its end."""
    words: str
    """The end of its output."""

    @property
    def result(self) -> str:
        """In a word or two."""
        if self.ended_at is None:
            return "running"
        if self.code is None:
            return "interrupted"
        return "done" if self.code == 0 else f"failed ({self.code})"


class Entry(msgspec.Struct, frozen=True):
    """The stored state of an entry of the plan."""

    name: str
    rhythm: str
    since: float
    """When it was first seen with these times."""
    wanted_at: float | None
    """When somebody asked to run it at once."""


def note_plan(db: Database, machine: str, rhythms: Mapping[str, str], now: float) -> None:
    """Store since when each entry has its times; entries that left the plan are deleted, their runs are not."""
    with db.transaction():
        known = {entry.name: entry.rhythm for entry in entries(db, machine)}
        for name in known.keys() - rhythms.keys():
            db.execute("DELETE FROM schedule_entries WHERE machine = ? AND name = ?", (machine, name))
        db.many(
            "INSERT INTO schedule_entries (machine, name, rhythm, since, wanted_at) VALUES (?, ?, ?, ?, NULL) "
            "ON CONFLICT (machine, name) DO UPDATE SET rhythm = excluded.rhythm, since = excluded.since",
            [(machine, name, text, now) for name, text in rhythms.items() if known.get(name) != text],
        )


def entries(db: Database, machine: str) -> list[Entry]:
    """What is remembered of the plan, by name."""
    sql = "SELECT name, rhythm, since, wanted_at FROM schedule_entries WHERE machine = ? ORDER BY name"
    return [Entry(*row) for row in db.execute(sql, (machine,))]


def want(db: Database, machine: str, name: str, now: float) -> bool:
    """Ask the process that runs the plan to run an entry at once; returns whether it knows the entry."""
    with db.transaction():
        sql = "UPDATE schedule_entries SET wanted_at = ? WHERE machine = ? AND name = ?"
        return db.change(sql, (now, machine, name)) > 0


def begin(db: Database, machine: str, name: str, now: float) -> float:
    """Record the start of an entry; returns the time under which it is known."""
    with db.transaction():
        rows = db.execute("SELECT MAX(began_at) FROM schedule_runs WHERE machine = ? AND name = ?", (machine, name))
        began = now if rows[0][0] != now else now + 1e-3
        db.execute(
            "INSERT INTO schedule_runs (machine, name, began_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (machine, name, began),
        )
        db.execute("UPDATE schedule_entries SET wanted_at = NULL WHERE machine = ? AND name = ?", (machine, name))
        db.execute(
            "DELETE FROM schedule_runs WHERE machine = ? AND name = ? AND began_at NOT IN (SELECT began_at FROM "
            "schedule_runs WHERE machine = ? AND name = ? ORDER BY began_at DESC LIMIT ?)",
            (machine, name, machine, name, _KEPT),
        )
    return began


def finish(db: Database, machine: str, run: Run) -> None:
    """Note how a run ended."""
    with db.transaction():
        db.execute(
            "UPDATE schedule_runs SET ended_at = ?, code = ?, words = ? "
            "WHERE machine = ? AND name = ? AND began_at = ?",
            (run.ended_at, run.code, _clean(run.words), machine, run.name, run.began_at),
        )


def _clean(words: str) -> str:
    """PostgreSQL keeps no NUL in a text."""
    return words.replace("\0", "")[-_WORDS:]


def bury(db: Database, machine: str, now: float) -> list[str]:
    """End the runs whose end nobody saw, because their runner was killed; returns their names."""
    with db.transaction():
        rows = db.execute("SELECT name FROM schedule_runs WHERE machine = ? AND ended_at IS NULL", (machine,))
        db.execute(
            "UPDATE schedule_runs SET ended_at = ?, words = 'gossamer run was killed meanwhile' "
            "WHERE machine = ? AND ended_at IS NULL",
            (now, machine),
        )
    return sorted({row[0] for row in rows})


def pull_back(db: Database, machine: str, now: float) -> None:
    """The clock was set back: times in the future count as now, or nothing would be due until then. A running entry
    keeps its time until it has ended."""
    with db.transaction():
        rows = db.execute(
            "SELECT name, began_at FROM schedule_runs WHERE machine = ? AND began_at > ? AND ended_at IS NOT NULL "
            "ORDER BY began_at DESC",
            (machine, now),
        )
        db.many(
            "UPDATE schedule_runs SET began_at = ?, ended_at = CASE WHEN ended_at > ? THEN ? ELSE ended_at END "
            "WHERE machine = ? AND name = ? AND began_at = ?",
            [(now - 1e-3 * place, now, now, machine, *row) for place, row in enumerate(rows, 1)],
        )
        db.execute("UPDATE schedule_entries SET since = ? WHERE machine = ? AND since > ?", (now, machine, now))


def last_begun(db: Database, machine: str) -> dict[str, float]:
    """When each entry was last started."""
    sql = "SELECT name, MAX(began_at) FROM schedule_runs WHERE machine = ? GROUP BY name"
    return dict(db.execute(sql, (machine,)))


def runs(db: Database, machine: str, name: str = "", most: int = 50) -> list[Run]:
    """The last runs of an entry or of all, newest first."""
    sql = (
        "SELECT name, began_at, ended_at, code, words FROM schedule_runs WHERE machine = ? AND (? = '' OR name = ?) "
        "ORDER BY began_at DESC, name LIMIT ?"
    )
    return [Run(*row) for row in db.execute(sql, (machine, name, name, most))]


def last_runs(db: Database, machine: str) -> dict[str, Run]:
    """The last run of each entry."""
    return {name: runs(db, machine, name, 1)[0] for name in last_begun(db, machine)}


def pause(db: Database, machine: str, name: str, now: float) -> bool:
    """Pause an entry; False if it was paused already."""
    with db.transaction():
        sql = "INSERT INTO schedule_pauses (machine, name, paused_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
        return db.change(sql, (machine, name, now)) > 0


def resume(db: Database, machine: str, name: str) -> bool:
    """Resume a paused entry; False if it was not paused."""
    with db.transaction():
        return db.change("DELETE FROM schedule_pauses WHERE machine = ? AND name = ?", (machine, name)) > 0


def pauses(db: Database, machine: str) -> dict[str, float]:
    """The paused entries, with when they were paused."""
    return dict(db.execute("SELECT name, paused_at FROM schedule_pauses WHERE machine = ?", (machine,)))

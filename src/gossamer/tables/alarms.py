"""Present and past alarms.

An alarm is raised when its sign is first seen and is over when the sign was absent for a while. At most one of a kind
about a subject is open. One that comes and goes is held longer each time it is raised within a day (ten minutes, forty,
…, six hours), so it is reported at most a handful of times a day.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from gossamer.database.database import Database

_HOLD = 600.0
"""Seconds without a sign after which an alarm is over."""
_LONGER = 4
_LONGEST_HOLD = 6 * 3600.0
_DAY = 86_400.0
_KEPT = 90 * _DAY
"""Seconds for which past alarms can be seen."""
_COLUMNS = "kind, subject, since, until, sentence"


class Sign(msgspec.Struct, frozen=True):
    """Something wrong, as just seen."""

    kind: str
    subject: str
    """Its subject, if there may be several: a site, a feed, a channel."""
    sentence: str
    """For a person: what is wrong, in figures, and what to do."""


class Alarm(msgspec.Struct, frozen=True):
    """Something that is or was wrong."""

    kind: str
    subject: str
    since: float
    until: float | None
    """None while it lasts."""
    sentence: str
    """As it was last seen."""


def settle(
    db: Database, now: float, looked_for: Collection[str], signs: Sequence[Sign]
) -> tuple[list[Alarm], list[Alarm]]:
    """Raise new alarms and clear those that are over; returns both, to be reported in the same transaction, which is
    the caller's. Kinds that were not `looked_for` stay as they are."""
    open_ = {
        (row[0], row[1]): row[2] for row in db.execute("SELECT kind, subject, since FROM alarms WHERE until IS NULL")
    }
    raised = []
    for sign in signs:
        since = open_.get((sign.kind, sign.subject))
        if since is None:
            raised.append(_raise(db, now, sign))
            open_[sign.kind, sign.subject] = now
        else:
            db.execute(
                "UPDATE alarms SET seen_at = ?, sentence = ? WHERE kind = ? AND subject = ? AND since = ?",
                (now, sign.sentence, sign.kind, sign.subject, since),
            )
    return raised, _clear(db, now, looked_for)


def present(db: Database) -> list[Alarm]:
    """The open alarms, the oldest first."""
    rows = db.execute(f"SELECT {_COLUMNS} FROM alarms WHERE until IS NULL ORDER BY since, kind, subject")
    return [Alarm(*row) for row in rows]


def history(db: Database, limit: int = 100) -> list[Alarm]:
    """Alarms that are over, the newest first."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM alarms WHERE until IS NOT NULL ORDER BY until DESC, kind, subject LIMIT ?", (limit,)
    )
    return [Alarm(*row) for row in rows]


def _raise(db: Database, now: float, sign: Sign) -> Alarm:
    db.execute(
        "INSERT INTO alarms (kind, subject, since, until, seen_at, sentence) VALUES (?, ?, ?, NULL, ?, ?) "
        "ON CONFLICT (kind, subject, since) DO UPDATE SET until = NULL",
        (sign.kind, sign.subject, now, now, sign.sentence),
    )
    return Alarm(sign.kind, sign.subject, now, None, sign.sentence)


def _clear(db: Database, now: float, looked_for: Collection[str]) -> list[Alarm]:
    over = []
    rows = db.execute(f"SELECT {_COLUMNS}, seen_at FROM alarms WHERE until IS NULL AND seen_at <= ?", (now - _HOLD,))
    for *values, seen_at in rows:
        alarm = Alarm(*values)
        if alarm.kind in looked_for and seen_at <= now - _hold(db, alarm, now):
            over.append(msgspec.structs.replace(alarm, until=now))
    for alarm in over:
        db.execute(
            "UPDATE alarms SET until = ? WHERE kind = ? AND subject = ? AND since = ?",
            (now, alarm.kind, alarm.subject, alarm.since),
        )
    if over:
        db.execute("DELETE FROM alarms WHERE until < ?", (now - _KEPT,))
    return over


def _hold(db: Database, alarm: Alarm, now: float) -> float:
    """How long a sign must be absent: longer the more often it was seen within a day."""
    sql = "SELECT COUNT(*) FROM alarms WHERE kind = ? AND subject = ? AND since > ?"
    times = db.execute(sql, (alarm.kind, alarm.subject, now - _DAY))[0][0]
    return float(min(_HOLD * _LONGER ** min(max(times - 1, 0), 10), _LONGEST_HOLD))

"""Repairs times after a clock that ran ahead, so that nothing waits until the false time.

The latest stored time shows how far the clock was ahead. Plans keep their distance to that moment: a site that was to
wait
for five minutes more waits for five minutes. Events in what is now the future happened by the false clock, and are
moved
as far; earlier ones stay.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from gossamer.database.database import Database
from gossamer.revisit.polls import Habit
from gossamer.robots.verdict import RobotsState
from gossamer.tables import holds

_DAY = 86_400
_PLANS = {
    "sites": ("not_before",),
    "addresses": ("not_before",),
    "parts": ("ready_at", "not_before"),
    "schedule": ("due_at",),
    "revisits": ("due_at",),
    "urls": ("due_at",),
    "subscriptions": ("expires_at",),
    "messages": ("due_at",),
}
"""Times until which something waits."""
_EVENTS = {
    "sites": ("added_at",),
    "urls": ("found_at", "fetched_at", "checked_at", "announced_at", "searchable_at"),
    "standings": ("at",),
    "sources": ("found_at",),
    "subscriptions": ("asked_at", "received_at"),
    "deliveries": ("received_at",),
    "messages": ("made_at",),
    "alarms": ("since", "until", "seen_at"),
    "alert_hits": ("at",),
    "login_failures": ("last_at",),
    "schedule_runs": ("began_at", "ended_at"),
    "schedule_entries": ("since", "wanted_at"),
    "segments": ("created_at",),
    "clusters": ("seen_at",),
    "members": ("seen_at",),
    "site_pages": ("at",),
    "site_facts": ("learned_at",),
}
"""Times at which something happened: by a right clock none of them is in the future."""
_STATE_TIMES = ("fetched_at", "expires_at", "retry_at", "good_at", "failing_since")


def latest_written(db: Database, last_seen: float) -> float:
    """The latest time that the crawl knows of."""
    rows = db.execute("SELECT MAX(created_at) FROM segments")
    return max(last_seen, rows[0][0] or 0.0)


def turn_back(db: Database, now: float, seconds: float) -> None:
    """Move times that were written by a clock that was so far ahead; inside a transaction."""
    # Plans first: a plan does not say by which clock it was made.
    for table, columns in _PLANS.items():
        for column in columns:
            db.execute(f"UPDATE {table} SET {column} = {column} - ? WHERE {column} > 0", (seconds,))
    for table, columns in _EVENTS.items():
        for column in columns:
            db.execute(f"UPDATE {table} SET {column} = {column} - ? WHERE {column} > ?", (seconds, now))
    db.execute(
        "UPDATE logins SET began_at = began_at - ?, expires_at = expires_at - ? WHERE began_at > ?",
        (seconds, seconds, now),
    )
    # A living worker renews its lease for minutes; a much longer one was taken by the false clock.
    db.execute("UPDATE workers SET expires_at = expires_at - ? WHERE expires_at > ?", (seconds, now + seconds / 2))
    _turn_back_days(db, now, seconds)
    _change(db, "robots", ("origin",), "state", lambda blob: _robots(blob, now, seconds))
    _change(db, "sources", ("site_id", "key"), "habit", lambda blob: _habit(blob, now, seconds))
    holds.forget_beyond(db, now + holds.LASTING)


def _turn_back_days(db: Database, now: float, seconds: float) -> None:
    """Counts by the day or the minute: those of future days are dropped, rests end as much earlier."""
    today, days = int(now // _DAY), round(seconds / _DAY)
    db.execute("UPDATE scripted SET rest_until = rest_until - ? WHERE day > ?", (days, today))
    db.execute("UPDATE scripted SET day = ? WHERE day > ?", (today, today))
    db.execute("DELETE FROM extraction WHERE day > ?", (today,))
    db.execute("DELETE FROM samples WHERE at > ?", (int(now),))


def _change(
    db: Database, table: str, keys: tuple[str, ...], column: str, changed: Callable[[bytes], bytes | None]
) -> None:
    rows = db.execute(f"SELECT {column}, {', '.join(keys)} FROM {table}")
    new = [(value, *key) for blob, *key in rows if (value := changed(bytes(blob))) is not None]
    db.many(f"UPDATE {table} SET {column} = ? WHERE {' AND '.join(f'{key} = ?' for key in keys)}", new)


def _robots(blob: bytes, now: float, seconds: float) -> bytes | None:
    state = msgspec.msgpack.decode(blob, type=RobotsState)
    if state.fetched_at <= now:
        return None
    times = {name: getattr(state, name) for name in _STATE_TIMES}
    # States from before the clock ran ahead stay.
    moved = {name: at - seconds for name, at in times.items() if at > now}
    return msgspec.msgpack.encode(msgspec.structs.replace(state, **moved))


def _habit(blob: bytes, now: float, seconds: float) -> bytes | None:
    habit = msgspec.msgpack.decode(blob, type=Habit)
    if habit.polled_at <= now:
        return None
    news_at = habit.news_at - seconds if habit.news_at > now else habit.news_at
    return msgspec.msgpack.encode(msgspec.structs.replace(habit, polled_at=habit.polled_at - seconds, news_at=news_at))

"""Reads the vital signs of a crawl for the alarms; each is cheap, whatever the size of the crawl."""

from __future__ import annotations

import msgspec

from gossamer.database.database import Database
from gossamer.frontier.steering import controls
from gossamer.revisit.polls import Habit

_MOST_FEEDS = 200_000
MOST_READY = 1_000
"""Most parts of sites that are counted as ready."""
_READY = f"""SELECT COUNT(*) FROM (SELECT 1 FROM parts p JOIN sites s ON s.id = p.site_id
    WHERE p.owner IS {{owner}} AND p.ready_at <= ? AND p.not_before <= ? AND s.not_before <= ? AND {controls.READY}
    LIMIT ?) found"""


class Activity(msgspec.Struct, frozen=True):
    """Whether a crawl moves."""

    workers: int
    """Workers that have not signed off."""
    began_at: float
    """When the first of them began, 0 if there is none."""
    stored_at: float
    """When visits were last stored, 0 for never."""
    ready: int
    """Parts of sites with due URLs that need not wait and are not paused, held by a worker or not; up to `MOST_READY`.
    """
    paused: bool
    """Whether the whole crawl is paused."""


class QuietFeed(msgspec.Struct, frozen=True):
    """A feed and its silence."""

    url: str
    habit: Habit
    tried_at: float
    """When it was last polled, whether it answered or not."""


def activity(db: Database, now: float) -> Activity:
    """Whether the crawl moves, and whether it could."""
    workers, began_at = db.execute("SELECT COUNT(*), COALESCE(MIN(started_at), 0) FROM workers")[0]
    stored = db.execute("SELECT created_at FROM segments WHERE seq IS NOT NULL ORDER BY seq DESC LIMIT 1")
    # Free and held apart: each has an index of its own, and neither is counted to its end.
    ready = sum(
        db.execute(_READY.format(owner=owner), (now, now, now, MOST_READY))[0][0] for owner in ("NULL", "NOT NULL")
    )
    ready = min(ready, MOST_READY)
    return Activity(workers, began_at, stored[0][0] if stored else 0.0, ready, controls.paused(db) is not None)


def workers(db: Database) -> list[tuple[str, str]]:
    """Workers that have not signed off, each with its machine."""
    return [(id, machine) for id, machine in db.execute("SELECT id, machine FROM workers ORDER BY id")]


def unindexed_since(db: Database, position: int) -> float | None:
    """Since when the oldest stored visits wait for an index that has come to a change; None if none do."""
    rows = db.execute("SELECT created_at FROM segments WHERE seq > ? ORDER BY seq LIMIT 1", (position,))
    return float(rows[0][0]) if rows else None


def fruitful_feeds(db: Database, silent_since: float) -> list[QuietFeed]:
    """Feeds in use that had news once, but none since a time."""
    rows = db.execute(
        "SELECT u.url, s.habit, COALESCE(u.fetched_at, 0) FROM sources s JOIN urls u ON u.site_id = s.site_id "
        "AND u.key = s.key WHERE s.kind = 'feed' AND s.retired = '' AND s.found_at > 0 AND s.found_at < ? LIMIT ?",
        (silent_since, _MOST_FEEDS),
    )
    return [QuietFeed(url, msgspec.msgpack.decode(habit, type=Habit), tried_at) for url, habit, tried_at in rows]

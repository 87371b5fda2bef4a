"""Notes about the crawl in its database: text by key."""

from __future__ import annotations

from gossamer.database.database import Database

SETTINGS = "settings"
"""The settings of the last crawl."""
OPTIONS = "options"
"""Settings that its options changed."""
LAST_SEEN = "last_seen"
"""The time at which a crawl last began or ended."""
SCHEMA = "schema"
"""The version of the tables."""


def noted(db: Database, key: str) -> str | None:
    """The note under a key."""
    rows = db.execute("SELECT value FROM meta WHERE key = ?", (key,))
    return str(rows[0][0]) if rows else None


def note(db: Database, key: str, value: str) -> None:
    """Write a note, in place of an earlier one."""
    db.execute("INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (key, value))


def crawl_id(db: Database) -> str:
    """Tells this crawl from others; a copy of the database has the same."""
    return str(db.execute("SELECT value FROM meta WHERE key = 'crawl'")[0][0])


def check_readable(db: Database) -> None:
    """Raise if the database does not answer; reads next to nothing."""
    db.execute("SELECT 1 FROM meta LIMIT 1")

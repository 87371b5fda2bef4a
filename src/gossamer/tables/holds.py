"""Holds: while one lasts, segments that the database names stay in place.

A backup names segments in its copy of the database and copies them afterwards. A merge would replace and delete them
meanwhile, so it checks for holds inside the transaction that makes the merged segment count. A hold runs out unless it
is
renewed: a killed process blocks nobody. A merge that finds an expired one deletes it, and by its absence a frozen
backup
learns that it must start over.
"""

from __future__ import annotations

from gossamer.database.database import Database

LASTING = 900.0
"""Seconds after which a hold that was not renewed no longer counts; clocks of machines differ by 300 at most."""

_KEY = "hold:"


def take(db: Database, token: str, now: float) -> None:
    """Hold the segments that are named from now on."""
    with db.transaction():
        go_over_lost(db, now)
        db.execute("INSERT INTO meta VALUES (?, ?)", (_KEY + token, repr(now + LASTING)))


def renew(db: Database, token: str, now: float) -> bool:
    """Renew a hold; False if it had run out and was deleted."""
    with db.transaction():
        return db.change("UPDATE meta SET value = ? WHERE key = ?", (repr(now + LASTING), _KEY + token)) > 0


def release(db: Database, token: str) -> bool:
    """Let segments be merged again; False if the hold was lost before."""
    with db.transaction():
        return db.change("DELETE FROM meta WHERE key = ?", (_KEY + token,)) > 0


def are_held(db: Database, now: float) -> bool:
    """Whether segments have to stay."""
    return any(until > now for _, until in _holds(db))


def forget_beyond(db: Database, latest: float) -> None:
    """End holds that last longer than any can: a clock that ran ahead made them."""
    db.many("DELETE FROM meta WHERE key = ?", [(key,) for key, until in _holds(db) if until > latest])


def go_over_lost(db: Database, now: float) -> None:
    """Inside a transaction that replaces segments: end expired holds."""
    db.many("DELETE FROM meta WHERE key = ?", [(key,) for key, until in _holds(db) if until <= now])


def forget_all(db: Database) -> None:
    """A copy of a database holds nothing, whatever the original did."""
    with db.transaction():
        db.many("DELETE FROM meta WHERE key = ?", [(key,) for key, _ in _holds(db)])


def _holds(db: Database) -> list[tuple[str, float]]:
    # As many rows as backups run: a range of the key, since `LIKE` would read the whole table on some databases.
    rows = db.execute("SELECT key, value FROM meta WHERE key >= ? AND key < ?", (_KEY, "hold;"))
    return [(key, float(value)) for key, value in rows]

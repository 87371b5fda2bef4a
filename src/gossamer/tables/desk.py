"""The rules of the search desk, version by version, as TOML: this table knows texts, `operate/desk.py` what they mean.

A version is never changed or deleted. `meta.desk` says which one counts, so undoing is to name another. Row 0 is the
draft that operators work on.
"""

from __future__ import annotations

import msgspec

from gossamer.database.database import Database
from gossamer.database.meta import note as write_note
from gossamer.database.meta import noted

_KEY = "desk"
_DRAFT = 0


class Version(msgspec.Struct, frozen=True):
    """A set of rules."""

    number: int
    """From 1; 0: the draft."""
    at: float
    """When it was published; of the draft: when it was last changed."""
    who: str
    note: str
    previous: int
    """The version that counted before it; 0: none."""
    rules: str
    """As TOML."""


def current(db: Database) -> int:
    """The version that counts; 0: there are no rules."""
    return int(noted(db, _KEY) or 0)


def version(db: Database, number: int) -> Version | None:
    """One version."""
    found = _rows(db, "WHERE version = ?", (number,))
    return found[0] if found else None


def draft(db: Database) -> Version | None:
    """The draft; none where nobody has changed anything since the last publication."""
    return version(db, _DRAFT)


def history(db: Database, limit: int = 100) -> list[Version]:
    """The versions, newest first."""
    return _rows(db, "WHERE version > 0 ORDER BY version DESC LIMIT ?", (limit,))


def save_draft(db: Database, who: str, at: float, rules: str) -> None:
    """Write the draft, inside a transaction of the caller."""
    _insert(db, Version(_DRAFT, at, who, "", current(db), rules))


def drop_draft(db: Database) -> None:
    """Throw the draft away, inside a transaction of the caller."""
    db.execute("DELETE FROM desk WHERE version = ?", (_DRAFT,))


def add(db: Database, who: str, at: float, note: str, rules: str) -> int:
    """Keep a new version and let it count, inside a transaction of the caller; returns its number."""
    number = int(db.execute("SELECT COALESCE(MAX(version), 0) FROM desk")[0][0]) + 1
    _insert(db, Version(number, at, who, note, current(db), rules))
    let_count(db, number)
    return number


def let_count(db: Database, number: int) -> None:
    """Name the version that counts; 0: none."""
    write_note(db, _KEY, str(number))


def _insert(db: Database, one: Version) -> None:
    db.execute(
        "INSERT INTO desk (version, at, who, note, previous, rules) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (version) DO UPDATE SET at = excluded.at, who = excluded.who, note = excluded.note, "
        "previous = excluded.previous, rules = excluded.rules",
        (one.number, one.at, one.who, one.note, one.previous, one.rules),
    )


def _rows(db: Database, where: str, values: tuple[int, ...]) -> list[Version]:
    rows = db.execute(f"SELECT version, at, who, note, previous, rules FROM desk {where}", values)
    return [Version(*row) for row in rows]

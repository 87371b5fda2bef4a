"""The audit log: what operators did, line by line. Nothing here is ever changed or deleted.

A line is one statement: inside a transaction it is written together with the change it records, or not at all.
"""

from __future__ import annotations

import logging
import secrets

import msgspec

from gossamer.database.database import Database

_LONGEST = 4000
"""Characters of a subject or detail that are kept: a form can send more than anybody will read."""

log = logging.getLogger(__name__)


class Entry(msgspec.Struct, frozen=True):
    """An action of an operator."""

    at: float
    who: str
    """The name of an account, `cli:` and the name of an operating system's user, or `gossamer` itself."""
    action: str
    subject: str
    detail: str


class Filter(msgspec.Struct, frozen=True):
    """Filters for lines; an empty field filters nothing."""

    who: str = ""
    action: str = ""
    subject: str = ""
    """A part of it, in any case."""


def note(db: Database, now: float, who: str, action: str, subject: str = "", detail: str = "") -> None:
    """Write a line; never a password."""
    sql = "INSERT INTO audit (at, id, who, action, subject, detail) VALUES (?, ?, ?, ?, ?, ?)"
    texts = (_kept(text) for text in (who, action, subject, detail))
    db.execute(sql, (now, secrets.token_hex(8), *texts))
    log.info("%s: %s %s", who, action, subject, extra={"who": who, "action": action, "subject": subject})


def entries(db: Database, wanted: Filter | None = None, limit: int = 50, offset: int = 0) -> list[Entry]:
    """Lines, newest first."""
    where, values = _where(wanted or Filter())
    sql = f"SELECT at, who, action, subject, detail FROM audit{where} ORDER BY at DESC, id DESC LIMIT ? OFFSET ?"
    return [Entry(*row) for row in db.execute(sql, (*values, limit, offset))]


def count(db: Database, wanted: Filter | None = None) -> int:
    """How many lines there are."""
    where, values = _where(wanted or Filter())
    return int(db.execute(f"SELECT COUNT(*) FROM audit{where}", values)[0][0])


def known(db: Database) -> tuple[list[str], list[str]]:
    """All names and actions, in order: for a choice."""
    people = [row[0] for row in db.execute("SELECT DISTINCT who FROM audit ORDER BY who")]
    actions = [row[0] for row in db.execute("SELECT DISTINCT action FROM audit ORDER BY action")]
    return people, actions


def _where(wanted: Filter) -> tuple[str, tuple[str, ...]]:
    conditions = {
        "who = ?": wanted.who,
        "action = ?": wanted.action,
        r"LOWER(subject) LIKE ? ESCAPE '!'": _pattern(wanted.subject),
    }
    used = {sql: value for sql, value in conditions.items() if value}
    return (f" WHERE {' AND '.join(used)}" if used else ""), tuple(used.values())


def _pattern(part: str) -> str:
    escaped = part.lower().replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return f"%{escaped}%" if part else ""


def _kept(text: str) -> str:
    """PostgreSQL takes no NUL and no half of a surrogate pair; a line must never be lost for that."""
    whole = text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    return whole if len(whole) <= _LONGEST else whole[: _LONGEST - 1] + "…"

"""Messages that wait for their channel.

A message is put here in the transaction of the event it reports, and leaves when its channel has accepted it. A sender
*claims* it first: the next try is set before the first byte goes out. So if a sender dies, at whatever moment, the
message
is sent again later, under the same id, by which a receiver recognises it: at least once, and never by two at the same
time.

    put → (gathers for a while) → claimed → taken: the row is deleted
                                         ↘ failed: again after 1, 2, 4, … minutes, at most a day
                                                   ↘ after 5 days given up; it stays, with the problem, for a month

A message that gathers may still be extended: only before its first claim, in a writing transaction; those take turns.
"""

from __future__ import annotations

import secrets

import msgspec

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks

_COLUMNS = "id, channel, about, body, made_at, due_at, attempts, problem"
_FIRST_WAIT = 60.0
_LONGEST_WAIT = 86_400.0
_PATIENCE = 5 * 86_400.0
"""Seconds after which a message is given up."""
_SHOWN = 30 * 86_400.0
"""Seconds for which one that was given up can be seen."""
_IN_HAND = 300.0
"""Least seconds until a claimed message is claimed again: longer than any sending takes."""
_PROBLEM = 500


class Waiting(msgspec.Struct, frozen=True):
    """A message that was not taken yet."""

    id: str
    channel: str
    about: str
    """Id of the alert it reports; empty for alarms."""
    body: str
    made_at: float
    due_at: float | None
    """None: given up."""
    attempts: int
    problem: str
    """Why the last try failed; empty before the first."""


def put(db: Database, channel: str, about: str, body: str, now: float, due_at: float) -> str:
    """Add a message, to be sent at a time; returns its id. Call it in a transaction."""
    id = secrets.token_hex(12)
    db.execute(
        "INSERT INTO messages (id, channel, about, body, made_at, due_at) VALUES (?, ?, ?, ?, ?, ?)",
        (id, channel, about, body, now, due_at),
    )
    return id


def gathering(db: Database, channel: str, about: str, now: float, lasting: float) -> tuple[str, str] | None:
    """Id and body of the message about something that may still be extended, in a transaction; `lasting`: seconds for
    which messages gather. Messages for a channel that is away are due later, and are not read."""
    rows = db.execute(
        "SELECT id, body FROM messages WHERE due_at > ? AND due_at <= ? AND attempts = 0 AND channel = ? AND about = ? "
        "ORDER BY due_at DESC, made_at DESC, id LIMIT 1",
        (now, now + lasting, channel, about),
    )
    return (rows[0][0], rows[0][1]) if rows else None


def rewrite(db: Database, id: str, body: str) -> None:
    """Another body for a message that gathers."""
    db.execute("UPDATE messages SET body = ? WHERE id = ?", (body, id))


def about_alerts(db: Database) -> list[str]:
    """Ids of the messages that report hits of saved queries."""
    return [id for (id,) in db.execute("SELECT id FROM messages WHERE about <> ''")]


def body_of(db: Database, id: str) -> str | None:
    """The body of a message."""
    rows = db.execute("SELECT body FROM messages WHERE id = ?", (id,))
    return str(rows[0][0]) if rows else None


def are_waiting(db: Database) -> bool:
    """Whether there is anything to send, now or later."""
    return bool(db.execute("SELECT 1 FROM messages WHERE due_at IS NOT NULL LIMIT 1"))


def count(db: Database, channel: str, about: str) -> int:
    """Messages about something that wait for a channel."""
    sql = "SELECT COUNT(*) FROM messages WHERE channel = ? AND about = ? AND due_at IS NOT NULL"
    return int(db.execute(sql, (channel, about))[0][0])


def claim(db: Database, now: float, limit: int, gathered: bool = False) -> list[Waiting]:
    """Messages to be sent now, the longest due first; `gathered`: also those that were never tried and still gather,
    for a sender that is about to end."""
    return db.patiently(lambda: _claim(db, now, limit, gathered))


def _claim(db: Database, now: float, limit: int, gathered: bool) -> list[Waiting]:
    with db.transaction():
        rows = db.execute(
            f"SELECT {_COLUMNS} FROM messages WHERE due_at <= ? OR (due_at IS NOT NULL AND attempts = 0 AND ? = 1) "
            "ORDER BY due_at, made_at, id LIMIT ?",
            (now, int(gathered), limit),
        )
        found = [msgspec.structs.replace(one, attempts=one.attempts + 1) for one in (Waiting(*row) for row in rows)]
        db.many(
            "UPDATE messages SET attempts = ?, due_at = ? WHERE id = ?",
            [(one.attempts, now + max(wait_after(one.attempts), _IN_HAND), one.id) for one in found],
        )
    return found


def wait_after(attempts: int) -> float:
    """Seconds until the next try after so many that failed."""
    return float(min(_FIRST_WAIT * 2 ** min(attempts - 1, 20), _LONGEST_WAIT))


def taken(db: Database, id: str) -> None:
    """The channel accepted it."""
    db.patiently(lambda: _change(db, "DELETE FROM messages WHERE id = ?", (id,)))


def failed(db: Database, message: Waiting, problem: str, now: float) -> None:
    """The channel refused it: try again, or give it up after days."""
    over = now - message.made_at >= _PATIENCE
    due_at = None if over else now + wait_after(message.attempts)
    sql = "UPDATE messages SET problem = ?, due_at = ? WHERE id = ?"
    db.patiently(lambda: _change(db, sql, (problem[:_PROBLEM], due_at, message.id)))


def put_back(db: Database, message: Waiting, now: float) -> None:
    """It was claimed and could not be tried: that does not count."""
    sql = "UPDATE messages SET attempts = ?, due_at = ? WHERE id = ?"
    db.patiently(lambda: _change(db, sql, (message.attempts - 1, now, message.id)))


def retry(db: Database, now: float, id: str = "") -> int:
    """Try a message, or all that failed, again at once; returns how many."""
    sql = "UPDATE messages SET due_at = ? WHERE attempts > 0"
    with db.transaction():
        return db.change(f"{sql} AND id = ?", (now, id)) if id else db.change(sql, (now,))


def discard(db: Database, id: str) -> int:
    """Delete a message; returns how many."""
    with db.transaction():
        return drop(db, id)


def drop(db: Database, id: str) -> int:
    """The same in a transaction of the caller's."""
    return db.change("DELETE FROM messages WHERE id = ?", (id,))


def list_messages(db: Database, limit: int = 200) -> list[Waiting]:
    """Waiting messages, those that failed most often first."""
    sql = f"SELECT {_COLUMNS} FROM messages ORDER BY attempts DESC, made_at, id LIMIT ?"
    return [Waiting(*row) for row in db.execute(sql, (limit,))]


def failing(db: Database, tries: int) -> list[tuple[str, int, str]]:
    """Channels with a message that failed so often and still waits: channel, number of messages, a problem."""
    rows = db.execute(
        "SELECT channel, COUNT(*), MAX(problem) FROM messages "
        "WHERE attempts >= ? AND problem <> '' AND due_at IS NOT NULL "
        "GROUP BY channel ORDER BY channel",
        (tries,),
    )
    return [(row[0], row[1], row[2]) for row in rows]


def prune(db: Database, now: float) -> int:
    """Delete messages that were given up long ago; returns how many."""
    old = db.execute("SELECT id FROM messages WHERE due_at IS NULL AND made_at < ?", (now - _SHOWN,))
    gone = 0
    for chunk in chunks([row[0] for row in old]):
        with db.transaction():
            gone += db.change(f"DELETE FROM messages WHERE id IN ({marks(chunk)})", chunk)
    return gone


def _change(db: Database, sql: str, values: tuple[object, ...]) -> None:
    with db.transaction():
        db.execute(sql, values)

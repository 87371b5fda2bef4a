"""Logins, and failed attempts.

Only a hash of a login's token is stored: who reads the database cannot use it. A login ends by itself when it was not
used
for a while, and at once when its account goes or gets another password.

Failures are counted for an account, whether it exists or not, and for an address. After so many in a row the next try
is
refused for a time that doubles with each further failure. The count is in the database, so a restart forgives nothing.
A
try counts as a failure until it succeeds: trying many at once gains nothing.

An attacker who fails at an account every quarter of an hour would lock its owner out for good. So an address from which
the right password came within a month waits for its own failures only (a row without failures marks it).
"""

from __future__ import annotations

import hashlib
import secrets

import msgspec

from gossamer.database.database import Database
from gossamer.database.lists import marks

FIRST_PAUSE = 15.0
"""Seconds of the first refusal."""
LONGEST_PAUSE = 900.0
"""Most seconds of refusal: somebody else's guesses must not keep an operator out for hours."""
MEMORY = 86_400.0
"""Seconds after which failures are forgotten."""
KNOWN = 30 * 86_400.0
"""Seconds for which an address counts as known after a login."""
_RENEWAL = 0.02
"""The share of a login's time after which its end is written anew: not every request has to write."""


class Login(msgspec.Struct, frozen=True):
    """Somebody who is logged in."""

    account: str
    role: str


def begin(db: Database, now: float, account: str, seconds: float) -> str:
    """Begin a login; returns its token, which is stored nowhere."""
    token = secrets.token_urlsafe(32)
    with db.transaction():
        db.execute("DELETE FROM logins WHERE expires_at <= ?", (now,))
        sql = "INSERT INTO logins (token, account, began_at, expires_at) VALUES (?, ?, ?, ?)"
        db.execute(sql, (_hash(token), account, now, now + seconds))
    return token


def find(db: Database, now: float, token: str) -> tuple[Login, float] | None:
    """The account of a token, and when it ends; None if it has ended, or its account is gone."""
    sql = (
        "SELECT a.name, a.role, l.expires_at FROM logins l JOIN accounts a ON a.name = l.account "
        "WHERE l.token = ? AND l.expires_at > ?"
    )
    rows = db.execute(sql, (_hash(token), now))
    return (Login(*rows[0][:2]), float(rows[0][2])) if rows else None


def needs_renewal(now: float, expires_at: float, seconds: float) -> bool:
    """Whether a login's end should be written anew."""
    return abs(now + seconds - expires_at) > _RENEWAL * seconds


def renew(db: Database, now: float, token: str, seconds: float) -> None:
    """A login was used: it ends so many seconds from now. One that ended meanwhile stays ended."""
    sql = "UPDATE logins SET expires_at = ? WHERE token = ? AND expires_at > ?"
    db.execute(sql, (now + seconds, _hash(token), now))


def end(db: Database, token: str) -> None:
    """A login ends."""
    db.execute("DELETE FROM logins WHERE token = ?", (_hash(token),))


def end_all(db: Database, account: str) -> None:
    """All logins of an account end; within the caller's transaction."""
    db.execute("DELETE FROM logins WHERE account = ?", (account,))


def attempt(db: Database, now: float, account: str, address: str, most: int) -> float:
    """Begin to try a password: 0 if it may be tried, and it counts as failed from now on; else the seconds to wait.
    `most`: failures in a row before anything is refused."""
    names = _names(account, address)
    with db.transaction():
        sql = "DELETE FROM login_failures WHERE last_at <= ? AND (failures > 0 OR last_at <= ?)"
        db.execute(sql, (now - MEMORY, now - KNOWN))
        sql = "SELECT 1 FROM login_failures WHERE who = ?"
        counted = names[1:] if db.execute(sql, (_known(account, address),)) else names
        sql = f"SELECT failures, last_at FROM login_failures WHERE who IN ({marks(counted)})"
        wait = max((_wait(now, failures, last, most) for failures, last in db.execute(sql, counted)), default=0.0)
        if wait > 0:
            return wait
        db.many(
            "INSERT INTO login_failures (who, failures, last_at) VALUES (?, 1, ?) ON CONFLICT (who) DO UPDATE SET "
            "failures = login_failures.failures + 1, last_at = excluded.last_at",
            [(name, now) for name in names],
        )
    return 0.0


def succeeded(db: Database, account: str, address: str) -> None:
    """The password was right: forget failures in a row."""
    with db.transaction():
        db.execute("DELETE FROM login_failures WHERE who IN (?, ?)", _names(account, address))


def remember(db: Database, now: float, account: str, address: str) -> None:
    """The right password came from this address: failures elsewhere do not keep it out."""
    db.execute(
        "INSERT INTO login_failures (who, failures, last_at) VALUES (?, 0, ?) "
        "ON CONFLICT (who) DO UPDATE SET last_at = excluded.last_at",
        (_known(account, address), now),
    )


def forgive(db: Database, account: str) -> None:
    """Forget the failures of an account, and from where somebody logged in; within the caller's transaction."""
    known = _known(account, "")
    sql = f"DELETE FROM login_failures WHERE who = ? OR substr(who, 1, {len(known)}) = ?"
    db.execute(sql, (_names(account, "")[0], known))


def _wait(now: float, failures: int, last: float, most: int) -> float:
    if failures < max(most, 1):
        return 0.0
    pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(failures - max(most, 1), 30))
    # A clock that was set back must not lock anybody out for as long as it was wrong.
    return last + pause - now if last <= now else 0.0


def _names(account: str, address: str) -> tuple[str, str]:
    # People type their password into the name's field: it is not stored.
    return f"account:{_hash(account)[:32]}", f"address:{address}"


def _known(account: str, address: str) -> str:
    return f"known:{_hash(account)[:32]}:{address}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def forget_all(db: Database) -> None:
    """Nobody is logged in any more, and no failure counts."""
    with db.transaction():
        db.execute("DELETE FROM logins")
        db.execute("DELETE FROM login_failures")

"""Accounts of the console and their roles.

A reader sees everything, an operator changes things. There is always an operator once there was one: nobody can remove
or
demote the last.
"""

from __future__ import annotations

import re
from typing import Literal, get_args

import msgspec

from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.tables import logins, passwords

Role = Literal["reader", "operator"]
ROLES: tuple[Role, ...] = get_args(Role)
FIRST = "operator"
"""The account that the first start makes."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._@-]{0,63}")


class Account(msgspec.Struct, frozen=True):
    """One account, without its password."""

    name: str
    role: Role
    made_at: float


def accounts(db: Database) -> list[Account]:
    """All accounts by name."""
    return [Account(*row) for row in db.execute("SELECT name, role, made_at FROM accounts ORDER BY name")]


def found(db: Database, name: str) -> Account:
    """An account; raises a `UsageError` if there is none of this name."""
    wanted = canonical(name)
    for account in accounts(db):
        if account.name == wanted:
            return account
    raise UsageError(f"there is no account {wanted[:64]}: `gossamer accounts list` shows all accounts")


def canonical(name: str) -> str:
    """The stored form of a name: case and surrounding spaces do not matter."""
    return name.strip().lower()


def add(db: Database, now: float, name: str, role: str, password: str) -> Account:
    """A new account."""
    name = canonical(name)
    if not _NAME.fullmatch(name):
        raise UsageError("a name may have letters a to z, digits and . _ @ -, at most 64 of them")
    account = Account(name, _role(role), now)
    passwords.check(password, name)
    stored = passwords.hashed(password)
    with db.transaction():
        sql = "INSERT INTO accounts (name, role, password, made_at) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO NOTHING"
        if not db.change(sql, (name, role, stored, now)):
            raise UsageError(f"there is an account {name} already: choose another name")
    return account


def add_first(db: Database, now: float) -> str:
    """Make the first operator if there is no account at all; returns the password, or nothing if there is one."""
    if db.execute("SELECT 1 FROM accounts LIMIT 1"):
        return ""
    password = passwords.generated()
    stored = passwords.hashed(password)
    with db.transaction():
        if db.execute("SELECT 1 FROM accounts LIMIT 1"):
            return ""
        sql = "INSERT INTO accounts (name, role, password, made_at) VALUES (?, 'operator', ?, ?)"
        db.execute(sql, (FIRST, stored, now))
    return password


def set_password(db: Database, name: str, password: str) -> None:
    """Set a new password: ends all logins of the account, and forgets earlier failures."""
    account = found(db, name)
    passwords.check(password, account.name)
    stored = passwords.hashed(password)
    with db.transaction():
        db.execute("UPDATE accounts SET password = ? WHERE name = ?", (stored, account.name))
        logins.end_all(db, account.name)
        logins.forgive(db, account.name)


def set_role(db: Database, name: str, role: str) -> None:
    """Another role, from the next request on."""
    account, role = found(db, name), _role(role)
    with db.transaction():
        if role != "operator":
            _keep_an_operator(db, account.name)
        db.execute("UPDATE accounts SET role = ? WHERE name = ?", (role, account.name))


def remove(db: Database, name: str) -> None:
    """Remove an account and end its logins."""
    account = found(db, name)
    with db.transaction():
        _keep_an_operator(db, account.name)
        db.execute("DELETE FROM accounts WHERE name = ?", (account.name,))
        logins.end_all(db, account.name)


def is_password(db: Database, name: str, password: str) -> bool:
    """Whether an account exists and has this password; it takes the same time in all cases."""
    rows = db.execute("SELECT password FROM accounts WHERE name = ?", (canonical(name),))
    return passwords.fits(password, rows[0][0]) if rows else passwords.fits_nobody(password)


def _role(text: str) -> Role:
    for role in ROLES:
        if role == text:
            return role
    raise UsageError(f"{text[:40]!r} is not a role: use reader or operator")


def _keep_an_operator(db: Database, name: str) -> None:
    sql = "SELECT 1 FROM accounts WHERE role = 'operator' AND name <> ? LIMIT 1"
    if not db.execute(sql, (name,)):
        raise UsageError(f"{name} is the last operator: make another one first")

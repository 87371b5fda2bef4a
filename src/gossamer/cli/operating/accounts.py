"""`gossamer accounts`: who may log in to the console.

Gossamer asks for passwords, or reads them from standard input: the shell's history keeps a command line, and everybody
on the machine can see it while the command runs.
"""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Annotated, TypeVar

from cyclopts import App, Parameter

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, operator_name, out, print_json
from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.model.moments import timestamp
from gossamer.tables import accounts, audit, passwords

T = TypeVar("T")

command = App(name="accounts", help="Add, change and remove accounts of the console.")

Generate = Annotated[
    bool, Parameter(name="--generate", negative="", help="Generate a password and print it, instead of asking for one.")
]


@command.command(name="list")
def show(*, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """List the accounts with their roles."""
    with closing(DataFolder(data).read()) as db:
        found = accounts.accounts(db)
    if json:
        print_json(found)
        return
    for account in found:
        out.print(f"{account.name} ({account.role}), since {timestamp(account.made_at)}", markup=False)
    if not found:
        out.print("There are no accounts: add one with `gossamer accounts add NAME --role operator`.")


@command.command
def add(
    name: str, *, role: accounts.Role = "reader", generate: Generate = False, data: Data = DEFAULT_DATA,
    debug: Debug = False,
) -> None:  # fmt: skip
    """Add the account NAME. Gossamer asks for its password, or reads it from standard input.

    Parameters
    ----------
    name
        Letters a to z, digits and . _ @ -.
    role
        A reader can see everything but change nothing; an operator can change things.
    """
    password = passwords.generated() if generate else _asked()
    now = SystemClock().now()
    account = _change(data, "add account", name, role, lambda db: accounts.add(db, now, name, role, password))
    out.print(f"{account.name} can log in as {role}.", markup=False)
    _tell(password, generate)


@command.command(name="password")
def set_password(
    name: str, *, generate: Generate = False, data: Data = DEFAULT_DATA, debug: Debug = False
) -> None:  # fmt: skip
    """Give the account NAME a new password, end its sessions and forget its failed logins.

    Parameters
    ----------
    name
        Name of the account.
    """
    password = passwords.generated() if generate else _asked()
    _change(data, "new password", name, "", lambda db: accounts.set_password(db, name, password))
    out.print(f"{accounts.canonical(name)} has a new password.", markup=False)
    _tell(password, generate)


@command.command(name="role")
def set_role(name: str, role: accounts.Role, *, data: Data = DEFAULT_DATA, debug: Debug = False) -> None:
    """Make the account NAME a reader or an operator.

    Parameters
    ----------
    name
        Name of the account.
    role
        A reader can see everything but change nothing; an operator can change things.
    """
    _change(data, "change role", name, role, lambda db: accounts.set_role(db, name, role))
    out.print(f"{accounts.canonical(name)} is {'an operator' if role == 'operator' else 'a reader'} now.", markup=False)


@command.command
def remove(name: str, *, data: Data = DEFAULT_DATA, debug: Debug = False) -> None:
    """Remove the account NAME and end its sessions.

    Parameters
    ----------
    name
        Name of the account.
    """
    _change(data, "remove account", name, "", lambda db: accounts.remove(db, name))
    out.print(f"{accounts.canonical(name)} is removed.", markup=False)


def _change(data: Path, action: str, name: str, detail: str, change: Callable[[Database], T]) -> T:
    """Do it, and write it down."""
    folder = DataFolder(data)
    folder.read().close()  # a wrong folder must not become a new crawl
    with closing(folder.open_database()) as db:
        done = change(db)
        audit.note(db, SystemClock().now(), operator_name(), action, accounts.canonical(name), detail)
        return done


def _asked() -> str:
    """A password, typed twice without being shown, or the first line of standard input."""
    if not sys.stdin.isatty():
        password = sys.stdin.readline().rstrip("\r\n")
        if not password:
            raise UsageError("no password on standard input: write one there, or pass --generate")
        return password
    password = getpass.getpass("Password: ")
    if password != getpass.getpass("Once more: "):
        raise UsageError("the passwords differ: nothing changed")
    return password


def _tell(password: str, is_generated: bool) -> None:
    if is_generated:
        out.print(f"The password is {password} (shown only once)", markup=False)

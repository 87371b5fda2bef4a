"""The operator's console as `gossamer serve` opens it: the first account, and the settings in force."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from gossamer import settings as settings_file
from gossamer.cli.common import err, settings_of_crawl
from gossamer.clock import Clock, SystemClock
from gossamer.console.app import ROOT, open_console
from gossamer.console.context import Crawl
from gossamer.data.folder import DataFolder
from gossamer.errors import GossamerError
from gossamer.settings import Settings
from gossamer.tables import accounts, audit
from gossamer.web.app import Extension
from gossamer.web.service import Services

_BELIEVED = 5.0
"""Seconds for which settings are believed that were read."""


def operating(data: Path, settings: Settings, services: Services) -> tuple[list[Extension], str]:
    """The console where there is to be one, and what to print about it, with `{address}` for the server's address.
    Where the database cannot be written there is none, and searching goes on."""
    if not settings.console.enabled:
        return [], ""
    clock = SystemClock()
    try:
        greeting = _greeting(DataFolder(data), clock)
    except GossamerError as error:
        err.print(f"There is no console: {error}", style="yellow", markup=False)
        return [], ""
    crawl = Crawl(data, settings_now(data, settings, clock), services, clock)
    return [open_console(crawl, settings)], greeting


def _greeting(folder: DataFolder, clock: Clock) -> str:
    where = f"Console at {{address}}{ROOT}"
    password = first_account(folder, clock)
    if password:
        words = f"log in as {accounts.FIRST} with the password {password}"
        return f"{where}: {words}\nIt is shown only now; change it there."
    database = folder.open_database()
    try:
        if accounts.accounts(database):
            return where
    finally:
        database.close()
    return (
        f"{where} has no account yet: make one with `gossamer accounts add NAME --role operator --data {folder.root}`"
    )


def first_account(folder: DataFolder, clock: Clock) -> str:
    """Where nobody can log in yet and somebody sits at the terminal, make an account; returns its password, to be
    shown to them and kept nowhere. What is not printed on a terminal is kept by somebody: there no account is made."""
    if not sys.stdout.isatty():
        return ""
    database = folder.open_database()
    try:
        password = accounts.add_first(database, clock.now())
        if password:
            audit.note(database, clock.now(), "gossamer", "add account", accounts.FIRST, "the first one")
    finally:
        database.close()
    return password


def settings_now(data: Path, settings: Settings, clock: Clock) -> Callable[[], Settings]:
    """The settings in force, read again after some seconds; the server's own are those it was started with."""
    own = {name: getattr(settings, name) for name in settings_file.OWN_SECTIONS}
    kept: list[tuple[float, Settings]] = []

    def now() -> Settings:
        at = clock.now()
        if not kept or not 0 <= at - kept[-1][0] < _BELIEVED:
            kept[:] = [(at, msgspec.structs.replace(settings_of_crawl(data), **own))]
        return kept[-1][1]

    return now

"""The operator's console of a data folder: the first account, and the settings in force."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import msgspec

from gossamer.clock import Clock, SystemClock
from gossamer.console.app import open_console
from gossamer.console.context import Crawl
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.errors import GossamerError
from gossamer.settings import OWN_SECTIONS, Settings
from gossamer.tables import accounts, audit
from gossamer.web.app import Extension
from gossamer.web.service import Services

_BELIEVED = 5.0
"""Seconds for which settings are believed that were read."""


class Login(NamedTuple):
    """How somebody logs in to a console."""

    has_account: bool
    password: str = ""
    """Of `accounts.FIRST`, where that account was made just now: show it, and keep it nowhere."""


def console_of(
    data: Path, settings: Settings, services: Services, make_account: bool, warn: Callable[[str], None]
) -> tuple[list[Extension], Login | None]:
    """The console, unless the settings switch it off. If the database cannot be written, `warn` gets a sentence and
    the server works without a console."""
    if not settings.console.enabled:
        return [], None
    clock = SystemClock()
    try:
        login = _login(data, make_account)
    except GossamerError as error:
        warn(f"The server runs without a console: {error}")
        return [], None
    crawl = Crawl(data, settings_now(data, settings, clock), services, clock)
    return [open_console(crawl, settings)], login


def _login(data: Path, make_account: bool) -> Login:
    password = first_account(data) if make_account else ""
    with closing(DataFolder(data).open_database()) as db:
        return Login(bool(accounts.accounts(db)), password)


def first_account(data: Path) -> str:
    """Make an account if nobody can log in yet, and return its password. Only for a program that shows the password to
    a person: it is kept nowhere."""
    now = SystemClock().now()
    with closing(DataFolder(data).open_database()) as db:
        password = accounts.add_first(db, now)
        if password:
            audit.note(db, now, "gossamer", "add account", accounts.FIRST, "the first one")
    return password


def settings_now(data: Path, settings: Settings, clock: Clock) -> Callable[[], Settings]:
    """The settings in force, read again after some seconds; the server's own are those it was started with."""
    own = {name: getattr(settings, name) for name in OWN_SECTIONS}
    kept: list[tuple[float, Settings]] = []

    def now() -> Settings:
        at = clock.now()
        if not kept or not 0 <= at - kept[-1][0] < _BELIEVED:
            kept[:] = [(at, msgspec.structs.replace(settings_of_crawl(data), **own))]
        return kept[-1][1]

    return now

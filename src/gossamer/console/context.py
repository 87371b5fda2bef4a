"""What every page of the console is given: who asks, the crawl, and how answers are made.

Pages are modules of `console.pages`, each with `routes(console) -> list[Route]`. Their handlers are made by
`console.shows` (reading, for every role) and `console.does` (changing, for operators, CSRF checked, written down);
both run on a thread, never on the event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

import msgspec
from starlette.responses import Response
from starlette.routing import Route

from gossamer.clock import Clock
from gossamer.console.seed_standing import SeedStandings
from gossamer.data.connection import SharedConnection
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.settings import Settings
from gossamer.web.links import Links
from gossamer.web.service import Services

Role = Literal["reader", "operator"]

T = TypeVar("T")

_WAIT = 5.0
"""Seconds a page waits for the database, and for the other pages that ask it: an operator is patient, and alone."""


class Visitor(msgspec.Struct, frozen=True):
    """Who is logged in."""

    name: str
    role: Role
    csrf: str
    """Goes into every form as the hidden field `csrf`."""

    @property
    def is_operator(self) -> bool:
        """Whether forms are shown and accepted."""
        return self.role == "operator"


class Crawl:
    """The crawl that the console is about."""

    def __init__(self, data: Path, settings: Callable[[], Settings], services: Services, clock: Clock) -> None:
        """`settings`: those in force now, as `gossamer crawl` last ran with them."""
        self.folder = DataFolder(data)
        self.settings = settings
        self.services = services
        self.clock = clock
        self.seeds = SeedStandings(self.folder, settings, clock)
        self._reader = SharedConnection(self.folder.database, _WAIT)

    def ask(self, question: Callable[[Database], T]) -> T:
        """A reading question to the frontier database, from any thread."""
        return self._reader.ask(question)

    def change(self, action: Callable[[Database], T]) -> T:
        """A short change of the frontier database on a connection of its own; the action makes its transactions."""
        with closing(self.folder.open_database()) as database:
            return action(database)


class Asked(msgspec.Struct, frozen=True):
    """One request to a page: who, and with which parameters."""

    visitor: Visitor
    path: Mapping[str, str]
    query: Mapping[str, str]
    form: Mapping[str, str]
    """Empty but for what is sent by a form."""
    at: str = "/console"
    """The path that was asked for."""


Show = Callable[[Asked], Response]
"""Makes a page."""


class Done(msgspec.Struct, frozen=True):
    """What an operator did: for the audit log, and the sentence shown on the page they are led to."""

    action: str
    """One or two words, such as `remove` or `pause site`."""
    subject: str
    """What it was done to: a URL, a site, a name."""
    sentence: str
    """Shown to the operator."""
    to: str
    """The path of the console (`/console/…`) that is shown next."""
    detail: str = ""
    """What else the audit log should say; never a password."""


Do = Callable[[Asked], Done]
"""Does what a form asks for; raises a `UsageError` with a sentence for what cannot be done."""


class Console(Protocol):
    """What pages are made of."""

    crawl: Crawl
    links: Links

    def shows(self, path: str, show: Show) -> Route:
        """A page at `/console` + path, for everybody who is logged in."""
        ...

    def does(self, path: str, do: Do, everybody: bool = False) -> Route:
        """Takes POST forms at `/console` + path, from operators only unless it is for everybody who is logged in;
        after it the reader is led on (303)."""
        ...

    def page(self, asked: Asked, template: str, **values: Any) -> Response:
        """A template of `console/templates`, which extends `console.html`; it gets `visitor`, `csrf_field()` and
        the present alarms beside its values."""
        ...

    def data(self, value: Any) -> Response:
        """A value as JSON, for the charts."""
        ...

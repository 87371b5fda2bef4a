"""A console over a small finished crawl, served for real, with clients that are logged in.

    def test_something(console: ConsoleUnderTest) -> None:      # fixture of conftest.py, one server a module
        page = console.operator.get("/console/sites")
        console.send("/console/site/pause", {"name": "a.test"})  # as operator, with the token of the form

`console_of(data)` serves another data folder. The crawl: `alpha.test` and `beta.test` of some linked pages each, a
missing page, a redirect, a page that robots.txt forbids; all indexed.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx
import msgspec
from web_kit import PATIENCE, SETTINGS

from gossamer.clock import Clock, SystemClock
from gossamer.compose.console import settings_now
from gossamer.compose.serve import crawl_services
from gossamer.console.app import open_console
from gossamer.console.context import Crawl
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.settings import ConsoleSettings
from gossamer.tables import accounts
from gossamer.testing import FakeWeb
from gossamer.web.app import create_app
from gossamer.web.server import WebServer

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from crawl_kit import run, settings_of, write_settings

PASSWORDS = {"operator": "weaving-orbs-9", "reader": "reading-webs-7"}
"""The two accounts, each named like its role."""


def finished_crawl(data: Path) -> None:
    """Crawl a small web into a data folder."""
    web = FakeWeb()
    alpha = web.site("alpha.test", pages=6, links=3, seed=1)
    beta = web.site("beta.test", pages=4, links=2, seed=2)
    alpha.robots("User-agent: *\nDisallow: /private/")
    start = alpha.page(
        "/start.html",
        '<html lang="en"><title>Spiders of the meadow</title><body><p>An orb weaver spins silk at dawn, and the '
        "gossamer drifts across the meadow until the evening wind carries it over the hedge.</p>"
        '<a href="/gone.html">gone</a> <a href="/old.html">old</a> <a href="/private/x.html">private</a> '
        f'<a href="{alpha.generated[0]}">pages</a></body></html>',
    )
    alpha.redirect("/old.html", "/start.html")
    write_settings(data, settings_of(web, crawl={"index": True, "workers": 1}))
    with web:
        done = run("crawl", start, beta.generated[0], "--quiet", data=data, timeout=4 * PATIENCE)
    assert done.returncode == 0, done.stderr


class ConsoleUnderTest:
    """A running server, its data folder and its clients."""

    def __init__(self, address: str, data: Path, clients: Mapping[str, httpx.Client], anybody: httpx.Client) -> None:
        self.address, self.data = address, data
        self.operator, self.reader, self.anybody = clients["operator"], clients["reader"], anybody

    @property
    def folder(self) -> DataFolder:
        return DataFolder(self.data)

    def send(
        self, path: str, fields: Mapping[str, str] | None = None, client: httpx.Client | None = None, **options: object
    ) -> httpx.Response:
        """Send a form as a page would, by default as operator; redirects are followed."""
        return send(client or self.operator, path, fields, **options)


def csrf(page: httpx.Response) -> str:
    """The token of the forms on a page."""
    found = re.search(r'name="csrf" value="([0-9a-f]+)"', page.text)
    assert found, f"no form on {page.url}"
    return found[1]


def send(client: httpx.Client, path: str, fields: Mapping[str, str] | None = None, **options: object) -> httpx.Response:
    """Send a form with the token that this login's pages carry."""
    token = csrf(client.get("/console/audit"))
    return client.post(path, data={"csrf": token, **(fields or {})}, **options)


def log_in(client: httpx.Client, name: str, password: str = "", **more: str) -> httpx.Response:
    """Log a client in; the response is not followed."""
    fields = {"name": name, "password": password or PASSWORDS[name], **more}
    return client.post("/console/login", data=fields, follow_redirects=False)


@contextlib.contextmanager
def client_of(address: str) -> Iterator[httpx.Client]:
    """A client that keeps cookies and follows redirects."""
    with httpx.Client(base_url=address, timeout=2 * PATIENCE, trust_env=False, follow_redirects=True) as client:
        yield client


@contextlib.contextmanager
def serving_console(
    data: Path, clock: Clock | None = None, settings: ConsoleSettings | None = None, **serve: object
) -> Iterator[str]:
    """The server of a data folder with its console; `serve` are settings of the server. Yields its address."""
    clock = clock or SystemClock()
    force = msgspec.structs.replace(
        settings_of_crawl(data),
        serve=msgspec.structs.replace(SETTINGS, **serve),
        console=settings or ConsoleSettings(),
    )
    services = crawl_services(data, force)
    crawled = Crawl(data, settings_now(data, force, clock), services, clock)
    app = create_app(
        services.search, force.serve, clock, services.stories, extensions=[open_console(crawled, force)],
        desk=services.desk,
    )  # fmt: skip
    server = WebServer(app, force.serve)
    ready = threading.Event()
    thread = threading.Thread(target=server.run, args=(lambda address: ready.set(),), daemon=True)
    thread.start()
    try:
        assert ready.wait(PATIENCE), "the server did not start"
        yield server.address
    finally:
        server.stop()
        thread.join(PATIENCE)


def make_accounts(data: Path) -> None:
    """The accounts `operator` and `reader`."""
    database = DataFolder(data).open_database()
    try:
        for role, password in PASSWORDS.items():
            accounts.add(database, SystemClock().now(), role, role, password)
    finally:
        database.close()


@contextlib.contextmanager
def console_of(data: Path, clock: Clock | None = None, **serve: object) -> Iterator[ConsoleUnderTest]:
    """A console over a data folder that holds a crawl."""
    make_accounts(data)
    with contextlib.ExitStack() as stack:
        address = stack.enter_context(serving_console(data, clock, **serve))
        clients = {role: stack.enter_context(client_of(address)) for role in PASSWORDS}
        for role, client in clients.items():
            assert log_in(client, role).status_code == 303
        yield ConsoleUnderTest(address, data, clients, stack.enter_context(client_of(address)))


@contextlib.contextmanager
def small_console(pristine: Path, clock: Clock | None = None, **serve: object) -> Iterator[ConsoleUnderTest]:
    """A console over a copy of a finished crawl: tests may change it."""
    with tempfile.TemporaryDirectory(prefix="console-") as root:
        data = Path(root) / "data"
        shutil.copytree(pristine, data)
        with console_of(data, clock, **serve) as console:
            yield console

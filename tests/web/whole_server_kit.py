"""The whole server as `gossamer serve` puts it together, with its routes known to the test.

    with whole_server(data) as server:
        server.address, server.gets, server.posts

Tests that promise something of every page take the pages from here: one that is added later is seen by them at once.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from starlette.applications import Starlette
from starlette.routing import Route
from web_kit import PATIENCE, SETTINGS

from gossamer.clock import SystemClock
from gossamer.compose.console import settings_now
from gossamer.compose.serve import crawl_services, observing
from gossamer.console.app import open_console
from gossamer.console.context import Crawl
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.serving.clicks import StoredClicks
from gossamer.web.app import create_app
from gossamer.web.server import WebServer


class WholeServer(NamedTuple):
    """A running server and the paths that it has."""

    address: str
    gets: list[str]
    posts: list[str]


def paths_of(app: Starlette, method: str) -> list[str]:
    """The paths that an application has for a method."""
    routes = [route for route in app.routes if isinstance(route, Route)]
    assert len(routes) == len(app.routes), "a kind of route that the tests of all pages do not know"
    return sorted({route.path for route in routes if method in (route.methods or ())})


@contextlib.contextmanager
def whole_server(data: Path, **serve: object) -> Iterator[WholeServer]:
    """Search, stories, clicks, metrics and console of a data folder; `serve` are settings of the server."""
    clock = SystemClock()
    own = msgspec.structs.replace(SETTINGS, metrics="local", clicks=True, **serve)
    settings = msgspec.structs.replace(settings_of_crawl(data), serve=own)
    services = crawl_services(data, settings)
    crawl = Crawl(data, settings_now(data, settings, clock), services, clock)
    app = create_app(
        services.search, settings.serve, stories=services.stories,
        clicks=StoredClicks(DataFolder(data), settings.revisit, clock),
        extensions=[observing(data, settings), open_console(crawl, settings)],
    )  # fmt: skip
    server = WebServer(app, settings.serve)
    ready = threading.Event()
    thread = threading.Thread(target=server.run, args=(lambda address: ready.set(),), daemon=True)
    thread.start()
    try:
        assert ready.wait(PATIENCE), "the server did not start"
        yield WholeServer(server.address, paths_of(app, "GET"), paths_of(app, "POST"))
    finally:
        server.stop()
        thread.join(PATIENCE)

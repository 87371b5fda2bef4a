"""`gossamer serve`: the search page and the API."""

from __future__ import annotations

import os
import signal
import webbrowser
from pathlib import Path
from threading import Thread
from typing import Annotated, Any

from cyclopts import Parameter

from gossamer import settings as settings_file
from gossamer.cli.common import DEFAULT_DATA, Data, Debug, err, out
from gossamer.clock import SystemClock
from gossamer.crawl.clicks import StoredClicks
from gossamer.crawl.folder import DataFolder
from gossamer.crawl.leaders import StoredLeaders
from gossamer.crawl.pushed import StoredPush
from gossamer.crawl.stories import StoredStories
from gossamer.frontier.database import require_crawl
from gossamer.index.folder import IndexFolder
from gossamer.search.searcher import Searcher
from gossamer.settings import ServeSettings, Settings
from gossamer.web.app import create_app
from gossamer.web.clicks import ClickService
from gossamer.web.push import PushService
from gossamer.web.server import beyond_loopback, run
from gossamer.web.service import SearchService, StoryService


def command(
    *,
    data: Data = DEFAULT_DATA,
    host: str | None = None,
    port: int | None = None,
    open_browser: Annotated[bool, Parameter(name="--open", negative="")] = False,
    until_stdin_ends: Annotated[bool, Parameter(negative="", show=False)] = False,
    debug: Debug = False,
) -> None:
    """Serve the search page, the JSON API and feeds of queries, until Ctrl-C.

    Parameters
    ----------
    host
        Address to listen on; 0.0.0.0 for everybody.
    port
        Port to listen on; 0 for any free one.
    open_browser
        Open the page in a browser.
    until_stdin_ends
        Stop when standard input ends: for whoever starts a server beside itself.
    """
    if until_stdin_ends:
        Thread(target=_stop_with_stdin, daemon=True).start()
    given: dict[str, Any] = {"host": host, "port": port}
    changes = {"serve": {name: value for name, value in given.items() if value is not None}}
    settings = settings_file.load(data, changes)
    push = StoredPush(DataFolder(data), settings, settings.push, SystemClock()) if settings.push.callback else None
    clicks = StoredClicks(DataFolder(data), settings.revisit, SystemClock()) if settings.serve.clicks else None
    serve(open_service(data, settings), settings.serve, open_browser, open_stories(data), push, clicks)


def _stop_with_stdin() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def serve(
    service: SearchService, settings: ServeSettings, open_browser: bool = False, stories: StoryService | None = None,
    push: PushService | None = None, clicks: ClickService | None = None,
) -> None:  # fmt: skip
    """Serve until a signal; the address is printed as soon as requests are answered."""
    if beyond_loopback(settings.host):
        err.print(
            f"Others can reach this server: it listens on {settings.host}, without encryption or a login. "
            "Put a reverse proxy in front of it, and name it in serve.proxies.",
            style="yellow", markup=False,
        )  # fmt: skip

    def ready(address: str) -> None:
        shown = settings.base_url or address
        out.print(f"Search at {shown} (Ctrl-C ends it)", markup=False)
        if open_browser:
            webbrowser.open(shown)

    run(create_app(service, settings, stories=stories, push=push, clicks=clicks), settings, ready)


def open_service(data: Path, settings: Settings) -> SearchService:
    """The searcher of a data folder; the server may be up before there is anything to search."""
    folder = DataFolder(data)
    require_crawl(folder.database)
    return Searcher(IndexFolder(folder.index), settings.search, leaders=StoredLeaders(folder))


def open_stories(data: Path) -> StoryService:
    """What the crawl of a data folder knows of the past of its pages."""
    return StoredStories(DataFolder(data))

"""A server that counts clicks, over a data folder whose crawl has fetched the documents of `web_kit`."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
from web_kit import DOCUMENTS, PATIENCE, SETTINGS, MemoryService

from gossamer.data.folder import DataFolder
from gossamer.data.opening import open_frontier
from gossamer.frontier.contract import Batch, Place, SiteReport, Visit
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.views.inspect import UrlRecord, find_url
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered
from gossamer.serving.clicks import StoredClicks
from gossamer.settings import Settings
from gossamer.testing.clock import FakeClock
from gossamer.web.app import create_app
from gossamer.web.server import WebServer

PAGE = "https://www.example.org/rockets/engines"
NEVER = 3600.0
"""A pause after which nothing is written by itself within a test."""


class Library:
    """A crawl that is served; time stands still until a test moves it."""

    def __init__(self, root: Path, pause: float = NEVER) -> None:
        self.folder, self.clock = DataFolder(root), FakeClock()
        self.folder.create()
        frontier = open_frontier(self.folder, Settings())
        crawl(frontier, [doc.url for doc in DOCUMENTS if doc.url.startswith("http")], self.clock.now())
        frontier.db.close()
        self.clicks = StoredClicks(self.folder, Settings().revisit, self.clock, pause)

    @contextlib.contextmanager
    def serving(self, **changes: object) -> Iterator[str]:
        """A real server on loopback, in a thread; yields its address. `changes` are settings."""
        settings = msgspec.structs.replace(SETTINGS, **changes)
        server = WebServer(create_app(MemoryService(), settings, self.clock, clicks=self.clicks), settings)
        ready = threading.Event()
        thread = threading.Thread(target=server.run, args=(lambda address: ready.set(),), daemon=True)
        thread.start()
        try:
            assert ready.wait(PATIENCE), "the server did not start"
            yield server.address
        finally:
            server.stop()
            thread.join(PATIENCE)

    def record(self, url: str = PAGE) -> UrlRecord:
        """What the database says of a page."""
        db = self.folder.read()
        try:
            found = find_url(db, url)
        finally:
            db.close()
        assert found is not None
        return found

    def counted(self, url: str = PAGE) -> int:
        """Clicks on a page, after what has come together was written."""
        self.clicks.write()
        return self.record(url).clicks


def crawl(frontier: SqlFrontier, urls: list[str], now: float) -> None:
    """Let all URLs be documents, visited now."""
    frontier.add([Discovered(url, depth=1) for url in urls], now)
    frontier.register("w", now)
    while leases := frontier.take("w", now, 100, 1000):
        for lease in leases:
            visits = [
                Visit(Place(lease.site), task, Outcome.DOCUMENT, now, content_hash=task.url, row=place)
                for place, task in enumerate(lease.tasks)
            ]
            sites = [SiteReport(Place(lease.site), lease.token, lease.clock)]
            frontier.report("w", Batch(f"s-{lease.site}", visits, sites=sites), now)
            frontier.release("w", sites, [], now)
    frontier.retire("w", now)

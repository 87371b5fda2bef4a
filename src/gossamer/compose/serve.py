"""Servers: the search page of a data folder, one shard of a divided index, or the front end of all shards."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from starlette.types import ASGIApp

from gossamer.clock import Clock, SystemClock
from gossamer.compose.console import Login, console_of
from gossamer.compose.search import file_desk, open_front_end, open_service
from gossamer.data.connection import SharedConnection
from gossamer.data.folder import DataFolder
from gossamer.data.index_place import index_place
from gossamer.data.stored_ranks import stored_ranks
from gossamer.database.database import require_crawl
from gossamer.database.meta import check_readable
from gossamer.errors import UsageError
from gossamer.index.folder import IndexFolder
from gossamer.operate.metrics import CrawlCollector
from gossamer.search.searcher import meaning_of
from gossamer.search.shards.shard import ShardSearcher
from gossamer.serving.asked import StoredAsked
from gossamer.serving.choices import StoredChoices
from gossamer.serving.desk import StoredDesk
from gossamer.serving.leaders import StoredLeaders
from gossamer.serving.pushed import StoredPush
from gossamer.serving.stories import StoredStories
from gossamer.settings import ServeSettings, Settings
from gossamer.web.app import Extension, create_app
from gossamer.web.clicks.telling import ClickService
from gossamer.web.clicks.today import ChoiceService
from gossamer.web.push import PushService
from gossamer.web.server import beyond_loopback, run
from gossamer.web.service import Services
from gossamer.web.shards.server import create_shard_app
from gossamer.web.shards.stories import RemoteStories

Warn = Callable[[str], None]


class OpenServer(NamedTuple):
    """A server that does not listen yet."""

    app: ASGIApp
    settings: ServeSettings
    shard: str = ""
    """Which part of a divided index it serves; empty: it shows the search page."""
    login: Login | None = None
    """How to log in to its console; None: it has none."""

    def run(self, ready: Callable[[str], None]) -> None:
        """Serve until SIGTERM or SIGINT; `ready` gets the address as soon as requests are answered."""
        gc.freeze()  # what was loaded stays: no search for cycles has to look at it while somebody waits
        run(self.app, self.settings, ready)


def open_server(data: Path, settings: Settings, make_account: bool, warn: Warn) -> OpenServer:
    """The server that the settings ask for; `make_account`: make the console's first account if there is none."""
    if not settings.shards.nodes:
        return _open_shard(data, settings) if settings.shards.shard else _open_whole(data, settings, make_account, warn)
    if settings.shards.shard:
        raise UsageError("the settings name both shards.shard and shards.nodes: choose with --shard or --shards")
    if settings.serve.clicks or settings.push.callback:
        warn("A front end has no crawl: serve.clicks and push.callback have no effect here.")
    desk = file_desk(settings)
    searcher, nodes = open_front_end(settings, desk)
    services = Services(searcher, RemoteStories(nodes, settings.shards.deadline), desk=desk)
    return search_server(services, settings.serve, warn)


def search_server(
    services: Services, settings: ServeSettings, warn: Warn, extensions: Sequence[Extension] = (),
    login: Login | None = None, push: PushService | None = None, clicks: ClickService | None = None,
    choices: ChoiceService | None = None,
) -> OpenServer:  # fmt: skip
    """A server of the search page; `warn` gets a sentence if others can reach it."""
    if beyond_loopback(settings.host):
        bare = "without encryption or a login"
        if any(extension.private for extension in extensions):
            bare = "without encryption. Only the console has a login, and others on the network can read its passwords"
        warn(
            f"Other machines can reach this server: it listens on {settings.host}, {bare}. "
            "Put a reverse proxy in front of it, and name the proxy in serve.proxies."
        )
    app = create_app(
        services.search, settings, stories=services.stories, push=push, clicks=clicks, extensions=extensions,
        desk=services.desk, choices=choices,
    )  # fmt: skip
    return OpenServer(app, settings, login=login)


def crawl_services(data: Path, settings: Settings) -> Services:
    """The searcher of a data folder, and what its crawl knows of the past of pages."""
    folder = DataFolder(data)
    desk = StoredDesk(folder)
    return Services(open_service(data, settings, desk), StoredStories(folder, settings=settings), desk=desk)


def observing(data: Path, settings: Settings) -> Extension:
    """What the server of a crawl tells those who run it: figures, readiness, what readers search for."""
    folder, clock = DataFolder(data), SystemClock()
    reader = SharedConnection(folder.database)
    asked = StoredAsked(folder, clock) if settings.console.analytics else None
    return Extension(
        routes=(),
        close=asked.close if asked is not None else lambda: None,
        listeners=[asked.answered] if asked is not None else [],
        collectors=[CrawlCollector(folder, settings, clock, reader.ask)] if settings.serve.metrics != "off" else [],
        checks=[lambda: reader.ask(check_readable)],
    )


def _open_whole(data: Path, settings: Settings, make_account: bool, warn: Warn) -> OpenServer:
    folder, clock = DataFolder(data), SystemClock()
    push = StoredPush(folder, settings, settings.push, clock) if settings.push.callback else None
    clicks = _stored_clicks(folder, settings, clock) if settings.serve.clicks else None
    services = crawl_services(data, settings)
    console, login = console_of(data, settings, services, make_account, warn)
    extensions = [observing(data, settings), *console]
    choices = StoredChoices(folder, settings.search, clock) if settings.serve.clicks else None
    return search_server(services, settings.serve, warn, extensions, login, push, clicks, choices)


def _stored_clicks(folder: DataFolder, settings: Settings, clock: Clock) -> ClickService:
    from gossamer.serving.clicks import StoredClicks  # NumPy: a server that counts no clicks goes without

    return StoredClicks(folder, settings.revisit, clock)


def _open_shard(data: Path, settings: Settings) -> OpenServer:
    """The server of one part of a divided index."""
    folder = DataFolder(data)
    require_crawl(folder.database)
    place = index_place(folder, settings.shards)
    ranks = stored_ranks(data, settings)
    index = IndexFolder(place.root)
    node = ShardSearcher(index, place.cut, ranks, StoredLeaders(folder), meaning_of(index, settings.search))
    app = create_shard_app(node, settings.serve, settings.shards.secret, StoredStories(folder, settings=settings))
    return OpenServer(app, settings.serve, shard=str(place.cut))

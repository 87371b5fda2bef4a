"""A live worker on virtual time: real sockets, parsers and segments; the clock stands still while any is at work.

So a live crawl and a simulated one can be held against each other to the second, whatever the machine does meanwhile.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from msgspec.structs import replace

from gossamer.clock import Clock
from gossamer.crawl.parsers import ParserPool
from gossamer.crawl.pending import Committer
from gossamer.crawl.scope import LiveScope
from gossamer.crawl.session import Session, Tools
from gossamer.crawl.thread import DatabaseThread
from gossamer.data.folder import DataFolder
from gossamer.fetch.dns import DnsConfig, Resolver
from gossamer.fetch.guard import AddressPolicy
from gossamer.fetch.http import Fetcher
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.views.inspect import status
from gossamer.lab.simulation.playback import NoHeart
from gossamer.lab.simulation.virtual_time import VirtualClock
from gossamer.settings import Settings

WORKER = "live"


class _StandsStill(selectors.DefaultSelector):
    def __init__(self) -> None:
        super().__init__()
        self.time, self.under_way = 0.0, 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if found or timeout == 0:
            return found
        if self.under_way or timeout is None:
            return super().select(0.02)
        self.time += timeout
        return []


class QuietLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.clockwork = _StandsStill()
        super().__init__(self.clockwork)

    def time(self) -> float:
        return self.clockwork.time


class _Watched:
    """Something whose calls take real time and no virtual time."""

    def __init__(self, thing: Any, clockwork: _StandsStill, *slow: str) -> None:
        self._thing, self._clockwork, self._slow = thing, clockwork, slow

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._thing, name)
        return self._timeless(found) if name in self._slow else found

    def _timeless(self, method: Callable[..., Any]) -> Callable[..., Any]:
        async def call(*args: Any, **kwargs: Any) -> Any:
            self._clockwork.under_way += 1
            try:
                return await method(*args, **kwargs)
            finally:
                self._clockwork.under_way -= 1

        return call


def crawl_quietly(settings: Settings, folder: DataFolder, frontier: SqlFrontier, started_at: float) -> None:
    """Run a live session until nothing is due."""
    with asyncio.Runner(loop_factory=QuietLoop) as runner:
        runner.run(_crawl(settings, folder, frontier, started_at))


async def _crawl(settings: Settings, folder: DataFolder, frontier: SqlFrontier, started_at: float) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, QuietLoop)
    clock = VirtualClock(loop, started_at)
    guard = AddressPolicy(settings.network.allow, settings.crawl.contact)
    resolver = Resolver(DnsConfig(overrides=settings.network.resolve), guard, clock)
    scope = LiveScope(settings, frontier.db)
    parsers = ParserPool(scope.parser_config(), settings.crawl.parsers, settings.crawl.parse_timeout)
    committer = Committer(frontier, folder.segments, WORKER, settings.crawl.archive, {})
    config = replace(settings.fetch, user_agent="Gossamer/test")
    stop = asyncio.Event()
    with ThreadPoolExecutor(1) as executor:
        async with Fetcher(config, guard, resolver, clock) as fetcher, parsers:
            watched = loop.clockwork
            tools = Tools(
                frontier=frontier,
                database=frontier.db,
                thread=_Watched(DatabaseThread(executor), watched, "run"),
                heart=NoHeart(lambda _worker, _now: None, clock),
                scope=scope,
                parsers=_Watched(parsers, watched, "parse"),
                committer=committer,
                fetcher=_Watched(fetcher, watched, "fetch"),
                resolver=_Watched(resolver, watched, "address_of"),
                chance=lambda: 0.5,
            )
            work = asyncio.create_task(Session(WORKER, settings, clock, stop, tools).run())
            ending = asyncio.create_task(_end(settings, frontier, clock, stop))
            await work
            await ending


async def _end(settings: Settings, frontier: SqlFrontier, clock: Clock, stop: asyncio.Event) -> None:
    while True:
        await asyncio.sleep(1.0)
        now = clock.now()
        found = status(frontier.db, now)
        if not found.sites_active and (found.next_due_at is None or found.next_due_at > now + settings.crawl.linger):
            stop.set()
            return

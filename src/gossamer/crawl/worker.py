"""A worker: one event loop that leases sites, fetches them politely and commits in batches (`session.py`).

Only one thread touches the frontier and the disk, so the loop never waits for them. A worker that loses its leases (it
was frozen, or the machine slept) throws its results away and starts afresh under another name.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from typing import Any

import msgspec
import uvloop

from gossamer import __version__
from gossamer.clock import Clock, CorrectedClock
from gossamer.crawl.alive.heartbeat import Heartbeat, set_by_database
from gossamer.crawl.parser_fork import Forked
from gossamer.crawl.parsers import ParserPool
from gossamer.crawl.pending import Committer
from gossamer.crawl.render.choice import Modes
from gossamer.crawl.scope import LiveScope
from gossamer.crawl.session import Session, Tools
from gossamer.crawl.thread import DatabaseThread
from gossamer.data.classifier import model_bytes
from gossamer.data.folder import DataFolder
from gossamer.data.locks import worker_lock
from gossamer.data.opening import open_frontier
from gossamer.database.database import Database
from gossamer.errors import LeaseLost
from gossamer.fetch.browser import Renderer
from gossamer.fetch.dns import DnsConfig, Resolver
from gossamer.fetch.guard import AddressPolicy
from gossamer.fetch.http import Fetcher
from gossamer.fetch.identity import user_agent
from gossamer.plugins import wanted_types
from gossamer.settings import Settings

log = logging.getLogger(__name__)


class Worker:
    """See the module's text. `run` returns when `stop` was called and everything is committed."""

    def __init__(
        self, settings: Settings, folder: DataFolder, clock: Clock, name: str = "", forked: Sequence[Forked] = ()
    ) -> None:
        """`forked`: its first parsers."""
        self._settings, self._folder, self._clock = settings, folder, clock
        self._given_name, self._forked = name, forked
        self._stop = asyncio.Event()
        self._databases: list[Database] = []

    def stop(self) -> None:
        """Finish work under way, commit, give everything back; do not wait for a database that is away."""
        self._stop.set()
        for database in self._databases:
            database.hurry()

    async def run(self) -> None:
        """Work until stopped; after lost leases under a new name."""
        while not self._stop.is_set():
            name = self._given_name or f"w{secrets.token_hex(4)}"
            with ThreadPoolExecutor(1, "frontier") as executor, worker_lock(self._folder, name):
                try:
                    await self._session(name, DatabaseThread(executor))
                except LeaseLost as lost:
                    log.warning("worker %s starts afresh: %s", name, lost, extra={"worker": name})
                    self._given_name = ""

    async def _session(self, name: str, thread: DatabaseThread) -> None:
        settings, clock = self._settings, CorrectedClock(self._clock)
        agent = user_agent(__version__, settings.crawl.contact)
        guard = AddressPolicy(settings.network.allow, settings.crawl.contact)
        resolver = Resolver(DnsConfig(overrides=settings.network.resolve), guard, clock)
        types = wanted_types(settings.fetch.accept_types, settings.parse.skip_types)
        config = msgspec.structs.replace(settings.fetch, user_agent=agent, access=settings.sites, accept_types=types)
        frontier = await thread.run(open_frontier, self._folder, settings)
        beats = await thread.run(self._folder.open_database)
        self._databases = [frontier.db, beats]
        for database in self._databases:
            await thread.run(database.outlast)
        if self._stop.is_set():
            self.stop()
        heart = Heartbeat(beats, settings.budget, clock)
        try:
            await thread.run(set_by_database, clock, frontier.db)
            scope = await thread.run(LiveScope, settings, frontier.db, model_bytes(self._folder))
            forked, self._forked = self._forked, ()
            parsers = ParserPool(scope.parser_config(), settings.crawl.parsers, settings.crawl.parse_timeout, forked)
            info = {"software": f"Gossamer/{__version__}", "http-header-user-agent": agent, "robots": "obey"}
            committer = Committer(frontier, self._folder.segments, name, settings.crawl.archive, info)
            async with AsyncExitStack() as stack:
                fetcher = await stack.enter_async_context(Fetcher(config, guard, resolver, clock))
                await stack.enter_async_context(parsers)
                renderer = await self._renderer(stack, agent)
                tools = Tools(
                    frontier, frontier.db, thread, heart, scope, parsers, committer, fetcher, resolver,
                    renderer=renderer,
                )  # fmt: skip
                await Session(name, settings, clock, self._stop, tools).run()
        finally:
            await heart.close()
            await thread.run(frontier.db.close)

    async def _renderer(self, stack: AsyncExitStack, agent: str) -> Renderer | None:
        """The renderer, if any site needs one."""
        if not Modes(self._settings).any:
            return None
        return await stack.enter_async_context(Renderer(self._settings.browser, agent, self._settings.parse.max_bytes))


def run_worker(main: Coroutine[Any, Any, None]) -> None:
    """Run a worker's coroutine on the fast event loop."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main)

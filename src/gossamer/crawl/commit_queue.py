"""Collects results for half a second at most, then stores and records them together, and keeps downloads close."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncIterator, Sequence

from gossamer.crawl.addresses import AddressBook
from gossamer.crawl.bound_frontier import BoundFrontier
from gossamer.crawl.channel import Rest
from gossamer.crawl.held_site import HeldSites
from gossamer.crawl.life import Life
from gossamer.crawl.lookahead import LookAhead
from gossamer.crawl.page_parsing import Backlog
from gossamer.crawl.pending import Pending, Result
from gossamer.crawl.seams import Commits, Runs
from gossamer.model.records import Discovered
from gossamer.settings import CrawlSettings

log = logging.getLogger(__name__)


class CommitQueue:
    """Commits results when it is time, when they are many, or when every runner waits for it."""

    def __init__(
        self, config: CrawlSettings, committer: Commits, thread: Runs, frontier: BoundFrontier, sites: HeldSites,
        addresses: AddressBook, backlog: Backlog, life: Life,
    ) -> None:  # fmt: skip
        self._config, self._committer, self._thread, self._frontier = config, committer, thread, frontier
        self._sites, self._addresses, self._backlog, self._life = sites, addresses, backlog, life
        self._pending = Pending()
        self._commit_bytes = self._commit_pages = 0
        self._ahead = LookAhead(life.clock.now())
        self._queue: deque[asyncio.Future[None]] = deque()
        """Runners that wait for room, in the order in which they came."""
        self._wanted, self._done = asyncio.Event(), asyncio.Event()
        self._committing = asyncio.Lock()
        self._starving = 0
        self._failure: Exception | None = None

    # -- what runners and robots.txt hand over ------------------------------------------------

    def add(self, result: Result) -> None:
        """Put a result into the next commit."""
        self._pending.add(result)
        config = self._config
        enough = min(config.commit_pages, self._ahead.batch)
        if len(self._pending.results) >= enough or self._pending.bytes >= config.commit_bytes:
            self._wanted.set()
        self._hurry()

    def add_robots(self, origin: str, state: bytes, sitemaps: Sequence[Discovered]) -> None:
        """Put a robots.txt and the sitemaps it names into the next commit."""
        self._pending.robots[origin] = state
        self._pending.found += sitemaps

    async def robots(self, origin: str) -> bytes | None:
        """The state of an origin's robots.txt, committed or not."""
        if origin in self._pending.robots:
            return self._pending.robots[origin]
        return await self._frontier.robots(origin)

    def fail(self, error: Exception) -> None:
        """End the session with this error: a page without a report would keep its site here for ever."""
        self._failure = error
        self._wanted.set()

    # -- what runners wait for ----------------------------------------------------------------

    async def committed(self) -> None:
        """Wait for the next commit; the last runner to wait triggers it."""
        self._starving += 1
        self._hurry()
        try:
            await self._done.wait()
        finally:
            self._starving -= 1

    @property
    def near(self) -> int:
        """Pages of a site that may be uncommitted while a second choice is fetched."""
        return self._ahead.near

    def _hurry(self) -> None:
        """Commit now if every runner waits for it."""
        waiting = self._starving + len(self._queue)
        if waiting and not self._backlog.pages and self._pending and waiting >= self._sites.active:
            self._wanted.set()

    def wake(self) -> None:
        """Wake up waiting runners: what they wait for may not come any more."""
        self._done.set()
        self._done = asyncio.Event()
        self._let_in()

    async def room(self) -> None:
        """Wait until one more page may be fetched: until commits have caught up, and there is memory for its body.
        Runners are let in one after the other, so no site keeps the others waiting."""
        if self._life.stopping or (not self._queue and self._free() > 0):
            return
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        self._hurry()
        try:
            await turn
        finally:
            if turn in self._queue:
                self._queue.remove(turn)

    def _let_in(self) -> None:
        """Called after each commit, and where none was due: somebody let in may have made no request."""
        free = len(self._queue) if self._life.stopping else self._free()
        while self._queue and free > 0:
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1

    def _free(self) -> int:
        """How many more pages may be fetched."""
        if self._backlog.bytes + self._pending.bytes + self._commit_bytes > self._config.hold_bytes:
            self._wanted.set()
            return 0
        return self._ahead.pages - self._backlog.pages - len(self._pending.results) - self._commit_pages

    # -- committing ---------------------------------------------------------------------------

    def want(self) -> None:
        """Make `due` return at once."""
        self._wanted.set()

    async def due(self) -> None:
        """Wait for the time of the next commit; raises if a runner failed."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._config.commit_seconds):
                await self._wanted.wait()
        if self._failure is not None:
            raise self._failure
        self._wanted.clear()

    @contextlib.asynccontextmanager
    async def between_commits(self) -> AsyncIterator[None]:
        """No commit begins inside, and none is under way."""
        async with self._committing:
            yield

    async def commit(self) -> None:
        """Store and record the collected results, if any."""
        if self._pending:
            async with self._committing:
                self._commit_bytes, self._commit_pages = self._pending.bytes, len(self._pending.results)
                try:
                    await self._commit_pending()
                finally:
                    self._commit_bytes = self._commit_pages = 0
        self._let_in()

    async def _commit_pending(self) -> None:
        pending, self._pending = self._pending, Pending()
        touched = {result.visit.place for result in pending.results}
        started = self._life.clock.now()
        await self._thread.run(
            self._committer.commit, pending, self._sites.reports(touched), self._addresses.changed(), started
        )
        ended = self._life.clock.now()
        self._ahead.committed(len(pending.results), ended - started, ended)
        self._tell(pending, len(touched), ended - started)
        self._life.renewed(started)
        self._sites.reported(result.visit for result in pending.results)
        await self._heed_other_parts()
        self._sites.offer(self._committer.best_new)
        self.wake()

    def _tell(self, pending: Pending, sites: int, seconds: float) -> None:
        fields = {"results": len(pending.results), "bytes": pending.bytes, "seconds": seconds, "sites": sites}
        severity = logging.INFO if pending.results else logging.DEBUG
        log.log(severity, "committed %d results", len(pending.results), extra=fields)

    async def _heed_other_parts(self) -> None:
        """If a site is in trouble, all its parts leave it alone."""
        if split := self._sites.split:
            waits = await self._frontier.waits(split)
            for held in self._sites:
                if held.site in waits:
                    held.channel.rest(Rest(*waits[held.site]))

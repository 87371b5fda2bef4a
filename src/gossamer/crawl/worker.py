"""A worker: one event loop that leases sites, fetches them politely and commits in batches.

    take ──▶ SiteRunner (one per site) ──▶ parsers ──▶ Pending ──▶ commit ──▶ release
      ▲                                                              │
      └──────────────────────── new URLs, clocks ────────────────────┘

The frontier and the disk are only touched in one thread of their own, so the loop
never waits for them. A worker that loses its leases (it was frozen, or the machine
slept) throws away what it holds and begins anew under another name.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import secrets
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from typing import Any

import msgspec
import uvloop

from gossamer import __version__
from gossamer.clock import Clock, CorrectedClock
from gossamer.crawl import understand
from gossamer.crawl.addresses import AddressBook
from gossamer.crawl.borrowing import Borrowing
from gossamer.crawl.channel import Address, Channel, Rest
from gossamer.crawl.heartbeat import Heartbeat, set_by_database
from gossamer.crawl.parsers import ParserPool
from gossamer.crawl.pending import Committer, Pending, Result
from gossamer.crawl.render_choice import Modes
from gossamer.crawl.rendering import Kept, Rendering
from gossamer.crawl.robots import RobotsBook
from gossamer.crawl.runner import SiteRunner, job_of
from gossamer.crawl.scope import LiveScope
from gossamer.crawl.seams import Beats, Commits, Fetches, Parses, Renders, Resolves, Runs
from gossamer.crawl.thread import DatabaseThread
from gossamer.data.classifier import model_bytes
from gossamer.data.folder import DataFolder
from gossamer.data.guidance import guidance_of
from gossamer.database.database import Database
from gossamer.errors import GossamerError, LeaseLost
from gossamer.fetch import AddressPolicy, DnsConfig, Fetcher, Resolver, user_agent
from gossamer.fetch.browser import Renderer
from gossamer.frontier.contract import Lease, SiteReport
from gossamer.frontier.sql import SqlFrontier
from gossamer.model.decision import Decision
from gossamer.model.records import Parsed, Response, Task
from gossamer.model.site import key64
from gossamer.model.url import Canonicalizer
from gossamer.plugins import READERS
from gossamer.settings import Settings

log = logging.getLogger(__name__)

_FIRST_SITES, _MOST_SITES = 2, 64
"""Sites leased at once, at first and at most."""
_COUNTED_ON = 0.9
"""The part of a lease after which a worker without a sign of life lets go: its connections are closed before others
come, also where the machine is busy."""
_BACKLOG = 16
"""Pages waiting for a parser from which on no more sites are leased."""


class Pace(msgspec.Struct, frozen=True):
    """How often a worker looks round."""

    idle: float = 0.25
    """Seconds between two looks for sites that have become ready."""
    pause: float = 0.02
    """Seconds between two leases while there are sites to be had."""
    share: float = 0.5
    """Seconds between two looks for workers with less to do."""
    scope: float = 2.0
    """Seconds between two looks for new seeds, removals, rules and plans."""
    beat: float = 2.0
    """Seconds between two signs of life at most."""


class Worker:
    """See the module's text. `run` returns when `stop` was called and everything is committed."""

    def __init__(self, settings: Settings, folder: DataFolder, clock: Clock, name: str = "") -> None:
        self._settings, self._folder, self._clock = settings, folder, clock
        self._given_name = name
        self._stop = asyncio.Event()
        self._databases: list[Database] = []

    def stop(self) -> None:
        """Finish what is under way, commit, give everything back; a database that is away is not waited for."""
        self._stop.set()
        for database in self._databases:
            database.hurry()

    async def run(self) -> None:
        """Work until stopped, as often under a new name as leases are lost."""
        while not self._stop.is_set():
            name = self._given_name or f"w{secrets.token_hex(4)}"
            with ThreadPoolExecutor(1, "frontier") as executor, self._folder.worker_lock(name):
                try:
                    await self._session(name, DatabaseThread(executor))
                except LeaseLost as lost:
                    log.warning("worker %s starts anew: %s", name, lost, extra={"worker": name})
                    self._given_name = ""

    async def _session(self, name: str, thread: DatabaseThread) -> None:
        settings, clock = self._settings, CorrectedClock(self._clock)
        agent = user_agent(__version__, settings.crawl.contact)
        guard = AddressPolicy(settings.network.allow, settings.crawl.contact)
        resolver = Resolver(DnsConfig(overrides=settings.network.resolve), guard, clock)
        types = (*settings.fetch.accept_types, *READERS.names()) if settings.fetch.accept_types else ()
        config = msgspec.structs.replace(settings.fetch, user_agent=agent, access=settings.sites, accept_types=types)
        frontier = await thread.run(self._folder.open_frontier, settings)
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
            parsers = ParserPool(scope.parser_config(), settings.crawl.parsers, settings.crawl.parse_timeout)
            info = {"software": f"Gossamer/{__version__}", "http-header-user-agent": agent, "robots": "obey"}
            committer = Committer(frontier, self._folder.segments, name, settings.crawl.archive, info)
            async with AsyncExitStack() as stack:
                fetcher = await stack.enter_async_context(Fetcher(config, guard, resolver, clock))
                await stack.enter_async_context(parsers)
                renderer = await self._renderer(stack, agent)
                tools = Tools(frontier, thread, heart, scope, parsers, committer, fetcher, resolver, renderer=renderer)
                await Session(name, settings, clock, self._stop, tools).run()
        finally:
            await heart.close()
            await thread.run(frontier.db.close)

    async def _renderer(self, stack: AsyncExitStack, agent: str) -> Renderer | None:
        """What renders pages, where any site wants that."""
        if not Modes(self._settings).any:
            return None
        return await stack.enter_async_context(Renderer(self._settings.browser, agent, self._settings.parse.max_bytes))


class Tools(msgspec.Struct):
    """What a session works with; all of it is closed by the worker."""

    frontier: SqlFrontier
    thread: Runs
    heart: Beats
    scope: LiveScope
    parsers: Parses
    committer: Commits
    fetcher: Fetches
    resolver: Resolves
    chance: Callable[[], float] = random.random
    """Numbers of 0…1, for waits that should not be in step."""
    renderer: Renders | None = None
    """None: no page is rendered."""


class Session:
    """A worker's life under one name."""

    def __init__(
        self, name: str, settings: Settings, clock: Clock, stop: asyncio.Event, tools: Tools, pace: Pace | None = None
    ) -> None:
        self.name, self.clock, self.politeness = name, clock, settings.polite
        self.fetcher, self.resolver, self.chance = tools.fetcher, tools.resolver, tools.chance
        self._pace = pace or Pace()
        self.slots = asyncio.Semaphore(settings.crawl.downloads)
        self.patience = min(30.0, settings.budget.lease / 2)
        self._settings, self._stop, self._tools = settings, stop, tools
        self._frontier, self._thread = tools.frontier, tools.thread
        self._runners: dict[tuple[str, int], SiteRunner] = {}
        self._pending = Pending()
        self._parsing: set[asyncio.Task[None]] = set()
        self._parse_bytes = self._commit_bytes = 0
        self._commit_wanted, self._commit_done = asyncio.Event(), asyncio.Event()
        self._committing = asyncio.Lock()
        self._starving = 0
        self._renewed_at = clock.now()
        self._scope_read_at = 0.0
        self._failure: Exception | None = None
        self.rules = understand.Rules(
            tools.scope.canonicalizer(), self._decide, self._frontier.seen.knows, settings.budget,
            settings.crawl.max_redirects, name, self._frontier.guidance.strategy.links is not None,
            settings.feeds.poll, settings.reach,
            None if settings.scope.mode == "list" else tools.scope.decide_inside,
        )  # fmt: skip
        self._addresses = AddressBook(name, tools.frontier, tools.thread, clock)
        borrowing = Borrowing(name, tools.frontier, tools.thread, clock, self, self._channel_to, self.release)
        # Where a robots.txt leads, its server says: what we know of mirrors is no part of that.
        literal = Canonicalizer(settings.urls)
        self.robots = RobotsBook(settings.robots, clock, literal, self._stored_robots, self._robots_fetched, borrowing)
        self._rendering = (
            Rendering(settings, self, tools.renderer, tools.parsers, borrowing, tools.thread, tools.frontier.db)
            if tools.renderer is not None
            else None
        )
        self._rendered: set[asyncio.Task[None]] = set()

    @property
    def stopping(self) -> bool:
        """Whether no new request should be made."""
        return self._stop.is_set()

    @property
    def canonicalizer(self) -> Canonicalizer:
        """How URLs are written."""
        return self.rules.canonicalizer

    def _decide(self, url: str, now: float) -> Decision:
        return self._tools.scope.chain.decide(url, now)

    def _channel_to(self, site: str) -> Channel | None:
        return next((runner.channel for (name, _), runner in self._runners.items() if name == site), None)

    async def _stored_robots(self, origin: str) -> bytes | None:
        if origin in self._pending.robots:
            return self._pending.robots[origin]
        return await self._thread.run(self._frontier.robots, origin)

    def _robots_fetched(self, origin: str, state: bytes, sitemaps: Sequence[str]) -> None:
        self._pending.robots[origin] = state
        self._pending.found += understand.robots_sitemaps(sitemaps, origin, self.rules, self.clock.now())

    # -- life ---------------------------------------------------------------------------------

    async def run(self) -> None:
        """From registering to giving everything back."""
        await self._thread.run(self._frontier.register, self.name, self.clock.now())
        self._renewed_at = self.clock.now()
        loops = [asyncio.create_task(loop) for loop in self._loops()]
        stopped = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait([stopped, *loops], return_when=asyncio.FIRST_COMPLETED)
            for loop in loops:
                if loop.done():
                    loop.result()  # a failure ends the session here
            await self._wind_down(loops)
        finally:
            jobs = [runner.job for runner in self._runners.values() if runner.job]
            loads = self._rendering.loading if self._rendering is not None else ()
            await _cancel([stopped, *loops, *self._parsing, *self._rendered, *loads, *jobs])

    def _loops(self) -> list[Coroutine[Any, Any, None]]:
        return [
            self._take_loop(),
            self._commit_loop(),
            self._beat_loop(),
            self._lease_loop(),
            self._scope_loop(),
            self._share_loop(),
        ]

    async def _wind_down(self, loops: Sequence[asyncio.Task[None]]) -> None:
        """Let requests and parsers under way end, commit, and give everything back, within `crawl.stop_within`."""
        until = self.clock.now() + self._settings.crawl.stop_within
        if self._rendering is not None:
            await _cancel(list(self._rendered))
            self._left_in_queue()
            await self._rendering.finish(min(self._settings.fetch.total_timeout, until - self.clock.now()))
        jobs = [runner.job for runner in self._runners.values() if runner.job]
        await _ended(jobs, until - self.clock.now())
        await _ended(self._parsing, until - self.clock.now())
        async with self._committing:  # a commit that is cancelled before its turn at the disk would be lost
            await _cancel(loops)
        for loop in loops:
            if not loop.cancelled():
                loop.result()  # the last commit may have failed
        if self._pending:
            await self._commit()
        leaving, self._runners = list(self._runners.values()), {}
        await self._release(leaving)
        await self._thread.run(self._frontier.retire, self.name, self.clock.now())

    # -- loops --------------------------------------------------------------------------------

    async def _take_loop(self) -> None:
        """Lease sites a few at a time, and none while the parsers are behind: what this worker
        cannot keep up with is left to the others."""
        step = _FIRST_SITES
        while not self.stopping:
            room = min(step, self._settings.crawl.sites - len(self._runners))
            behind = len(self._parsing) > _BACKLOG
            leases = await self._take(room) if room > 0 and not behind else []
            for lease in leases:
                self._start(lease)
            step = min(step * 2, _MOST_SITES) if len(leases) == room else _FIRST_SITES
            await self.sleep(self._pace.pause if leases else self._pace.idle)

    async def _take(self, room: int) -> list[Lease]:
        batch = self._settings.budget.batch
        return await self._thread.run(self._frontier.take, self.name, self.clock.now(), room, batch)

    def _start(self, lease: Lease) -> None:
        runner = SiteRunner(lease, Channel(lease, self), self)
        self._runners[lease.site, lease.part] = runner
        runner.job = asyncio.create_task(self._run_site(runner))

    async def _run_site(self, runner: SiteRunner) -> None:
        try:
            await runner.run()
        except GossamerError as error:
            self._failure = error
        finally:
            self._commit_wanted.set()

    async def _commit_loop(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._settings.crawl.commit_seconds):
                    await self._commit_wanted.wait()
            if self._failure is not None:
                raise self._failure
            self._commit_wanted.clear()
            if self._pending:
                await self._commit()
            done = [runner for runner in self._runners.values() if runner.done]
            if done:
                await self._let_go(done)

    async def _beat_loop(self) -> None:
        interval = min(self._pace.beat, self._settings.budget.lease / 4)
        while True:
            await asyncio.sleep(interval)
            if self.clock.now() - self._renewed_at > interval:
                self._renewed_at = max(self._renewed_at, await self._tools.heart.beat(self.name))

    async def _scope_loop(self) -> None:
        """Apart from the signs of life: this waits behind a commit."""
        while True:
            await asyncio.sleep(self._pace.scope)
            await self.look_at_scope(self.clock.now())

    async def _lease_loop(self) -> None:
        """Where no sign of life gets through until the leases run out, let go of everything: whoever has the sites
        then must not find connections of ours still open there. All other loops may be waiting for the database."""
        while True:
            left = self._renewed_at + _COUNTED_ON * self._settings.budget.lease - self.clock.now()
            await asyncio.sleep(max(0.0, left) + 0.001)
            self.check_lease()

    async def _share_loop(self) -> None:
        """While the parsers are behind, leave sites to a worker that has fewer."""
        while True:
            await asyncio.sleep(self._pace.share)
            if len(self._parsing) <= _BACKLOG or len(self._runners) < 2:
                continue
            fewest = await self._thread.run(self._frontier.fewest_sites, self.name, self.clock.now())
            if fewest is not None and fewest + 1 < len(self._runners):
                for runner in list(self._runners.values())[: (len(self._runners) - fewest) // 2]:
                    runner.leave()

    # -- commits ------------------------------------------------------------------------------

    async def _commit(self) -> None:
        async with self._committing:
            self._commit_bytes = self._pending.bytes
            try:
                await self._commit_pending()
            finally:
                self._commit_bytes = 0

    async def _commit_pending(self) -> None:
        pending, self._pending = self._pending, Pending()
        touched = {(result.visit.site, result.visit.part) for result in pending.results}
        reports = [runner.channel.report() for place, runner in self._runners.items() if place in touched]
        clocks = self._addresses.changed()
        started = self.clock.now()
        await self._thread.run(self._tools.committer.commit, pending, reports, clocks, started)
        seconds = self.clock.now() - started
        fields = {"results": len(pending.results), "bytes": pending.bytes, "seconds": seconds, "sites": len(touched)}
        severity = logging.INFO if pending.results else logging.DEBUG
        log.log(severity, "committed %d results", len(pending.results), extra=fields)
        self._renewed_at = max(self._renewed_at, started)
        for result in pending.results:
            self._runners[result.visit.site, result.visit.part].holding.discard(result.visit.task.key)
        await self._heed_other_parts()
        best = self._tools.committer.best_new
        for (site, _), runner in self._runners.items():
            if (level := best.get(key64(site))) is not None:
                runner.offer(level)
        self._commit_done.set()
        self._commit_done = asyncio.Event()

    async def _heed_other_parts(self) -> None:
        """A site in trouble is left alone by all its parts, whoever met the trouble."""
        split = {site for (site, _), runner in self._runners.items() if runner.channel.lease.parts > 1}
        if split:
            waits = await self._thread.run(self._frontier.waits, split)
            for (site, _), runner in self._runners.items():
                if site in waits:
                    runner.channel.rest(Rest(*waits[site]))

    async def _let_go(self, done: Iterable[SiteRunner]) -> None:
        leaving = []
        for runner in done:
            assert runner.job is not None
            runner.job.result()  # a bug in a runner must not pass unseen
            # Before the release: the site may come back as a new lease at once.
            del self._runners[runner.site, runner.part]
            leaving.append(runner)
        await self._release(leaving)

    async def _release(self, leaving: Sequence[SiteRunner]) -> None:
        for runner in leaving:
            runner.channel.close()
        await self.release([runner.channel.report(runner.unused) for runner in leaving])

    async def release(self, reports: list[SiteReport]) -> None:
        """Give sites back, and the addresses that nobody here uses any more."""
        idle = self._addresses.take_idle()
        for slot, _ in idle:
            self.fetcher.drop(slot)
        await self._thread.run(self._frontier.release, self.name, reports, idle, self.clock.now())

    # -- what runners ask for -----------------------------------------------------------------

    async def refill(self, runner: SiteRunner, returned: int) -> list[Task]:
        """More URLs of a runner's site."""
        return await self._thread.run(
            self._frontier.refill, self.name, runner.site, runner.part, tuple(runner.holding),
            self.clock.now(), self._settings.budget.per_site, returned,
        )  # fmt: skip

    async def look_at_scope(self, since: float) -> None:
        """Take in new seeds, removals, rules and mirrors, unless that was done since."""
        if self._scope_read_at >= since:
            return
        started = self.clock.now()
        documents = self._tools.scope.documents
        if await self._thread.run(self._tools.scope.refresh):
            self.rules.canonicalizer = self._tools.scope.canonicalizer()
            if self._tools.scope.documents is not documents:
                guidance = guidance_of(self._settings, self._tools.scope.documents)
                await self._thread.run(self._frontier.guide, guidance)
            self._tools.parsers.configure(self._tools.scope.parser_config())
        await self._heed_operator()
        self._scope_read_at = started

    async def _heed_operator(self) -> None:
        """Give back what is paused or about to be split anew, and ask no site faster than an operator wants."""
        said = await self._thread.run(self._frontier.directions, {site for site, _ in self._runners})
        self.robots.forget(said.robots)
        for runner in self._runners.values():
            if runner.site in said.leave:
                runner.leave()
            elif runner.site in said.least_delays:  # a site that was leased just now was not asked about
                runner.channel.limit(said.least_delays[runner.site])

    async def committed(self) -> None:
        """Wait for the next commit; the last one to wait asks for it at once."""
        self._starving += 1
        self._hurry()
        try:
            await self._commit_done.wait()
        finally:
            self._starving -= 1

    def _hurry(self) -> None:
        """Commit now if nobody can go on without it."""
        if self._starving and not self._parsing and self._pending:
            active = sum(1 for runner in self._runners.values() if runner.job and not runner.job.done())
            if self._starving >= active:
                self._commit_wanted.set()

    async def room(self) -> None:
        """Wait until there is memory for another body."""
        while self._held() > self._settings.crawl.hold_bytes and not self.stopping:
            self._commit_wanted.set()
            await asyncio.sleep(0.02)

    def _held(self) -> int:
        return self._parse_bytes + self._pending.bytes + self._commit_bytes

    def parse_later(self, runner: SiteRunner, task: Task, response: Response) -> None:
        """Have a body parsed, then hand the result over."""
        job = asyncio.create_task(self._parse(runner, task, response))
        self._parsing.add(job)
        job.add_done_callback(self._parsed)

    async def _parse(self, runner: SiteRunner, task: Task, response: Response) -> None:
        size = 2 * len(response.body) + len(response.wire_body)  # a copy is on its way to the parser
        self._parse_bytes += size
        try:
            parsed = await self._tools.parsers.parse(job_of(task, response))
            scripted = self._rendering is not None and bool(self._rendering.why(runner, task, response, parsed))
            if self._rendering is not None and scripted:
                if self.stopping:
                    self._left_in_queue()
                    return
                rendered = await self._render(self._rendering, runner, task, response, parsed)
                if isinstance(rendered, Kept):
                    runner.kept(task, response, rendered.reason)
                    return
                parsed = rendered
            runner.parsed(task, response, parsed, scripted)
        except Exception as error:  # a page that nobody reports would keep its site here for ever
            self._failure = error
            self._commit_wanted.set()
        finally:
            self._parse_bytes -= size

    async def _render(
        self, rendering: Rendering, runner: SiteRunner, task: Task, response: Response, parsed: Parsed
    ) -> Parsed | Kept:
        """Render a page; meanwhile it does not count as one that waits for a parser."""
        job = asyncio.current_task()
        assert job is not None
        self._parsing.discard(job)
        self._rendered.add(job)
        with runner.rendering():
            return await rendering.read(runner, task, response, parsed)

    def _left_in_queue(self) -> None:
        """Pages that were to be rendered are not: no runner needs to wait for what becomes of them."""
        for runner in self._runners.values():
            runner.wake()
        self._commit_done.set()
        self._commit_done = asyncio.Event()

    def _parsed(self, job: asyncio.Task[None]) -> None:
        self._parsing.discard(job)
        self._rendered.discard(job)
        if not job.cancelled():
            job.result()
        self._hurry()

    def hand_over(self, result: Result) -> None:
        """Put a result into the next commit."""
        self._pending.add(result)
        crawl = self._settings.crawl
        if len(self._pending.results) >= crawl.commit_pages or self._pending.bytes >= crawl.commit_bytes:
            self._commit_wanted.set()

    async def sleep(self, seconds: float) -> bool:
        """Wait, but not for a worker that is to stop; False where it is."""
        try:
            async with asyncio.timeout(seconds):
                await self._stop.wait()
        except TimeoutError:
            return True
        return False

    def check_lease(self) -> None:
        """No request once the leases may have run out. What remains: a worker frozen between
        this check and its `send` still sends that one request."""
        if self.clock.now() > self._renewed_at + _COUNTED_ON * self._settings.budget.lease:
            raise LeaseLost(f"{self.name} was silent too long")

    async def hold(self, site: str, address: str) -> Address | None:
        """Share an address with this worker's other sites, or claim it."""
        return await self._addresses.hold(site, address)

    def drop(self, address: Address) -> None:
        """One site fewer on an address."""
        address.users -= 1


async def _ended(tasks: Collection[asyncio.Task[Any]], seconds: float) -> None:
    """Wait for them, at most so long."""
    if tasks:
        await asyncio.wait(set(tasks), timeout=max(seconds, 0.0))


async def _cancel(tasks: Sequence[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def run_worker(main: Coroutine[Any, Any, None]) -> None:
    """Run a worker's coroutine on the fast event loop."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main)

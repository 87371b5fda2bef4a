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
import secrets
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

import msgspec
import structlog

from gossamer import __version__
from gossamer.clock import Clock
from gossamer.crawl import understand
from gossamer.crawl.channel import Address, Channel, Rest
from gossamer.crawl.folder import DataFolder
from gossamer.crawl.parsers import ParserPool
from gossamer.crawl.pending import Committer, Pending, Result
from gossamer.crawl.robots import RobotsBook
from gossamer.crawl.runner import SiteRunner, job_of
from gossamer.crawl.scope import LiveScope
from gossamer.errors import GossamerError, LeaseLost
from gossamer.fetch import AddressPolicy, DnsConfig, Fetcher, Resolver, user_agent
from gossamer.frontier.contract import Lease
from gossamer.frontier.sql import SqlFrontier
from gossamer.model.records import Discovered, Response, Task
from gossamer.model.url import Canonicalizer
from gossamer.settings import Settings

P = ParamSpec("P")
T = TypeVar("T")

log = structlog.get_logger()

_IDLE = 0.25
"""Seconds between two looks for sites that have become ready."""


class Worker:
    """See the module's text. `run` returns when `stop` was called and everything is committed."""

    def __init__(self, settings: Settings, folder: DataFolder, clock: Clock, name: str = "") -> None:
        self._settings, self._folder, self._clock = settings, folder, clock
        self._given_name = name
        self._stop = asyncio.Event()

    def stop(self) -> None:
        """Finish what is under way, commit, give everything back."""
        self._stop.set()

    async def run(self) -> None:
        """Work until stopped, as often under a new name as leases are lost."""
        while not self._stop.is_set():
            name = self._given_name or f"w{secrets.token_hex(4)}"
            with ThreadPoolExecutor(1, "frontier") as thread, self._folder.worker_lock(name):
                session = Session(self._settings, self._folder, self._clock, name, self._stop, thread)
                try:
                    await session.run()
                except LeaseLost as lost:
                    log.warning("lease lost, starting anew", worker=name, reason=str(lost))
                    self._given_name = ""


class Session:
    """A worker's life under one name."""

    def __init__(
        self, settings: Settings, folder: DataFolder, clock: Clock, name: str, stop: asyncio.Event,
        thread: ThreadPoolExecutor,
    ) -> None:  # fmt: skip
        self.name, self.clock, self.politeness = name, clock, settings.politeness
        self._settings, self._folder, self._thread, self._stop = settings, folder, thread, stop
        self.slots = asyncio.Semaphore(settings.crawl.downloads)
        self.patience = min(30.0, settings.budget.lease / 2)
        self._runners: dict[tuple[str, int], SiteRunner] = {}
        self._borrowed: dict[str, Channel] = {}
        self._addresses: dict[str, Address] = {}
        self._pending = Pending()
        self._parsing: set[asyncio.Task[None]] = set()
        self._parse_bytes = 0
        self._commit_wanted = asyncio.Event()
        self._commit_done = asyncio.Event()
        self._starving = 0
        self._renewed_at = 0.0
        self._failure: GossamerError | None = None

    @property
    def stopping(self) -> bool:
        """Whether no new request should be made."""
        return self._stop.is_set()

    # -- life ---------------------------------------------------------------------------------

    async def run(self) -> None:
        """From registering to giving everything back."""
        settings = self._settings
        guard = AddressPolicy(settings.network.allow, settings.crawl.contact)
        self.resolver = Resolver(DnsConfig(overrides=settings.network.resolve), guard, self.clock)
        self.frontier: SqlFrontier = await self._db(self._folder.open_frontier, settings)
        try:
            self._scope = await self._db(LiveScope, settings, self.frontier.db)
            self._parsers = ParserPool(
                self._scope.parser_config(), settings.crawl.parsers, settings.crawl.parse_timeout
            )
            agent = user_agent(__version__, settings.crawl.contact)
            self._set_up(agent)
            config = msgspec.structs.replace(settings.fetch, user_agent=agent, access=settings.sites)
            async with Fetcher(config, guard, self.resolver, self.clock) as self.fetcher:
                await self._parsers.open()
                try:
                    await self._work()
                finally:
                    await self._parsers.close()
        finally:
            await self._db(self.frontier.db.close)

    def _set_up(self, agent: str) -> None:
        settings = self._settings
        canonicalizer = Canonicalizer(settings.urls)
        self.rules = understand.Rules(
            canonicalizer, lambda url, now: self._scope.chain.decide(url, now), self.frontier.seen.__contains__,
            settings.budget, settings.crawl.max_redirects, self.name,
        )  # fmt: skip
        self.robots = RobotsBook(
            settings.robots, self.clock, canonicalizer, self._load_robots, self._save_robots, self._borrow,
            self._give_back, self._found_sitemaps,
        )  # fmt: skip
        info = {"software": f"Gossamer/{__version__}", "http-header-user-agent": agent, "robots": "obey"}
        self._committer = Committer(self.frontier, self._folder.segments, self.name, settings.crawl.archive, info)

    async def _work(self) -> None:
        await self._db(self.frontier.register, self.name, self.clock.now())
        self._renewed_at = self.clock.now()
        loops = [asyncio.create_task(loop) for loop in (self._take_loop(), self._commit_loop(), self._beat_loop())]
        stopped = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait([stopped, *loops], return_when=asyncio.FIRST_COMPLETED)
            for loop in loops:
                if loop.done():
                    loop.result()  # a failure ends the session here
            await self._wind_down(loops)
        finally:
            await self._cancel([stopped, *loops, *self._parsing, *(r.job for r in self._runners.values() if r.job)])

    async def _wind_down(self, loops: Sequence[asyncio.Task[None]]) -> None:
        """Let requests under way end, commit, and give everything back."""
        jobs = [runner.job for runner in self._runners.values() if runner.job]
        if jobs:
            await asyncio.wait(jobs, timeout=self._settings.fetch.total_timeout)
        if self._parsing:
            await asyncio.wait(set(self._parsing), timeout=self._settings.crawl.parse_timeout)
        await self._cancel(loops)
        if self._pending:
            await self._commit()
        for runner in self._runners.values():
            runner.channel.close()
        reports = [runner.channel.report(len(runner.tasks)) for runner in self._runners.values()]
        addresses = [(a.address, a.not_before) for a in self._addresses.values()]
        await self._db(self.frontier.release, self.name, reports, addresses, self.clock.now())
        self._runners.clear()
        await self._db(self.frontier.retire, self.name, self.clock.now())

    async def _cancel(self, tasks: Sequence[asyncio.Task[Any]]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # -- loops --------------------------------------------------------------------------------

    async def _take_loop(self) -> None:
        while not self.stopping:
            room = self._settings.crawl.sites - len(self._runners)
            leases = await self._take(room) if room > 0 else []
            for lease in leases:
                self._start(lease)
            if not leases:
                await self.sleep(_IDLE)

    async def _take(self, room: int) -> list[Lease]:
        return await self._db(self.frontier.take, self.name, self.clock.now(), room, self._settings.budget.batch)

    def _start(self, lease: Lease) -> None:
        runner = SiteRunner(lease, Channel(lease, self), self)
        self._runners[lease.site, lease.part] = runner
        runner.job = asyncio.create_task(self._run_site(runner))

    async def _run_site(self, runner: SiteRunner) -> None:
        try:
            await runner.run()
        except LeaseLost:
            self._fail(LeaseLost(f"{self.name} was silent too long"))
        except GossamerError as error:
            self._fail(error)
        finally:
            self._commit_wanted.set()

    async def _commit_loop(self) -> None:
        while True:
            if self._failure is not None:
                raise self._failure
            timeout = self._settings.crawl.commit_seconds
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    await self._commit_wanted.wait()
            self._commit_wanted.clear()
            if self._pending:
                await self._commit()
            await self._release_done()

    async def _beat_loop(self) -> None:
        interval = min(2.0, self._settings.budget.lease / 4)
        while True:
            await asyncio.sleep(interval)
            if self.clock.now() - self._renewed_at > interval:
                await self._db(self.frontier.renew, self.name, self.clock.now())
                self._renewed_at = self.clock.now()
            if await self._db(self._scope.refresh):
                self._parsers.configure(self._scope.parser_config())

    # -- commits ------------------------------------------------------------------------------

    async def _commit(self) -> None:
        pending, self._pending = self._pending, Pending()
        touched = {(r.visit.site, r.visit.part) for r in pending.results}
        reports = [runner.channel.report() for place, runner in self._runners.items() if place in touched]
        changed = [a for a in self._addresses.values() if a.changed]
        for address in changed:
            address.changed = False
        clocks = [(a.address, a.not_before) for a in changed]
        started = self.clock.now()
        await self._db(self._committer.commit, pending, reports, clocks, started)
        self._renewed_at = started
        for result in pending.results:
            self._runners[result.visit.site, result.visit.part].holding.discard(result.visit.task.key)
        self._commit_done.set()
        self._commit_done = asyncio.Event()

    async def _release_done(self) -> None:
        done = [runner for runner in self._runners.values() if runner.done]
        if not done:
            return
        for runner in done:
            if runner.job is not None and runner.job.done() and not runner.job.cancelled():
                runner.job.result()
            runner.channel.close()
            # Before the release: it may come back as a new lease at once.
            del self._runners[runner.site, runner.part]
        await self._release([runner.channel.report(len(runner.tasks)) for runner in done])

    async def _release(self, reports: list[Any]) -> None:
        idle = [address for address in self._addresses.values() if not address.users]
        for address in idle:
            del self._addresses[address.address]
            self.fetcher.drop(address.address)
        clocks = [(a.address, a.not_before) for a in idle]
        await self._db(self.frontier.release, self.name, reports, clocks, self.clock.now())

    # -- what runners ask for -----------------------------------------------------------------

    async def refill(self, runner: SiteRunner) -> list[Task]:
        """More URLs of a runner's site."""
        return await self._db(
            self.frontier.refill, self.name, runner.site, runner.part, tuple(runner.holding), self.clock.now(),
            self._settings.budget.per_site,
        )  # fmt: skip

    async def committed(self, runner: SiteRunner) -> None:
        """Wait for the next commit; the last one to wait asks for it at once."""
        self._starving += 1
        self._hurry()
        try:
            await self._commit_done.wait()
        finally:
            self._starving -= 1

    def _hurry(self) -> None:
        """Commit now if nobody can go on without it."""
        if not self._parsing and self._pending and self._starving >= self._active():
            self._commit_wanted.set()

    def _active(self) -> int:
        return sum(1 for runner in self._runners.values() if runner.job and not runner.job.done())

    async def room(self) -> None:
        """Wait until there is memory for another body."""
        while self._parse_bytes + self._pending.bytes > self._settings.crawl.hold_bytes and not self.stopping:
            self._commit_wanted.set()
            await asyncio.sleep(0.02)

    def parse_later(self, runner: SiteRunner, task: Task, response: Response) -> None:
        """Have a body parsed, then hand the result over."""
        job = asyncio.create_task(self._parse(runner, task, response))
        self._parsing.add(job)

    async def _parse(self, runner: SiteRunner, task: Task, response: Response) -> None:
        size = len(response.body)
        self._parse_bytes += size
        try:
            parsed = await self._parsers.parse(job_of(task, response))
            runner.parsed(task, response, parsed)
        finally:
            self._parse_bytes -= size
            current = asyncio.current_task()
            if current is not None:
                self._parsing.discard(current)
            self._hurry()

    def hand_over(self, runner: SiteRunner, result: Result) -> None:
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
        if self.clock.now() > self._renewed_at + self._settings.budget.lease:
            raise LeaseLost(f"{self.name} was silent too long")

    # -- addresses and borrowed sites ---------------------------------------------------------

    async def hold(self, site: str, address: str) -> Address | None:
        """Share an address with this worker's other sites, or claim it."""
        held = self._addresses.get(address)
        if held is None:
            not_before = await self._db(self.frontier.hold_address, self.name, site, address, self.clock.now())
            if not_before is None:
                return None
            held = self._addresses.setdefault(address, Address(address, not_before))
        held.users += 1
        return held

    def drop(self, address: Address) -> None:
        """One site fewer on an address."""
        address.users -= 1

    async def _borrow(self, site: str) -> Channel | Rest:
        """A channel to a site that is not ours, for its robots.txt."""
        for (name, _), runner in self._runners.items():
            if name == site:
                runner.channel.borrowers += 1
                return runner.channel
        if site in self._borrowed:
            return Rest(self.clock.now() + 1, f"{site} is being asked already")
        lease = await self._db(self.frontier.borrow, self.name, site, self.clock.now())
        if lease is None:
            return Rest(self.clock.now() + 5, f"another worker is talking to {site}")
        self._borrowed[site] = Channel(lease, self)
        return self._borrowed[site]

    async def _give_back(self, channel: Channel) -> None:
        if channel is not self._borrowed.get(channel.lease.site):
            channel.borrowers -= 1
            return
        del self._borrowed[channel.lease.site]
        channel.close()
        await self._release([channel.report()])

    async def _load_robots(self, origin: str) -> bytes | None:
        return await self._db(self.frontier.robots, origin)

    def _save_robots(self, origin: str, state: bytes) -> None:
        self._pending.robots[origin] = state

    def _found_sitemaps(self, origin: str, urls: Sequence[str]) -> None:
        self._pending.found.extend(understand.robots_sitemaps(urls, origin, self.rules, self.clock.now()))

    # -- the rest -----------------------------------------------------------------------------

    def _fail(self, error: GossamerError) -> None:
        """End the session with an error, from inside a site's task."""
        self._failure = error
        self._commit_wanted.set()

    async def _db(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run something in the database thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, lambda: function(*args, **kwargs))


def run_worker(main: Coroutine[Any, Any, None]) -> None:
    """Run a worker's coroutine on the fast event loop."""
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main)

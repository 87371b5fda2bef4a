"""A worker's life under one name: leases sites, runs them, commits, and gives everything back.

    take ──▶ SiteRunner ──▶ Channel ──▶ PageParsing ──▶ CommitQueue ──▶ release
      ▲      one a site     requests    pages           one transaction      │
      └───────────────────────────── new URLs, clocks ───────────────────────┘

A page passes along this line once. Each station knows those after it, and the held sites; none calls back.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from typing import Any

import msgspec

from gossamer.clock import Clock
from gossamer.crawl import understand
from gossamer.crawl.addresses import AddressBook
from gossamer.crawl.borrowing import Borrowing
from gossamer.crawl.bound_frontier import BoundFrontier
from gossamer.crawl.channel import Channel, Grounds
from gossamer.crawl.commit_queue import CommitQueue
from gossamer.crawl.held_site import HeldSite, HeldSites
from gossamer.crawl.life import Life
from gossamer.crawl.live_rules import LiveRules
from gossamer.crawl.page_parsing import Backlog, PageParsing, cancel
from gossamer.crawl.render.loads import Shop
from gossamer.crawl.render.pages import Rendering
from gossamer.crawl.robots import RobotsBook
from gossamer.crawl.runner import Services, SiteRunner
from gossamer.crawl.scope import LiveScope
from gossamer.crawl.seams import Beats, Commits, Fetches, Parses, Renders, Resolves, Runs
from gossamer.database.database import Database
from gossamer.errors import GossamerError
from gossamer.frontier.contract import Frontier, Lease, SiteReport
from gossamer.model.url import Canonicalizer
from gossamer.settings import Settings

_FIRST_SITES, _MOST_SITES = 2, 64
"""Sites leased at once, at first and at most."""


class Pace(msgspec.Struct, frozen=True):
    """How often a worker checks for news."""

    idle: float = 0.25
    """Seconds between two checks for sites that have become ready."""
    pause: float = 0.02
    """Seconds between two leases while sites are available."""
    share: float = 0.5
    """Seconds between two checks for workers with less to do."""
    scope: float = 2.0
    """Seconds between two checks for new seeds, removals, rules and plans."""
    beat: float = 2.0
    """Most seconds between two signs of life."""


class Tools(msgspec.Struct):
    """The tools of a session; their maker closes them."""

    frontier: Frontier
    database: Database
    """Records how much rendering added."""
    thread: Runs
    heart: Beats
    scope: LiveScope
    parsers: Parses
    committer: Commits
    fetcher: Fetches
    resolver: Resolves
    chance: Callable[[], float] = random.random
    """Random numbers of 0…1, for waits that should not be in step."""
    renderer: Renders | None = None
    """None: no page is rendered."""


class Session:
    """See the module's text."""

    def __init__(
        self, name: str, settings: Settings, clock: Clock, stop: asyncio.Event, tools: Tools, pace: Pace | None = None
    ) -> None:
        self._settings, self._tools, self._pace = settings, tools, pace or Pace()
        self._life = Life(name, clock, stop, settings.budget.lease)
        self._frontier = BoundFrontier(tools.frontier, tools.thread, self._life)
        self._sites, self._backlog = HeldSites(), Backlog()
        self._addresses = AddressBook(self._frontier)
        self._grounds = Grounds(
            self._life, tools.fetcher, tools.resolver, self._addresses, settings.polite,
            asyncio.Semaphore(settings.crawl.downloads), min(30.0, settings.budget.lease / 2), tools.chance,
        )  # fmt: skip
        self._commits = CommitQueue(
            settings.crawl, tools.committer, tools.thread, self._frontier, self._sites, self._addresses,
            self._backlog, self._life,
        )  # fmt: skip
        rules = _rules(name, settings, tools)
        borrowing = Borrowing(self._frontier, self._grounds, self._sites.channel_to, self._release)
        robots = self._robots(rules, borrowing)
        self._parsing = PageParsing(tools.parsers, self._rendering(rules, robots, borrowing), self._life, self._backlog)
        self._live = LiveRules(
            settings, tools.scope, rules, tools.thread, self._frontier, tools.parsers, self._sites, robots, self._life
        )
        self._services = Services(
            self._frontier, self._live, robots, self._parsing, self._commits, self._life, settings.budget.per_site
        )

    def _robots(self, rules: understand.Rules, borrowing: Borrowing) -> RobotsBook:
        clock, commits = self._life.clock, self._commits

        def fetched(origin: str, state: bytes, sitemaps: Sequence[str]) -> None:
            commits.add_robots(origin, state, understand.robots_sitemaps(sitemaps, origin, rules, clock.now()))

        # The server says where its robots.txt is: mirrors do not apply to it.
        literal = Canonicalizer(self._settings.urls)
        return RobotsBook(self._settings.robots, clock, literal, commits.robots, fetched, borrowing)

    def _rendering(self, rules: understand.Rules, robots: RobotsBook, borrowing: Borrowing) -> Rendering | None:
        tools = self._tools
        if tools.renderer is None:
            return None
        shop = Shop(self._life, tools.resolver, robots, rules)
        return Rendering(self._settings, shop, tools.renderer, tools.parsers, borrowing, tools.thread, tools.database)

    # -- life ---------------------------------------------------------------------------------

    async def run(self) -> None:
        """From registering to giving everything back."""
        await self._frontier.register()
        self._life.renewed(self._life.clock.now())
        loops = [asyncio.create_task(loop) for loop in self._loops()]
        stopped = asyncio.create_task(self._life.stopped())
        try:
            await asyncio.wait([stopped, *loops], return_when=asyncio.FIRST_COMPLETED)
            for loop in loops:
                if loop.done():
                    loop.result()  # a failure ends the session here
            await self._wind_down(loops)
        finally:
            await cancel([stopped, *loops, *self._pages(), *self._jobs()])
            await self._parsing.close()

    def _loops(self) -> list[Coroutine[Any, Any, None]]:
        return [
            self._take_loop(),
            self._commit_loop(),
            self._beat_loop(),
            self._lease_loop(),
            self._scope_loop(),
            self._share_loop(),
            self._live.order_loop(),
        ]

    def _jobs(self) -> list[asyncio.Task[None]]:
        return [held.job for held in self._sites if held.job is not None]

    def _pages(self) -> list[asyncio.Task[None]]:
        return [page for held in self._sites for page in held.pages]

    async def _wind_down(self, loops: Sequence[asyncio.Task[None]]) -> None:
        """Let requests and parsers under way end, commit, and give everything back, within `crawl.stop_within`."""
        clock = self._life.clock
        until = clock.now() + self._settings.crawl.stop_within
        await self._parsing.stop_rendering(min(self._settings.fetch.total_timeout, until - clock.now()))
        self._commits.wake()
        await _ended(self._jobs(), until - clock.now())
        await _ended(self._pages(), until - clock.now())
        async with self._commits.between_commits():  # a commit cancelled before it reaches the disk would be lost
            await cancel(loops)
        for loop in loops:
            if not loop.cancelled():
                loop.result()  # the last commit may have failed
        await self._commits.commit()
        await self._give_back(self._sites)
        await self._frontier.retire()

    # -- loops --------------------------------------------------------------------------------

    async def _take_loop(self) -> None:
        """Lease sites a few at a time, and none while the parsers are behind: other workers may take those."""
        step = _FIRST_SITES
        while not self._life.stopping:
            room = min(step, self._settings.crawl.sites - len(self._sites))
            wanted = room > 0 and not self._backlog.is_long
            leases = await self._frontier.take(room, self._settings.budget.batch) if wanted else []
            if leases:
                await self._live.know({lease.site for lease in leases})
            for lease in leases:
                self._start(lease)
            step = min(step * 2, _MOST_SITES) if len(leases) == room else _FIRST_SITES
            await self._life.sleep(self._pace.pause if leases else self._pace.idle)

    def _start(self, lease: Lease) -> None:
        held = HeldSite(lease, Channel(lease, self._grounds))
        self._sites.add(held)
        held.job = asyncio.create_task(self._run_site(SiteRunner(held, self._services)))

    async def _run_site(self, runner: SiteRunner) -> None:
        try:
            await runner.run()
        except GossamerError as error:
            self._commits.fail(error)
        finally:
            self._commits.want()

    async def _commit_loop(self) -> None:
        while True:
            await self._commits.due()
            await self._commits.commit()
            await self._live.learned(self._tools.frontier.learned)
            done = [held for held in self._sites if held.is_done]
            for held in done:
                assert held.job is not None
                held.job.result()  # a bug in a runner must not pass unseen
            if done:
                await self._give_back(done)

    async def _beat_loop(self) -> None:
        interval = min(self._pace.beat, self._settings.budget.lease / 4)
        while True:
            await asyncio.sleep(interval)
            if self._life.clock.now() - self._life.renewed_at > interval:
                self._life.renewed(await self._tools.heart.beat(self._life.name))

    async def _scope_loop(self) -> None:
        """Apart from the signs of life, because this waits behind a commit."""
        while True:
            await asyncio.sleep(self._pace.scope)
            await self._live.refresh(self._life.clock.now())

    async def _lease_loop(self) -> None:
        """If no sign of life gets through before the leases run out, let go of everything: the next owner of the sites
        must not find our connections open. All other loops may be waiting for the database."""
        while True:
            await asyncio.sleep(max(0.0, self._life.left) + 0.001)
            self._life.check()

    async def _share_loop(self) -> None:
        """While the parsers are behind, leave sites to a worker that has fewer."""
        while True:
            await asyncio.sleep(self._pace.share)
            if not self._backlog.is_long or len(self._sites) < 2:
                continue
            fewest = await self._frontier.fewest_sites()
            if fewest is not None and fewest + 1 < len(self._sites):
                for held in list(self._sites)[: (len(self._sites) - fewest) // 2]:
                    held.channel.leave()

    # -- giving back --------------------------------------------------------------------------

    async def _give_back(self, leaving: Iterable[HeldSite]) -> None:
        reports = []
        for held in leaving:
            # Before the release: the site may come back as a new lease at once.
            self._sites.remove(held)
            held.channel.close()
            reports.append(held.last_report())
        await self._release(reports)

    async def _release(self, reports: list[SiteReport]) -> None:
        """Give sites back, and the addresses that no other site uses."""
        idle = self._addresses.take_idle()
        for slot, _ in idle:
            self._tools.fetcher.drop(slot)
        await self._frontier.release(reports, idle)


def _rules(name: str, settings: Settings, tools: Tools) -> understand.Rules:
    scope, frontier = tools.scope, tools.frontier
    return understand.Rules(
        scope.canonicalizer(), lambda url, now: scope.chain.decide(url, now), frontier.seen.unknown, settings.budget,
        settings.crawl.max_redirects, name, frontier.guidance.strategy.links is not None,
        settings.feeds.poll, settings.reach,
        None if settings.scope.mode == "list" else scope.decide_inside,
    )  # fmt: skip


async def _ended(tasks: Collection[asyncio.Task[Any]], seconds: float) -> None:
    """Wait for them, at most so long."""
    if tasks:
        await asyncio.wait(set(tasks), timeout=max(seconds, 0.0))

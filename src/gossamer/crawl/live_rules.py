"""The rules in force for a worker: read again every few seconds, and before it gives up a URL because of them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping

from gossamer.crawl.bound_frontier import BoundFrontier
from gossamer.crawl.held_site import HeldSites
from gossamer.crawl.life import Life
from gossamer.crawl.robots import RobotsBook
from gossamer.crawl.scope import LiveScope
from gossamer.crawl.seams import Parses, Runs
from gossamer.crawl.understand import Rules
from gossamer.data.guidance import guidance_of
from gossamer.frontier.contract import KnownFacts
from gossamer.settings import Settings


class LiveRules:
    """Scope, document rules, mirrors and orders of operators, as last read."""

    def __init__(
        self, settings: Settings, scope: LiveScope, rules: Rules, thread: Runs, frontier: BoundFrontier,
        parsers: Parses, sites: HeldSites, robots: RobotsBook, life: Life,
    ) -> None:  # fmt: skip
        self._settings, self._scope, self.rules = settings, scope, rules
        self._thread, self._frontier, self._parsers = thread, frontier, parsers
        self._sites, self._robots, self._clock = sites, robots, life.clock
        self._read_at = 0.0
        self._known: dict[str, int] = {}
        """Sites → versions of the facts that the parsers have."""
        self._unordered: asyncio.Queue[str] = asyncio.Queue()
        """Sites whose waiting URLs are in an order that is out of date."""

    async def refresh(self, since: float) -> None:
        """Read new seeds, removals, rules and mirrors, unless that was done since."""
        if self._read_at >= since:
            return
        started = self._clock.now()
        documents = self._scope.documents
        if await self._thread.run(self._scope.refresh):
            self.rules.canonicalizer = self._scope.canonicalizer()
            if self._scope.documents is not documents:
                await self._frontier.guide(guidance_of(self._settings, self._scope.documents))
            self._parsers.configure(self._scope.parser_config())
        await self._heed_operator()
        await self.know(self._sites.names)
        self._read_at = started

    async def know(self, sites: Collection[str]) -> None:
        """Tell the parsers what is known of these sites by now, and let them forget sites that are not held."""
        if not self._settings.site.learn:
            return
        news = await self._frontier.facts_since({site: self._known.get(site, 0) for site in sites})
        # Others may have known and forgotten meanwhile: what is left is what is left now.
        wanted = {*sites, *self._sites.names}
        left = {site: KnownFacts() for site in self._known if site not in wanted}
        await self._tell({**left, **news})

    async def learned(self, news: Mapping[str, KnownFacts]) -> None:
        """Tell the parsers what was learned about sites, and fetch first what looks like their documents."""
        for site in await self._tell(news):
            self._unordered.put_nowait(site)

    async def _tell(self, news: Mapping[str, KnownFacts]) -> list[str]:
        """Tell parsers and frontier; returns the sites where other URLs look like documents than before."""
        for site, known in news.items():
            if known.version:
                self._known[site] = known.version
            else:
                self._known.pop(site, None)
            self._parsers.know(site, known)
        return await self._frontier.prefer(news) if news else []

    async def order_loop(self) -> None:
        """Put waiting URLs in order, a few thousand at a time: commits come in between."""
        while True:
            site, after = await self._unordered.get(), None
            while (after := await self._frontier.reorder(site, after)) is not None:
                pass

    async def _heed_operator(self) -> None:
        """Give back sites that are paused or about to be split anew, and apply operators' delays."""
        said = await self._frontier.directions(self._sites.names)
        self._robots.forget(said.robots)
        for held in self._sites:
            if held.site in said.leave:
                held.channel.leave()
            elif held.site in said.least_delays:  # a site that was leased just now was not in the question
                held.channel.limit(said.least_delays[held.site])

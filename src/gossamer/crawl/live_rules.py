"""The rules in force for a worker: read again every few seconds, and before it gives up a URL because of them."""

from __future__ import annotations

from gossamer.crawl.bound_frontier import BoundFrontier
from gossamer.crawl.held_site import HeldSites
from gossamer.crawl.life import Life
from gossamer.crawl.robots import RobotsBook
from gossamer.crawl.scope import LiveScope
from gossamer.crawl.seams import Parses, Runs
from gossamer.crawl.understand import Rules
from gossamer.data.guidance import guidance_of
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
        self._read_at = started

    async def _heed_operator(self) -> None:
        """Give back sites that are paused or about to be split anew, and apply operators' delays."""
        said = await self._frontier.directions(self._sites.names)
        self._robots.forget(said.robots)
        for held in self._sites:
            if held.site in said.leave:
                held.channel.leave()
            elif held.site in said.least_delays:  # a site that was leased just now was not in the question
                held.channel.limit(said.least_delays[held.site])

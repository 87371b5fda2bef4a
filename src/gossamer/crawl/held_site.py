"""The sites that a worker holds, with the URLs and pages it has of each."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping

from gossamer.crawl.channel import Channel
from gossamer.frontier.contract import Lease, Place, SiteReport, Visit
from gossamer.model.records import LEVELS, Task
from gossamer.model.site import key64


class HeldSite:
    """A leased site or part: its channel, its URLs, and the pages under way."""

    def __init__(self, lease: Lease, channel: Channel) -> None:
        self.place = lease.place
        self.channel = channel
        self.tasks: deque[Task] = deque(lease.tasks)
        self.holding: set[int] = {task.key for task in lease.tasks}
        """Keys that the frontier handed out and that are not reported yet."""
        self.returned = 0
        """URLs given back untried since the last refill."""
        self.job: asyncio.Task[None] | None = None
        """Visits URL after URL."""
        self.pages: set[asyncio.Task[None]] = set()
        """Pages that are being parsed or rendered."""
        self._rendering = 0
        self._calm = asyncio.Event()
        self._calm.set()

    @property
    def site(self) -> str:
        """Its site."""
        return self.place.site

    def offer(self, level: int) -> None:
        """New URLs of the site wait in this level: give worse ones back, so that the next refill brings the best."""
        if any(level < task.level < LEVELS for task in self.tasks):
            self.holding.difference_update(task.key for task in self.tasks)
            self.returned += len(self.tasks)
            self.tasks.clear()

    @contextlib.contextmanager
    def rendering(self) -> Iterator[None]:
        """No other page of the site is begun inside: the page that is rendered makes all requests."""
        self._rendering += 1
        self._calm.clear()
        try:
            yield
        finally:
            self._rendering -= 1
            if not self._rendering:
                self._calm.set()

    async def calm(self) -> None:
        """Wait while a page of the site is rendered."""
        await self._calm.wait()

    @property
    def uncommitted(self) -> int:
        """How many of its URLs were begun and are not committed yet."""
        return len(self.holding) - len(self.tasks)

    @property
    def is_active(self) -> bool:
        """Whether its URLs are still being visited."""
        return self.job is not None and not self.job.done()

    @property
    def is_done(self) -> bool:
        """Whether it can be given back: nothing under way, nothing unreported but untried URLs."""
        under_way = self.job is None or not self.job.done() or self.channel.borrowers
        return not under_way and self.uncommitted <= 0

    def last_report(self) -> SiteReport:
        """Its state for the frontier when it is given back."""
        return self.channel.report(len(self.tasks) + self.returned)


class HeldSites:
    """All sites of a worker."""

    def __init__(self) -> None:
        self._held: dict[Place, HeldSite] = {}

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[HeldSite]:
        return iter(list(self._held.values()))

    def add(self, held: HeldSite) -> None:
        """One more."""
        self._held[held.place] = held

    def remove(self, held: HeldSite) -> None:
        """One fewer."""
        del self._held[held.place]

    @property
    def names(self) -> set[str]:
        """The sites, whichever of their parts are held."""
        return {held.site for held in self._held.values()}

    @property
    def split(self) -> set[str]:
        """Those that are split into parts."""
        return {held.site for held in self._held.values() if held.channel.lease.parts > 1}

    @property
    def active(self) -> int:
        """How many are being visited."""
        return sum(held.is_active for held in self._held.values())

    def channel_to(self, site: str) -> Channel | None:
        """The channel to a site, if it is held."""
        return next((held.channel for held in self._held.values() if held.site == site), None)

    def reports(self, places: Collection[Place]) -> list[SiteReport]:
        """The state of those that were visited."""
        return [held.channel.report() for place, held in self._held.items() if place in places]

    def reported(self, visits: Iterable[Visit]) -> None:
        """Record that the frontier has these visits."""
        for visit in visits:
            self._held[visit.place].holding.discard(visit.task.key)

    def offer(self, best: Mapping[int, int]) -> None:
        """The best levels of new URLs, by the key of their site."""
        for held in self:
            if (level := best.get(key64(held.site))) is not None:
                held.offer(level)

"""The frontier as one worker sees it: awaitable calls of the contract, without the worker's name and the time.

The frontier belongs to one thread, so the event loop never waits for the database.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from gossamer.crawl.life import Life
from gossamer.crawl.seams import Runs
from gossamer.frontier.contract import Directions, Frontier, KnownFacts, Lease, Place, SiteReport
from gossamer.frontier.guidance import Guidance
from gossamer.model.records import Task


class BoundFrontier:
    """A frontier bound to a worker, a thread and a clock."""

    def __init__(self, frontier: Frontier, thread: Runs, life: Life) -> None:
        self._frontier, self._thread, self._life = frontier, thread, life

    @property
    def _who(self) -> str:
        return self._life.name

    def _now(self) -> float:
        return self._life.clock.now()

    async def register(self) -> None:
        """Register the worker."""
        await self._thread.run(self._frontier.register, self._who, self._now())

    async def take(self, sites: int, urls: int) -> list[Lease]:
        """Lease up to so many ready sites, with up to so many URLs."""
        return await self._thread.run(self._frontier.take, self._who, self._now(), sites, urls)

    async def refill(self, place: Place, holding: Sequence[int], urls: int, returned: int) -> list[Task]:
        """More URLs of a leased site."""
        return await self._thread.run(self._frontier.refill, self._who, place, holding, self._now(), urls, returned)

    async def hold_address(self, site: str, slot: str) -> float | None:
        """When the address may get its next request; None while another worker holds it."""
        return await self._thread.run(self._frontier.hold_address, self._who, site, slot, self._now())

    async def borrow(self, site: str) -> Lease | None:
        """Lease a site for one request; None while it is paused or another worker's."""
        return await self._thread.run(self._frontier.borrow, self._who, site, self._now())

    async def release(self, sites: Sequence[SiteReport], addresses: Sequence[tuple[str, float]]) -> None:
        """Give sites and addresses back."""
        await self._thread.run(self._frontier.release, self._who, sites, addresses, self._now())

    async def retire(self) -> None:
        """End the worker's registration."""
        await self._thread.run(self._frontier.retire, self._who, self._now())

    async def fewest_sites(self) -> int | None:
        """Number of sites of the other worker that has the fewest; None if there is no other."""
        return await self._thread.run(self._frontier.fewest_sites, self._who, self._now())

    async def waits(self, sites: Collection[str]) -> dict[str, tuple[float, str]]:
        """Which of the sites must wait, until when, and why."""
        return await self._thread.run(self._frontier.waits, sites)

    async def directions(self, held: Collection[str]) -> Directions:
        """Orders of operators about these sites."""
        return await self._thread.run(self._frontier.directions, held)

    async def robots(self, origin: str) -> bytes | None:
        """The stored state of an origin's robots.txt."""
        return await self._thread.run(self._frontier.robots, origin)

    async def facts_since(self, known: Mapping[str, int]) -> dict[str, KnownFacts]:
        """What is known of sites by now, where it is newer than the versions given."""
        return await self._thread.run(self._frontier.facts_since, known)

    async def prefer(self, known: Mapping[str, KnownFacts]) -> list[str]:
        """Fetch first what looks like the documents of these sites; returns those that must be reordered."""
        return await self._thread.run(self._frontier.prefer, known)

    async def reorder(self, site: str, after: int | None) -> int | None:
        """Put the next waiting URLs of a site where they belong now; None: there are no more."""
        return await self._thread.run(self._frontier.reorder, site, after, self._now())

    async def guide(self, guidance: Guidance) -> None:
        """Use other guidance from now on."""
        await self._thread.run(self._frontier.guide, guidance)

"""Channels to sites that are not the runner's own.

A robots.txt may redirect to another site. That site has a politeness clock and
perhaps an owner, so it is leased for the one request, like any other.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from gossamer.crawl.bound_frontier import BoundFrontier
from gossamer.crawl.channel import Channel, Grounds, Rest
from gossamer.frontier.contract import SiteReport

_BUSY = 5.0
"""Seconds to wait for a site that somebody else is talking to."""


class Borrowing:
    """Lends channels: the worker's own where it works on the site, else a lease for the purpose."""

    def __init__(
        self,
        frontier: BoundFrontier,
        grounds: Grounds,
        own: Callable[[str], Channel | None],
        release: Callable[[list[SiteReport]], Awaitable[None]],
    ) -> None:
        self._frontier, self._grounds, self._own, self._release = frontier, grounds, own, release
        self._borrowed: dict[str, Channel] = {}

    async def borrow(self, site: str) -> Channel | Rest:
        """A channel to a site, or when to ask again."""
        if own := self._own(site):
            own.borrowers += 1
            return own
        lease = await self._frontier.borrow(site)
        if lease is None:
            until = self._grounds.life.clock.now() + _BUSY
            return Rest(until, f"{site}, which has its robots.txt, is paused or being asked by somebody else")
        channel = self._borrowed[site] = Channel(lease, self._grounds)
        return channel

    async def give_back(self, channel: Channel) -> None:
        """The request is done."""
        if channel is not self._borrowed.get(channel.lease.site):
            channel.borrowers -= 1
            return
        del self._borrowed[channel.lease.site]
        channel.close()
        await self._release([channel.report()])

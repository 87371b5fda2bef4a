"""Channels to sites that are not the runner's own.

A robots.txt may redirect to another site. That site has a politeness clock and perhaps an owner, so the worker leases
it
for the one request.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from gossamer.crawl.bound_frontier import BoundFrontier
from gossamer.crawl.channel import Channel, Grounds, Rest
from gossamer.frontier.contract import SiteReport

_BUSY = 5.0
"""Seconds to wait for a site that another worker holds."""


class Borrowing:
    """Lends channels: the worker's own if it holds the site, else one with a lease for the purpose."""

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
        """A channel to a site, or when to try again."""
        if own := self._own(site):
            own.borrowers += 1
            return own
        lease = await self._frontier.borrow(site)
        if lease is None:
            until = self._grounds.life.clock.now() + _BUSY
            return Rest(until, f"its robots.txt is on {site}, which is paused or in use by another worker")
        channel = self._borrowed[site] = Channel(lease, self._grounds)
        return channel

    async def give_back(self, channel: Channel) -> None:
        """End the loan."""
        if channel is not self._borrowed.get(channel.lease.site):
            channel.borrowers -= 1
            return
        del self._borrowed[channel.lease.site]
        channel.close()
        await self._release([channel.report()])

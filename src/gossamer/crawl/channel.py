"""The only way to talk to a site: one request after the other, with pauses, and only while its lease is ours.

A channel belongs to a lease. It knows the site's politeness clock, and shares the clock of the site's IP address with
the other channels to that address. Requests wait here, never in the policy. A channel does not sit out a long wait: it
tells the caller, which gives the site back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec

from gossamer.crawl.addresses import Address, AddressBook, slot_of
from gossamer.crawl.life import Life
from gossamer.crawl.seams import Fetches, Resolves
from gossamer.fetch.limits import Trouble
from gossamer.fetch.request import Request
from gossamer.frontier import politeness
from gossamer.frontier.contract import Lease, SiteReport
from gossamer.frontier.politeness import PolitenessConfig
from gossamer.model.outcome import Outcome
from gossamer.model.records import Response
from gossamer.model.site import host_of

_LOOK = 1.0
"""Seconds between two checks of a waiting channel whether the site is to be given back."""


class Rest(msgspec.Struct, frozen=True):
    """The site must wait for a while."""

    until: float
    reason: str
    of_site: bool = True
    """Whether the whole site has to wait, and not just this part of it."""
    of_origin: bool = False
    """Whether the robots.txt of one scheme asks for it: that of another scheme may differ."""


class Grounds(msgspec.Struct, frozen=True):
    """Shared by all channels of a worker."""

    life: Life
    fetcher: Fetches
    resolver: Resolves
    addresses: AddressBook
    politeness: PolitenessConfig
    slots: asyncio.Semaphore
    """A slot for each download that may be under way."""
    patience: float
    """Seconds a channel waits before it gives the site back."""
    chance: Callable[[], float]
    """Random numbers of 0…1, for waits that should not be in step."""


class Channel:
    """Polite requests to one site."""

    def __init__(self, lease: Lease, grounds: Grounds) -> None:
        self.lease = lease
        self.clock = lease.clock
        self.address: Address | None = None
        self.borrowers = 0
        """Other sites that use this channel for their robots.txt."""
        self.busy = asyncio.Lock()
        self._grounds = grounds
        self._leaving = False
        self._host = host_of(lease.site)
        self._rules = politeness.for_part(grounds.politeness, lease.parts)

    async def request(self, request: Request) -> Response | Rest:
        """Wait until site and address may get a request, then make it."""
        async with self.busy:
            try:
                address = await self._grounds.resolver.address_of(self._host)
            except Trouble as trouble:
                return self._unreached(request, trouble)
            slot = slot_of(address, self.lease.place.part)
            moved = self.address is None or self.address.slot != slot
            if moved and (rest := await self._move(slot)):
                return rest
            return await self._in_turn(request)

    def now(self) -> float:
        """The time."""
        return self._grounds.life.clock.now()

    def rest(self, rest: Rest) -> None:
        """Allow no request to the site before a time; in a site of several parts only to this part, if the others are
        not concerned."""
        later = max(self.clock.not_before, rest.until)
        reason = rest.reason if rest.of_site or self.lease.parts == 1 else self.clock.reason
        self.clock = msgspec.structs.replace(self.clock, not_before=later, reason=reason)

    def leave(self) -> None:
        """Make no further request: the site is to be given back."""
        self._leaving = True

    @property
    def is_left(self) -> bool:
        """Whether the site is to be given back."""
        return self._leaving

    def limit(self, least_delay: float) -> None:
        """Apply an operator's delay."""
        if least_delay != self.clock.least_delay:
            self.clock = politeness.limited(self.clock, least_delay, self.now(), self._rules)

    def heed(self, crawl_delay: float | None, fetched_at: float) -> None:
        """Apply the delay of a robots.txt that was fetched at that time."""
        self.clock = politeness.robots_changed(self.clock, crawl_delay, fetched_at, self._rules)

    def heed_again(self, crawl_delay: float | None) -> None:
        """Apply the delay of a robots.txt that another part of the site fetched."""
        if self.lease.parts > 1 and self.clock.crawl_delay != max(0.0, crawl_delay or 0.0):
            self.heed(crawl_delay, self.now())

    def report(self, unused: int = 0) -> SiteReport:
        """The channel's state for the frontier."""
        address = self.address.address if self.address else ""
        lease = self.lease
        return SiteReport(lease.place, lease.token, self.clock, address, unused, lease.parts)

    def close(self) -> None:
        """Leave the address to the other sites."""
        if self.address is not None:
            self._grounds.addresses.drop(self.address)
            self.address = None

    async def _move(self, slot: str) -> Rest | None:
        self.close()
        self.address = await self._grounds.addresses.hold(self.lease.site, slot)
        if self.address is None:
            return Rest(self.now(), f"another worker is talking to {slot}", of_site=False)
        return None

    async def _in_turn(self, request: Request) -> Response | Rest:
        assert self.address is not None
        grounds, address = self._grounds, self.address
        if rest := await self._wait_until(self.clock.not_before, self.clock.reason):
            return rest
        async with address.turn:
            if rest := await self._wait_until(address.not_before, ""):
                return rest
            async with grounds.slots:
                if self._leaving:
                    return self._untried()
                grounds.life.check()
                response = await grounds.fetcher.fetch(
                    msgspec.structs.replace(request, address=address.address, slot=address.slot)
                )
            self._settle(response, address)
        return response

    async def _wait_until(self, time: float, reason: str) -> Rest | None:
        # In a loop: timers of an event loop may fire up to a millisecond early.
        while (wait := time - self.now()) > 0:
            if self._leaving:
                return self._untried()
            if wait > self._grounds.patience or not await self._grounds.life.sleep(min(wait, _LOOK)):
                return Rest(time, reason or politeness.pace(self.clock, self._rules), of_site=bool(reason))
        return None

    def _untried(self) -> Rest:
        """The result of a request that is not made because the site is given back: the site waits no longer for it."""
        return Rest(self.clock.not_before, self.clock.reason)

    def _settle(self, response: Response, address: Address) -> None:
        config = self._rules
        address.not_before = max(address.not_before, response.answered_at + config.address_delay)
        address.changed = True
        if response.outcome.meaning.slow:
            self._trouble(response)
        else:
            self.clock = politeness.answered(self.clock, response.answered_at, config)

    def _trouble(self, response: Response) -> None:
        reason = response.reason or response.outcome.meaning.sentence
        self.clock = politeness.troubled(
            self.clock,
            response.finished_at,
            reason,
            self._rules,
            response.retry_after,
            self._grounds.chance(),
        )

    def _unreached(self, request: Request, trouble: Trouble) -> Response:
        response = self._grounds.fetcher.failed(request.url, trouble)
        if trouble.outcome is not Outcome.ADDRESS_REFUSED:
            self._trouble(response)
        return response

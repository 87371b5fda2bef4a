"""Fetches the resources that a page loads while it is rendered, as politely as pages.

Every resource is fetched through the channel of its site, in turn and with its delays; robots.txt and address guards
apply; each redirect is a request of its own.

Another site gets a request only while its channel can be borrowed; never if the operator has access to it, or to the
page's own site; and never at a private address from a public page. A page must not show what is behind another site's
login, and what is behind a login must not leak to others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

import msgspec

from gossamer.crawl.borrowing import Borrowing
from gossamer.crawl.channel import Channel, Rest
from gossamer.crawl.held_site import HeldSite
from gossamer.crawl.life import Life
from gossamer.crawl.render.resources import Resources
from gossamer.crawl.robots import RobotsBook
from gossamer.crawl.seams import Resolves
from gossamer.crawl.understand import Rules
from gossamer.fetch.browser import SubRequest
from gossamer.fetch.guard import AddressPolicy
from gossamer.fetch.limits import Trouble
from gossamer.fetch.request import Request, target_of
from gossamer.model.decision import Decision
from gossamer.model.outcome import Outcome
from gossamer.model.records import Response
from gossamer.model.site import host_of, site_of
from gossamer.model.url import parse_base

_HOPS = 5
"""Redirects of a resource that are followed."""
_BORROW_TRIES = 4
_BORROW_PAUSE = 0.5
"""Seconds between two tries to borrow a channel."""
_OTHERS = 100
"""Other sites that the pages of one site may load from, in a worker's life: each becomes a site of the crawl, and a
server can make up any number of names.
"""
_PUBLIC = AddressPolicy(contact="anybody")
"""Tells public addresses from all others."""


class Shop(msgspec.Struct, frozen=True):
    """The parts of a worker that rendering needs."""

    life: Life
    resolver: Resolves
    robots: RobotsBook
    rules: Rules


class Supply:
    """The source of resources for all pages of a worker."""

    def __init__(self, shop: Shop, borrowing: Borrowing, guarded: Collection[str]) -> None:
        self.shop, self.borrowing = shop, borrowing
        self.guarded = frozenset(guarded)
        """Hosts that the operator has access to."""
        self.others: dict[str, set[str]] = {}
        """Site → the other sites that its pages have loaded from."""
        self.resources = Resources()
        self.under_way: set[asyncio.Task[Any]] = set()
        """Requests of pages."""


class Loads:
    """Resources of one page: one at a time from each site, as far as allowed, until the page is done."""

    def __init__(self, supply: Supply, held: HeldSite) -> None:
        self._supply, self._shop, self._held = supply, supply.shop, held
        self._turns: dict[str, asyncio.Lock] = {}
        self.requests = 0
        """Requests made, without answers from memory."""
        self.over = False
        """The page is done: no further requests."""
        self.put_off = ""
        """Why a site could not deliver a resource now, though it may another time."""
        self.is_cut_off = False
        """Whether the page's own site was given back meanwhile: the page shows a part of itself only."""

    async def fetch(self, sub: SubRequest) -> Response:
        """A resource, or why there is none."""
        task = asyncio.current_task()
        assert task is not None
        self._supply.under_way.add(task)
        try:
            return await self._follow(sub)
        finally:
            self._supply.under_way.discard(task)

    async def _follow(self, sub: SubRequest) -> Response:
        url = sub.url.partition("#")[0]
        for _ in range(_HOPS + 1):
            try:
                target_of(url)
                response = await self._fetch_one(url, sub)
            except Trouble as trouble:
                return self._refused(url, trouble.reason, trouble.outcome)
            if response.outcome is not Outcome.REDIRECT:
                return response
            target = self._shop.rules.canonicalizer.literal(parse_base(url), response.location)
            if isinstance(target, Decision):
                return self._refused(url, f"redirects to {response.location[:200]!r}: {target.reason}")
            url = target
        return self._refused(url, f"more than {_HOPS} redirects in a row")

    async def _fetch_one(self, url: str, sub: SubRequest) -> Response:
        site = site_of(url)
        if site != self._held.site:
            await self._check_foreign(site)  # before the memory: what is in it has an owner, too
        # One request at a time for each site, and none for a page that is done. A request that was sent counts for
        # politeness, so it is never cancelled.
        async with self._turns.setdefault(site, asyncio.Lock()):
            kept = self._supply.resources.get(site, url, self._shop.life.clock.now())
            if kept is not None:
                return kept
            if self.over or self._shop.life.stopping:
                return self._refused(url, "the page is done")
            response = await self._through_channel(site, url, sub)
            if isinstance(response, Rest):
                self._put_off(site, response.reason)
                self.is_cut_off |= site == self._held.site and self._held.channel.is_left
                return self._refused(url, f"{site} gets no request now: {response.reason}")
            if response.outcome.meaning.slow:
                self._put_off(site, response.reason or response.outcome.meaning.sentence)
            elif response.status:
                self._supply.resources.keep(site, url, sub.kind, response, self._shop.life.clock.now())
            return response

    async def _through_channel(self, site: str, url: str, sub: SubRequest) -> Response | Rest:
        own = self._held.channel
        if site == self._held.site:
            own.borrowers += 1
            try:
                return await self._ask(own, url, sub)
            finally:
                own.borrowers -= 1
        other = await self._borrow(site)
        if isinstance(other, Rest):
            return other
        try:
            return await self._ask(other, url, sub)
        finally:
            await self._supply.borrowing.give_back(other)

    async def _check_foreign(self, site: str) -> None:
        """Raise `Trouble` if a page of another site must not load from this one."""
        guarded = self._supply.guarded & {host_of(site), host_of(self._held.site)}
        if guarded:
            raise Trouble(
                Outcome.REFUSED, f"{min(guarded)} has a login of its own (sites), which other sites may not use"
            )
        address = await self._shop.resolver.address_of(host_of(site))
        page = self._held.channel.address
        if not _PUBLIC.check(address).allowed and (page is None or _PUBLIC.check(page.address).allowed):
            raise Trouble(Outcome.ADDRESS_REFUSED, f"{address} is not public, and the page is")
        others = self._supply.others.setdefault(self._held.site, set())
        if site not in others and len(others) >= _OTHERS:
            raise Trouble(Outcome.REFUSED, f"pages of {self._held.site} load from more than {_OTHERS} other sites")
        others.add(site)

    async def _borrow(self, site: str) -> Channel | Rest:
        found = await self._supply.borrowing.borrow(site)
        for _ in range(_BORROW_TRIES):
            if isinstance(found, Channel) or self.over:
                break
            await asyncio.sleep(_BORROW_PAUSE)
            found = await self._supply.borrowing.borrow(site)
        return found if isinstance(found, Channel) else Rest(found.until, "it is paused, or another worker holds it")

    async def _ask(self, channel: Channel, url: str, sub: SubRequest) -> Response | Rest:
        permission = await self._shop.robots.may_fetch(url, channel)
        if isinstance(permission, Decision):
            if not permission.allowed:
                raise Trouble(Outcome.ROBOTS_DENIED, permission.reason)
        else:
            return permission
        if self.over:
            raise Trouble(Outcome.REFUSED, "the page is done")
        headers = {"X-Requested-With": sub.requested_with} if sub.requested_with == "XMLHttpRequest" else {}
        self.requests += 1
        return await channel.request(Request(url, accept_types=(), headers=headers))

    def _put_off(self, site: str, reason: str) -> None:
        self.put_off = self.put_off or f"{site} did not deliver what it loads: {reason or 'its delay was too long'}"

    def _refused(self, url: str, reason: str, outcome: Outcome = Outcome.REFUSED) -> Response:
        now = self._shop.life.clock.now()
        return Response(url, outcome, now, now, now, reason=reason)

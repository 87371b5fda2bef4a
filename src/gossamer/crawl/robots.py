"""Fetches robots.txt through the site's channel, keeps the answers, and decides by them.

A redirect of robots.txt to another site is a request to *that* site: it goes through a channel of its own, borrowed for
the purpose.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import cast
from weakref import WeakValueDictionary

import msgspec

from gossamer.clock import Clock
from gossamer.crawl.borrowing import Borrowing
from gossamer.crawl.channel import Channel, Rest
from gossamer.fetch.identity import AGENT
from gossamer.fetch.request import Request
from gossamer.model.decision import Decision, allow
from gossamer.model.outcome import Outcome
from gossamer.model.records import Response
from gossamer.model.site import origin_of, site_of
from gossamer.model.url import Canonicalizer, parse_base
from gossamer.robots.rules import MAX_BYTES, Robots
from gossamer.robots.verdict import Answer, RobotsConfig, RobotsState, after_fetch, is_fresh, verdict

_HOPS = 6
_KEPT = 10_000


class Known(msgspec.Struct):
    """An origin's robots.txt, parsed."""

    state: RobotsState
    rules: Robots


class RobotsBook:
    """The robots.txt of the origins that this worker visits."""

    def __init__(
        self,
        config: RobotsConfig,
        clock: Clock,
        canonicalizer: Canonicalizer,
        load: Callable[[str], Awaitable[bytes | None]],
        fetched: Callable[[str, bytes, Sequence[str]], None],
        borrowing: Borrowing,
    ) -> None:
        self._config, self._clock, self._canonicalizer = config, clock, canonicalizer
        self._load, self._fetched, self._borrowing = load, fetched, borrowing
        self._known: OrderedDict[str, Known] = OrderedDict()
        self._asking: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._version = 0

    def forget(self, version: int) -> None:
        """Read the stored state again if this number has grown: a person wants some sites to be asked anew."""
        if version != self._version:
            self._version = version
            self._known.clear()

    async def may_fetch(self, url: str, channel: Channel) -> Decision | Rest | Response:
        """A decision, a time to come back, or the failure that prevents a decision."""
        origin = origin_of(url)
        known = self._fresh(origin)
        if known is None:
            # The parts of a site need it at the same time; one of them fetches for all.
            async with self._asking.setdefault(origin, asyncio.Lock()):
                answer = self._fresh(origin) or await self._look(origin, channel)
            if isinstance(answer, (Rest, Response)):
                return answer
            known = answer
        channel.heed_again(known.rules.crawl_delay)
        return self._decide(url, known)

    def _fresh(self, origin: str) -> Known | None:
        known = self._known.get(origin)
        return known if known is not None and is_fresh(known.state, self._clock.now()) else None

    async def _look(self, origin: str, channel: Channel) -> Known | Rest | Response:
        """The stored state if it is fresh; else the server's answer."""
        known = self._known.get(origin) or await self._load_known(origin, channel)
        if known is not None and is_fresh(known.state, self._clock.now()):
            return known
        return await self._fetch(origin, known, channel)

    def _decide(self, url: str, known: Known) -> Decision | Rest:
        now = self._clock.now()
        answer = verdict(known.state, now, self._config)
        if answer.answer is Answer.ASK_RULES:
            return known.rules.decide(url)
        if answer.answer is Answer.ALLOW:
            return allow("robots", answer.reason)
        return Rest(answer.until, answer.reason, of_origin=True)

    async def _load_known(self, origin: str, channel: Channel) -> Known | None:
        stored = await self._load(origin)
        if stored is None:
            return None
        return await self._keep(origin, msgspec.msgpack.decode(stored, type=RobotsState), channel)

    async def _fetch(self, origin: str, old: Known | None, channel: Channel) -> Known | Rest | Response:
        response = await self._follow(f"{origin}/robots.txt", channel)
        if isinstance(response, Rest) or response.outcome is Outcome.ADDRESS_REFUSED:
            return response
        state = after_fetch(
            old.state if old else None, response.status, response.outcome, response.body, self._clock.now(),
            response.retry_after, self._config, response.reason,
        )  # fmt: skip
        known = await self._keep(origin, state, channel)
        self._fetched(origin, msgspec.msgpack.encode(state), known.rules.sitemaps)
        return known

    async def _keep(self, origin: str, state: RobotsState, channel: Channel) -> Known:
        known = Known(state, await _read(state.body))
        self._known[origin] = known
        self._known.move_to_end(origin)
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        channel.heed(known.rules.crawl_delay, state.fetched_at)
        return known

    async def _follow(self, url: str, channel: Channel) -> Response | Rest:
        for hop in range(_HOPS):
            response = await self._ask(url, channel)
            if isinstance(response, Rest):
                return response
            if response.outcome is not Outcome.REDIRECT:
                if hop and response.reason:
                    response.reason = f"robots.txt leads to {url}: {response.reason}"
                return response
            target = self._canonicalizer.resolve(parse_base(url), response.location)
            if isinstance(target, Decision):
                response.outcome, response.reason = Outcome.BAD_REDIRECT, target.reason
                return response
            url = target
        return response

    async def _ask(self, url: str, channel: Channel) -> Response | Rest:
        request = Request(url, accept_types=(), max_bytes=MAX_BYTES, truncate=True)
        if site_of(url) == channel.lease.site:
            return await channel.request(request)
        other = await self._borrowing.borrow(site_of(url))
        if isinstance(other, Rest):
            return other
        try:
            return await other.request(request)
        finally:
            await self._borrowing.give_back(other)


async def _read(body: bytes) -> Robots:
    steps = Robots.in_steps(body, AGENT)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return cast(Robots, end.value)
        await asyncio.sleep(0)

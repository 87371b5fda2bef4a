"""One request, one response, one hop.

`Fetcher.fetch` never raises for anything a server does: it returns a `Response` with an outcome. Redirects are
outcomes,
too; following one is a new decision of scope, robots and politeness.

A server may close an unused connection at the very moment we send a request over it. That is nobody's fault: if not a
byte of a response arrived, the request is sent once more over a new connection. On a new connection it never is; and a
form, which may do something at the server each time, gets a new connection at once.

The hole that remains: bytes that a server sends beyond its response end the connection if they come before the next
request is sent; later they are taken for its answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Self

from gossamer.clock import Clock
from gossamer.fetch.access import CookieJar, check_headers
from gossamer.fetch.conditional import validators
from gossamer.fetch.connect import Connector, key_of
from gossamer.fetch.dns import Resolver
from gossamer.fetch.guard import AddressPolicy
from gossamer.fetch.limits import FetchConfig, Trouble
from gossamer.fetch.pool import Pool, Slot
from gossamer.fetch.reply import Reply
from gossamer.fetch.request import Heads, Request, target_of
from gossamer.fetch.response import judge, settle
from gossamer.fetch.target import Target
from gossamer.model.outcome import Outcome
from gossamer.model.records import Response


class Fetcher:
    """Fetches pages. Open it inside a running event loop; `async with` does. The constructor raises `UsageError` for
    settings that cannot work."""

    def __init__(self, config: FetchConfig, guard: AddressPolicy, dns: Resolver, clock: Clock) -> None:
        config.check()
        self._config = config
        self._dns = dns
        self._clock = clock
        self._connector = Connector(config, guard, clock)
        self._jar = CookieJar()
        self._heads = Heads(config, self._jar, self._connector.proxy)
        self._pool = Pool(config.max_idle_connections)
        self._loop: asyncio.AbstractEventLoop | None = None

    async def open(self) -> None:
        """Make ready for this event loop."""
        self._loop = asyncio.get_running_loop()

    async def close(self) -> None:
        """Close all connections."""
        await self._pool.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def drop(self, slot: str) -> None:
        """Close the unused connection to an address: its sites are another worker's now."""
        self._pool.drop(slot)

    def failed(self, url: str, trouble: Trouble, started_at: float = 0.0, address: str = "") -> Response:
        """The response to a request that got none."""
        now = self._clock.now()
        return Response(url, trouble.outcome, started_at or now, now, now, reason=trouble.reason, address=address)

    async def fetch(self, request: Request) -> Response:
        """Make one request; `started_at` is when it was due at its address."""
        started_at, address = self._clock.now(), request.address
        try:
            target = target_of(request.url)
            address = address or await self._dns.address_of(target.host)
            name = request.slot or address
            slot = await self._pool.acquire(name)
            try:
                started_at = self._clock.now()
                return await self._exchange(request, target, address, slot, started_at)
            finally:
                self._pool.release(name, slot)
        except Trouble as trouble:
            return self.failed(request.url, trouble, started_at, address)

    async def _exchange(
        self, request: Request, target: Target, address: str, slot: Slot, started_at: float
    ) -> Response:
        more = validators(request.etag, request.last_modified)
        if request.headers:
            more += check_headers(request.headers, "request")
        data, sent = self._heads.build(target, more, request.form)
        if request.form:
            await slot.clear()
        reply = await self._talk(data, target, address, slot, partial(judge, self._config, request))
        now = self._clock.now()
        if self._config.keep_cookies and "set-cookie" in reply.fields:
            lines = [value for name, value in reply.headers if name.lower() == "set-cookie"]
            self._jar.keep(target.site, lines, now)
        response = Response(
            request.url, Outcome.DOCUMENT, started_at, reply.answered_at or now, now, status=reply.status,
            headers=reply.headers, address=address, request_headers=sent, http_version=reply.version,
        )  # fmt: skip
        try:
            settle(self._config, request, reply, response, now)
        except Trouble as trouble:
            response.outcome, response.reason = trouble.outcome, trouble.reason
        return response

    async def _talk(
        self, data: bytes, target: Target, address: str, slot: Slot, judge: Callable[[Reply], None]
    ) -> Reply:
        loop = self._loop or asyncio.get_running_loop()
        deadline = loop.time() + self._config.total_timeout
        kept = slot.connection
        if kept is not None and kept.usable and kept.key == key_of(target):
            reply = await kept.exchange(data, judge, deadline)
            if reply.touched or reply.trouble is None or reply.trouble.outcome is Outcome.TIMEOUT:
                if not kept.usable:
                    await slot.clear()
                return reply
        await slot.clear()
        connection = slot.connection = await self._connector.connect(target, address)
        reply = await connection.exchange(data, judge, deadline)
        if not connection.usable:
            await slot.clear()
        return reply

"""`POST /click`: the browser tells which result was opened, where the operator asked for it (`serve.clicks`).

The script of the result page sends the URL of the result as the body. Without JavaScript the browser itself tells, by
the attribute `ping` of the link, with the URL in the header `Ping-To`: addresses never say what was opened, because
proxies log them. Nothing about the reader is kept: no address, no cookie, no query; what leaves this module is the URL.
So that nobody makes a page important alone, an address counts for a page once an hour: for that long a hash of both is
remembered, in memory, under a key that is made anew each day and never leaves it. `today.py` counts by query and place.

The answer is always the same, whether the click counted or not. It does not count where the reader asks not to be
followed (DNT, Sec-GPC), and where the request does not come from a page of ours: a foreign page cannot send the media
type of the script without asking first, which the guard refuses, and browsers say where a request comes from.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import secrets
from collections import OrderedDict
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from gossamer.clock import Clock
from gossamer.web.gate.clients import Clients

if TYPE_CHECKING:
    from gossamer.web.clicks.today import Today

PATH = "/click"
TYPE = "text/uri-list"
PING = "text/ping"
"""The media type of the attribute `ping`."""
MAX_BODY = 2048
"""Bytes of a body: as many as a URL may have by default."""
BODY_SECONDS = 10.0
"""Seconds a body may take to arrive."""
HOUR = 3600.0
DAY = 86_400.0
MAX_SEEN = 50_000
"""Pairs of address and page that are remembered; then the oldest are forgotten early."""

_LONGEST = 40
"""Characters of what stands for a query."""
_URL = re.compile(r"https?://[^\s\x00-\x1f\x7f]+")


class ClickService(Protocol):
    """Counts clicks; called on the event loop, so no call may wait for anything."""

    def count(self, url: str) -> None:
        """A reader opened the result with this URL, which may be none."""
        ...

    def close(self) -> None:
        """The server ends; this call may take a while."""
        ...


class Readers:
    """Who counted for which page within the hour, as hashes that mean nothing to others."""

    def __init__(self, most: int = MAX_SEEN) -> None:
        self._keys = [secrets.token_bytes(32)]
        """That of today, and for an hour that of yesterday."""
        self._day, self._turned = -1, 0.0
        self._most = most
        self._seen: OrderedDict[bytes, float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._seen)

    def counts(self, address: str, url: str, now: float) -> bool:
        """Whether the address has not counted for the page within the hour; it has from now on."""
        while self._seen and next(iter(self._seen.values())) <= now - HOUR:
            self._seen.popitem(last=False)
        self._turn(now)
        names = [hashlib.blake2b(f"{address} {url}".encode(), key=key, digest_size=16).digest() for key in self._keys]
        if not self._seen.keys().isdisjoint(names):
            return False
        self._seen[names[0]] = now
        if len(self._seen) > self._most:
            self._seen.popitem(last=False)
        return True

    def _turn(self, now: float) -> None:
        """Make the key of a new day; throw the old one away when nothing that it hid is remembered any more."""
        if int(now // DAY) != self._day:
            self._day, self._turned = int(now // DAY), now
            self._keys = [secrets.token_bytes(32), *self._keys[:1]]
        elif now - self._turned >= HOUR:
            del self._keys[1:]


class ClickPages:
    """The handler; the guard lets `POST` pass to it, and has checked host and pace."""

    def __init__(
        self, service: ClickService, clients: Clients, clock: Clock, base_url: str, today: Today | None = None
    ) -> None:
        self._service, self._clients, self._now, self._today = service, clients, clock.now, today
        self._host = urlsplit(base_url).netloc.lower()
        self._readers = Readers()

    def routes(self) -> list[Route]:
        """Where clicks go."""
        return [Route(PATH, self.click, methods=["POST"])]

    async def click(self, request: Request) -> Response:
        """One click."""
        headers = {"cache-control": "no-store"}
        body = await _read(request)
        if body is None:
            # What the sender still sends is not read.
            return Response(status_code=204, headers={**headers, "connection": "close"})
        is_ping = _media_type(request.headers) == PING
        url = request.headers.get("ping-to", "") if is_ping else body.decode("utf-8", "replace").strip()
        if len(url) <= MAX_BODY and _URL.fullmatch(url) and self._is_ours(request.headers):
            peer = request.client.host if request.client else ""
            address = self._clients.key(peer, request.headers.getlist("x-forwarded-for"))
            if self._readers.counts(address, url, self._now()):
                self._service.count(url)
            if self._today is not None:
                self._today.opened(address, request.query_params.get("c", "")[:_LONGEST], url, self._now())
        return Response(status_code=204, headers=headers)

    def _is_ours(self, headers: Headers) -> bool:
        """Whether a page of ours sent it and its reader may be counted, by what the browser says; browsers without
        `Sec-Fetch-Site`, and all on plain HTTP, tell the origin. Of a ping they tell the page: its origin is hidden, as
        our pages ask them to, and no foreign page can set this header."""
        if _media_type(headers) not in (TYPE, PING) or does_not_want(headers):
            return False
        if "sec-fetch-site" in headers:
            return headers["sec-fetch-site"] == "same-origin"
        page = headers.get("ping-from" if _media_type(headers) == PING else "origin", "")
        host = page.lower().partition("//")[2].partition("/")[0]
        return bool(host) and host in (headers.get("host", "").lower(), self._host)


def does_not_want(headers: Headers) -> bool:
    """Whether a reader asks not to be followed."""
    return headers.get("dnt") == "1" or headers.get("sec-gpc") == "1"


def _media_type(headers: Headers) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


async def _read(request: Request) -> bytes | None:
    """The body; None where it is too long, too slow or cut off."""
    body = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for piece in request.stream():
                body += piece
                if len(body) > MAX_BODY:
                    return None
    except (TimeoutError, ClientDisconnect):
        return None
    return body

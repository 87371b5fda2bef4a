"""`POST /click`: the result page tells which result was opened, where the operator asked for it (`serve.clicks`).

The body is the URL of the result. Nothing about the reader is kept: no address, no cookie, no query; what leaves this
module is the URL. So that nobody makes a page important alone, an address counts for a page once an hour: for that long
a hash of both is remembered, in memory, under a key that is made at the start and never leaves it.

The answer is always the same, whether the click counted or not. It does not count where the reader asks not to be
followed (DNT, Sec-GPC), and where the request does not come from a page of ours: a foreign page cannot send this media
type without asking first, which the guard refuses, and browsers say where a request comes from.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import secrets
from collections import OrderedDict
from typing import Protocol
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from gossamer.clock import Clock
from gossamer.web.gate.clients import Clients

PATH = "/click"
TYPE = "text/uri-list"
MAX_BODY = 2048
"""Bytes of a body: as many as a URL may have by default."""
BODY_SECONDS = 10.0
"""Seconds a body may take to arrive."""
HOUR = 3600.0
MAX_SEEN = 50_000
"""Pairs of address and page that are remembered; then the oldest are forgotten early."""

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
        self._key = secrets.token_bytes(32)
        self._most = most
        self._seen: OrderedDict[bytes, float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._seen)

    def counts(self, address: str, url: str, now: float) -> bool:
        """Whether the address has not counted for the page within the hour; it has from now on."""
        while self._seen and next(iter(self._seen.values())) <= now - HOUR:
            self._seen.popitem(last=False)
        name = hashlib.blake2b(f"{address} {url}".encode(), key=self._key, digest_size=16).digest()
        if name in self._seen:
            return False
        self._seen[name] = now
        if len(self._seen) > self._most:
            self._seen.popitem(last=False)
        return True


class ClickPages:
    """The handler; the guard lets `POST` pass to it, and has checked host and pace."""

    def __init__(self, service: ClickService, clients: Clients, clock: Clock, base_url: str) -> None:
        self._service, self._clients, self._now = service, clients, clock.now
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
        url = body.decode("utf-8", "replace").strip()
        if _URL.fullmatch(url) and _may_count(request.headers) and self._is_ours(request.headers):
            peer = request.client.host if request.client else ""
            address = self._clients.key(peer, request.headers.getlist("x-forwarded-for"))
            if self._readers.counts(address, url, self._now()):
                self._service.count(url)
        return Response(status_code=204, headers=headers)

    def _is_ours(self, headers: Headers) -> bool:
        """Whether a page of ours sent it, by what the browser says; browsers without `Sec-Fetch-Site`, and all on
        plain HTTP, tell the origin."""
        if headers.get("content-type", "").partition(";")[0].strip().lower() != TYPE:
            return False
        if "sec-fetch-site" in headers:
            return headers["sec-fetch-site"] == "same-origin"
        host = headers.get("origin", "").lower().partition("//")[2]
        return bool(host) and host in (headers.get("host", "").lower(), self._host)


def _may_count(headers: Headers) -> bool:
    return headers.get("dnt") != "1" and headers.get("sec-gpc") != "1"


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

"""The door for hubs: `GET /push/{id}` confirms a subscription, `POST /push/{id}` takes what a hub sends (WebSub).

It stands before the guard, which lets readers in with GET and without a body only, and so often: hubs send bodies,
and many of them at once. What replaces the guard here: nobody gets further than the id, which cannot be guessed; a
body is read up to a size and a time, and only so many at once.

Answers are what the recommendation demands. A delivery with a wrong signature is acknowledged like any other, so that
nobody can try signatures out; an id that is unknown is "gone", which ends the subscription at the hub.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping
from typing import Protocol

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gossamer.discover.websub import PATH
from gossamer.errors import GossamerError
from gossamer.web.pool import SearchPool

MAX_BODY = 2 * 1024 * 1024
"""Bytes of a delivery; a longer feed is polled."""
BODY_SECONDS = 30.0
"""Seconds a delivery may take to arrive."""
BODIES = 16
"""Deliveries that are read or wait at once; more are told to come back."""
_RETRY = "60"
_ID = re.compile(r"[A-Za-z0-9_-]{16,64}")
_SAFE = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'",
    "cache-control": "no-store",
}

log = logging.getLogger(__name__)


class PushService(Protocol):
    """A crawl that has subscriptions. Calls are synchronous and may raise a `GossamerError`."""

    def knows(self, id: str) -> bool:
        """Whether this is the address of a subscription."""
        ...

    def verify(self, id: str, query: Mapping[str, str]) -> str | None:
        """What to answer a hub that wants to know whether we subscribed; None: not found."""
        ...

    def deliver(self, id: str, signature: str, body: bytes) -> bool:
        """Take in what a hub sent; whether it was believed."""
        ...


class PushDoor:
    """ASGI middleware in front of the guard; everything that is not for hubs goes on."""

    def __init__(self, app: ASGIApp, service: PushService, pool: SearchPool) -> None:
        """`pool` has one thread: the service writes."""
        self._app, self._service, self._pool = app, service, pool
        self._bodies = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http" or not scope["path"].startswith(PATH):
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            response = await self._answer(request)
        except ClientDisconnect:
            return
        except GossamerError as error:
            log.warning("asked a hub to try again later: %s", error)
            response = _later()
        except Exception:
            log.exception("a request of a hub failed")
            response = _no(500)
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        id = str(request.scope["path"])[len(PATH) :]
        if request.method == "GET":
            return await self._verify(request, id)
        if request.method == "POST":
            return await self._deliver(request, id)
        response = _no(405)
        response.headers["allow"] = "GET, POST"
        return response

    async def _verify(self, request: Request, id: str) -> Response:
        known = _ID.fullmatch(id) is not None
        text = await self._pool.run(self._service.verify, id, dict(request.query_params)) if known else None
        if text is None:
            return _no(404)
        # The challenge is the sender's own text: nothing may take it for a page.
        return PlainTextResponse(text, headers=_SAFE)

    async def _deliver(self, request: Request, id: str) -> Response:
        if not _ID.fullmatch(id) or not await self._pool.run(self._service.knows, id):
            return _no(410)
        if self._bodies >= BODIES:
            return _later()
        self._bodies += 1
        try:
            body = await _read(request)
            if isinstance(body, Response):
                return body
            await self._pool.run(self._service.deliver, id, request.headers.get("x-hub-signature", ""), body)
        finally:
            self._bodies -= 1
        return Response(status_code=202, headers=_SAFE)


async def _read(request: Request) -> bytes | Response:
    """The body, or why it is not read."""
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and (len(length) > 12 or int(length) > MAX_BODY):
        return _no(413)
    pieces, size = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for piece in request.stream():
                size += len(piece)
                if size > MAX_BODY:
                    return _no(413)
                pieces.append(piece)
    except TimeoutError:
        return _no(408)
    return b"".join(pieces)


def _no(status: int) -> Response:
    """A refusal; what the sender still sends is not read."""
    return Response(status_code=status, headers={**_SAFE, "connection": "close"})


def _later() -> Response:
    response = _no(503)
    response.headers["retry-after"] = _RETRY
    return response

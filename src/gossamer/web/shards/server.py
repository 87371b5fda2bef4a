"""The server of one shard: the operations of `search/shards/shard.py` over HTTP, for front ends only.

    POST /shard/<operation>     MessagePack in, MessagePack out (`search/shards/values.py`)
    GET  /healthz, /readyz      as everywhere

Each request says which shard of how many it means, and in which version of the protocol. A node that is another one
refuses with a sentence, so that a wrong list of addresses shows as such, and not as wrong results. Where a key is set,
nobody gets an answer without it.
"""

from __future__ import annotations

import contextlib
import hmac
from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from gossamer.clock import SystemClock
from gossamer.errors import GossamerError, UsageError
from gossamer.search.shards.shard import OPERATIONS, ShardSearcher
from gossamer.search.shards.values import PROTOCOL, Envelope
from gossamer.settings import ServeSettings
from gossamer.web.gate.clients import Clients
from gossamer.web.gate.guard import Guard
from gossamer.web.pool import SearchPool
from gossamer.web.rendering import json_response
from gossamer.web.server import beyond_loopback
from gossamer.web.service import StoryService
from gossamer.web.shards.client import KEY_HEADER, MEDIA_TYPE, PREFIX, PROTOCOL_HEADER, SHARD_HEADER
from gossamer.web.shards.stories import STORY_OPERATIONS, answer_story

_MEDIA_TYPE = MEDIA_TYPE.encode()
_KEY, _PROTOCOL, _SHARD = KEY_HEADER.encode(), PROTOCOL_HEADER.encode(), SHARD_HEADER.encode()
MAX_BODY = 8 * 1024 * 1024
"""Bytes of a question; one of a hundred words is some tens of thousands."""


def create_shard_app(
    node: ShardSearcher, settings: ServeSettings, key: str = "", stories: StoryService | None = None
) -> ASGIApp:
    """The server of a shard as an ASGI application."""
    if beyond_loopback(settings.host) and not key:
        raise UsageError(
            f"a shard server on {settings.host} needs a key: set shards.key or GOSSAMER_SHARD_KEY, the same on every "
            "machine, or listen on 127.0.0.1"
        )
    pages = _ShardPages(node, SearchPool(settings.threads), key, stories)
    app = Starlette(routes=pages.routes(), lifespan=pages.lifespan)
    app.router.redirect_slashes = False
    # A front end asks for all its readers: it has a rate limit for each of them.
    unlimited = msgspec.structs.replace(settings, rate=0)
    pages.others = app
    return Guard(pages, unlimited, Clients(()), SystemClock(), _refuse, posts=pages.paths)


class _ShardPages:
    """The addresses of a shard's server. Questions are answered without the framework: its routes and requests take as
    long as a small search."""

    others: ASGIApp
    """Answers at all addresses but those of questions."""

    def __init__(self, node: ShardSearcher, pool: SearchPool, key: str, stories: StoryService | None) -> None:
        self._node, self._pool, self._key, self._stories = node, pool, key, stories
        self._operations = {**OPERATIONS, **(STORY_OPERATIONS if stories is not None else {})}
        self.paths = tuple(f"{PREFIX}{operation}" for operation in self._operations)

    def routes(self) -> list[Route]:
        """All of them."""
        return [
            Route("/healthz", self._healthz),
            Route("/readyz", self._readyz),
        ]

    @contextlib.asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Its threads end with the server."""
        yield
        self._pool.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http" or scope["path"] not in self.paths:
            await self.others(scope, receive, send)
            return
        answer = await self._asked(scope, receive)
        if isinstance(answer, Response):
            await answer(scope, receive, send)
            return
        head = [(b"content-type", _MEDIA_TYPE), (b"content-length", str(len(answer)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": answer})

    async def _asked(self, scope: Scope, receive: Receive) -> bytes | Response:
        """The answer to a question, or why there is none."""
        problem = _problem(dict(scope["headers"]), self._node, self._key)
        if problem is not None:
            return problem
        data = await _body(receive)
        if data is None:
            return _refuse(scope, 413, "The request is too long.")
        try:
            return await self._pool.run(self._answer, scope["path"].removeprefix(PREFIX), data)
        except msgspec.MsgspecError as error:
            return _refuse(scope, 400, f"The request is not valid: {error}")
        except GossamerError as error:
            return _refuse(scope, 503, str(error))

    def _answer(self, operation: str, data: bytes) -> bytes:
        ask = msgspec.msgpack.decode(data, type=self._operations[operation])
        sender = self._node.identity()
        if operation in STORY_OPERATIONS and self._stories is not None:
            body: Any = answer_story(self._stories, operation, ask)
        else:
            body = getattr(self._node, operation)(ask)
        envelope = Envelope(sender, msgspec.Raw(msgspec.msgpack.encode(body)))
        return msgspec.msgpack.encode(envelope)

    async def _healthz(self, request: Request) -> Response:
        return PlainTextResponse("ok\n", headers={"cache-control": "no-store"})

    async def _readyz(self, request: Request) -> Response:
        try:
            await self._pool.run(self._node.identity)
        except GossamerError as error:
            return PlainTextResponse(f"{error}\n", 503, {"cache-control": "no-store"})
        return PlainTextResponse(f"ok, shard {self._node.cut}\n", headers={"cache-control": "no-store"})


def _problem(headers: Mapping[bytes, bytes], node: ShardSearcher, key: str) -> Response | None:
    """Why this request gets no answer, where it gets none."""
    if key and not hmac.compare_digest(headers.get(_KEY, b""), key.encode("latin-1", "replace")):
        return json_response({"error": "The key is wrong: set the same shards.key on every machine."}, 403)
    protocol = headers.get(_PROTOCOL, b"").decode("latin-1")
    if protocol != str(PROTOCOL):
        sentence = f"This node speaks version {PROTOCOL} of the protocol, not {protocol[:20] or 'none'}."
        return json_response({"error": f"{sentence} Update the older one."}, 409)
    wanted = headers.get(_SHARD, b"").decode("latin-1")
    if wanted != str(node.cut):
        sentence = f"This node is shard {node.cut}, not {wanted[:20]}: correct the list."
        return json_response({"error": sentence}, 409)
    return None


async def _body(receive: Receive) -> bytes | None:
    """The whole body; None where it is too long."""
    data: bytes = b""
    while True:
        message = await receive()
        data += message.get("body", b"")
        if len(data) > MAX_BODY:
            return None
        if not message.get("more_body", False):
            return data


def _refuse(scope: Scope, status: int, sentence: str) -> Response:
    return json_response({"error": sentence}, status)

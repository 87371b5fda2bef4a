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
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Scope

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

MAX_BODY = 8 * 1024 * 1024
"""Bytes of a question; one of a hundred words is some tens of thousands."""


def create_shard_app(
    node: ShardSearcher, settings: ServeSettings, key: str = "", stories: StoryService | None = None
) -> Starlette:
    """The server of a shard as an ASGI application."""
    if beyond_loopback(settings.host) and not key:
        raise UsageError(
            f"a shard server on {settings.host} needs a key: set shards.key or GOSSAMER_SHARD_KEY, the same on every "
            "machine, or listen on 127.0.0.1"
        )
    pages = _ShardPages(node, SearchPool(settings.threads), key, stories)
    # A front end asks for all its readers: it has a rate limit for each of them.
    unlimited = msgspec.structs.replace(settings, rate=0)
    guard = Middleware(
        Guard, settings=unlimited, clients=Clients(()), clock=SystemClock(), refuse=_refuse, posts=pages.paths
    )
    app = Starlette(routes=pages.routes(), middleware=[guard], lifespan=pages.lifespan)
    app.router.redirect_slashes = False
    return app


class _ShardPages:
    """The addresses of a shard's server."""

    def __init__(self, node: ShardSearcher, pool: SearchPool, key: str, stories: StoryService | None) -> None:
        self._node, self._pool, self._key, self._stories = node, pool, key, stories
        self._operations = {**OPERATIONS, **(STORY_OPERATIONS if stories is not None else {})}
        self.paths = tuple(f"{PREFIX}{operation}" for operation in self._operations)

    def routes(self) -> list[Route]:
        """All of them."""
        return [
            *(Route(path, self._ask, methods=["POST"]) for path in self.paths),
            Route("/healthz", self._healthz),
            Route("/readyz", self._readyz),
        ]

    @contextlib.asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Its threads end with the server."""
        yield
        self._pool.close()

    async def _ask(self, request: Request) -> Response:
        problem = _problem(request, self._node, self._key)
        if problem is not None:
            return problem
        data = await _body(request)
        if data is None:
            return _refuse(request.scope, 413, "The request is too long.")
        try:
            return await self._pool.run(self._answer, request.scope["path"].removeprefix(PREFIX), data)
        except msgspec.MsgspecError as error:
            return _refuse(request.scope, 400, f"The request is not valid: {error}")
        except GossamerError as error:
            return _refuse(request.scope, 503, str(error))

    def _answer(self, operation: str, data: bytes) -> Response:
        ask = msgspec.msgpack.decode(data, type=self._operations[operation])
        sender = self._node.identity()
        if operation in STORY_OPERATIONS and self._stories is not None:
            body: Any = answer_story(self._stories, operation, ask)
        else:
            body = getattr(self._node, operation)(ask)
        envelope = Envelope(sender, msgspec.Raw(msgspec.msgpack.encode(body)))
        return Response(msgspec.msgpack.encode(envelope), 200, media_type=MEDIA_TYPE)

    async def _healthz(self, request: Request) -> Response:
        return PlainTextResponse("ok\n", headers={"cache-control": "no-store"})

    async def _readyz(self, request: Request) -> Response:
        try:
            await self._pool.run(self._node.identity)
        except GossamerError as error:
            return PlainTextResponse(f"{error}\n", 503, {"cache-control": "no-store"})
        return PlainTextResponse(f"ok, shard {self._node.cut}\n", headers={"cache-control": "no-store"})


def _problem(request: Request, node: ShardSearcher, key: str) -> Response | None:
    """Why this request gets no answer, where it gets none."""
    given = request.headers.get(KEY_HEADER, "")
    if key and not hmac.compare_digest(given.encode("latin-1", "replace"), key.encode("latin-1", "replace")):
        return _refuse(request.scope, 403, "The key is wrong: set the same shards.key on every machine.")
    protocol = request.headers.get(PROTOCOL_HEADER, "")
    if protocol != str(PROTOCOL):
        sentence = f"This node speaks version {PROTOCOL} of the protocol, not {protocol[:20] or 'none'}."
        return _refuse(request.scope, 409, f"{sentence} Update the older one.")
    wanted = request.headers.get(SHARD_HEADER, "")
    if wanted != str(node.cut):
        return _refuse(request.scope, 409, f"This node is shard {node.cut}, not {wanted[:20]}: correct the list.")
    return None


async def _body(request: Request) -> bytes | None:
    """The whole body; None where it is too long."""
    data = b""
    async for piece in request.stream():
        data += piece
        if len(data) > MAX_BODY:
            return None
    return data


def _refuse(scope: Scope, status: int, sentence: str) -> Response:
    return json_response({"error": sentence}, status)

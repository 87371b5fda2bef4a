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
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Scope

from gossamer.clock import Clock, SystemClock
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
    node: ShardSearcher,
    settings: ServeSettings,
    key: str = "",
    stories: StoryService | None = None,
    clock: Clock | None = None,
) -> Starlette:
    """The server of a shard as an ASGI application."""
    if beyond_loopback(settings.host) and not key:
        raise UsageError(
            f"a shard server on {settings.host} needs a key: set shards.key or GOSSAMER_SHARD_KEY, the same on every "
            "machine, or listen on 127.0.0.1"
        )
    operations = {**OPERATIONS, **(STORY_OPERATIONS if stories is not None else {})}
    pool = SearchPool(settings.threads)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        pool.close()

    def answer(operation: str, data: bytes) -> Response:
        ask = msgspec.msgpack.decode(data, type=operations[operation])
        sender = node.identity()
        if operation in STORY_OPERATIONS and stories is not None:
            body: Any = answer_story(stories, operation, ask)
        else:
            body = getattr(node, operation)(ask)
        envelope = Envelope(sender, msgspec.Raw(msgspec.msgpack.encode(body)))
        return Response(msgspec.msgpack.encode(envelope), 200, media_type=MEDIA_TYPE)

    def endpoint(operation: str) -> Callable[[Request], Any]:
        async def handle(request: Request) -> Response:
            problem = _problem(request, node, key)
            if problem is not None:
                return problem
            data = await _body(request)
            if data is None:
                return _refuse(request.scope, 413, "This question is too long.")
            try:
                return await pool.run(answer, operation, data)
            except msgspec.MsgspecError as error:
                return _refuse(request.scope, 400, f"This question is not understood: {error}")
            except GossamerError as error:
                return _refuse(request.scope, 503, str(error))

        return handle

    async def healthz(request: Request) -> Response:
        return PlainTextResponse("ok\n", headers={"cache-control": "no-store"})

    async def readyz(request: Request) -> Response:
        try:
            await pool.run(node.identity)
        except GossamerError as error:
            return PlainTextResponse(f"{error}\n", 503, {"cache-control": "no-store"})
        return PlainTextResponse(f"ok, shard {node.cut}\n", headers={"cache-control": "no-store"})

    paths = {operation: f"{PREFIX}{operation}" for operation in operations}
    # A front end asks for all its readers: it has a rate limit for each of them.
    unlimited = msgspec.structs.replace(settings, rate=0)
    app = Starlette(
        routes=[
            *(Route(path, endpoint(operation), methods=["POST"]) for operation, path in paths.items()),
            Route("/healthz", healthz),
            Route("/readyz", readyz),
        ],
        middleware=[
            Middleware(
                Guard,
                settings=unlimited,
                clients=Clients(()),
                clock=clock or SystemClock(),
                refuse=_refuse,
                posts=tuple(paths.values()),
            )
        ],
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app


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

"""The search in pages of other origins: the script that they load, and the answers that their browsers may read."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gossamer.errors import UsageError
from gossamer.web.assets import Assets

SCRIPT = "embed.js"
ANYBODY = "*"
_API = "/api/v1/"
_ORIGIN = re.compile(r"https?://[^/?#\s]+")


def check_origins(origins: Sequence[str]) -> None:
    """Raise a `UsageError` for what no browser sends as an origin."""
    for origin in origins:
        if origin == ANYBODY:
            continue
        parts = urlsplit(origin)
        host = (parts.hostname or "") + (f":{parts.port}" if parts.port else "")
        if not _ORIGIN.fullmatch(origin) or origin != f"{parts.scheme}://{host}":
            raise UsageError(f"serve.origins: {origin!r} is no origin: write https://www.example.org, or * for all")


def script_route(assets: Assets, refuse: Callable[[Request], Response]) -> Route:
    """Where the script is; pages of any origin may load it."""

    async def script(request: Request) -> Response:
        response = assets.respond(request, SCRIPT) or refuse(request)
        response.headers["cross-origin-resource-policy"] = "cross-origin"
        return response

    return Route(f"/{SCRIPT}", script)


class OtherOrigins:
    """ASGI middleware: pages of the origins that the operator names may read what the API answers, refusals too. Nobody
    is logged in there: browsers send no cookies."""

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        self._app = app
        self._all = ANYBODY in origins
        self._origins = frozenset(origin.encode() for origin in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http" or not scope["path"].startswith(_API) or not (self._all or self._origins):
            await self._app(scope, receive, send)
            return
        origin = b"".join(value for name, value in scope["headers"] if name == b"origin")
        is_welcome = bool(origin) and (self._all or origin in self._origins)

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.add_vary_header("origin")
                if is_welcome:
                    headers["access-control-allow-origin"] = ANYBODY if self._all else origin.decode("latin-1")
                    headers["cross-origin-resource-policy"] = "cross-origin"
            await send(message)

        await self._app(scope, receive, told)

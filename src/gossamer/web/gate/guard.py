"""What every request passes before anything reads it, and what every response carries.

Refused here, with a page for people and JSON for programs: other methods than
GET and HEAD, and bodies, but where a path is for them; addresses and heads that
are too long, host names that are not ours, clients that ask too often. What a
handler did not catch becomes a 500 without details; the log has them.
"""

from __future__ import annotations

import ipaddress
import logging
import math
import re
from collections.abc import Callable, Collection, Sequence
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gossamer.clock import Clock
from gossamer.settings import ServeSettings
from gossamer.web.gate.clients import Clients
from gossamer.web.gate.ratelimit import RateLimit

MAX_TARGET = 16 * 1024
"""Bytes of path and query; a query of 1,800 Chinese characters fits."""
MAX_HEADERS = 32 * 1024
"""Bytes of all header lines."""
MAX_FORM = 64 * 1024
"""Bytes of a form, where paths are for forms."""

SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}

_SECURITY = tuple((name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items())
_HOST = re.compile(r"(?:[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
_FREE = ("/static/", "/healthz", "/readyz", "/robots.txt", "/favicon.svg", "/opensearch.xml")
_CHEAP = {"/suggest": 0.2, "/api/v1/suggest": 0.2, "/click": 0.2}
"""Suggestions come with every few letters typed, and a click must not take a search from its reader."""

log = logging.getLogger(__name__)

Refuse = Callable[[Scope, int, str], Response]
"""Makes the response that says no: request, status, sentence."""


class Guard:
    """ASGI middleware; `refuse` makes the responses that say no."""

    def __init__(
        self, app: ASGIApp, settings: ServeSettings, clients: Clients, clock: Clock, refuse: Refuse,
        posts: Collection[str] = (), private: Collection[str] = (),
    ) -> None:  # fmt: skip
        """`posts`: paths that take POST and nothing else, whose handlers limit what they read. `private`: paths at and
        below which there are forms, and nothing that anybody may store."""
        self._app = app
        self._posts = posts
        self._private = tuple(private)
        self._refuse = refuse
        self._now = clock.now
        self._clients = clients
        self._limit = RateLimit(settings.rate, settings.burst)
        self._hosts = Hosts(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, private = False, self._is_private(scope["path"])

        async def guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers: list[tuple[bytes, bytes]] = message.setdefault("headers", [])
                present = {name for name, _ in headers}
                headers += [header for header in _SECURITY if header[0] not in present]
                if private:
                    MutableHeaders(scope=message)["cache-control"] = "no-store"
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await (_closing(refusal) if scope["method"] == "POST" else refusal)(scope, receive, guarded)
            return
        try:
            await self._app(scope, receive, guarded)
        except Exception:
            log.exception("a request failed: %s %s", scope["method"], scope["path"])
            if started:
                raise
            sorry = "Internal error. The operator can find the cause in the log."
            await self._refuse(scope, 500, sorry)(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        methods = self._methods(scope["path"])
        if scope["method"] not in methods:
            sentence = f"{scope['method'][:20]} is not allowed here. Use {' or '.join(methods)}."
            response = self._refuse(scope, 405, sentence)
            response.headers["allow"] = ", ".join(methods)
            return _closing(response)
        if scope["method"] != "POST" and _has_body(headers):
            return _closing(self._refuse(scope, 413, "This request must not have a body."))
        if self._is_private(scope["path"]) and _announced(headers) > MAX_FORM:
            return _closing(self._refuse(scope, 413, f"The form is larger than {MAX_FORM // 1024} KiB."))
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MAX_TARGET:
            return self._refuse(scope, 414, "This address is too long. Use a shorter query.")
        if sum(len(name) + len(value) for name, value in headers) > MAX_HEADERS:
            return _closing(self._refuse(scope, 431, "The headers of this request are too large."))
        problem = self._hosts.problem([value for name, value in headers if name == b"host"], scope["http_version"])
        if problem:
            return self._refuse(scope, *problem)
        return self._too_often(scope, headers)

    def _is_private(self, path: str) -> bool:
        return any(path == root or path.startswith(f"{root}/") for root in self._private)

    def _methods(self, path: str) -> tuple[str, ...]:
        if path in self._posts:
            return ("POST",)
        return ("GET", "HEAD", "POST") if self._is_private(path) else ("GET", "HEAD")

    def _too_often(self, scope: Scope, headers: Sequence[tuple[bytes, bytes]]) -> Response | None:
        path: str = scope["path"]
        if path.startswith(_FREE):
            return None
        forwarded = [value.decode("latin-1") for name, value in headers if name == b"x-forwarded-for"]
        client = self._clients.key((scope.get("client") or ("", 0))[0], forwarded)
        seconds = math.ceil(self._limit.wait(client, self._now(), _CHEAP.get(path, 1.0)))
        if not seconds:
            return None
        response = self._refuse(scope, 429, f"Too many requests. Try again in {seconds} s.")
        response.headers["retry-after"] = str(seconds)
        return response


class Hosts:
    """Which `Host` headers are believed.

    A server on loopback answers to addresses, to localhost and to the name in `base_url` only: a foreign page could
    otherwise point a name of its own at this machine and read what is meant for its user (DNS rebinding).
    """

    def __init__(self, settings: ServeSettings) -> None:
        self._private = settings.host == "localhost" or _loopback(settings.host)
        self._name = (urlsplit(settings.base_url).hostname or "").lower()

    def problem(self, hosts: Sequence[bytes], version: str) -> tuple[int, str] | None:
        """Status and sentence where the header cannot be used; only HTTP/1.0 has requests without one."""
        if not hosts:
            return None if version == "1.0" else (400, "This request has no Host header.")
        text = hosts[0].decode("latin-1")
        if len(hosts) > 1 or not _HOST.fullmatch(text):
            return 400, "The Host header of this request is not a host."
        name = (urlsplit(f"//{text}").hostname or "").lower()
        if self._private and not self._ours(name):
            return 421, "This server does not have that name. The operator can set it in serve.base_url."
        return None

    def _ours(self, name: str) -> bool:
        return name in ("localhost", self._name) or name.endswith(".localhost") or _is_address(name)


def _has_body(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    return any(name == b"transfer-encoding" or (name == b"content-length" and value != b"0") for name, value in headers)


def _announced(headers: Sequence[tuple[bytes, bytes]]) -> int:
    """Bytes that the sender says the body has; the server has checked that it is a number."""
    return max((int(value) for name, value in headers if name == b"content-length" and value.isdigit()), default=0)


def _closing(response: Response) -> Response:
    """What the client still sends is not read."""
    response.headers["connection"] = "close"
    return response


def _loopback(host: str) -> bool:
    return _is_address(host) and ipaddress.ip_address(host).is_loopback


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True

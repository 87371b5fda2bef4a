"""Requests with JSON to a search engine's HTTP interface.

Its address comes from the command line of the operator and is often on a private network, so no guard judges it.
"""

from __future__ import annotations

import http.client
from base64 import b64encode
from collections.abc import Collection
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

import orjson

from gossamer.errors import UsageError
from gossamer.sinks.contract import SinkError

_PATIENCE = 120.0
"""Seconds in which a server must say something."""


class HttpApi:
    """A server and an index in it: `http://host:port/index`."""

    def __init__(self, url: str, scheme: str, key: str) -> None:
        """`key` is sent behind `scheme`, unless the URL has a user and a password."""
        self._at = _address(url)
        self.index = self._at.path.strip("/").rpartition("/")[2]
        self._base = self._at.path.rstrip("/").removesuffix(self.index).rstrip("/")
        self._headers = {"Content-Type": "application/json"}
        if self._at.username:
            user = f"{unquote(self._at.username)}:{unquote(self._at.password or '')}"
            self._headers["Authorization"] = f"Basic {b64encode(user.encode()).decode()}"
        elif key:
            self._headers["Authorization"] = f"{scheme} {key}"
        self._connection = self._connect()

    @property
    def name(self) -> str:
        """Which server and index, without a password."""
        return f"{self._at.scheme}://{self._at.hostname}{f':{self._at.port}' if self._at.port else ''}/{self.index}"

    def ask(
        self, method: str, path: str, body: bytes | None = None, kind: str = "", good: Collection[int] = ()
    ) -> tuple[int, Any]:
        """Status and answer; a `SinkError` if there is none, or if it is neither 2xx nor in `good`."""
        headers = self._headers | ({"Content-Type": kind} if kind else {})
        try:
            self._connection.request(method, f"{self._base}{path}", body, headers)
            answer = self._connection.getresponse()
            words = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise SinkError(f"{self.name} does not answer: {str(error) or type(error).__name__}") from error
        if not 200 <= answer.status < 300 and answer.status not in good:
            said = words[:300].decode("utf-8", "replace")
            raise SinkError(f"{self.name} answered {answer.status}: {said}")
        try:
            return answer.status, orjson.loads(words) if words else None
        except orjson.JSONDecodeError as error:
            raise SinkError(f"{self.name} answered with something that is no JSON") from error

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._at.scheme == "https" else http.client.HTTPConnection
        return kind(self._at.hostname or "", self._at.port, timeout=_PATIENCE)


def check_empty(documents: int, name: str, to_start_over: str) -> None:
    """An index that holds something although nothing was brought to it: another program's, or from before a restore."""
    if documents:
        raise UsageError(f"{name} holds {documents:,} documents of others: name another index, or {to_start_over}")


def _address(url: str) -> SplitResult:
    try:
        at = urlsplit(url)
        is_one = at.scheme in ("http", "https") and at.hostname and at.port != 0 and at.path.strip("/")
    except ValueError:
        is_one = False
    if not is_one or not url.isascii() or not url.isprintable() or " " in url or at.query or at.fragment:
        raise UsageError("the address of a search engine is http://host:port/index, with the name of an index")
    return at

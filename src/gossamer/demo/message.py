"""Requests and replies as values, and how a reply becomes bytes."""

from __future__ import annotations

import copy
import gzip
import hashlib
from collections.abc import Callable, Iterable
from http import HTTPStatus

import msgspec

GZIP_FROM = 256
"""Shorter bodies grow when they are compressed."""


class Ask(msgspec.Struct, frozen=True):
    """A request as the server read it."""

    method: str
    target: str
    """Path and query, as sent."""
    site: str
    """The Host header, lower case: host and port."""
    headers: dict[str, str]
    """By lower-case name; a repeated header keeps its last value."""
    address: str
    """The server's address the client connected to."""
    connection: int
    version: str = "HTTP/1.1"

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        """What follows the question mark."""
        return self.target.partition("?")[2]

    @property
    def host(self) -> str:
        """The site without its port."""
        return self.site.partition(":")[0]


class Reply:
    """A well-formed response, encoded at first use and kept in both encodings."""

    __slots__ = ("_kept", "body", "compress", "delay", "etag", "headers", "status")

    def __init__(
        self,
        body: bytes | str = b"",
        status: int = 200,
        headers: Iterable[tuple[str, str]] = (),
        *,
        content_type: str = "text/html; charset=utf-8",
        compress: bool = True,
        delay: float = 0.0,
    ) -> None:
        self.body = body.encode() if isinstance(body, str) else body
        self.status = status
        self.headers = list(headers)
        if content_type and self.body and not any(k.lower() == "content-type" for k, _ in self.headers):
            self.headers.append(("Content-Type", content_type))
        self.compress = compress and len(self.body) >= GZIP_FROM
        self.delay = delay
        """Seconds between the request and the response."""
        self.etag = ""
        if status == 200:
            # Weak, because the plain and the compressed form share it.
            self.etag = f'W/"{hashlib.blake2b(self.body, digest_size=8).hexdigest()}"'
        self._kept: dict[str, bytes] = {}

    def after(self, delay: float) -> Reply:
        """The same reply, given later; both share what has been encoded."""
        other = copy.copy(self)
        other.delay = delay
        return other

    def encoded(self, ask: Ask) -> tuple[int, bytes]:
        """Status and bytes that answer this request."""
        if self.etag and ask.headers.get("if-none-match") == self.etag:
            return 304, self._form("304", lambda: self._encode(304, b"", []))
        if self.compress and "gzip" in ask.headers.get("accept-encoding", ""):
            return self.status, self._form("gzip", self._gzipped)
        return self.status, self._form("plain", lambda: self._encode(self.status, self.body, []))

    def _form(self, name: str, make: Callable[[], bytes]) -> bytes:
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    def _gzipped(self) -> bytes:
        packed = gzip.compress(self.body, compresslevel=1, mtime=0)
        return self._encode(self.status, packed, [("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")])

    def _encode(self, status: int, body: bytes, more: list[tuple[str, str]]) -> bytes:
        headers = [*self.headers, *more] if status != 304 else more
        if self.etag:
            headers = [*headers, ("ETag", self.etag)]
        if status not in (204, 304):
            headers = [*headers, ("Content-Length", str(len(body)))]
        return head(status, headers) + body


def head(status: int, headers: Iterable[tuple[str, str]]) -> bytes:
    """Status line, header lines and the empty line."""
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Status"
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("latin-1", "replace")

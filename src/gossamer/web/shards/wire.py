"""One HTTP exchange at a time over a connection that stays open: the front end's side of `shard_server.py`.

A front end asks every shard three times for each search, so what an exchange costs counts: the head is written once,
llhttp (through httptools) reads the answer, and connections are kept. A kept connection may have been closed by the
other side meanwhile; then the question, which changes nothing, is asked again over a new one.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import time
from collections.abc import Mapping
from threading import Lock
from urllib.parse import urlsplit

import httptools
import msgspec

from gossamer.errors import OperationError

_KEPT = 32
"""Idle connections to one server that are kept."""
_LARGEST = 64 * 1024 * 1024
"""Bytes of an answer."""
_PIECE = 256 * 1024


class NoAnswerError(OperationError):
    """A server does not answer, or not what was asked for; the message says why."""


class _Stale(Exception):  # noqa: N818 - it is what happened
    """The other side closed a kept connection."""


class Exchange:
    """A question under way."""

    __slots__ = ("connection", "request", "seconds", "until")

    def __init__(self, request: bytes, seconds: float, until: float) -> None:
        self.request, self.seconds, self.until = request, seconds, until
        self.connection: socket.socket | None = None
        """Where the answer will come; None if the question is not sent yet."""


class Wire:
    """The connections to one server; safe to share between threads."""

    def __init__(self, address: str, headers: Mapping[str, str]) -> None:
        """`address` as in the settings, such as `http://10.0.0.7:8017`."""
        parts = urlsplit(address)
        self._host, self._secure = parts.hostname or "", parts.scheme == "https"
        self._port = parts.port or (443 if self._secure else 80)
        self._head = f"host: {parts.netloc}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self._idle: list[socket.socket] = []
        self._lock = Lock()

    def post(self, path: str, body: bytes, seconds: float) -> bytes:
        """The body of the answer; `NoAnswerError` where there is none in time, or where it is a refusal."""
        return self.finish(self.begin(path, body, seconds))

    def begin(self, path: str, body: bytes, seconds: float) -> Exchange:
        """Send a question over a kept connection, if there is one; its answer can be waited for later."""
        request = f"POST {path} HTTP/1.1\r\n{self._head}content-length: {len(body)}\r\n\r\n".encode("latin-1") + body
        exchange = Exchange(request, seconds, time.monotonic() + seconds)
        with self._lock:
            kept = self._idle.pop() if self._idle else None
        if kept is not None:
            try:
                kept.settimeout(_left(exchange.until))
                kept.sendall(request)
                exchange.connection = kept
            except OSError:  # closed meanwhile: the question is asked again over a new one
                kept.close()
        return exchange

    def finish(self, exchange: Exchange) -> bytes:
        """The body of the answer, as `post` tells it."""
        try:
            status, data = self._answer(exchange)
        except TimeoutError as error:
            raise NoAnswerError(f"no answer within {exchange.seconds:.2g} s") from error
        except (OSError, httptools.HttpParserError) as error:
            raise NoAnswerError(_why(error)) from error
        if status != 200:
            raise NoAnswerError(_sentence(status, data))
        return data

    def close(self) -> None:
        """Close what is kept."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _answer(self, exchange: Exchange) -> tuple[int, bytes]:
        if exchange.connection is not None:
            with contextlib.suppress(_Stale):
                return self._receive(exchange.connection, exchange.until)
        connection = self._connect(exchange.until)
        try:
            connection.settimeout(_left(exchange.until))
            connection.sendall(exchange.request)
        except BaseException:
            connection.close()
            raise
        try:
            return self._receive(connection, exchange.until)
        except _Stale as error:
            raise ConnectionError("it closed the connection without an answer") from error

    def _connect(self, until: float) -> socket.socket:
        connection = socket.create_connection((self._host, self._port), _left(until))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._secure:
            return ssl.create_default_context().wrap_socket(connection, server_hostname=self._host)
        return connection

    def _receive(self, connection: socket.socket, until: float) -> tuple[int, bytes]:
        answer = _Answer()
        try:
            try:
                connection.settimeout(_left(until))
                data = connection.recv(_PIECE)
            except (BrokenPipeError, ConnectionResetError) as error:
                raise _Stale from error
            if not data:
                raise _Stale
            while not answer.take(data):
                connection.settimeout(_left(until))
                data = connection.recv(_PIECE)
                if not data:
                    raise ConnectionError("the answer is incomplete")
        except BaseException:
            connection.close()
            raise
        self._keep(connection, answer.stays_open)
        return answer.status, bytes(answer.body)

    def _keep(self, connection: socket.socket, stays_open: bool) -> None:
        with self._lock:
            if stays_open and len(self._idle) < _KEPT:
                self._idle.append(connection)
                return
        connection.close()


class _Answer:
    """Receives what the parser finds."""

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self.body = bytearray()
        self._done = False
        self.stays_open = True

    def take(self, data: bytes) -> bool:
        """Whether the answer is complete with this piece."""
        self._parser.feed_data(data)
        return self._done

    @property
    def status(self) -> int:
        """HTTP status."""
        return int(self._parser.get_status_code())

    def on_body(self, data: bytes) -> None:
        """Called by the parser."""
        self.body += data
        if len(self.body) > _LARGEST:
            raise ConnectionError("the answer is too long")

    def on_message_complete(self) -> None:
        """Called by the parser."""
        self._done = True
        self.stays_open = bool(self._parser.should_keep_alive())


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _why(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "no server at this address"
    return (error.strerror if isinstance(error, OSError) else "") or str(error) or type(error).__name__


def _sentence(status: int, data: bytes) -> str:
    """What a refusal says."""
    with contextlib.suppress(msgspec.MsgspecError, ValueError):
        said = msgspec.json.decode(data, type=dict[str, str]).get("error", "")
        if said:
            return said.rstrip(".")
    return f"HTTP status {status}"

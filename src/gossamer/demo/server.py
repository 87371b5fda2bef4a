"""A small HTTP/1.1 server for loopback: fast, and honest about what it saw.

One `asyncio.Protocol` per connection; an *app* maps a request (`Ask`) to an
answer, which is either a `Reply` (a well-formed response, encoded once and kept)
or a script: a coroutine function that gets the `Wire` and may break HTTP on it.

Rules of the file:

- Requests of one connection are answered in order, one at a time.
- A request *arrives* when its first byte is read, and *ends* when the last byte of
  its response has left for the kernel or the connection is lost. Both are told to
  the journal in the very callback in which they happen, so no later request can
  be noted before an earlier end.
- Nothing here limits a client. It serves tests and the demo, never a network.
"""

from __future__ import annotations

import asyncio
import itertools
import socket
import struct
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Protocol, TypeAlias, cast

from gossamer.clock import Clock, SystemClock
from gossamer.demo.message import Ask, Reply, head

MAX_HEAD = 256 * 1024
"""A request head longer than this is answered with 431."""


class Wire:
    """What a script holds: the raw connection, in the middle of one request."""

    def __init__(self, connection: _Connection, ask: Ask) -> None:
        self._connection = connection
        self.ask = ask
        self.status = 0
        """For the journal; 0 means that no status line was sent."""
        self.sent = 0
        self.keep = False
        """Whether the connection stays open when the script ends."""

    async def send(self, data: bytes) -> None:
        """Writes, and waits until the kernel has taken all of it."""
        self.sent += len(data)
        await self._connection.write(data)

    async def reply(self, reply: Reply) -> None:
        """Sends a well-formed response; the connection may be used again."""
        self.status, data = reply.encoded(self.ask)
        self.keep = True
        await self.send(data)

    def reset(self) -> None:
        """Ends the connection with RST, losing what is on its way."""
        self._connection.reset()


Script: TypeAlias = Callable[[Wire], Awaitable[None]]
App: TypeAlias = Callable[[Ask], "Reply | Script"]


class Journal(Protocol):
    """Who is told what the server sees; times are the server's clock."""

    def opened(self, at: float, connection: int, address: str, peer: str) -> None:
        """A client connected."""
        ...

    def asked(self, at: float, number: int, ask: Ask) -> None:
        """A request arrived."""
        ...

    def ended(self, at: float, number: int, status: int, sent: int, lost: bool) -> None:
        """The response to a request ended; `lost`: the client left before that."""
        ...

    def closed(self, at: float, connection: int) -> None:
        """A connection ended."""
        ...


class Silent:
    """A journal that keeps nothing."""

    def opened(self, at: float, connection: int, address: str, peer: str) -> None:
        """Nothing."""

    def asked(self, at: float, number: int, ask: Ask) -> None:
        """Nothing."""

    def ended(self, at: float, number: int, status: int, sent: int, lost: bool) -> None:
        """Nothing."""

    def closed(self, at: float, connection: int) -> None:
        """Nothing."""


class Server:
    """Serves an app on one port of several addresses. `app` may be replaced at any time."""

    def __init__(self, app: App, journal: Journal | None = None, clock: Clock | None = None) -> None:
        self.app = app
        self.journal: Journal = journal or Silent()
        self.now = (clock or SystemClock()).now
        self.connection_numbers = itertools.count(1)
        self.request_numbers = itertools.count(1)
        self.open: set[_Connection] = set()
        self._listening: list[asyncio.Server] = []

    async def listen(self, addresses: Iterable[str], port: int) -> None:
        """Binds every address; `port` must be free on all of them."""
        loop = asyncio.get_running_loop()
        for address in addresses:
            server = await loop.create_server(
                lambda: _Connection(self), address, port, reuse_address=True, backlog=1024
            )
            self._listening.append(server)

    def close(self) -> None:
        """Stops listening and drops every connection."""
        for server in self._listening:
            server.close()
        self._listening.clear()
        for connection in list(self.open):
            connection.abort()


class _Connection(asyncio.Protocol):
    def __init__(self, server: Server) -> None:
        self._server = server
        self._number = next(server.connection_numbers)
        self._address = ""
        self._buffer = b""
        self._arrived = 0.0
        self._skip = 0
        self._request = 0
        """The number of the request being answered; 0 between two requests."""
        self._answer = (0, 0)
        self._keep = True
        self._paused = False
        self._lost = False
        self._drained: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._transport = cast(asyncio.Transport, None)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        # With no buffer allowed, "paused" means exactly "not all is with the kernel yet".
        self._transport.set_write_buffer_limits(high=0)
        self._address = transport.get_extra_info("sockname")[0]
        peer = transport.get_extra_info("peername") or ("", 0)
        self._server.open.add(self)
        self._server.journal.opened(self._server.now(), self._number, self._address, f"{peer[0]}:{peer[1]}")

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = True
        if self._drained and not self._drained.done():
            self._drained.set_exception(ConnectionResetError("the client left"))
        if self._task:
            self._task.cancel()
        self._end(lost=True)
        self._server.open.discard(self)
        self._server.journal.closed(self._server.now(), self._number)

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        if self._drained and not self._drained.done():
            self._drained.set_result(None)
        if self._request and not self._task:
            self._finish()

    def data_received(self, data: bytes) -> None:
        if self._skip:  # the rest of a request body, of no interest
            dropped = min(self._skip, len(data))
            self._skip -= dropped
            data = data[dropped:]
        if not data:
            return
        if not self._buffer:
            self._arrived = self._server.now()
        self._buffer += data
        if not self._request:
            self._next()

    def _next(self) -> None:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > MAX_HEAD:
                self._transport.write(head(431, [("Content-Length", "0"), ("Connection", "close")]))
                self._transport.close()
            return
        raw, self._buffer = self._buffer[:end], self._buffer[end + 4 :]
        ask = self._read(raw)
        if ask is None:
            self._transport.write(head(400, [("Content-Length", "0"), ("Connection", "close")]))
            self._transport.close()
            return
        self._request = next(self._server.request_numbers)
        self._server.journal.asked(self._arrived, self._request, ask)
        self._respond(ask)

    def _read(self, raw: bytes) -> Ask | None:
        first, *lines = raw.decode("latin-1").split("\r\n")
        try:
            method, target, version = first.split(" ")
        except ValueError:
            return None
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        length = headers.get("content-length", "0")
        if not length.isdigit():
            return None
        taken = min(int(length), len(self._buffer))
        self._skip, self._buffer = int(length) - taken, self._buffer[taken:]
        wish = headers.get("connection", "").lower()
        self._keep = wish != "close" and (version != "HTTP/1.0" or wish == "keep-alive")
        site = headers.get("host", self._address).lower()
        return Ask(method, target, site, headers, self._address, self._number, version)

    def _respond(self, ask: Ask) -> None:
        try:
            answer = self._server.app(ask)
        except Exception as error:  # an app's bug must be seen by the test's client, not hang it
            answer = Reply(f"the app failed: {error!r}", 500, content_type="text/plain")
        if not isinstance(answer, Reply):
            self._task = asyncio.ensure_future(self._play(answer, Wire(self, ask)))
        elif answer.delay > 0:
            asyncio.get_running_loop().call_later(answer.delay, self._send, ask, answer)
        else:
            self._send(ask, answer)

    def _send(self, ask: Ask, reply: Reply) -> None:
        if self._lost:
            return
        status, data = reply.encoded(ask)
        if ask.method == "HEAD":
            data = data[: data.index(b"\r\n\r\n") + 4]
        self._answer = (status, len(data))
        self._transport.write(data)
        if not self._paused:
            self._finish()

    def _finish(self) -> None:
        self._end(lost=False)
        if not self._keep:
            self._transport.close()
        elif self._buffer:
            self._next()

    def _end(self, lost: bool) -> None:
        if self._request:
            number, self._request = self._request, 0
            self._server.journal.ended(self._server.now(), number, *self._answer, lost)

    async def _play(self, script: Script, wire: Wire) -> None:
        with suppress(ConnectionError, asyncio.CancelledError):
            await script(wire)
        self._task = None
        self._answer = (wire.status, wire.sent)
        self._keep = self._keep and wire.keep
        if not self._lost:
            self._finish()

    async def write(self, data: bytes) -> None:
        if self._lost:
            raise ConnectionResetError("the client left")
        self._transport.write(data)
        if self._paused:
            self._drained = asyncio.get_running_loop().create_future()
            await self._drained

    def reset(self) -> None:
        sock: socket.socket = self._transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()

    def abort(self) -> None:
        self._transport.abort()

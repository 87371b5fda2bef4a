"""A raw server that sends exactly the bytes a test wants."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable

from gossamer.fetch.http import Fetcher
from gossamer.model.records import Response

Script = Callable[["Visit"], Awaitable[None]]
PATIENT = dict.fromkeys(("connect_timeout", "idle_timeout", "total_timeout", "keepalive"), 240.0)
"""A test that is not about time does not run out of it."""


class Visit:
    """One request as a server sees it, and the means to answer."""

    def __init__(self, web: Web, head: bytes, connection: int, writer: asyncio.StreamWriter) -> None:
        self.web = web
        self.head = head.decode("latin-1")
        self.connection = connection
        self.writer = writer

    @property
    def line(self) -> str:
        return self.head.split("\r\n", 1)[0]

    def header(self, name: str) -> str:
        for line in self.head.split("\r\n")[1:]:
            key, _, value = line.partition(": ")
            if key.lower() == name.lower():
                return value
        return ""

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def page(self, body: bytes = b"hello", *headers: str, status: str = "200 OK") -> None:
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
        await self.send(("\r\n".join(lines) + "\r\n\r\n").encode() + body)

    async def close(self) -> None:
        self.writer.close()

    async def reset(self) -> None:
        self.writer.transport.abort()


class Web:
    """A server on loopback; `visits` is its log."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.visits: list[Visit] = []
        self.connections = 0
        self.open = self.most_open = 0
        self.tasks: set[asyncio.Task[None]] = set()
        self.server: asyncio.Server | None = None
        self.port = 0

    async def start(self, tls: ssl.SSLContext | None, host: str) -> None:
        self.server = await asyncio.start_server(self._serve, host, 0, ssl=tls)
        self.port = self.server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        assert self.server is not None
        self.server.close()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        self.connections += 1
        self.open += 1
        self.most_open = max(self.open, self.most_open)
        number = self.connections
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                visit = Visit(self, head, number, writer)
                self.visits.append(visit)
                await self.script(visit)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError, ssl.SSLError):
            pass
        finally:
            self.open -= 1
            self.tasks.discard(task)
            writer.close()


Serve = Callable[..., Awaitable[Web]]
MakeFetcher = Callable[..., Awaitable[Fetcher]]
Get = Callable[..., Awaitable[Response]]

"""Named hosts on loopback addresses, behind one port, served from a thread.

Every host has a name (`a.test`) and an address of 127/8; the crawler is told the
mapping (`--resolve HOST=IP`) instead of asking DNS. The port is reserved when the
web is made, so that pages may contain absolute links before anything listens,
and it stays the same when the web is stopped and started again.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any

import uvloop

from gossamer.demo.server import App, Journal, Server
from gossamer.errors import OperationError, UsageError


class Hosts:
    """Host names, their addresses, and the port they share."""

    def __init__(self, network: str = "127.0.1", port: int = 0) -> None:
        """`port`: 0 for any that is free."""
        self.network = network
        """The first three numbers of the addresses given out."""
        self.resolve: dict[str, str] = {}
        """Host → address."""
        self._reserved = _reserve(f"{network}.1", port)
        self.port: int = self._reserved.getsockname()[1]

    def add(self, host: str, ip: str | None = None) -> str:
        """Registers a host; without an address it gets the next free one."""
        if host in self.resolve:
            raise UsageError(f"{host} is already a host of this web; use another name")
        taken = set(self.resolve.values())
        free = (f"{self.network}.{n}" for n in range(1, 255) if f"{self.network}.{n}" not in taken)
        address = ip or next(free, None)
        if address is None:
            raise UsageError("254 addresses are taken; let hosts share one with ip=…")
        self.resolve[host] = address
        return address

    def site(self, host: str) -> str:
        """The site as the crawler and the log name it: `host:port`."""
        return f"{host}:{self.port}"

    def url(self, host: str, path: str = "/") -> str:
        """The URL of a path on a host."""
        return f"http://{self.site(host)}{path}"

    @property
    def addresses(self) -> list[str]:
        """Every address in use, each once."""
        return sorted(set(self.resolve.values()))

    def release(self) -> None:
        """Gives the port back."""
        self._reserved.close()


def _reserve(address: str, port: int) -> socket.socket:
    """A socket that is bound but never listens: the port stays ours, the server can still bind it."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((address, port))
    return sock


class ServerThread:
    """A server with its own event loop in its own thread."""

    def __init__(self, app: App, hosts: Hosts, journal: Journal | None = None) -> None:
        self.server = Server(app, journal)
        self._ready: Future[None] = Future()
        self._loop = uvloop.new_event_loop()
        self._stop = asyncio.Event()
        work = _run(self.server, hosts.addresses, hosts.port, self._ready, self._stop)
        self._thread = threading.Thread(target=_drive, args=(self._loop, work), name="web", daemon=True)
        self._thread.start()
        self._ready.result(timeout=30)

    def stop(self) -> None:
        """Closes every connection and ends the thread."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(timeout=30)


def _drive(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, None]) -> None:
    try:
        loop.run_until_complete(work)
    finally:
        loop.close()


async def _run(server: Server, addresses: list[str], port: int, ready: Future[None], stop: asyncio.Event) -> None:
    try:
        await server.listen(addresses, port)
    except OSError as error:
        server.close()
        ready.set_exception(OperationError(f"port {port} cannot be used on {addresses}: {error}"))
        return
    ready.set_result(None)
    await stop.wait()
    server.close()
    await drain()


async def drain(until: Callable[[], bool] = lambda: len(asyncio.all_tasks()) <= 1) -> None:
    """Lets aborted connections and their scripts end before the loop does."""
    for _ in range(200):
        await asyncio.sleep(0.001)
        if until():
            return

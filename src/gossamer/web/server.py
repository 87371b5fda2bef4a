"""Listening: one socket that we open ourselves, one uvicorn, an end in good order.

The socket is bound before the server starts: port 0 works, and a port that is
taken is one clear sentence. SIGTERM and SIGINT let requests under way finish,
then `run` returns as if it had been asked politely.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import signal
import socket
import threading
from collections.abc import Callable, Iterator

import uvicorn
from starlette.types import ASGIApp

from gossamer.errors import OperationError, UsageError
from gossamer.settings import ServeSettings
from gossamer.web.gate.connections import Connections
from gossamer.web.gate.protocol import limited_protocol

GRACE = 5
"""Seconds that requests under way get at the end."""
KEEP_ALIVE = 15
"""Seconds an idle connection stays open."""


class WebServer:
    """A server whose socket is open; `run` blocks until `stop` or a signal."""

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._socket = _listen(settings.host, settings.port)
        self.address = _address(self._socket)
        """Where it can be reached, such as `http://127.0.0.1:8017`."""
        protocol = limited_protocol(Connections(settings.proxies))
        config = uvicorn.Config(
            app, http=protocol, ws="none", lifespan="on", log_config=None, log_level="error", access_log=False,
            proxy_headers=False, server_header=False, timeout_keep_alive=KEEP_ALIVE, timeout_graceful_shutdown=GRACE,
        )  # fmt: skip
        self._uvicorn = _Uvicorn(config)

    def run(self, ready: Callable[[str], None]) -> None:
        """Serve; `ready` gets the address as soon as requests are answered."""
        self._uvicorn.ready = lambda: ready(self.address)
        try:
            self._uvicorn.run(sockets=[self._socket])
        finally:
            self._socket.close()

    def stop(self) -> None:
        """Let `run` end; from any thread."""
        self._uvicorn.should_exit = True


def run(app: ASGIApp, settings: ServeSettings, ready: Callable[[str], None]) -> None:
    """Serve the app until SIGTERM or SIGINT."""
    WebServer(app, settings).run(ready)


def beyond_loopback(host: str) -> bool:
    """Whether others than this machine can reach a server that listens there."""
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host != "localhost"


class _Uvicorn(uvicorn.Server):
    """Tells when it is ready, and does not raise the signals that it handled a second time."""

    ready: Callable[[], None]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:
        raise UsageError(f"cannot listen on {host}:{port}: a port is a number from 0 to 65535")
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (socket.gaierror, UnicodeError) as error:
        raise UsageError(f"cannot listen on {host}:{port}: {host!r} is not an address of this machine") from error
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        listening.bind(address)
        listening.listen(1024)
    except OSError as error:
        listening.close()
        raise _why(host, port, error) from error
    listening.setblocking(False)
    return listening


def _why(host: str, port: int, error: OSError) -> UsageError | OperationError:
    where = f"cannot listen on {host}:{port}"
    if error.errno == errno.EADDRINUSE:
        return OperationError(f"{where}: another program uses this port: choose another --port, or 0 for any free one")
    if error.errno == errno.EACCES:
        return OperationError(f"{where}: only root may use this port: choose one above 1023")
    if error.errno == errno.EADDRNOTAVAIL:
        return UsageError(f"{where}: {host} is not an address of this machine")
    return UsageError(f"{where}: {error.strerror or error}")


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

"""Receiver: a webhook receiver on loopback that keeps what was posted to it, and can be rude.

with Receiver() as receiver:
    ...                              # something posts to receiver.url
    receiver.posts[0].body
    receiver.manners = ReceiverManners(status=302, location="http://127.0.0.1/elsewhere")
"""

from __future__ import annotations

from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from types import TracebackType
from typing import Self

import msgspec


class ReceiverManners(msgspec.Struct, frozen=True, kw_only=True):
    """How the receiver answers."""

    status: int = 204
    location: str = ""
    """Where it sends the sender on to."""
    silent: bool = False
    """Whether it reads the request and never answers."""
    endless: bool = False
    """Whether its answer, an error, has no end."""


class Post(msgspec.Struct, frozen=True):
    """A request that came."""

    path: str
    headers: dict[str, str]
    """By name in lower case."""
    body: bytes


class Receiver:
    """A receiver on 127.0.0.1; start it, or use `with`."""

    def __init__(self, port: int = 0) -> None:
        self.manners = ReceiverManners()
        self.posts: list[Post] = []
        self.gets = 0
        """Requests that were no POST: a redirect that was followed would show here."""
        self.gone = Event()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.receiver = self
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """Where posts are taken."""
        return f"http://127.0.0.1:{self.port}/hook"

    def start(self) -> Self:
        """Listen."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop listening."""
        self.gone.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class _Server(ThreadingHTTPServer):
    receiver: Receiver
    daemon_threads = True
    block_on_close = False


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        receiver, manners = self.server.receiver, self.server.receiver.manners
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        receiver.posts.append(Post(self.path, headers, body))
        if manners.silent:
            receiver.gone.wait(60)
            return
        with suppress(OSError):  # the sender would not listen
            self._answer(manners)

    def do_GET(self) -> None:
        self.server.receiver.gets += 1
        self._answer(ReceiverManners())

    def _answer(self, manners: ReceiverManners) -> None:
        self.send_response(500 if manners.endless else manners.status)
        if manners.location:
            self.send_header("Location", manners.location)
        if not manners.endless:
            self.send_header("Content-Length", "0")
        self.end_headers()
        while manners.endless:
            self.wfile.write(b"no " * 1000)

    def log_message(self, format: str, *args: object) -> None:
        pass

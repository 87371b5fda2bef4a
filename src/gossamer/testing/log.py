"""The server's own log: what arrived, when, and over which connection.

The politeness promise is about what a *server* sees, so the proof is this file and
never the crawler's opinion. One JSON line per event, written in one `write` to a
file opened for appending: readers can look while the server runs, and a killed
server loses nothing it has seen. Times are the server's clock.

    {"e":"open",   "t":…, "c":1, "ip":"127.0.1.1", "peer":"127.0.0.1:50000"}
    {"e":"ask",    "t":…, "n":1, "c":1, "ip":…, "site":"a.test:8080", "method":"GET", "path":"/", "agent":…}
    {"e":"end",    "t":…, "n":1, "status":200, "sent":512, "lost":false}
    {"e":"close",  "t":…, "c":1}

A server that is started again on the same file numbers its events from 1 again;
a `{"e":"start","t":…}` line separates the two lives, and ends what the first left open.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from gossamer.clock import Clock, SystemClock
from gossamer.demo.message import Ask

OPEN_END = math.inf
"""The end of what has not ended yet."""


class Request(msgspec.Struct, frozen=True):
    """One request, as the server saw it."""

    site: str
    """The Host header: host and port, as `gossamer.model.site.site_of` writes it."""
    ip: str
    """The server's address."""
    path: str
    """Path and query."""
    arrived: float
    """When the request line was read."""
    ended: float = OPEN_END
    """When the last byte of the response was sent or the client left; inf: not yet."""
    status: int = 0
    connection: int = 0
    number: int = 0
    method: str = "GET"
    agent: str = ""
    sent: int = 0
    """Bytes of the response, with its head."""
    lost: bool = False
    """The client left before the response was complete."""

    @property
    def url(self) -> str:
        """The URL asked for."""
        return f"http://{self.site}{self.path}"


class Connection(msgspec.Struct, frozen=True):
    """One connection, as the server saw it."""

    number: int
    ip: str
    opened: float
    closed: float = OPEN_END
    peer: str = ""


class Log(list[Request]):
    """Requests in order of arrival, and the connections they came over."""

    def __init__(self, requests: Iterable[Request] = (), connections: Iterable[Connection] = ()) -> None:
        super().__init__(sorted(requests, key=lambda r: r.arrived))
        self.connections = sorted(connections, key=lambda c: c.opened)

    def sites(self) -> dict[str, list[Request]]:
        """The requests of each site, in order of arrival."""
        return _grouped(self, lambda r: r.site)

    def ips(self) -> dict[str, list[Request]]:
        """The requests to each address, in order of arrival."""
        return _grouped(self, lambda r: r.ip)


def _grouped(requests: Iterable[Request], key: Callable[[Request], str]) -> dict[str, list[Request]]:
    groups: dict[str, list[Request]] = {}
    for request in requests:
        groups.setdefault(key(request), []).append(request)
    return groups


class _Event(msgspec.Struct, omit_defaults=True):
    e: str
    t: float = 0.0
    c: int = 0
    n: int = 0
    ip: str = ""
    peer: str = ""
    site: str = ""
    method: str = ""
    path: str = ""
    agent: str = ""
    status: int = 0
    sent: int = 0
    lost: bool = False


class LogWriter:
    """A journal that appends to a file."""

    def __init__(self, path: Path, clock: Clock | None = None) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        self._encode = msgspec.json.Encoder().encode
        self._write(_Event("start", (clock or SystemClock()).now()))

    def _write(self, event: _Event) -> None:
        os.write(self._file, self._encode(event) + b"\n")

    def opened(self, at: float, connection: int, address: str, peer: str) -> None:
        """A client connected."""
        self._write(_Event("open", at, c=connection, ip=address, peer=peer))

    def asked(self, at: float, number: int, ask: Ask) -> None:
        """A request arrived."""
        agent = ask.headers.get("user-agent", "")
        self._write(_Event("ask", at, ask.connection, number, ask.address, "", ask.site, ask.method, ask.target, agent))

    def ended(self, at: float, number: int, status: int, sent: int, lost: bool) -> None:
        """The response to a request ended."""
        self._write(_Event("end", at, n=number, status=status, sent=sent, lost=lost))

    def closed(self, at: float, connection: int) -> None:
        """A connection ended."""
        self._write(_Event("close", at, c=connection))

    def close(self) -> None:
        """Closes the file."""
        os.close(self._file)


def read_log(path: Path) -> Log:
    """The log so far; a last line that is still being written is left out."""
    decode = msgspec.json.Decoder(_Event).decode
    reader = _Reader()
    for line in path.read_bytes().split(b"\n")[:-1]:
        reader.apply(decode(line))
    return Log(reader.requests.values(), reader.connections.values())


class _Reader:
    """Joins events; numbers are kept apart from those of the server's earlier lives."""

    def __init__(self) -> None:
        self.requests: dict[int, Request] = {}
        self.connections: dict[int, Connection] = {}
        self._first_request = 0
        self._first_connection = 0

    def apply(self, event: _Event) -> None:
        """Takes the next event."""
        n, c = event.n + self._first_request, event.c + self._first_connection
        if event.e == "open":
            self.connections[c] = Connection(c, event.ip, event.t, peer=event.peer)
        elif event.e == "close":
            self.connections[c] = replace(self.connections[c], closed=event.t)
        elif event.e == "ask":
            self.requests[n] = Request(
                event.site, event.ip, event.path, event.t, OPEN_END, 0, c, n, event.method, event.agent
            )
        elif event.e == "end":
            self.requests[n] = replace(
                self.requests[n], ended=event.t, status=event.status, sent=event.sent, lost=event.lost
            )
        elif event.e == "start":
            self._restart(event.t)

    def _restart(self, at: float) -> None:
        for n, request in self.requests.items():
            if request.ended == OPEN_END:
                self.requests[n] = replace(request, ended=at, lost=True)
        for c, connection in self.connections.items():
            if connection.closed == OPEN_END:
                self.connections[c] = replace(connection, closed=at)
        self._first_request = max(self.requests, default=0)
        self._first_connection = max(self.connections, default=0)

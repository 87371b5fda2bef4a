"""HTTP on the wire, with limits: uvicorn's fast parser takes heads of any length, at any pace.

- Of an address only a little more is kept than the guard allows; so the reader of a
  link that is far too long still gets a page that says so.
- A head that grows beyond `MAX_HEAD`, or takes longer than `HEAD_SECONDS`, ends
  the connection: neither memory nor connections can be filled by trickling.
- When there are too many connections, those that wait make room (`connections.py`).
- A client that takes nothing of its answer for `UNREAD_SECONDS` is cut off: who asks
  and never reads would keep its connection for ever. Slow readers are waited for.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import sys
import termios
import time
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from gossamer.web.gate.connections import Admission, Connections
from gossamer.web.gate.guard import MAX_TARGET

MAX_HEAD = 256 * 1024
HEAD_SECONDS = 15.0
UNREAD_SECONDS = 30.0
HEALTH = (b"/healthz", b"/readyz")
"""Answered even when the server has no room for anything else."""
_KEPT = MAX_TARGET + 1024
"""Bytes of an address: scheme and host may stand before what the guard counts."""


class LimitedProtocol(HttpToolsProtocol):
    """One connection."""

    all_connections: Connections
    """Those of the server; set by `limited_protocol`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._admission: Admission = "all"
        self._quiet_since = time.monotonic()
        self._makes_room = False
        self._in_head = True
        self._head_bytes = 0
        self._head_timer: asyncio.TimerHandle | None = None
        self._unread_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's own
        """The first head is awaited from now on."""
        super().connection_made(transport)
        # Every byte that does not leave counts, else a connection that is to be closed could wait for its last ones.
        transport.set_write_buffer_limits(high=0)
        self._start_timer()
        self._admission = self.all_connections.add(self)
        if self._admission == "none":
            self._refuse(503)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is awaited any more."""
        self.all_connections.remove(self)
        self._stop_timer()
        self._stop_unread_timer()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client has to read from now on."""
        super().pause_writing()
        self._stop_unread_timer()
        self._start_unread_timer()

    def resume_writing(self) -> None:
        """All is on its way."""
        self._stop_unread_timer()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        """Count what belongs to a head, then parse."""
        if self.transport.is_closing():
            return
        if self._in_head:
            self._head_bytes += len(data)
        super().data_received(data)
        if self.transport.is_closing() or not self._in_head:
            return
        if self._head_bytes > MAX_HEAD:
            self._refuse(431)
        elif self._head_bytes and self._head_timer is None:
            self._start_timer()

    def on_url(self, url: bytes) -> None:
        """Keep enough of an address to see that it is too long."""
        self.url += url[: max(0, _KEPT - len(self.url))]

    def on_headers_complete(self) -> None:
        """The head is over."""
        self._in_head = False
        self._head_bytes = 0
        self._stop_timer()
        turned_away = self._admission == "health" and self.url.partition(b"?")[0] not in HEALTH
        self.limit_concurrency = 0 if turned_away else None  # nought: uvicorn answers that there is no room
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The next byte belongs to the next head."""
        super().on_message_complete()
        self._in_head = True

    def on_response_complete(self) -> None:
        """It waits from now on, unless it has asked for more."""
        self._quiet_since = time.monotonic()
        super().on_response_complete()

    @property
    def peer(self) -> str:
        """The address at the other end."""
        return self.client[0] if self.client else ""

    @property
    def waits(self) -> bool:
        """Whether nothing is done for it: no whole request has come that is not answered."""
        under_way = self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body
        return not under_way and not self._makes_room

    @property
    def patience(self) -> tuple[bool, float]:
        """Unfinished requests make room before idle connections, the oldest first."""
        idle = self.cycle is not None and self.cycle.response_complete and not self._head_bytes
        return idle, self._quiet_since

    def make_room(self) -> None:
        """End a connection that waits."""
        self._makes_room = True
        if self.cycle is None:
            self._refuse(408)
        else:
            self.transport.abort()

    def _start_timer(self) -> None:
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._refuse, 408)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _start_unread_timer(self) -> None:
        self._unread_timer = self.loop.call_later(UNREAD_SECONDS, self._check_unread, self._unread())

    def _stop_unread_timer(self) -> None:
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None

    def _unread(self) -> int:
        """Bytes that the client has not taken yet, with those in the kernel: it lets a slow reader empty a good part of
        its buffer before it takes more of ours."""
        sent = bytearray(4)
        with contextlib.suppress(OSError, AttributeError):
            fcntl.ioctl(self.transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, sent)
        return self.transport.get_write_buffer_size() + int.from_bytes(sent, sys.byteorder)

    def _check_unread(self, before: int) -> None:
        if self._unread() < before:
            self._start_unread_timer()
        else:
            self.transport.abort()

    def _refuse(self, status: int) -> None:
        if not self.transport.is_closing():
            self.transport.write(STATUS_LINE[status] + b"content-length: 0\r\nconnection: close\r\n\r\n")
            self.transport.close()


def limited_protocol(connections: Connections) -> type[LimitedProtocol]:
    """The protocol of a server with these connections."""
    return type("ServedProtocol", (LimitedProtocol,), {"all_connections": connections})

"""A last moment for a conversation over a blocking socket.

Time-outs of sockets begin anew with every byte, so a peer that sends one now and then could hold a thread for ever.
At the deadline the socket is shut down by another thread, which wakes whoever waits for it.
"""

from __future__ import annotations

import contextlib
import socket
from threading import Lock, Timer
from types import TracebackType
from typing import Self


class Deadline:
    """Shuts down the sockets given to it when its time is over; use it with `with`."""

    def __init__(self, seconds: float) -> None:
        self._timer = Timer(seconds, self._ring)
        self._timer.daemon = True
        self._lock = Lock()
        self._socket: socket.socket | None = None
        self.is_over = False
        """Whether the time was over before the end of the block."""

    def cuts(self, connection: socket.socket | None) -> None:
        """From now on it is this socket that is cut; at once where the time is over."""
        with self._lock:
            self._socket = connection
            if self.is_over:
                _shut(connection)

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()

    def _ring(self) -> None:
        with self._lock:
            self.is_over = True
            _shut(self._socket)


def _shut(connection: socket.socket | None) -> None:
    if connection is not None:
        with contextlib.suppress(OSError):
            # The plain socket's: that of TLS would first forget the encryption, under the feet of the other thread.
            socket.socket.shutdown(connection, socket.SHUT_RDWR)

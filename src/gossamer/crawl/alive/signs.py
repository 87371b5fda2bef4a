"""What a supervisor and a worker process tell each other: the job, signs of life, and last words.

A worker writes an empty line to its standard output every second, from its event loop. If it is frozen, or its loop is
stuck, it writes none; the operating system sees it alive, and it may hold the database lock that all others wait for.
The supervisor kills and replaces it. If a worker fails, its last words come the same way.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import select
import threading
import time
from typing import IO, Protocol

import msgspec

from gossamer.settings import Settings

log = logging.getLogger(__name__)

_EVERY = 1.0
"""Seconds between two signs."""
_LOOK = 2.0
"""Most seconds that count between two checks: while this process is frozen itself, it hears nobody."""
_STARTING = 600.0
"""Seconds within which the first sign comes, on the busiest machine."""


class Job(msgspec.Struct, frozen=True):
    """The order to a worker."""

    data: str
    settings: Settings
    name: str = ""
    debug: bool = False


async def give_signs(output: int = 1) -> None:
    """Show that the event loop runs, until cancelled."""
    os.set_blocking(output, False)
    while True:
        with contextlib.suppress(OSError):  # nobody listens any more, or the listener is blocked
            os.write(output, b"\n")
        await asyncio.sleep(_EVERY)


class Watched(Protocol):
    """A process with a pipe as its standard output."""

    pid: int
    stdout: IO[bytes] | None

    def poll(self) -> int | None:
        """The exit code, if the process has ended."""

    def kill(self) -> None:
        """Send SIGKILL."""


class Listener(threading.Thread):
    """Listens to one process until its output ends; kills it if it is silent for too long."""

    def __init__(self, name: str, process: Watched, patience: float) -> None:
        super().__init__(name=f"signs of {name}", daemon=True)
        self._process, self._patience = process, patience
        self._heard = b""

    def run(self) -> None:
        """Listen."""
        assert self._process.stdout is not None
        with self._process.stdout as output:
            self._listen(output.fileno())

    def _listen(self, output: int) -> None:
        poll = select.poll()
        poll.register(output, select.POLLIN)
        silent, allowed = 0.0, max(_STARTING, self._patience)
        before = time.monotonic()
        while True:
            if poll.poll(1000 * _EVERY):
                piece = os.read(output, 1 << 16)
                if not piece:
                    return
                self._heard = (self._heard + piece).lstrip(b"\n")
                silent, allowed = 0.0, self._patience
            now = time.monotonic()
            silent, before = silent + min(now - before, _LOOK), now
            if silent > allowed:
                if self._process.poll() is None:
                    words = "worker process %d gave no sign of life for %.0f s (crawl.stuck_after): killing it"
                    log.warning(words, self._process.pid, silent, extra={"worker_pid": self._process.pid})
                    self._process.kill()
                return

    def last_words(self) -> str:
        """The process's last output, once it has ended."""
        self.join(_EVERY * 10)
        return self._heard.decode("utf-8", "replace").strip()

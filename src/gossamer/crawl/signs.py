"""What a supervisor and a worker process tell each other: the job, signs of life, and the end of one that gives none.

A worker writes an empty line to its standard output every second, from its event loop. One that is frozen, or whose
loop is stuck, writes none; to the operating system it lives, and it may hold the database's lock that everybody else
waits for. It is killed, and replaced like any that died. Its last words, where it fails, come the same way.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import select
import subprocess
import threading
import time

import msgspec

from gossamer.settings import Settings

log = logging.getLogger(__name__)

_EVERY = 1.0
"""Seconds between two signs."""
_LOOK = 2.0
"""Seconds that count at most between two looks: while this process does not run itself, it can hear nobody."""
_STARTING = 600.0
"""Seconds within which the first sign comes, on the busiest machine."""


class Job(msgspec.Struct, frozen=True):
    """What a worker is told."""

    data: str
    settings: Settings
    name: str = ""
    debug: bool = False


async def give_signs(output: int = 1) -> None:
    """Show for as long as it is awaited that the event loop runs."""
    os.set_blocking(output, False)
    while True:
        with contextlib.suppress(OSError):  # nobody listens any more, or the listener is held up
            os.write(output, b"\n")
        await asyncio.sleep(_EVERY)


class Listener(threading.Thread):
    """Hears one process until its output ends; kills it where it is silent for too long."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], patience: float) -> None:
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
                    words = "worker process %d gave no sign of life for %.0f s (crawl.stuck_after) and is killed"
                    log.warning(words, self._process.pid, silent, extra={"worker_pid": self._process.pid})
                    self._process.kill()
                return

    def last_words(self) -> str:
        """What the process said, once it has ended."""
        self.join(_EVERY * 10)
        return self._heard.decode("utf-8", "replace").strip()

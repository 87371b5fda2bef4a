"""Chores: what a running crawl does every so often, each in a process of its own (`upkeep/process.py`).

The data folder remembers when a chore was last begun, so a crawl that runs for an hour every night still does its
weekly chores. A chore that the end of the crawl cut off counts as begun: tried again at once, it might be cut off every
night and keep the others waiting.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from gossamer.clock import SystemClock, environment_with_clock
from gossamer.data.folder import DataFolder
from gossamer.data.notes import read_note, write_note
from gossamer.supervise.children import Child

PROCESS = "gossamer.upkeep.process"
SETTLE = 60.0
"""Seconds that a crawl is let to begin in, whatever is overdue."""
AGAIN = 600.0
"""Seconds after which one that failed is tried again."""


def _always() -> bool:
    return True


class Chore:
    """Starts a process when the chore is due; a crawl calls `tick` now and then, and `kill` at its end."""

    def __init__(
        self, title: str, name: str, folder: DataFolder, every: float, needed: Callable[[], bool] = _always,
        command: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        """`title`: for messages. `name`: one of `upkeep.process.CHORES`, unless there is a `command`: the module of
        another process. `every`: seconds between two starts; 0: never. `needed`: asked when it is due."""
        self._command = command or (PROCESS, name)
        self._title, self._folder, self._every, self._needed = title, folder, every, needed
        self._note = f"{name}.chore"
        self._environment = environment_with_clock()
        self._child: Child | None = None
        self._next = time.monotonic() + self._wait() if every else 0.0

    def _wait(self) -> float:
        """Seconds until it is due, by what the data folder says of the last time."""
        now = SystemClock().now()
        try:
            last = float(read_note(self._folder, self._note) or "")
        except ValueError:
            last = math.nan
        if not last <= now:  # there is none yet, or the clock was wrong then
            self._begun(now)
            last = now
        return max(last + self._every - now, min(self._every, SETTLE))

    def _begun(self, at: float) -> None:
        write_note(self._folder, self._note, repr(at))

    def tick(self) -> None:
        """Start it if it is due; one that still runs is left to finish."""
        if self._child is not None and not self._child.is_running:
            self._child.wait(0)
            if self._child.code != 0:
                self._next = time.monotonic() + AGAIN
                self._begun(SystemClock().now() + AGAIN - self._every)
            self._child = None
        if self._child is None and self._every and time.monotonic() >= self._next:
            self._next = time.monotonic() + self._every
            if self._needed():
                self._begun(SystemClock().now())
                module, *arguments = *self._command, str(self._folder.root)
                self._child = Child(self._title, module, arguments, environment=self._environment)
                self._child.watch()

    def kill(self) -> None:
        """End it at once; what it committed stays."""
        if self._child is not None:
            self._child.kill()
            self._child = None

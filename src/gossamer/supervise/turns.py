"""What a running crawl does every so often, each in a process of its own: filters, plans of large sites, ranks.

All such a process does to the table is done in transactions, so it may be killed at any time. When one was last begun
is kept in the data folder: a crawl that is started every night comes to what is done once a week. One that the end of
the crawl cut off has had its turn: tried at once, it might be cut off every night, and keep others waiting.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

from gossamer.clock import SystemClock, environment_with_clock
from gossamer.courtesy import give_way
from gossamer.data.folder import DataFolder
from gossamer.data.logged import configure_logs
from gossamer.database.database import Database, open_database
from gossamer.errors import GossamerError
from gossamer.settings import Settings, load
from gossamer.supervise.children import Child

SETTLE = 60.0
"""Seconds that a crawl is let to begin in, whatever is overdue."""
AGAIN = 600.0
"""Seconds after which one that failed is tried again."""


def _always() -> bool:
    return True


class Turns:
    """Starts a process when it is time; a crawl calls `tick` now and then, and `kill` at its end."""

    def __init__(
        self, name: str, module: str, folder: DataFolder, every: float, needed: Callable[[], bool] = _always
    ) -> None:
        """`every`: seconds between two starts; 0: never. `needed`: asked when it is time."""
        self._name, self._module, self._folder, self._every, self._needed = name, module, folder, every, needed
        self._note = f"{module}.turn"
        self._environment = environment_with_clock()
        self._child: Child | None = None
        self._next = time.monotonic() + self._wait() if every else 0.0

    def _wait(self) -> float:
        """Seconds until it is time, by what the data folder says of the last turn."""
        now = SystemClock().now()
        try:
            last = float(self._folder.noted(self._note) or "")
        except ValueError:
            last = math.nan
        if not last <= now:  # there is none yet, or the clock was wrong then
            self._begun(now)
            last = now
        return max(last + self._every - now, min(self._every, SETTLE))

    def _begun(self, at: float) -> None:
        self._folder.note(self._note, repr(at))

    def tick(self) -> None:
        """See whether it is time; one that still runs is waited for."""
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
                arguments = [str(self._folder.root)]
                self._child = Child(self._name, self._module, arguments, environment=self._environment)
                self._child.watch()

    def kill(self) -> None:
        """End it at once; what it committed stays."""
        if self._child is not None:
            self._child.kill()
            self._child = None


def take_turn(work: Callable[[DataFolder, Database, Settings, float], object]) -> None:
    """What such a process does: its work on the data folder named by its only argument; an error is told in a line."""
    configure_logs(Path(sys.argv[1]), Path(sys.argv[0]).stem.removesuffix("_process"))
    folder = DataFolder(Path(sys.argv[1]))
    try:
        settings = load(folder.root, folder.last_options())
        give_way(settings.crawl.nice)
        db = open_database(folder.database, cache_mb=16)
        db.outlast()
        try:
            work(folder, db, settings, SystemClock().now())
        finally:
            db.close()
    except GossamerError as error:
        print(error, flush=True)
        sys.exit(error.exit_code)

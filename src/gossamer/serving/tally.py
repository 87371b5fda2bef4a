"""What readers do, counted on its way into the frontier database.

One more costs the server an addition; every few seconds a thread writes what has come together. What cannot be written
now, because the database is locked or not there, is tried again; a crash loses some seconds of counts, which nobody
will miss.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable
from contextlib import closing
from threading import Event, Lock, Thread
from typing import Generic, TypeVar

from gossamer.data.folder import DataFolder
from gossamer.database.database import Database, open_database, require_crawl
from gossamer.errors import GossamerError

PAUSE = 5.0
"""Seconds between two writes."""
MOST = 10_000
"""Things that wait to be written; further ones are lost."""
_WAIT = 5.0
"""Seconds to wait for a lock: the end of the server waits for the last write."""

log = logging.getLogger(__name__)

Key = TypeVar("Key", bound=Hashable)


class Tally(ABC, Generic[Key]):
    """Counts of one kind, from any thread."""

    what = ""
    """What is counted, for the log."""

    def __init__(self, folder: DataFolder, pause: float = PAUSE) -> None:
        self._folder, self._pause = folder, pause
        self._counts: Counter[Key] = Counter()
        self._lock = Lock()
        self._thread: Thread | None = None
        self._closed = Event()
        self._failing = False

    @abstractmethod
    def record(self, db: Database, counts: Counter[Key]) -> int:
        """Write counts down and take out of `counts` what is written; returns how many rows it concerned."""

    def count(self, key: Key, times: int = 1) -> None:
        """One more, or so many; returns at once."""
        with self._lock:
            if self._closed.is_set() or (len(self._counts) >= MOST and key not in self._counts):
                return
            self._counts[key] += times
            if self._thread is None:
                self._thread = Thread(target=self._write_on, name=self.what, daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Write what is left; nothing is counted any more."""
        with self._lock:
            self._closed.set()
        if self._thread is not None:
            self._thread.join()
        self.write()

    def write(self) -> int:
        """Write what was counted; how many rows it concerned, 0 where it has to be tried again."""
        with self._lock:
            counts, self._counts = self._counts, Counter()
        if not counts:
            return 0
        try:
            written = self._write(counts)
        except (GossamerError, OSError) as error:
            with self._lock:
                for key, times in self._counts.items():
                    if key in counts or len(counts) < MOST:
                        counts[key] += times
                self._counts = counts
            if not self._failing:
                log.warning("cannot store %s now: %s", self.what, error)
            self._failing = True
            return 0
        self._failing = False
        return written

    def _write_on(self) -> None:
        while not self._closed.wait(self._pause):
            self.write()

    def _write(self, counts: Counter[Key]) -> int:
        # Opened for each write: meanwhile the file may have been replaced by that of another crawl.
        require_crawl(self._folder.database)
        with closing(open_database(self._folder.database, _WAIT)) as db:
            return self.record(db, counts)

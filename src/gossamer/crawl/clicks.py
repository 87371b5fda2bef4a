"""Clicks on results on their way into the frontier database.

`StoredClicks` is the server's `ClickService`. A click costs the server one addition; every few seconds a thread writes
what has come together, in one transaction. What cannot be written now, because the database is locked or not there,
is tried again; a crash loses some seconds of clicks, which nobody will miss.
"""

from __future__ import annotations

import logging
from collections import Counter
from threading import Event, Lock, Thread

from gossamer.clock import Clock
from gossamer.crawl.folder import DataFolder
from gossamer.errors import GossamerError
from gossamer.frontier import clicks
from gossamer.frontier.database import open_database, require_crawl
from gossamer.revisit.config import RevisitConfig

PAUSE = 5.0
"""Seconds between two writes."""
MOST = 10_000
"""URLs that wait to be written; clicks on further ones are lost."""
_WAIT = 5.0
"""Seconds to wait for a lock: the end of the server waits for the last write."""

log = logging.getLogger(__name__)


class StoredClicks:
    """`web.clicks.ClickService` of a data folder."""

    def __init__(self, folder: DataFolder, config: RevisitConfig, clock: Clock, pause: float = PAUSE) -> None:
        """`config`: how the visits that clicks bring forward are planned."""
        self._folder, self._config, self._clock, self._pause = folder, config, clock, pause
        self._counts: Counter[str] = Counter()
        self._lock = Lock()
        self._thread: Thread | None = None
        self._closed = Event()
        self._failing = False

    def count(self, url: str) -> None:
        """One more click on a result; returns at once, and what is no document is found out later."""
        with self._lock:
            if self._closed.is_set() or (len(self._counts) >= MOST and url not in self._counts):
                return
            self._counts[url] += 1
            if self._thread is None:
                self._thread = Thread(target=self._write_on, name="clicks", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Write what is left; no click is counted any more."""
        with self._lock:
            self._closed.set()
        if self._thread is not None:
            self._thread.join()
        self.write()

    def write(self) -> int:
        """Write what was counted; how many documents it concerns, 0 where it has to be tried again."""
        with self._lock:
            counts, self._counts = self._counts, Counter()
        if not counts:
            return 0
        try:
            written = self._record(counts)
        except (GossamerError, OSError) as error:
            with self._lock:
                self._counts.update(counts)
            if not self._failing:
                log.warning("clicks of readers cannot be written now: %s", error)
            self._failing = True
            return 0
        self._failing = False
        return written

    def _write_on(self) -> None:
        while not self._closed.wait(self._pause):
            self.write()

    def _record(self, counts: Counter[str]) -> int:
        # Opened for each write: meanwhile the file may have been replaced by that of another crawl.
        require_crawl(self._folder.database)
        database = open_database(self._folder.database, _WAIT)
        try:
            return clicks.record(database, counts, self._config, self._clock.now())
        finally:
            database.close()

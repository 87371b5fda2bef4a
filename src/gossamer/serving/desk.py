"""The published rules of the search desk, for the searcher: read from the frontier database when others count, or from
the file of a front end, which has no crawl.

A search must not fail because the crawl cannot be asked: then the rules that were read last go on to count, and for a
while nobody asks again. Rules that cannot be understood (another version of Gossamer wrote them) are reported once.
"""

from __future__ import annotations

import logging
import time
from pathlib import Path
from threading import Lock

from gossamer.data.connection import SharedConnection
from gossamer.data.folder import DataFolder
from gossamer.errors import GossamerError, UsageError
from gossamer.search.desk.acting import NO_RULES, Rules
from gossamer.search.desk.reading import read_desk
from gossamer.tables import desk as table

LOOK = 1.0
"""Seconds between two looks at which version counts."""
_REST = 5.0
"""Seconds without questions after one that was not answered."""

log = logging.getLogger(__name__)


class StoredDesk:
    """`search.searcher.DeskRules` of a data folder; safe to share between threads."""

    def __init__(self, folder: DataFolder, look: float = LOOK) -> None:
        self._reader, self._look = SharedConnection(folder.database), look
        self._lock = Lock()
        self._rules = NO_RULES
        self._due = 0.0
        self._refused = -1

    def current(self) -> Rules:
        """The rules that count, at most `LOOK` seconds old."""
        if time.monotonic() >= self._due:
            with self._lock:
                if time.monotonic() >= self._due:
                    self._due = time.monotonic() + self._read()
        return self._rules

    def recent(self) -> Rules | None:
        """The same without a look into the database; None if it is time for one."""
        return self._rules if time.monotonic() < self._due else None

    def forget(self) -> None:
        """Look again at the next search: somebody published just now."""
        self._due = 0.0

    def _read(self) -> float:
        """Read what is new; returns after how many seconds to look again."""
        try:
            number = self._reader.ask(table.current)
            if number == self._rules.version or number == self._refused:
                return self._look
            found = self._reader.ask(lambda db: table.version(db, number)) if number else None
        except (GossamerError, OSError):
            return _REST
        try:
            rules = Rules(read_desk(found.rules, f"version {number}"), number) if found is not None else NO_RULES
        except GossamerError as error:
            log.error("the rules of the search desk cannot be used, so the ones before still count: %s", error)
            self._refused = number
            return self._look
        self._rules = rules
        return self._look


class FileDesk:
    """Rules in a file (`search.desk.acting.DeskRules`); safe to share between threads."""

    def __init__(self, path: Path, look: float = LOOK) -> None:
        """Reads the file: a mistake in it is a `UsageError`. One that comes later is reported, and the rules before
        it go on to count."""
        self._path, self._look = path, look
        self._lock = Lock()
        self._stamp = self._seen()
        self._rules = self._parsed(1)
        self._due = time.monotonic() + look

    def current(self) -> Rules:
        """The rules that count, at most `LOOK` seconds old."""
        if time.monotonic() >= self._due:
            with self._lock:
                if time.monotonic() >= self._due:
                    self._read()
                    self._due = time.monotonic() + self._look
        return self._rules

    def recent(self) -> Rules | None:
        """The same without a look at the file; None if it is time for one."""
        return self._rules if time.monotonic() < self._due else None

    def forget(self) -> None:
        """Look again at the next search."""
        self._due = 0.0

    def _read(self) -> None:
        try:
            if (stamp := self._seen()) != self._stamp:
                self._stamp = stamp
                self._rules = self._parsed(self._rules.version + 1)
        except GossamerError as error:
            log.error("the rules of the search desk cannot be used, so the ones before still count: %s", error)

    def _seen(self) -> tuple[int, int, int]:
        try:
            stat = self._path.stat()
        except OSError as error:
            raise UsageError(f"shards.desk: cannot read {self._path}: {error.strerror}") from error
        return stat.st_ino, stat.st_mtime_ns, stat.st_size

    def _parsed(self, version: int) -> Rules:
        try:
            text = self._path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"shards.desk: cannot read {self._path}: {error}") from error
        return Rules(read_desk(text, str(self._path)), version)

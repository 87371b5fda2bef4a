"""The connection by which a server's threads read the frontier database: one thread uses it at a time.

The database may not exist yet, be locked, or be replaced by that of another crawl while the server runs: it is opened
when it is needed, and again when another file is in its place.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock, Thread
from typing import TypeVar

from gossamer.database.database import Database, Where, identity, is_server, read_database, require_crawl
from gossamer.errors import BusyError, GossamerError

_WAIT = 0.5
"""Seconds; a reader waits for the page."""

_ANSWER = 3.0
"""Seconds to wait for a database server."""

_UNANSWERED = 4
"""Questions that may be left to a server that hangs: each has a connection, and there are not many of those."""
_GIVEN_UP = 600.0
"""Seconds after which one of them does not count any more: its connection may never report that it is dead."""

T = TypeVar("T")


class SharedConnection:
    """Answers questions from the frontier database of a data folder, for any thread."""

    def __init__(self, where: Where, wait: float = _WAIT) -> None:
        """`wait`: seconds to wait for a lock, and for other threads."""
        self._where, self._wait = where, wait
        self._lock = Lock()
        self._database: Database | None = None
        self._file = 0
        self._left: list[tuple[Thread, float]] = []

    def ask(self, question: Callable[[Database], T]) -> T:
        """The answer to a question; raises a `GossamerError` if the database cannot be read now."""
        if not self._lock.acquire(timeout=self._wait):
            raise BusyError("too many requests are waiting for the crawl's database: try again in a moment")
        try:
            return self._answer(question) if is_server(self._where) else question(self._current())
        except (GossamerError, OSError):
            self._close()
            raise
        finally:
            self._lock.release()

    def _answer(self, question: Callable[[Database], T]) -> T:
        """The server's answer; one that hangs is left to its thread, with its connection."""
        now = time.monotonic()
        self._left = [(left, since) for left, since in self._left if left.is_alive() and now - since < _GIVEN_UP]
        if len(self._left) >= _UNANSWERED:
            raise BusyError("the crawl's database does not answer: try again in a moment")
        answer: Future[T] = Future()

        def ask() -> None:
            try:
                answer.set_result(question(self._current()))
            except BaseException as error:
                answer.set_exception(error)

        thread = Thread(target=ask, daemon=True)
        thread.start()
        try:
            return answer.result(_ANSWER)
        except TimeoutError as error:
            self._left.append((thread, now))
            self._database = None
            raise BusyError("the crawl's database does not answer: try again in a moment") from error

    def _current(self) -> Database:
        try:
            file = identity(self._where)
        except OSError:
            require_crawl(self._where)
            raise
        if self._database is None or file != self._file:
            self._close()
            self._database, self._file = read_database(self._where, self._wait), file
        return self._database

    def _close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

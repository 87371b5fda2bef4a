"""Watches a connection to PostgreSQL from another thread, and ends waits for answers that cannot come any more.

A connection may be dead while the kernels at both ends keep it alive: a proxy that forgot it in a fail-over passes
nothing on, a frozen server says nothing. A caller would wait for ever. This thread shuts its socket down, so that the
caller sees a broken connection and repairs it like any other.

A slow query is never cut while the server works on it: this thread asks the server itself, over another connection.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import time
import weakref
from threading import Lock, Thread, Timer, current_thread
from types import TracebackType
from typing import Any, NamedTuple

import psycopg

log = logging.getLogger(__name__)

_TICK = 0.5
"""Seconds between two looks at the clock."""
_LONG = 60.0
"""Seconds without an answer after which we ask the server about it; and again after as many."""
_BETWEEN = 3.0
"""Seconds between two questions that must get the same answer."""
_ANSWER = 3
"""Seconds for a new connection, and again for the answer to the question."""
_WORK = 40.0
"""Seconds that processes which are to stop wait for a server that works for them; longer than for a turn."""
_FULL = ("too many clients", "connection slots")
"""A server's words for having no connection to spare."""
_QUESTION = """SELECT pid IS NOT NULL, pg_is_in_recovery(), state, wait_event, state_change::text
FROM (SELECT 1) AS one LEFT JOIN pg_stat_activity ON application_name = %s"""


class Line:
    """The socket of a connection, for another thread to shut it down."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        # A copy: libpq closes its own at any time, and the number may then be another file's.
        self._socket = socket.socket(fileno=os.dup(connection.fileno()))
        self._lock = Lock()

    def shut(self) -> None:
        """Wake the waiting caller up with an error."""
        with self._lock, contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Nothing can be shut down from now on."""
        with self._lock:
            self._socket.close()


class _Watched(NamedTuple):
    line: Line
    name: str
    """The application_name of the connection."""
    place: dict[str, Any]
    """The very server that it leads to, of the many that a URL may name."""


class _Seen(NamedTuple):
    """The server's view of our connection."""

    there: bool
    standby: bool
    state: str | None
    wait: str | None
    changed: str | None
    """When it began its present work."""

    @property
    def is_lost(self) -> bool:
        """Whether it does nothing for us: it is gone, or it waits for our next statement."""
        if not self.there:
            return not self.standby  # else a proxy has led us to another server
        return (self.state or "").startswith("idle") and self.wait == "ClientRead"


_AT_WORK = _Seen(there=True, standby=False, state="active", wait=None, changed=None)
"""Assumed of a server that has no connection to spare: it is alive."""


class Watch:
    """Use `with` around each call that waits for the server. Its thread ends when the owner is closed or gone."""

    def __init__(self, owner: object, where: str, parameters: dict[str, Any]) -> None:
        self._owner = weakref.ref(owner)
        self._where, self._parameters = where, parameters
        self._watched: _Watched | None = None
        self._since = 0.0
        """When the call under way began; 0 if there is none."""
        self._asked_at = 0.0
        self._hurried_at = 0.0
        self._hurry = 0.0
        self._thread: Thread | None = None

    def over(self, connection: psycopg.Connection[Any], name: str) -> None:
        """Watch this connection from now on."""
        info = connection.info
        place = {"host": info.host, "hostaddr": info.hostaddr, "port": info.port}
        old, self._watched = self._watched, _Watched(Line(connection), name, {k: v for k, v in place.items() if v})
        if old is not None:
            old.line.close()
        if self._thread is None:
            self._thread = Thread(target=self._run, name="postgres watch", daemon=True)
            self._thread.start()

    def hurry(self, seconds: float) -> None:
        """From now on, no call waits much longer than this for a server that does nothing for it. Takes no lock."""
        if not self._hurried_at:
            self._hurry, self._hurried_at = seconds, time.monotonic()

    def close(self) -> None:
        """Look after nothing any more."""
        self._thread = None
        if self._watched is not None:
            self._watched.line.close()

    def __enter__(self) -> None:
        self._since = time.monotonic()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._since = 0.0

    def _run(self) -> None:
        thread = current_thread()
        while self._thread is thread and self._owner() is not None:
            time.sleep(_TICK)
            # In this order: a call that began before the connection changed must not count as one on the new one.
            watched, since = self._watched, self._since
            if since and watched is not None and self._is_in_vain(watched, since) and self._since == since:
                waited = time.monotonic() - since
                log.warning("%s: no answer for %.0f s: giving up the connection", self._where, waited)
                watched.line.shut()
        if self._owner() is None:
            self.close()

    def _is_in_vain(self, watched: _Watched, since: float) -> bool:
        """Whether waiting for the call that began then is useless."""
        hurried = self._hurried_at > 0
        begun, now = max(since, self._hurried_at), time.monotonic()
        if hurried and now - begun > _WORK:
            return True
        if now - max(begun, self._asked_at) < (self._hurry if hurried else _LONG):
            return False
        first = self._ask(watched)
        self._asked_at = time.monotonic()
        # It may be overloaded, or away: wait for that, unless the process is to stop.
        if (first is None and not hurried) or (first is not None and not first.is_lost):
            return False
        # The answer may be on its way to us just now. If it is lost, the next look shows the very same.
        time.sleep(_BETWEEN)
        return self._since == since and self._ask(watched) == first

    def _ask(self, watched: _Watched) -> _Seen | None:
        """What the server does for us; None if it does not say."""
        ours = {"application_name": "gossamer-watch", "connect_timeout": _ANSWER}
        try:
            with psycopg.connect(**{**self._parameters, **watched.place, **ours}, autocommit=True) as connection:
                line = Line(connection)
                limit = Timer(_ANSWER, line.shut)
                limit.daemon = True
                limit.start()
                try:
                    found = connection.execute(_QUESTION, (watched.name,)).fetchone()
                finally:
                    limit.cancel()
                    line.close()
        except (psycopg.Error, OSError, RuntimeError) as error:  # the last one: no thread left
            return _AT_WORK if any(words in str(error) for words in _FULL) else None
        return _Seen(*found) if found is not None else None

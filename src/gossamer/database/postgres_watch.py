"""Looks after a connection to PostgreSQL from another thread: an answer that cannot come any more is not waited for.

A connection may be dead while the kernels at both ends keep it alive: a proxy that forgot it in a fail-over passes
nothing on, a frozen server says nothing. Whoever waits for it would wait for ever. Its socket is shut down here, and to
the one who waits the connection is broken, which is mended as any other break.

What takes long is never cut while the server works on it: the server itself is asked, over another connection.
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
"""Seconds without an answer after which the server is asked about it; and again after as many."""
_BETWEEN = 3.0
"""Seconds between two questions that must get the same answer."""
_ANSWER = 3
"""Seconds for a new connection, and again for the answer to the question."""
_WORK = 40.0
"""Seconds for which those who are to stop wait for a server that works for them; longer than they wait for a turn."""
_FULL = ("too many clients", "connection slots")
"""How a server says that it has no connection to spare."""
_QUESTION = """SELECT pid IS NOT NULL, pg_is_in_recovery(), state, wait_event, state_change::text
FROM (SELECT 1) AS one LEFT JOIN pg_stat_activity ON application_name = %s"""


class Line:
    """The socket of a connection, for another thread to shut it down."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        # A copy: libpq closes its own at any time, and the number may then be that of somebody else's file.
        self._socket = socket.socket(fileno=os.dup(connection.fileno()))
        self._lock = Lock()

    def shut(self) -> None:
        """Wake up whoever waits for it, with an error."""
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
    """What the server says about our side of it."""

    there: bool
    standby: bool
    state: str | None
    wait: str | None
    changed: str | None
    """When it began to do what it does."""

    @property
    def is_lost(self) -> bool:
        """Whether it has nothing to do for us: it is not there, or it waits for our next statement."""
        if not self.there:
            return not self.standby  # else a proxy has shown us the door of another one
        return (self.state or "").startswith("idle") and self.wait == "ClientRead"


_AT_WORK = _Seen(there=True, standby=False, state="active", wait=None, changed=None)
"""What is believed of a server that has no connection to spare: it lives."""


class Watch:
    """`with` it around each call that waits for the server. Its thread ends when the owner is closed, or is no more."""

    def __init__(self, owner: object, where: str, parameters: dict[str, Any]) -> None:
        self._owner = weakref.ref(owner)
        self._where, self._parameters = where, parameters
        self._watched: _Watched | None = None
        self._since = 0.0
        """When the call under way began; 0 where there is none."""
        self._asked_at = 0.0
        self._hurried_at = 0.0
        self._hurry = 0.0
        self._thread: Thread | None = None

    def over(self, connection: psycopg.Connection[Any], name: str) -> None:
        """From now on it is this connection that is looked after."""
        info = connection.info
        place = {"host": info.host, "hostaddr": info.hostaddr, "port": info.port}
        old, self._watched = self._watched, _Watched(Line(connection), name, {k: v for k, v in place.items() if v})
        if old is not None:
            old.line.close()
        if self._thread is None:
            self._thread = Thread(target=self._run, name="postgres watch", daemon=True)
            self._thread.start()

    def hurry(self, seconds: float) -> None:
        """From now on, no call waits for longer than about this for a server that does nothing for it. Takes no
        lock."""
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
            # In this order: a call that began before the connection changed is not taken for one on the new one.
            watched, since = self._watched, self._since
            if since and watched is not None and self._is_in_vain(watched, since) and self._since == since:
                waited = time.monotonic() - since
                log.warning("%s: no answer for %.0f s: the connection is given up", self._where, waited)
                watched.line.shut()
        if self._owner() is None:
            self.close()

    def _is_in_vain(self, watched: _Watched, since: float) -> bool:
        """Whether the call that began then need not be waited for any longer."""
        hurried = self._hurried_at > 0
        begun, now = max(since, self._hurried_at), time.monotonic()
        if hurried and now - begun > _WORK:
            return True
        if now - max(begun, self._asked_at) < (self._hurry if hurried else _LONG):
            return False
        first = self._ask(watched)
        self._asked_at = time.monotonic()
        # It may be overloaded, or away: that is waited for, but not by those who are to stop.
        if (first is None and not hurried) or (first is not None and not first.is_lost):
            return False
        # The answer may be on its way to us just now. Where it is lost, the next look shows the very same.
        time.sleep(_BETWEEN)
        return self._since == since and self._ask(watched) == first

    def _ask(self, watched: _Watched) -> _Seen | None:
        """What the server does for us; None where it does not say."""
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
        except (psycopg.Error, OSError, RuntimeError) as error:  # the last: no thread to be had
            return _AT_WORK if any(words in str(error) for words in _FULL) else None
        return _Seen(*found) if found is not None else None

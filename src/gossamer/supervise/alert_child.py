"""Starts the process of `alert_process` for whoever runs for a while: a crawl, an indexer that follows one.

A crawl that is over in seconds, and has nobody to tell, does without it.
"""

from __future__ import annotations

import time
from pathlib import Path

from gossamer.database.database import Database
from gossamer.supervise.children import Child
from gossamer.tables import alerts, outbox

_PATIENCE = 30.0
"""Seconds after which alarms are looked for, though there is nobody to tell: the console shows them."""
_LOOK_EVERY = 2.0
_LAST_MESSAGES = 40.0
"""Seconds for what is sent at the end; no single message takes longer."""


class AlertProcess:
    """The process that sends messages and raises alarms; `tick` it now and then, `finish` it at the end."""

    def __init__(self, root: Path, db: Database) -> None:
        self._db = db
        self._child = Child("sender of messages", "gossamer.alerts.alert_process", [str(root)])
        self._start_at = time.monotonic() + _PATIENCE
        self._look_at = 0.0
        self._started = False

    def tick(self) -> None:
        """Start the process when it is time, and again when it died."""
        now = time.monotonic()
        if not self._started and now >= self._look_at:
            self._look_at = now + _LOOK_EVERY
            self._started = now >= self._start_at or self._has_work()
        if self._started:
            self._child.watch()

    def finish(self) -> None:
        """Let it send what was gathered, and end; where it never ran it is started for that."""
        if not self._child.is_running and self._has_messages():
            self._child.watch()
        self._child.ask_to_finish()
        self._child.wait(_LAST_MESSAGES)

    def kill(self) -> None:
        """End it at once; what was not sent is sent by the next."""
        self._child.kill()

    def _has_work(self) -> bool:
        return self._has_messages() or alerts.are_saved(self._db)

    def _has_messages(self) -> bool:
        return outbox.are_waiting(self._db)

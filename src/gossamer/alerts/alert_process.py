"""The process that sends messages and raises alarms, beside a crawl or an indexer.

It works while its pipe is open, and before it ends it sends what was gathered so far. Of several on one crawl one is
at work, the others wait for it to end: so whoever runs for a while starts one (`AlertProcess`), without asking who
else does.
"""

from __future__ import annotations

import logging
import os
import select
import sys
from pathlib import Path

from gossamer.alerts.alarming import look
from gossamer.alerts.sending import Delivery, send_due, tell_alarms
from gossamer.clock import Clock, SystemClock, WallClock
from gossamer.data.crawl_settings import last_options
from gossamer.data.folder import DataFolder
from gossamer.data.locks import sender_lock
from gossamer.data.logged import configure_logs
from gossamer.database.database import Database, open_database
from gossamer.errors import GossamerError
from gossamer.settings import Settings, load
from gossamer.tables import alerts, outbox

log = logging.getLogger(__name__)

_EVERY = 5.0
"""Seconds between two looks into the outbox."""
_LOOK_EVERY = 60.0
"""Seconds between two looks for alarms."""
_PRUNE_EVERY = 3600.0
_LAST_ROUNDS = 5
"""Rounds before the end, where there is so much to send."""


class Duty:
    """What is done every few seconds."""

    def __init__(self, folder: DataFolder, db: Database, settings: Settings, clock: Clock) -> None:
        self._folder, self._db, self._settings, self._clock = folder, db, settings, clock
        # Receivers hold the time of a request against their own clock.
        self._deliver = Delivery(settings, WallClock())
        self._look_at = self._prune_at = 0.0

    def turn(self) -> None:
        """Look for alarms where it is time, and send what is due."""
        now = self._clock.now()
        if now >= self._look_at:
            self._look_at = now + _LOOK_EVERY
            looked_for, signs = look(self._db, self._folder, self._settings, now)
            tell_alarms(self._db, self._settings.alerts.operators, looked_for, signs, now)
        if now >= self._prune_at:
            self._prune_at = now + _PRUNE_EVERY
            outbox.prune(self._db, now)
            alerts.prune(self._db)
        send_due(self._db, self._deliver, self._clock)

    def finish(self) -> None:
        """Send what was never tried, gathered or not."""
        for _ in range(_LAST_ROUNDS):
            if not send_due(self._db, self._deliver, self._clock, gathered=True).taken:
                return


def work(folder: DataFolder, db: Database, settings: Settings, clock: Clock) -> None:
    """Until standard input ends. What cannot be done now is done later: the process stays."""
    duty = Duty(folder, db, settings, clock)
    while not _told_to_end(_EVERY):
        try:
            duty.turn()
        except GossamerError as error:
            log.warning("messages and alarms are delayed: %s", error)
        except Exception:  # whatever it is, those who would be told of it must not lose their messenger
            log.exception("messages and alarms are delayed")
    duty.finish()


def _told_to_end(seconds: float) -> bool:
    return bool(select.select([0], [], [], seconds)[0])


def main() -> None:
    """Send for the folder named by the only argument."""
    configure_logs(Path(sys.argv[1]), "alerts")
    folder, clock = DataFolder(Path(sys.argv[1])), SystemClock()
    try:
        settings = load(folder.root, last_options(folder))
        db = open_database(folder.database, cache_mb=4)
        db.outlast()
        try:
            while True:
                with sender_lock(folder) as alone:
                    if alone and db.only_one("send messages"):
                        work(folder, db, settings, clock)
                        return
                if _told_to_end(_EVERY):
                    return
        finally:
            db.close()
    except GossamerError as error:
        print(error, flush=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
    os._exit(0)  # threads of channels that hang are not waited for

"""Holding the segments of a crawl while somebody copies or reads them all (`frontier.holds`), however long it takes."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator
from threading import Event, Thread

from gossamer.clock import Clock
from gossamer.crawl.folder import DataFolder
from gossamer.errors import GossamerError
from gossamer.frontier import holds
from gossamer.frontier.database import Database

_RENEW = 30.0
"""Seconds between two renewals."""


@contextlib.contextmanager
def held(folder: DataFolder, clock: Clock) -> Iterator[Callable[[], bool]]:
    """Keeps segments where they are; yields whether they are still kept, to be asked at the end."""
    db, token, over = folder.open_database(), secrets.token_hex(8), Event()
    try:
        db.patiently(lambda: holds.take(db, token, clock.now()))
        thread = Thread(target=_renew, args=(folder, token, clock, over), daemon=True)
        thread.start()
        try:
            yield lambda: db.patiently(lambda: holds.renew(db, token, clock.now()))
        finally:
            over.set()
            thread.join()
            db.patiently(lambda: holds.release(db, token))
    finally:
        db.close()


def _renew(folder: DataFolder, token: str, clock: Clock, over: Event) -> None:
    """On a connection of its own, since copying keeps the other busy for long."""
    if over.wait(_RENEW):
        return
    db: Database = folder.open_database()
    try:
        while True:
            with contextlib.suppress(GossamerError):  # the next one, or the check at the end, will tell
                if not holds.renew(db, token, clock.now()):
                    return
            if over.wait(_RENEW):
                return
    finally:
        db.close()

"""Holds the segments of a crawl while a process copies or reads them all (`frontier.holds`), however long it takes.

But only while it makes progress: an export into a pager that was left open, or a copy to a disk that does not answer,
would block merging for ever.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator
from threading import Event, Thread

from gossamer.clock import Clock
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.errors import GossamerError
from gossamer.tables import holds

_RENEW = 30.0
"""Seconds between two renewals."""
STILL = 900.0
"""Seconds without progress after which a hold is no longer renewed; it then lasts as long as any other."""


@contextlib.contextmanager
def held(
    folder: DataFolder, clock: Clock, progress: Callable[[], object] | None = None
) -> Iterator[Callable[[], bool]]:
    """Keep segments in place; yields a function that says at the end whether they were. `progress` returns a value that
    changes while the holder moves on, and is called on another thread; without it the hold lasts as long as the
    process."""
    db, token, over = folder.open_database(), secrets.token_hex(8), Event()
    try:
        db.patiently(lambda: holds.take(db, token, clock.now()))
        thread = Thread(target=_renew, args=(folder, token, clock, progress or clock.now, over), daemon=True)
        thread.start()
        try:
            yield lambda: db.patiently(lambda: holds.renew(db, token, clock.now()))
        finally:
            over.set()
            thread.join()
            db.patiently(lambda: holds.release(db, token))
    finally:
        db.close()


def _renew(folder: DataFolder, token: str, clock: Clock, progress: Callable[[], object], over: Event) -> None:
    """On a connection of its own, since copying keeps the other busy for long."""
    seen, moved_at = progress(), clock.now()
    if over.wait(_RENEW):
        return
    db: Database = folder.open_database()
    try:
        while True:
            now = clock.now()
            if (found := progress()) != seen:
                seen, moved_at = found, now
            if now - moved_at < STILL:
                with contextlib.suppress(GossamerError):  # the next renewal, or the check at the end, will show
                    if not holds.renew(db, token, now):
                        return
            if over.wait(_RENEW):
                return
    finally:
        db.close()

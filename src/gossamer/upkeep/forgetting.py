"""Keeps the database bounded while a crawl goes on for years: once a day, it forgets changes of more than a week ago.

What is forgotten is how things came to be, never what is: no URL, no page, no text.
"""

from __future__ import annotations

import logging

from gossamer.data.folder import DataFolder
from gossamer.data.locks import forgetting_lock
from gossamer.database.database import Database
from gossamer.errors import BusyError
from gossamer.store.layout import time_of
from gossamer.tables import forgetting, holds

log = logging.getLogger(__name__)

KEPT = 7 * 86_400.0
"""Seconds for which an index may rest, and then go on where it was."""
FORGET_EVERY = 86_400.0


def forget_old_changes(folder: DataFolder, db: Database, now: float) -> int:
    """Forget changes that are old enough; returns how many segments are forgotten. `BusyError` while somebody holds
    segments: whoever reads them may still look for those that they were merged from."""
    if holds.are_held(db, now):
        raise BusyError(f"the segments of {db.where} are being read: old changes are forgotten later")
    with forgetting_lock(folder):
        forgetting.forget_departures(db, forgetting.last_change_before(db, now - KEPT))
        # One whose files were left behind must be told from one that a living worker is about to commit.
        left_behind = set(folder.segments.ids())
        unused = db.patiently(lambda: forgetting.unused_segments(db, lambda segment: time_of(segment) < now - KEPT))
        gone = forgetting.forget_segments(db, unused - left_behind)
    log.info("old changes are forgotten", extra={"segments": gone})
    return gone

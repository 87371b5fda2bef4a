"""Keeps the database bounded in a crawl of years: once a day, forgets changes that are older than a week.

It forgets history only: no URL, no page, no text.
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
"""Seconds for which an index may stop and still continue instead of being rebuilt."""
FORGET_EVERY = 86_400.0


def forget_old_changes(folder: DataFolder, db: Database, now: float) -> int:
    """Forget changes that are old enough; returns how many segments it forgot. Raises `BusyError` while segments are
    held: whoever reads them may still look for the ones they were merged from."""
    if holds.are_held(db, now):
        raise BusyError(f"the segments of {db.where} are in use: old changes will be forgotten later")
    with forgetting_lock(folder):
        forgetting.forget_departures(db, forgetting.last_change_before(db, now - KEPT))
        # One whose files were left behind must not look like one that a living worker is about to commit.
        left_behind = set(folder.segments.ids())
        unused = db.patiently(lambda: forgetting.unused_segments(db, lambda segment: time_of(segment) < now - KEPT))
        gone = forgetting.forget_segments(db, unused - left_behind)
    log.info("forgot old changes", extra={"segments": gone})
    return gone

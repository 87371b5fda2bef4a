"""Keeps the disk bounded in a crawl of years: thins out visits that newer ones have superseded.

Every visit is a row of a segment, with its raw response and, if the page had changed, its text and links. With
`storage.keep_old`, older visits keep only URL, time and outcome, unless readers still find their text. Rows keep their
places (`store.erasing`), so nothing has to point elsewhere.

A running crawl does so ten times in `keep_old`, in a process of its own. A segment is rewritten when a fifth of the
visits that it still holds can go, and then not for another `keep_old`: so a byte is copied a few times in its life. The
crawl may merge the same segments meanwhile: whichever comes second gives up (`compacting.swap`).
"""

from __future__ import annotations

import logging
from array import array

import numpy as np

from gossamer.data.folder import DataFolder
from gossamer.data.locks import thinning_lock
from gossamer.data.machine import THINNER, helper_name
from gossamer.database.database import Database
from gossamer.errors import CorruptError
from gossamer.frontier.views.segments import all_count, follow, live_before, merged_segments, rows_in_use
from gossamer.store.erasing import SUPERSEDED, erase, superseded, visits_of
from gossamer.store.layout import new_segment_id, role_of, time_of
from gossamer.tables import holds
from gossamer.upkeep.compacting import SegmentsHeldError, SegmentsReplacedError, replace

log = logging.getLogger(__name__)

WORTH_IT = 0.2
"""Least share of a segment's visits, blank ones apart, that can go."""


def thin_out(folder: DataFolder, db: Database, keep: float, now: float) -> int:
    """Thin out visits that were superseded `keep` seconds ago; returns how many."""
    with thinning_lock(folder):
        return _thin_all(folder, db, keep, now)


def _thin_all(folder: DataFolder, db: Database, keep: float, now: float) -> int:
    visits, name = 0, helper_name(folder, THINNER)
    due = db.patiently(lambda: _due(db, keep, now))
    for number, (segment, current) in enumerate(sorted(due.items())):
        if holds.are_held(db, now):
            break
        try:
            visits += _thin(folder, db, segment, current, new_segment_id(name, now, number), now - keep)
        except (SegmentsHeldError, SegmentsReplacedError):
            continue
        except CorruptError as error:
            if all_count(db, [segment]):
                log.warning("cannot thin out a segment: %s", error)
    return visits


def _due(db: Database, keep: float, now: float) -> dict[str, array[int]]:
    """Segments that may hold superseded visits, with the rows that are in use."""
    sizes = {name: pages for name, pages in live_before(db, now - keep).items() if _is_due(name, now - keep)}
    due = {segment: array("q") for segment in sizes}
    if due:
        moved = merged_segments(db)
        for segment, row in rows_in_use(db):
            segment, row = follow(moved, segment, row)
            if segment in due:
                due[segment].append(row)
    return {segment: rows for segment, rows in due.items() if sizes[segment] - len(rows) >= WORTH_IT * sizes[segment]}


def _is_due(segment: str, before: float) -> bool:
    """Whether it was not thinned out lately."""
    return role_of(segment) != THINNER or time_of(segment) < before


def _thin(folder: DataFolder, db: Database, segment: str, current: array[int], new_id: str, before: float) -> int:
    gone = superseded(np.frombuffer(current, np.int64), before)
    visits, full = visits_of(folder.segments, segment, gone)
    if not visits or visits < WORTH_IT * full:
        return 0
    result = erase(folder.segments, segment, new_id, gone, SUPERSEDED)
    replace(db, folder.segments, [segment], result, time_of(new_id))
    log.info("thinned out superseded visits", extra={"segment": new_id, "visits": visits})
    return visits

"""Keeps the number of segments bounded while a crawl runs.

The merged segment is written and synced first; one transaction then makes it count
and points the old ones at it, so a page's stored place needs no rewriting; only
then are the old folders deleted. A crash leaves an orphan at worst.

A crawl has it done by a process of its own: merging may take a while, in which workers may die, and hundreds of
megabytes, which a process gives back at its end.
"""

from __future__ import annotations

import logging

from gossamer.data.folder import DataFolder
from gossamer.data.locks import merging_lock
from gossamer.data.machine import MERGER, helper_name
from gossamer.database.database import Database
from gossamer.errors import BusyError, CorruptError
from gossamer.frontier.steering.merged import swap_in
from gossamer.frontier.views.segments import all_count
from gossamer.store.compaction import CompactedSegment, compact
from gossamer.store.layout import new_segment_id
from gossamer.store.segment_folder import Segments, delete_segments
from gossamer.tables import holds
from gossamer.upkeep.due import damaged_segments, note_damaged, segments_to_merge

log = logging.getLogger(__name__)

COMPACTOR = "compact"
"""Who wrote a segment that replaces others, in the table; in names, where nobody says it."""


class SegmentsHeldError(BusyError):
    """Somebody copies the segments that were to be replaced."""


class SegmentsReplacedError(BusyError):
    """Somebody else has replaced or withdrawn them."""


def compact_once(db: Database, segments: Segments, now: float, damaged: set[str], worker: str = COMPACTOR) -> int:
    """Merge what is due; returns how many segments were merged away. `worker`: in the names of the new ones.

    A damaged file must not end a crawl: its neighbours stay unmerged, are named in the
    log and remembered in `damaged`. Whoever reads the file is told what to do.
    """
    merged = 0
    for number, ids in enumerate(segments_to_merge(db, now, damaged)):
        try:
            replace(db, segments, ids, compact(segments, ids, new_segment_id(worker, now, number)), now)
            merged += len(ids)
        except SegmentsHeldError:
            return merged
        except SegmentsReplacedError:
            continue
        except CorruptError as error:
            if not all_count(db, ids):  # they were thinned out meanwhile, and the old ones deleted
                continue
            damaged.update(ids)
            log.warning("segments are not merged: %s", error)
    return merged


def merge(folder: DataFolder, db: Database, now: float) -> int:
    """Merge what is due in a data folder; returns how many segments were merged away."""
    with merging_lock(folder):
        known = damaged_segments(folder, now)
        damaged = set(known)
        merged = compact_once(db, folder.segments, now, damaged, helper_name(folder, MERGER))
        if damaged > known.keys():
            note_damaged(folder, dict.fromkeys(damaged, now) | known)
        return merged


def replace(db: Database, segments: Segments, ids: list[str], result: CompactedSegment, now: float) -> None:
    """Make a new segment count in the place of old ones, and delete those; nothing new remains where they are held or
    were replaced (`SegmentsHeldError`, `SegmentsReplacedError`)."""
    try:
        db.patiently(lambda: swap(db, ids, result, now))
    except (SegmentsHeldError, SegmentsReplacedError):
        delete_segments(segments, [result.segment_id])
        raise
    delete_segments(segments, ids)


def swap(db: Database, ids: list[str], result: CompactedSegment, now: float = 0.0) -> None:
    """From now on the new segment counts in the place of the old ones, unless somebody has come to hold or to replace
    those. `now`: holds that had run out by then do not count."""
    with db.transaction():
        if holds.are_held(db, now):
            raise SegmentsHeldError(
                f"a backup, an export or a ranking of {db.where} is under way and needs its segments: wait for its end"
            )
        if not all_count(db, ids):
            raise SegmentsReplacedError(f"segments of {db.where} were replaced or withdrawn by somebody else")
        holds.go_over_lost(db, now)
        swap_in(db, result.segment_id, COMPACTOR, result.bytes, {old: result.first_rows[old] for old in ids})

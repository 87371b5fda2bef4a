"""Keeps the number of segments bounded while a crawl runs.

First the merged segment is written and synced. Then one transaction makes it count and points the old ones to it, so
that stored places of pages need no rewriting. Only then are the old folders deleted. A crash leaves an orphan at worst.

Held segments (`tables.holds`: a backup copies them, a ranking reads them) are not merged.

A crawl starts a process to merge: that takes a while, in which workers may die, and hundreds of megabytes, which a
process gives back at its end.
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
"""The writer, in the table, of a segment that replaces others; part of its name unless another is given."""


class SegmentsHeldError(BusyError):
    """Somebody copies the segments that were to be replaced."""


class SegmentsReplacedError(BusyError):
    """Another process has replaced or withdrawn them."""


def compact_once(db: Database, segments: Segments, now: float, damaged: set[str], worker: str = COMPACTOR) -> int:
    """Merge the segments that are due and return how many went. `worker` is part of the new ones' names.

    A damaged file must not end a crawl: its neighbours stay unmerged, and are logged and remembered in `damaged`.
    Whoever reads the file gets an error that says what to do."""
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
            if not all_count(db, ids):  # thinning replaced and deleted them meanwhile
                continue
            damaged.update(ids)
            log.warning("cannot merge segments: %s", error)
    return merged


def merge(folder: DataFolder, db: Database, now: float) -> int:
    """Merge the segments of a data folder that are due and return how many went."""
    with merging_lock(folder):
        known = damaged_segments(folder, now)
        damaged = set(known)
        merged = compact_once(db, folder.segments, now, damaged, helper_name(folder, MERGER))
        if damaged > known.keys():
            note_damaged(folder, dict.fromkeys(damaged, now) | known)
        return merged


def replace(db: Database, segments: Segments, ids: list[str], result: CompactedSegment, now: float) -> None:
    """Put a new segment in place of old ones and delete those; if they are held or were replaced (`SegmentsHeldError`,
    `SegmentsReplacedError`), delete the new one."""
    try:
        db.patiently(lambda: swap(db, ids, result, now))
    except (SegmentsHeldError, SegmentsReplacedError):
        delete_segments(segments, [result.segment_id])
        raise
    delete_segments(segments, ids)


def swap(db: Database, ids: list[str], result: CompactedSegment, now: float = 0.0) -> None:
    """Let the new segment count in place of the old ones, unless those are held or were replaced. Holds that had run
    out at `now` do not count."""
    with db.transaction():
        if holds.are_held(db, now):
            raise SegmentsHeldError(
                f"a backup, an export or a ranking of {db.where} is running and needs its segments: wait until it ends"
            )
        if not all_count(db, ids):
            raise SegmentsReplacedError(f"another process has replaced or withdrawn segments of {db.where}")
        holds.go_over_lost(db, now)
        swap_in(db, result.segment_id, COMPACTOR, result.bytes, {old: result.first_rows[old] for old in ids})

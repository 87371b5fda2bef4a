"""Keeps the number of segments bounded while a crawl runs.

The merged segment is written and synced first; one transaction then makes it count
and points the old ones at it, so a page's stored place needs no rewriting; only
then are the old folders deleted. A crash leaves an orphan at worst.

Segments that somebody holds (`frontier.holds`: a backup copies them, a ranking reads them) are left alone.

Small segments are merged by the crawl itself, in a moment; large ones by a process of its own (`merge_large`), since
that takes a while, in which workers may die, and hundreds of megabytes, which a process gives back at its end.
"""

from __future__ import annotations

import logging
from collections.abc import Set

import msgspec

from gossamer.data.folder import DataFolder
from gossamer.data.locks import merging_lock
from gossamer.data.machine import MERGER, helper_name
from gossamer.data.notes import read_note, write_note
from gossamer.database.database import Database
from gossamer.errors import BusyError, CorruptError
from gossamer.frontier.steering.merged import swap_in
from gossamer.frontier.views.segments import all_count, live_segments
from gossamer.store.compaction import FULL, CompactedSegment, compact, plan
from gossamer.store.layout import new_segment_id
from gossamer.store.segment_folder import Segments, delete_segments
from gossamer.tables import holds

log = logging.getLogger(__name__)

COMPACTOR = "compact"
LARGE = 10**6
"""Bytes from which a segment is large: a border between two size classes, so that nobody else merges those."""
_AGAIN = 86_400.0
"""Seconds after which large segments are tried again that were not merged because one of them is damaged."""
_DAMAGED = "merge.damaged"


class SegmentsHeldError(BusyError):
    """Somebody copies the segments that were to be replaced."""


class SegmentsReplacedError(BusyError):
    """Somebody else has replaced or withdrawn them."""


def due(
    db: Database, now: float, least: int = 0, below: int = FULL, damaged: Set[str] = frozenset()
) -> list[list[str]]:
    """Which segments of `least` bytes, and of less than `below`, are to be merged; none while somebody holds them."""
    if holds.are_held(db, now):
        return []
    wanted = [one for one in live_segments(db) if least <= one.bytes < below and one.id not in damaged]
    return plan({one.id: one.bytes for one in wanted})


def compact_once(
    db: Database, segments: Segments, now: float, damaged: set[str], least: int = 0, below: int = FULL,
    worker: str = COMPACTOR,
) -> int:  # fmt: skip
    """Merge what is due; returns how many segments were merged away. `worker`: in the names of the new ones.

    A damaged file must not end a crawl: its neighbours stay unmerged, are named in the
    log and remembered in `damaged`. Whoever reads the file is told what to do.
    """
    merged = 0
    for number, ids in enumerate(due(db, now, least, below, damaged)):
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


def merge_large(folder: DataFolder, db: Database, now: float) -> int:
    """Merge large segments that are due; returns how many were merged away."""
    with merging_lock(folder):
        known = _damaged(folder, now)
        damaged = set(known)
        merged = compact_once(db, folder.segments, now, damaged, least=LARGE, worker=helper_name(folder, MERGER))
        if damaged > known.keys():
            write_note(folder, _DAMAGED, msgspec.json.encode(dict.fromkeys(damaged, now) | known).decode())
        return merged


def large_are_due(folder: DataFolder, db: Database, now: float) -> bool:
    """Whether a process has to be started to merge some."""
    return bool(due(db, now, least=LARGE, damaged=_damaged(folder, now).keys()))


def _damaged(folder: DataFolder, now: float) -> dict[str, float]:
    """Large segments that could not be merged a short time ago, because one of a group is damaged, and when."""
    try:
        noted = msgspec.json.decode(read_note(folder, _DAMAGED) or "{}", type=dict[str, float])
    except msgspec.DecodeError:
        return {}
    return {segment: at for segment, at in noted.items() if 0 <= now - at < _AGAIN}


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

"""Which chores have work to do. The crawl asks this all the time, so nothing here loads what the chores need.

Segments that somebody holds (`tables.holds`: a backup copies them, a ranking reads them) are left alone.
"""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from gossamer.data.folder import DataFolder
from gossamer.data.notes import read_note, write_note
from gossamer.database.database import Database
from gossamer.frontier.views.segments import live_segments
from gossamer.store.merge_plan import plan
from gossamer.tables import holds

MERGE_EVERY = 60.0
"""Seconds between two looks for segments to merge: a start of the process costs 0.3 s of a core."""
_AGAIN = 86_400.0
"""Seconds after which segments are tried again that were not merged because one of them is damaged."""
_DAMAGED = "merge.damaged"
_SHORTEST = 60.0


def segments_to_merge(db: Database, now: float, damaged: Collection[str] = ()) -> list[list[str]]:
    """Groups of segments that should become one each; none while somebody holds segments."""
    if holds.are_held(db, now):
        return []
    return plan({one.id: one.bytes for one in live_segments(db) if one.id not in damaged})


def merging_is_due(folder: DataFolder, db: Database, now: float) -> bool:
    """Whether a process has to be started to merge segments."""
    return bool(segments_to_merge(db, now, damaged_segments(folder, now)))


def damaged_segments(folder: DataFolder, now: float) -> dict[str, float]:
    """Segments that could not be merged a short time ago, because one of a group is damaged, and when."""
    try:
        noted = msgspec.json.decode(read_note(folder, _DAMAGED) or "{}", type=dict[str, float])
    except msgspec.DecodeError:
        return {}
    return {segment: at for segment, at in noted.items() if 0 <= now - at < _AGAIN}


def note_damaged(folder: DataFolder, damaged: dict[str, float]) -> None:
    """Leave these alone for a day."""
    write_note(folder, _DAMAGED, msgspec.json.encode(damaged).decode())


def thinning_every(keep: float) -> float:
    """Seconds between two turns of thinning out; 0 where everything is kept."""
    return max(_SHORTEST, keep / 10) if keep else 0.0

"""Keeps the number of segments bounded while a crawl runs.

The merged segment is written and synced first; one transaction then makes it count
and points the old ones at it, so a page's stored place needs no rewriting; only
then are the old folders deleted. A crash leaves an orphan at worst.
"""

from __future__ import annotations

import logging

from gossamer.errors import CorruptError
from gossamer.frontier.database import Database
from gossamer.store.compaction import CompactedSegment, compact, plan
from gossamer.store.layout import new_segment_id
from gossamer.store.segment_folder import Segments, delete_segments

log = logging.getLogger(__name__)

_WORKER = "compact"


def compact_once(db: Database, segments: Segments, now: float, damaged: set[str]) -> int:
    """Merge what is due; returns how many segments were merged away.

    A damaged file must not end a crawl: its neighbours stay unmerged, are named in the
    log and remembered in `damaged`. Whoever reads the file is told what to do.
    """
    rows = db.execute("SELECT id, bytes FROM segments WHERE merged_into IS NULL ORDER BY created_at, id")
    sizes: dict[str, int] = {segment: size for segment, size in rows if segment not in damaged}
    merged = 0
    for number, ids in enumerate(plan(sizes)):
        try:
            _merge(db, segments, ids, new_segment_id(_WORKER, now, number), now)
            merged += len(ids)
        except CorruptError as error:
            damaged.update(ids)
            log.warning("segments are not merged: %s", error)
    return merged


def _merge(db: Database, segments: Segments, ids: list[str], new_id: str, now: float) -> None:
    result = compact(segments, ids, new_id)
    db.patiently(lambda: _swap(db, ids, new_id, result))
    delete_segments(segments, ids)


def _swap(db: Database, ids: list[str], new_id: str, result: CompactedSegment) -> None:
    with db.transaction():
        db.execute(
            "INSERT INTO segments (id, worker, created_at, pages, bytes) "
            f"SELECT ?, ?, MIN(created_at), SUM(pages), ? FROM segments WHERE id IN ({','.join('?' * len(ids))})",
            (new_id, _WORKER, result.bytes, *ids),
        )
        db.many(
            "UPDATE segments SET merged_into = ?, first_row = ? WHERE id = ?",
            [(new_id, result.first_rows[old], old) for old in ids],
        )

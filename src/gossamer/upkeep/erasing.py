"""Erases texts, raw responses and links of pages that were taken down from the segments.

A takedown hides a page; its bytes stay in the segments, which never change. If the law or a promise asks for more, this
rewrites the segments that hold the page without it. The crawl has to be stopped, because a merge at the same time could
bring the bytes back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gossamer.data.folder import DataFolder
from gossamer.data.locks import crawl_lock, merging_lock, rereading_lock, thinning_lock
from gossamer.data.machine import MERGER, REREADER, THINNER
from gossamer.database.database import Database
from gossamer.errors import BusyError
from gossamer.frontier.steering.removals import Covered
from gossamer.frontier.views.inspect import segment_ids
from gossamer.frontier.views.segments import merged_segments
from gossamer.store.erasing import ERASED, erase, of_urls, visits_of
from gossamer.store.layout import new_segment_id, role_of
from gossamer.store.orphans import survey
from gossamer.store.segment_folder import delete_segments
from gossamer.upkeep.compacting import COMPACTOR, replace

_WORKER = "erase"
_COPYING = (_WORKER, COMPACTOR, MERGER, THINNER, REREADER)
"""The worker's name in rewritten segments."""

Told = Callable[[int, int], None]
"""Called with the number of segments done, and of all."""


def erase_removed(
    folder: DataFolder, db: Database, removals: list[str], now: float, told: Told = lambda _done, _all: None
) -> int:
    """Erase stored visits of all pages that these removals cover; returns how many."""
    gone, visits = of_urls(Covered(removals)), 0
    with _alone(folder, db):
        ids = segment_ids(db)
        for number, segment in enumerate(ids):
            found, _ = visits_of(folder.segments, segment, gone)
            if found:
                result = erase(folder.segments, segment, new_segment_id(_WORKER, now, number), gone, ERASED)
                replace(db, folder.segments, [segment], result, now)
                visits += found
            told(number + 1, len(ids))
        _delete_left_over(folder, db)
    return visits


def _delete_left_over(folder: DataFolder, db: Database) -> None:
    """Delete remains of a killed merge, which hold the pages, too: replaced segments that were not deleted, and new
    ones that never counted."""
    replaced = merged_segments(db)
    stored, count = survey(folder.segments), set(segment_ids(db))
    copies = [segment for segment in stored.published if segment not in count and role_of(segment) in _COPYING]
    delete_segments(folder.segments, {*copies, *(segment for segment in stored.published if segment in replaced)})
    for segment in stored.unfinished:
        if role_of(segment) in _COPYING:
            folder.segments.discard_unfinished(segment)


@contextmanager
def _alone(folder: DataFolder, db: Database) -> Iterator[None]:
    """No other process merges segments inside."""
    why = "the crawl is running: stop it, then erase the pages (readers cannot find them any more)"
    lock = crawl_lock(folder)
    try:
        lock.__enter__()
    except BusyError as error:
        raise BusyError(why) from error
    try:
        if not db.only_one("crawl"):
            raise BusyError(why)
        with (
            merging_lock(folder),
            thinning_lock(folder),
            rereading_lock(folder),
        ):  # workers may outlive a crawl that was killed
            yield
    finally:
        lock.__exit__(None, None, None)

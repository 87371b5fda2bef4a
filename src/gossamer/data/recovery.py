"""Repairs before a crawl begins: sites and segments of dead workers, and times of a clock that was set back."""

from __future__ import annotations

from gossamer.data.folder import DataFolder
from gossamer.data.locks import drop_lock, is_locked
from gossamer.data.machine import MERGER, REREADER, THINNER, helper_name, machine_name
from gossamer.database import meta
from gossamer.errors import ClockError
from gossamer.frontier.contract import CrawlFrontier
from gossamer.frontier.views.inspect import segment_ids
from gossamer.frontier.views.vitals import workers
from gossamer.store.orphans import delete_orphans, survey
from gossamer.tables.clock_back import latest_written, turn_back

_CLOCK_SLACK = 120.0
_ORPHAN_AGE = 6 * 3600.0
"""Seconds for which an unclaimed segment is left alone if other machines may be writing it: a merge is no worker and
takes minutes, and clocks are sometimes wrong by an hour.
"""
_HELPERS = (THINNER, MERGER, REREADER)


def recover(folder: DataFolder, frontier: CrawlFrontier, now: float) -> list[str]:
    """Free what dead workers held and delete their unfinished segments; returns sentences about it."""
    done = []
    stored = survey(folder.segments)  # before the database is read: segments committed meanwhile are then known
    known = workers(frontier.db)
    # Signs of life and lease show whether a worker of another machine lives.
    here = machine_name(folder)
    alive = {worker for worker, machine in known if machine != here or is_locked(folder, worker)}
    # Their files will count in a moment, or never.
    alive |= {helper_name(folder, role) for role in _HELPERS if is_locked(folder, role)}
    for worker, _ in known:
        if worker not in alive:
            frontier.retire(worker, now)
            drop_lock(folder, worker)
            done.append(f"took the sites of dead worker {worker} back")
    count = set(segment_ids(frontier.db))
    age = _ORPHAN_AGE if folder.is_shared else 0.0
    dead = {worker for worker, _ in known} | {helper_name(folder, role) for role in _HELPERS}
    dead -= alive
    gone = delete_orphans(folder.segments, stored, count, alive, dead_workers=dead, older_than=age, now=now)
    return done + [f"deleted unfinished segment {name}" for name in gone]


def check_clock(frontier: CrawlFrontier, now: float, accept: bool) -> None:
    """Refuse to start while the system clock is behind times that were stored already."""
    last = float(meta.noted(frontier.db, meta.LAST_SEEN) or 0.0)
    behind = last - now
    if behind > _CLOCK_SLACK and not accept:
        raise ClockError(
            f"the system clock is {behind:.0f} s behind the last crawl here: set it, "
            "or pass --accept-clock to continue from the present time"
        )
    with frontier.db.transaction():
        if behind > _CLOCK_SLACK:
            turn_back(frontier.db, now, latest_written(frontier.db, last) - now)
        meta.note(frontier.db, meta.LAST_SEEN, repr(now))

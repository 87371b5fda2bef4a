"""Whether a crawl is well, and a few sentences if not: a seed failed, the crawl stalls, the disk fills up, the index is
behind.

A crawl that nobody runs, or that an operator paused, does not stall. Its index can be behind all the same.
"""

from __future__ import annotations

from gossamer.data.crawl_settings import options_of
from gossamer.data.folder import DataFolder
from gossamer.data.locks import is_crawled
from gossamer.database.database import Database
from gossamer.frontier.views.inspect import Status, status
from gossamer.indexer.indexed import IndexStanding, index_lag, index_standing
from gossamer.model.counts import counted
from gossamer.operate.next_command import Commands
from gossamer.operate.verdict import verdict_of
from gossamer.settings import Settings
from gossamer.tables import measures

LONGEST_LAG = 300.0
"""Seconds that results may wait for the index. It needs seconds, and minutes only during large merges."""


def problems(folder: DataFolder, db: Database, settings: Settings, now: float) -> list[str]:
    """Problems, a sentence each with advice; none if all is well."""
    standing = status(db, now)
    found = [
        verdict_of(db, settings, Commands(folder.root, options_of(db), is_crawled(folder)), standing.pages).sentence,
        _stalled(db, standing, settings, now),
        _disk(folder, settings),
        _index(folder, db, standing, settings, now),
    ]
    return [sentence for sentence in found if sentence]


def _stalled(db: Database, standing: Status, settings: Settings, now: float) -> str:
    since = measures.working_since(db, now)
    could_ask = standing.sites_active + standing.sites_waiting - standing.sites_blocked
    if since is None or standing.paused or could_ask <= 0:
        return ""
    quiet = now - max(since, measures.newest_stored(db) or 0.0)
    if quiet <= settings.alerts.stalled_after:
        return ""
    return (
        f"the crawl stalls: it stored nothing for {quiet / 60:.0f} min although {counted(could_ask, 'site')} "
        "can get requests: see the log of the workers, and run `gossamer doctor --network`"
    )


def _disk(folder: DataFolder, settings: Settings) -> str:
    try:
        free = folder.free_mebibytes()
    except OSError as error:
        return f"cannot read the free space of {folder.root} ({error.strerror}): check the disk"
    least = max(settings.alerts.disk_low, settings.crawl.min_free_disk)
    if free >= least:
        return ""
    return (
        f"the disk is low: {free} MiB are free. Below {least} there is an alarm, and the crawl stops at "
        f"{settings.crawl.min_free_disk}: free some space"
    )


def _index(folder: DataFolder, db: Database, standing: Status, settings: Settings, now: float) -> str:
    index = index_standing(folder, db)
    if not settings.crawl.index or _is_elsewhere(folder, settings, index):
        return ""
    if index.problem:
        return f"the index cannot be searched: {index.problem}" if standing.pages else ""
    lag = index_lag(db, index, now)
    if lag <= LONGEST_LAG:
        return ""
    return (
        f"the index is behind: {index.behind} changes are not in it yet, the oldest for {lag / 60:.0f} min: "
        "see the log of the indexer; if no crawl runs, run `gossamer index`"
    )


def _is_elsewhere(folder: DataFolder, settings: Settings, index: IndexStanding) -> bool:
    """Whether the index is on other machines or in another folder."""
    return bool(settings.shards.index) or (folder.is_shared and bool(index.problem))

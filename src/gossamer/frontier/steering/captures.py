"""Leases URLs whose responses are at hand, in an archive: no request is made for them, so nobody has to wait."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks
from gossamer.database.schema import DONE, QUEUED, SCHEDULED
from gossamer.errors import BusyError
from gossamer.frontier import leases
from gossamer.frontier.contract import Lease
from gossamer.frontier.handing_out import named_tasks
from gossamer.frontier.politeness import PolitenessConfig
from gossamer.frontier.queueing import Queue, enqueue
from gossamer.frontier.recording import requeue
from gossamer.model.site import key64, site_of


def lease(
    db: Database, worker: str, captured: Mapping[str, float], now: float, config: PolitenessConfig
) -> list[Lease]:
    """The sites of those URLs whose capture, of this time, is newer than their last visit; inside a transaction. URLs
    that were refused or removed stay so."""
    found = []
    for queue, keys in sorted(_newer(db, captured, now).items()):
        if (one := leases.claim_part(db, worker, queue, now, config)) is None:
            raise BusyError("a worker has a site of this archive: import it when no crawl runs")
        one.tasks = named_tasks(db, queue, keys)
        found.append(one)
    return found


def _newer(db: Database, captured: Mapping[str, float], now: float) -> dict[Queue, list[int]]:
    """The keys of the URLs by queue; all of them wait there now."""
    by_site: dict[int, dict[int, float]] = defaultdict(dict)
    for url, at in captured.items():
        by_site[key64(site_of(url))][key64(url)] = at
    found: dict[Queue, list[int]] = defaultdict(list)
    for site_id, times in sorted(by_site.items()):
        done, scheduled = [], []
        for chunk in chunks(sorted(times)):
            sql = f"SELECT key, part, state, fetched_at FROM urls WHERE site_id = ? AND key IN ({marks(chunk)})"
            for key, part, state, fetched_at in db.execute(sql, (site_id, *chunk)):
                if state not in (QUEUED, SCHEDULED, DONE) or (fetched_at or 0.0) >= times[key]:
                    continue
                found[Queue(site_id, part)].append(key)
                if state == DONE:
                    done.append(key)
                elif state == SCHEDULED:
                    scheduled.append(key)
        requeue(db, site_id, done, now)
        _wait_no_longer(db, site_id, scheduled, now)
    return found


def _wait_no_longer(db: Database, site_id: int, keys: Sequence[int], now: float) -> None:
    """Queue URLs that were to be tried again later."""
    for key in keys:
        [(part, due, level)] = db.execute(
            "SELECT part, due_at, level FROM urls WHERE site_id = ? AND key = ?", (site_id, key)
        )
        place = (site_id, part, due, key)
        db.execute("DELETE FROM schedule WHERE site_id = ? AND part = ? AND due_at = ? AND key = ?", place)
        db.execute("UPDATE urls SET state = ?, due_at = NULL WHERE site_id = ? AND key = ?", (QUEUED, site_id, key))
        enqueue(db, Queue(site_id, part), [(level, key)], now, now)

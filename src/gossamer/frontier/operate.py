"""What an operator may do to URLs: have them fetched again, remove them, withdraw a segment."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection

from gossamer.frontier.changes import next_change, note_departures
from gossamer.frontier.clusters import leave
from gossamer.frontier.database import Database
from gossamer.frontier.duplicates import domain_key
from gossamer.frontier.filtered_queue import count_urls
from gossamer.frontier.prefixes import PrefixTally
from gossamer.frontier.queueing import count_levels
from gossamer.frontier.recording import change_tally, requeue, unschedule, wake
from gossamer.frontier.revisits import NOT_COUNTED, count_documents, hour_of
from gossamer.frontier.schema import DONE, QUEUED, REFUSED, REMOVED, SCHEDULED
from gossamer.model.outcome import Outcome
from gossamer.model.site import key64, site_of
from gossamer.scope.shape import path_shape

_SELECT = """SELECT key, url, state, level, part, outcome, content_hash, cluster, bucket, checked_at, fit
    FROM urls WHERE site_id = ?"""


def matching(db: Database, prefix: str, state: tuple[int, ...]) -> list[tuple[int, int]]:
    """(site key, URL key) of the URLs of one site that start with a prefix."""
    site_id = key64(site_of(prefix))
    rows = db.execute(_SELECT, (site_id,))
    return [(site_id, row[0]) for row in rows if row[1].startswith(prefix) and row[2] in state]


def recrawl(db: Database, prefix: str, now: float) -> int:
    """Queue the finished URLs with this prefix again; returns how many."""
    with db.transaction():
        _enter_refused(db, key64(site_of(prefix)), prefix)
        keys = [key for _, key in matching(db, prefix, (DONE, REFUSED))]
        forced = [key for _, key in matching(db, prefix, (SCHEDULED,))]
        _unschedule(db, key64(site_of(prefix)), forced)
        return requeue(db, key64(site_of(prefix)), keys + forced, now)


def _enter_refused(db: Database, site_id: int, prefix: str) -> None:
    """URLs that were refused when they were found, and never counted, count as known from now on."""
    rows = db.execute(
        "SELECT url, fit FROM urls WHERE site_id = ? AND state = ? AND outcome IS NULL", (site_id, REFUSED)
    )
    for fit in (0, 1):
        shapes = [path_shape(url) for url, fits in rows if fits == fit and url.startswith(prefix)]
        if shapes:
            count_urls(db, site_id, shapes, 1, bool(fit))


def recrawl_failed(db: Database, now: float) -> int:
    """Queue every URL again whose last visit ended in an error."""
    kinds = [outcome.value for outcome in Outcome if outcome.meaning.error]
    marks = ",".join("?" * len(kinds))
    with db.transaction():
        rows = db.execute(f"SELECT site_id, key FROM urls WHERE state = ? AND outcome IN ({marks})", (DONE, *kinds))
        sites: dict[int, list[int]] = defaultdict(list)
        for site_id, key in rows:
            sites[site_id].append(key)
        return sum(requeue(db, site_id, sorted(keys), now) for site_id, keys in sorted(sites.items()))


def _unschedule(db: Database, site_id: int, keys: list[int]) -> None:
    for key in keys:
        db.execute("DELETE FROM schedule WHERE site_id = ? AND key = ?", (site_id, key))
        db.execute("UPDATE urls SET state = ?, due_at = NULL WHERE site_id = ? AND key = ?", (DONE, site_id, key))


def remove(db: Database, prefix: str, reason: str, now: float) -> int:
    """Take the URLs with this prefix out and keep them out; returns how many there were."""
    site_id = key64(site_of(prefix))
    with db.transaction():
        db.execute(
            "INSERT INTO removals (prefix, reason, removed_at) VALUES (?, ?, ?) "
            "ON CONFLICT (prefix) DO UPDATE SET reason = excluded.reason",
            (prefix, reason, now),
        )
        rows = [row for row in db.execute(_SELECT, (site_id,)) if row[1].startswith(prefix) and row[2] != REMOVED]
        keys = [row[0] for row in rows]
        _drop_from_queue(db, site_id, {row[0] for row in rows if row[2] == QUEUED})
        unschedule(db, site_id, keys)
        counted = [(row[8], hour_of(row[9])) for row in rows if row[8] is not None and row[8] != NOT_COUNTED]
        count_documents(db, {place: -n for place, n in Counter(counted).items()})
        tally = PrefixTally()
        for row in rows:
            if row[2] != REFUSED or row[5]:
                tally.left(site_id, path_shape(row[1]), bool(row[10]), row[5] or "")
        tally.flush(db)
        for key in keys:
            db.execute("DELETE FROM schedule WHERE site_id = ? AND key = ?", (site_id, key))
            db.execute(
                "UPDATE urls SET state = ?, outcome = NULL, rule = 'removed', reason = ?, content_hash = NULL, "
                "cluster = NULL, joined = NULL, due_at = NULL, bucket = NULL, checked_at = NULL "
                "WHERE site_id = ? AND key = ?",
                (REMOVED, reason, site_id, key),
            )
        db.many(
            "DELETE FROM texts WHERE domain = ? AND content_hash = ? AND site_id = ? AND key = ?",
            [(domain_key(site_of(prefix)), row[6], site_id, row[0]) for row in rows if row[6]],
        )
        leave(db, [((site_id, row[0]), row[7]) for row in rows if row[7] is not None])
        documents = [(site_id, row[0]) for row in rows if row[5] == Outcome.DOCUMENT.value]
        note_departures(db, next_change(db), documents)
        change_tally(db, Counter({(site_id, name): -n for name, n in Counter(r[5] for r in rows if r[5]).items()}))
        for key in keys:
            for outcome in (Outcome.DUPLICATE, Outcome.ALIAS):
                wake(db, site_id, key, outcome.value, now)
    return len(keys)


def _drop_from_queue(db: Database, site_id: int, keys: Collection[int]) -> None:
    rows = db.execute("SELECT part, level, seq, key FROM queue WHERE site_id = ?", (site_id,))
    leaving = [row for row in rows if row[3] in keys]
    db.many(
        "DELETE FROM queue WHERE site_id = ? AND part = ? AND level = ? AND seq = ?",
        [(site_id, part, level, seq) for part, level, seq, _ in leaving],
    )
    counts: dict[int, int] = defaultdict(int)
    for _, level, _, _ in leaving:
        counts[level] -= 1
    count_levels(db, counts)


def withdraw(db: Database, segment: str, now: float) -> int:
    """A segment is lost or wrong: its claims go with it, and its URLs are fetched again."""
    with db.transaction():
        merged = "SELECT s.id FROM segments s JOIN gone g ON s.merged_into = g.id"
        sql = f"WITH RECURSIVE gone(id) AS (SELECT ? UNION {merged}) SELECT id FROM gone"
        ids = [row[0] for row in db.execute(sql, (segment,))]
        sites: dict[int, list[int]] = defaultdict(list)
        for name in ids:
            db.execute("DELETE FROM texts WHERE segment = ?", (name,))
            rows = db.execute("SELECT site_id, key, cluster FROM urls WHERE segment = ?", (name,))
            for site_id, key, cluster in rows:
                sites[site_id].append(key)
                if cluster is not None:
                    leave(db, [((site_id, key), cluster)])
            db.execute(
                "UPDATE urls SET segment = NULL, segment_row = NULL, content_hash = NULL, cluster = NULL, "
                "joined = NULL, etag = NULL, last_modified = NULL WHERE segment = ?",
                (name,),
            )
            db.execute("DELETE FROM segments WHERE id = ?", (name,))
        note_departures(db, next_change(db), [(site_id, key) for site_id, keys in sites.items() for key in keys])
        for site_id, keys in sorted(sites.items()):
            for key in keys:
                wake(db, site_id, key, Outcome.DUPLICATE.value, now)
        return sum(requeue(db, site_id, sorted(keys), now) for site_id, keys in sorted(sites.items()))

"""Seeds: a URL that a person names is fetched now, whatever was planned, and before everything else.

A known URL may be done for 90 days, refused for good, or scheduled after a failure. Naming it makes it a start page,
first in the queue, and takes back our own caution about its site; a wait that the server asked for holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gossamer.database.database import Database, Row
from gossamer.database.lists import chunks, marks
from gossamer.database.schema import DONE, QUEUED, REFUSED, REMOVED, SCHEDULED
from gossamer.frontier.politeness import PolitenessConfig, SiteClock, asked_again
from gossamer.frontier.queueing import Queue, enqueue
from gossamer.frontier.steering.operate import again
from gossamer.frontier.steering.seed_redirects import chain_from
from gossamer.model.records import Discovered, Kind, Via
from gossamer.model.site import key64, site_of

ROBOTS_VERSION = "robots_version"
"""Key in `meta`: counts how often a person made stored robots.txt files stale; workers forget theirs when it grows."""


def add_seeds(db: Database, found: Sequence[Discovered], now: float) -> None:
    """Enter seeds; their sites belong to the crawl from now on."""
    db.many(
        "INSERT INTO seeds (url, site, added_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        [(item.url, site_of(item.url), now) for item in found],
    )


def ask_again(db: Database, named: Sequence[Discovered], now: float, config: PolitenessConfig) -> int:
    """Queue seeds that are in the table before everything else; returns how many were done, refused or scheduled."""
    by_site: dict[str, list[Discovered]] = {}
    for item in named:
        by_site.setdefault(site_of(item.url), []).append(item)
        _ask_chain(db, item.url, now, config)
    asked = 0
    for site, items in sorted(by_site.items()):
        _forgive(db, key64(site), now, config)
        asked += _ask_site(db, key64(site), {key64(item.url): item for item in items}, now)
    return asked


def _ask_chain(db: Database, seed: str, now: float, config: PolitenessConfig) -> None:
    """Queue the targets of the seed's redirects with it: they may lead elsewhere, or belong to the crawl now."""
    for url in chain_from(db, seed):
        _forgive(db, key64(site_of(url)), now, config)
        again(db, key64(site_of(url)), [key64(url)], now)


def expire_robots(db: Database, states: Sequence[tuple[str, bytes]]) -> None:
    """Store these states of robots.txt files, and make workers forget their copies."""
    if not states:
        return
    db.many("UPDATE robots SET state = ? WHERE origin = ?", [(state, origin) for origin, state in states])
    version = str(robots_version(db) + 1)
    db.execute(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (ROBOTS_VERSION, version),
    )


def robots_version(db: Database) -> int:
    """How often stored robots.txt files were made stale."""
    found = db.execute("SELECT value FROM meta WHERE key = ?", (ROBOTS_VERSION,))
    return int(found[0][0]) if found else 0


def _forgive(db: Database, site_id: int, now: float, config: PolitenessConfig) -> None:
    sql = "SELECT crawl_delay, trouble, not_before, wait_reason, least_delay FROM sites WHERE id = ?"
    for row in db.execute(sql, (site_id,)):
        old = SiteClock(*row)
        new = asked_again(old, now, config)
        if new == old:
            continue
        db.execute(
            "UPDATE sites SET trouble = ?, not_before = ?, wait_reason = ? WHERE id = ?",
            (new.trouble, new.not_before, new.reason, site_id),
        )
        db.execute(
            "UPDATE parts SET ready_at = ? WHERE site_id = ? AND owner IS NULL AND ready_at > ? AND ready_at <= ?",
            (max(now, new.not_before), site_id, max(now, new.not_before), old.not_before),
        )


def _ask_site(db: Database, site_id: int, items: Mapping[int, Discovered], now: float) -> int:
    rows: list[Row] = []
    for chunk in chunks(sorted(items)):
        sql = f"SELECT key, state, outcome, level, part FROM urls WHERE site_id = ? AND key IN ({marks(chunk)})"
        rows += db.execute(sql, (site_id, *chunk))
    _make_start_pages(db, site_id, [(row[0], items[row[0]].kind) for row in rows if row[1] != REMOVED])
    rising = [(row[4], row[0]) for row in rows if row[1] == QUEUED and row[2] is None and row[3] > 0]
    for part in sorted({part for part, _ in rising}):
        not_before = db.execute("SELECT not_before FROM sites WHERE id = ?", (site_id,))[0][0]
        enqueue(db, Queue(site_id, part), [(0, key) for one, key in rising if one == part], now, not_before)
    return again(db, site_id, [row[0] for row in rows if row[1] in (DONE, REFUSED, SCHEDULED)], now)


def _make_start_pages(db: Database, site_id: int, keys: Sequence[tuple[int, Kind]]) -> None:
    """Make URLs start pages: no link away from a seed, and in the first level; one that waits to be visited again keeps
    its level."""
    db.many(
        "UPDATE urls SET via = ?, depth = 0, hops = 0, level = CASE WHEN state = ? AND outcome IS NOT NULL THEN level "
        "ELSE 0 END, kind = CASE WHEN ? = ? THEN kind ELSE ? END WHERE site_id = ? AND key = ?",
        [
            (Via.SEED.value, QUEUED, kind.value, Kind.PAGE.value, kind.value, site_id, key)
            for key, kind in keys
        ],
    )  # fmt: skip

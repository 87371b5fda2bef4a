"""Reads refused URLs, and targets outside the crawl, in batches, to be judged anew."""

from __future__ import annotations

from collections.abc import Iterator

from gossamer.database.database import Database
from gossamer.database.schema import DONE, REFUSED
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered, Kind, Via

Place = tuple[int, int]
"""Site and key of a URL."""

_HANDFUL = 1000
_FIRST = (-(1 << 63), -(1 << 63))


def refused_urls(db: Database) -> Iterator[list[tuple[Discovered, str]]]:
    """All refused URLs, as they would be offered again, each with the rule that refused it."""
    last: Place = _FIRST
    while rows := db.execute(
        "SELECT u.site_id, u.key, u.url, u.via, u.kind, u.depth, u.hops, f.url, u.rule FROM urls u "
        "LEFT JOIN urls f ON f.site_id = u.found_site AND f.key = u.found_key "
        f"WHERE u.state = {REFUSED} AND (u.site_id, u.key) > (?, ?) ORDER BY u.site_id, u.key LIMIT {_HANDFUL}",
        last,
    ):
        last = rows[-1][:2]
        yield [
            (Discovered(url, Via(via), Kind(kind), depth, hops, referrer or ""), rule or "")
            for _, _, url, via, kind, depth, hops, referrer, rule in rows
        ]


def redirect_targets(db: Database) -> Iterator[list[Discovered]]:
    """Targets of redirects, whether or not they are in the table."""
    redirect = Outcome.REDIRECT.value
    sql = "SELECT site_id FROM outcomes WHERE outcome = ? AND urls > 0 ORDER BY site_id"
    for (site_id,) in db.execute(sql, (redirect,)):
        key = _FIRST[1]
        while rows := db.execute(
            f"SELECT key, url, target, kind, depth, hops FROM urls WHERE site_id = ? AND key > ? AND state = {DONE} "
            f"AND outcome = ? ORDER BY key LIMIT {_HANDFUL}",
            (site_id, key, redirect),
        ):
            key = rows[-1][0]
            yield [
                Discovered(target, Via.REDIRECT, Kind(kind), depth, hops + 1, url)
                for _, url, target, kind, depth, hops in rows
                if target
            ]


def lists(db: Database) -> Iterator[list[Place]]:
    """Feeds and sitemaps that were read: URLs they name outside the crawl are stored nowhere else."""
    last: Place = _FIRST
    while rows := db.execute(
        "SELECT site_id, key FROM sources WHERE kind <> 'page' AND (site_id, key) > (?, ?) "
        f"ORDER BY site_id, key LIMIT {_HANDFUL}",
        last,
    ):
        last = rows[-1][:2]
        yield [(site_id, key) for site_id, key in rows]

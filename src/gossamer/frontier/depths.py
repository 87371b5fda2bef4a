"""Shorter ways to known URLs, for crawls with a limit of depth.

The depth of a URL is that of the shortest way found so far. Pages are not fetched in order of depth, so a shorter way
may turn up after the page was fetched and its links were refused as too deep. Then its depth is lowered and the page is
fetched once more, in full: its links are followed from its new depth, and their targets come nearer in the same way.
Depths only fall, so this ends; and a crawl that was stopped, or has many workers, ends with the same pages as any
other, because all of it happens in the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gossamer.database.database import Database
from gossamer.database.schema import DONE
from gossamer.frontier.contract import Verdict, Visit
from gossamer.frontier.recording import requeue
from gossamer.frontier.steering.refused import refused_urls
from gossamer.model.outcome import LEADING_ON, Outcome
from gossamer.model.records import Discovered
from gossamer.scope.reach import DEPTH_RULE, SITEMAPS_RULE, Reach

Place = tuple[int, int]
"""Site and key of a URL."""

_HANDFUL = 1000


def note_shorter_ways(db: Database, offered: Mapping[Place, int], limit: int) -> list[Place]:
    """Lower the depths of known URLs that are offered at a smaller one; returns those whose links must be followed
    anew."""
    nearer: list[tuple[int, int, int]] = []
    anew: list[Place] = []
    waiting: list[Place] = []
    rows = db.find("site_id, key, depth, state, outcome", "urls", ("site_id", "key"), sorted(offered))
    for site_id, key, depth, state, outcome in rows:
        found = offered[site_id, key]
        if found < depth:
            nearer.append((found, site_id, key))
            if found < limit and outcome in LEADING_ON:
                (anew if state == DONE else waiting).append((site_id, key))
    db.many("UPDATE urls SET depth = ? WHERE site_id = ? AND key = ?", sorted(nearer))
    _ask_for_all(db, waiting)
    return anew


def came_nearer(db: Database, judged: Sequence[tuple[Visit, Verdict, int]], limit: int) -> list[Place]:
    """Visited pages to which a shorter way was found during the fetch: their links were followed from too deep."""
    visited = {
        (site_id, visit.task.key): visit.task.depth
        for visit, verdict, site_id in judged
        if verdict.outcome.meaning.leads_on or verdict.outcome is Outcome.NOT_MODIFIED
    }
    rows = db.find("site_id, key, depth", "urls", ("site_id", "key"), sorted(visited))
    return [(site_id, key) for site_id, key, depth in rows if depth < visited[site_id, key] and depth < limit]


def follow_anew(db: Database, places: Iterable[Place], now: float) -> None:
    """Fetch these pages once more, whether or not they have changed."""
    sites: dict[int, list[int]] = {}
    for site_id, key in sorted(places):
        sites.setdefault(site_id, []).append(key)
    for site_id, keys in sites.items():
        _ask_for_all(db, [(site_id, key) for key in keys])
        requeue(db, site_id, keys, now)


def _ask_for_all(db: Database, places: Iterable[Place]) -> None:
    """Make the next visits fetch the whole page, even if it has not changed, so that its links can be followed."""
    db.many("UPDATE urls SET etag = NULL, last_modified = NULL WHERE site_id = ? AND key = ?", sorted(places))


def refused_by_reach(db: Database, reach: Reach) -> Iterator[list[Discovered]]:
    """URLs that an earlier limit refused and this one lets in, in batches."""
    for handful in refused_urls(db):
        found = [
            item
            for item, rule in handful
            if rule in (DEPTH_RULE, SITEMAPS_RULE) and reach.refusal(item.depth, item.via, item.kind) is None
        ]
        if found:
            yield found


def pages_from(db: Database, depth: int) -> Iterator[list[Place]]:
    """Fetched pages of this depth or deeper that lead on, in batches."""
    site_id = key = -(1 << 63)
    while rows := db.execute(
        f"SELECT site_id, key FROM urls WHERE state = {DONE} AND depth >= ? AND outcome IN ({LEADING_ON.sql}) "
        f"AND (site_id, key) > (?, ?) ORDER BY site_id, key LIMIT {_HANDFUL}",
        (depth, site_id, key),
    ):
        site_id, key = rows[-1]
        yield [(row[0], row[1]) for row in rows]

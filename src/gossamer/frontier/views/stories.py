"""Reads near-duplicates: which other pages have a page's text, and which had it first.

Everything is read by key, and from a bounded number of rows, because every reader who opens a page may ask. The pages
of
a cluster are ordered by the day they were published, if the date is trusted (`dedup.clusters` has the same rule), else
by the day they were first seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks
from gossamer.database.schema import REMOVED
from gossamer.dedup.clusters import believed_day
from gossamer.model.site import key64, site_of

ORDERED = 10_000
"""Pages of a cluster that are ordered; of a larger one, that many and the representative."""

_CLUSTER = (
    "SELECT c.id, c.pages, COALESCE(u.url, ''), c.reason FROM clusters c "
    "LEFT JOIN urls u ON u.site_id = c.site_id AND u.key = c.key"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Cluster(msgspec.Struct, frozen=True):
    """Pages that are near-duplicates of each other."""

    number: int
    pages: int
    representative: str
    """URL of the representative."""
    reason: str
    """Why that one; empty if it is alone."""


class StoryPage(msgspec.Struct, frozen=True):
    """A page of a cluster."""

    url: str
    published: str
    """ISO 8601; empty if no date is known, or trusted."""
    seen_at: float
    """When it was first seen with this text, seconds since 1970."""
    is_representative: bool = False


class Story(msgspec.Struct, frozen=True):
    """A cluster and its pages, the earliest first."""

    cluster: Cluster
    pages: tuple[StoryPage, ...]


def cluster_of(db: Database, url: str) -> Cluster | None:
    """The cluster of a canonical URL; None if it is no document, or too short to be compared."""
    place = (key64(site_of(url)), key64(url))
    rows = db.execute("SELECT cluster FROM urls WHERE site_id = ? AND key = ? AND state <> ?", (*place, REMOVED))
    if not rows or rows[0][0] is None:
        return None
    found = db.execute(f"{_CLUSTER} WHERE c.id = ?", (rows[0][0],))
    return Cluster(*found[0]) if found else None


def story_of(db: Database, url: str, limit: int) -> Story | None:
    """The cluster of a canonical URL with its pages, up to a limit."""
    cluster = cluster_of(db, url)
    return Story(cluster, tuple(members_of(db, cluster.number, limit))) if cluster is not None else None


def members_of(db: Database, number: int, limit: int) -> list[StoryPage]:
    """The pages of a cluster, the earliest first, up to a limit."""
    main = db.execute("SELECT site_id, key, published, seen_at FROM clusters WHERE id = ?", (number,))
    if not main:
        return []
    sql = "SELECT site_id, key, published, seen_at FROM members WHERE cluster = ? LIMIT ?"
    found = {(row[0], row[1]): (row[2], row[3]) for row in [*db.execute(sql, (number, ORDERED)), *main]}
    in_order = sorted(found.items(), key=lambda one: _time(*one[1]))[:limit]
    pages = []
    for (site_id, key), (published, seen_at) in in_order:
        rows = db.execute("SELECT url FROM urls WHERE site_id = ? AND key = ?", (site_id, key))
        if rows:
            day = published if believed_day(published, seen_at) else ""
            pages.append(StoryPage(rows[0][0], day, seen_at, (site_id, key) == (main[0][0], main[0][1])))
    return pages


def largest_clusters(db: Database, limit: int) -> list[Cluster]:
    """The clusters with most pages, the largest first; of equal ones the oldest."""
    return [
        Cluster(*row)
        for row in db.execute(f"{_CLUSTER} WHERE c.pages > 1 ORDER BY c.pages DESC, c.id LIMIT ?", (limit,))
    ]


def representatives(db: Database, numbers: Sequence[int]) -> dict[int, int]:
    """Cluster → key of the page that represents it."""
    found: dict[int, int] = {}
    for chunk in chunks(list(numbers)):
        found.update(db.execute(f"SELECT id, key FROM clusters WHERE id IN ({marks(chunk)})", chunk))
    return found


def _time(published: str, seen_at: float) -> tuple[str, bool, float]:
    """The order of pages: by day, and on one day dated pages before those seen then."""
    day = believed_day(published, seen_at)
    return (day, False, seen_at) if day else (_day(seen_at), True, seen_at)


def _day(seconds: float) -> str:
    return (_EPOCH + timedelta(seconds=seconds)).date().isoformat()

"""The next visit of a page as its row has it, and how many documents of each class of change were last seen when.

The numbers are kept with the rows. The plan of visits (`revisits`) and the freshness that `status` shows come from
them, without a look at a single page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from gossamer.database.database import Database
from gossamer.revisit.buckets import freshness_and_age, rate_of
from gossamer.revisit.config import HOUR, RevisitConfig

NOT_COUNTED = -1
"""`urls.bucket` of a page that readers do not find."""


class Planned(NamedTuple):
    """What the row of a visited URL says about its next visit."""

    due_at: float | None
    checked_at: float | None
    a: float | None
    b: float | None
    bucket: int | None


def hour_of(time: float) -> int:
    """The hour in which a page was last known."""
    return int(time // HOUR)


def count_documents(db: Database, moves: Mapping[tuple[int, int], int]) -> None:
    """Change the number of documents by class of change and hour of the last visit."""
    db.many(
        "INSERT INTO freshness (bucket, hour, pages) VALUES (?, ?, ?) "
        "ON CONFLICT (bucket, hour) DO UPDATE SET pages = freshness.pages + excluded.pages",
        [(*place, change) for place, change in sorted(moves.items()) if change],
    )
    db.many(
        "DELETE FROM freshness WHERE bucket = ? AND hour = ? AND pages <= 0",
        [place for place, change in sorted(moves.items()) if change < 0],
    )


class Freshness(msgspec.Struct, frozen=True):
    """How well the collection is believed to agree with the web."""

    pages: int
    fresh: float
    """Share of the pages that are as they were when they were fetched."""
    age: float
    """Seconds for which a page has been out of date, on average; fresh ones count as 0."""
    visits_per_day: float
    """Visits that the policy spends at this size."""


def collection_freshness(db: Database, config: RevisitConfig, now: float) -> Freshness:
    """Expected freshness and age of all documents, from the counts by class and hour."""
    rows = db.execute("SELECT bucket, hour, pages FROM freshness WHERE pages > 0")
    if not rows:
        return Freshness(0, 1.0, 0.0, 0.0)
    total, fresh, age = 0, 0.0, 0.0
    for bucket, hour, pages in rows:
        one_fresh, one_age = freshness_and_age(rate_of(bucket), max(now - (hour + 0.5) * HOUR, 0.0))
        total, fresh, age = total + pages, fresh + one_fresh * pages, age + one_age * pages
    visits = 86_400 * total / config.every if config.policy != "none" else 0.0
    return Freshness(total, fresh / total, age / total, visits)

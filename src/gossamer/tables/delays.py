"""Delay from publication to the search page, for each document that a feed announced while we were watching.

A document counts once, when readers can first find it; a rebuilt index changes nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from gossamer.database.database import Database

_STEPS = 4
"""Classes of delays per doubling."""


class Delays(msgspec.Struct, frozen=True):
    """How long it took until announced documents could be searched, in seconds."""

    documents: int
    median: float
    p95: float
    by_delay: dict[str, int]
    """Documents by upper bound of their delay, in seconds."""


def note_searchable(db: Database, places: Sequence[tuple[int, int]], now: float) -> int:
    """Readers can find these documents (site and key) from now on; returns how many of them were announced."""
    return db.patiently(lambda: _note_searchable(db, places, now))


def _note_searchable(db: Database, places: Sequence[tuple[int, int]], now: float) -> int:
    delays: Counter[int] = Counter()
    with db.transaction():
        for site_id, key in places:
            rows = db.execute(
                "UPDATE urls SET searchable_at = ? WHERE site_id = ? AND key = ? AND announced_at IS NOT NULL "
                "AND searchable_at IS NULL RETURNING announced_at",
                (now, site_id, key),
            )
            delays.update(_bucket(now - announced_at) for (announced_at,) in rows)
        db.many(
            "INSERT INTO delays (bucket, documents) VALUES (?, ?) "
            "ON CONFLICT (bucket) DO UPDATE SET documents = delays.documents + excluded.documents",
            sorted(delays.items()),
        )
    return delays.total()


def announced(db: Database, places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those documents that a feed announced and that readers could not find yet."""
    sql = "SELECT 1 FROM urls WHERE site_id = ? AND key = ? AND announced_at IS NOT NULL AND searchable_at IS NULL"
    return [place for place in places if db.execute(sql, place)]


def distribution(db: Database) -> Delays:
    """All delays so far."""
    return summary(histogram(db))


def histogram(db: Database) -> dict[int, int]:
    """All delays so far: documents by class, for `summary`; the difference of two is what came between them."""
    return dict(db.execute("SELECT bucket, documents FROM delays WHERE documents > 0 ORDER BY bucket"))


def summary(classes: Mapping[int, int]) -> Delays:
    """How long the documents of such classes took."""
    rows = sorted(classes.items())
    total = sum(documents for _, documents in rows)
    bounds = {f"{bound(bucket):.0f}": documents for bucket, documents in rows}
    return Delays(total, _quantile(rows, total, 0.5), _quantile(rows, total, 0.95), bounds)


def _bucket(delay: float) -> int:
    return math.ceil(_STEPS * math.log2(max(delay, 1.0)))


def bound(bucket: int) -> float:
    """The longest delay of a class, in seconds."""
    return float(2.0 ** (bucket / _STEPS))


def _quantile(rows: Sequence[tuple[int, int]], total: int, share: float) -> float:
    """The upper bound of the class that contains the quantile."""
    seen = 0
    for bucket, documents in rows:
        seen += documents
        if seen >= share * total:
            return bound(bucket)
    return 0.0

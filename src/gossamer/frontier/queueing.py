"""The queue: a FIFO for each level of each site, and small help for lists in SQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gossamer.frontier.database import Database

CHUNK = 256
"""Values in one IN list: under SQLite's old limit of 999 variables."""

LATER = ("schedule", "revisits")
"""Tables of what is due later: to be tried again, to be visited again."""

INSERT_QUEUE = "INSERT INTO queue (site_id, part, level, seq, key) VALUES (?, ?, ?, ?, ?)"


def queue_rows(
    db: Database, site_id: int, part: int, items: Sequence[tuple[int, int]], now: float, not_before: float
) -> list[tuple[int, int, int, int, int]]:
    """Make the site ready and number (level, key) pairs for the ends of their levels' FIFOs."""
    if not items:
        return []
    ready = max(now, not_before)
    row = db.execute(
        "UPDATE parts SET next_seq = next_seq + ?, "
        "ready_at = CASE WHEN ready_at IS NULL OR ready_at > ? THEN ? ELSE ready_at END "
        "WHERE site_id = ? AND part = ? RETURNING next_seq",
        (len(items), ready, ready, site_id, part),
    )
    first = row[0][0] - len(items)
    return sorted((site_id, part, level, first + place, key) for place, (level, key) in enumerate(items))


def enqueue(
    db: Database, site_id: int, part: int, items: Sequence[tuple[int, int]], now: float, not_before: float
) -> None:
    """Put (level, key) pairs at the ends of their levels' FIFOs and make the site ready."""
    rows = queue_rows(db, site_id, part, items, now, not_before)
    db.many(INSERT_QUEUE, rows)
    count_levels(db, Counter(row[2] for row in rows))


def count_levels(db: Database, changes: Mapping[int, int]) -> None:
    """Keep the number of rows in the queue per level, so that nobody has to count them."""
    db.many(
        "INSERT INTO levels (level, queued) VALUES (?, ?) "
        "ON CONFLICT (level) DO UPDATE SET queued = levels.queued + excluded.queued",
        sorted((level, change) for level, change in changes.items() if change),
    )


def chunks(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Pieces for IN lists, filled up to a power of two by repeating the last value: few
    lengths mean few statements, and prepared ones are found again."""
    for start in range(0, len(values), CHUNK):
        piece = values[start : start + CHUNK]
        missing = (1 << (len(piece) - 1).bit_length()) - len(piece)
        yield [*piece, *[piece[-1]] * missing]


def marks(values: Sequence[Any]) -> str:
    """As many placeholders as there are values."""
    return ",".join("?" * len(values))

"""The queue: a FIFO for each level of each site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks
from gossamer.frontier.contract import Place
from gossamer.model.site import key64

LATER = ("schedule", "revisits")
"""Tables of URLs that are due later: retries, and next visits."""

INSERT_QUEUE = "INSERT INTO queue (site_id, part, level, seq, key) VALUES (?, ?, ?, ?, ?)"


class Queue(NamedTuple):
    """The queue of a site, or of one part of it, by the key of the site."""

    site_id: int
    part: int


def queue_of(place: Place) -> Queue:
    """The queue in which the URLs of a place wait."""
    return Queue(key64(place.site), place.part)


def queue_rows(
    db: Database, queue: Queue, items: Sequence[tuple[int, int]], now: float, not_before: float
) -> list[tuple[int, int, int, int, int]]:
    """Make the site ready and number (level, key) pairs for the ends of their levels' FIFOs."""
    if not items:
        return []
    ready = max(now, not_before)
    row = db.execute(
        "UPDATE parts SET next_seq = next_seq + ?, "
        "ready_at = CASE WHEN ready_at IS NULL OR ready_at > ? THEN ? ELSE ready_at END "
        "WHERE site_id = ? AND part = ? RETURNING next_seq",
        (len(items), ready, ready, *queue),
    )
    first = row[0][0] - len(items)
    return sorted((*queue, level, first + place, key) for place, (level, key) in enumerate(items))


def numbered_rows(
    db: Database, wanted: Mapping[tuple[int, int], Sequence[tuple[int, int]]], ready: Mapping[int, float]
) -> list[tuple[int, int, int, int, int]]:
    """The same for many sites at once: (level, key) pairs by site and part, and when each site becomes ready."""
    states: dict[tuple[int, int], tuple[int, float | None]] = {}
    for chunk in chunks(sorted({site_id for site_id, _ in wanted})):
        sql = f"SELECT site_id, part, next_seq, ready_at FROM parts WHERE site_id IN ({marks(chunk)})"
        states.update(((site_id, part), (first, at)) for site_id, part, first, at in db.execute(sql, chunk))
    rows, parts = [], []
    for place, items in sorted(wanted.items()):
        first, at = states[place]
        until = ready[place[0]]
        parts.append((first + len(items), until if at is None or at > until else at, *place))
        rows += sorted((*place, level, first + number, key) for number, (level, key) in enumerate(items))
    db.many("UPDATE parts SET next_seq = ?, ready_at = ? WHERE site_id = ? AND part = ?", parts)
    return rows


def enqueue(db: Database, queue: Queue, items: Sequence[tuple[int, int]], now: float, not_before: float) -> None:
    """Put (level, key) pairs at the ends of their levels' FIFOs and make the site ready."""
    rows = queue_rows(db, queue, items, now, not_before)
    db.many(INSERT_QUEUE, rows)
    count_levels(db, Counter(row[2] for row in rows))


def count_levels(db: Database, changes: Mapping[int, int]) -> None:
    """Keep the number of queue rows per level, so that nobody has to count them."""
    db.many(
        "INSERT INTO levels (level, queued) VALUES (?, ?) "
        "ON CONFLICT (level) DO UPDATE SET queued = levels.queued + excluded.queued",
        sorted((level, change) for level, change in changes.items() if change),
    )


def move_revisits(db: Database, moved: Sequence[tuple[int, int, int, float | None, float]]) -> None:
    """Change when finished URLs are visited again: site, part, key, planned time, new time. Their sites become ready
    early enough; one that is ready too early finds nothing to do, and waits on."""
    db.many(
        "DELETE FROM revisits WHERE site_id = ? AND part = ? AND due_at = ? AND key = ?",
        sorted((site_id, part, before, key) for site_id, part, key, before, _ in moved),
    )
    db.many(
        "INSERT INTO revisits (site_id, part, due_at, key) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        sorted((site_id, part, due, key) for site_id, part, key, _, due in moved),
    )
    db.many(
        "UPDATE urls SET due_at = ? WHERE site_id = ? AND key = ?",
        sorted((due, site_id, key) for site_id, _, key, _, due in moved),
    )
    first: dict[tuple[int, int], float] = {}
    for site_id, part, _, _, due in moved:
        first[site_id, part] = min(due, first.get((site_id, part), due))
    rest: dict[int, float] = {}
    for chunk in chunks(sorted({site_id for site_id, _ in first})):
        rest.update(db.execute(f"SELECT id, not_before FROM sites WHERE id IN ({marks(chunk)})", chunk))
    ready = [(max(due, rest[site_id]), site_id, part) for (site_id, part), due in sorted(first.items())]
    db.many(
        "UPDATE parts SET ready_at = CASE WHEN ready_at IS NULL OR ready_at > ? THEN ? ELSE ready_at END "
        "WHERE site_id = ? AND part = ?",
        [(at, at, site_id, part) for at, site_id, part in ready],
    )


def drop_revisits(db: Database, dropped: Sequence[tuple[int, int, int, float]]) -> None:
    """Plan no further visits of finished URLs: site, part, key, planned time."""
    db.many(
        "DELETE FROM revisits WHERE site_id = ? AND part = ? AND due_at = ? AND key = ?",
        sorted((site_id, part, before, key) for site_id, part, key, before in dropped),
    )
    db.many(
        "UPDATE urls SET due_at = NULL WHERE site_id = ? AND key = ?",
        sorted((site_id, key) for site_id, _, key, _ in dropped),
    )

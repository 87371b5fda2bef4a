"""A new segment takes the place of old ones."""

from __future__ import annotations

from collections.abc import Mapping

from gossamer.database.database import Database
from gossamer.database.lists import marks


def swap_in(db: Database, segment: str, worker: str, size: int, first_rows: Mapping[str, int]) -> None:
    """From now on it counts in the place of those whose rows it has; inside a transaction. `first_rows`: old segment →
    the row of the new one that its rows begin at."""
    db.execute(
        "INSERT INTO segments (id, worker, created_at, pages, bytes) "
        f"SELECT ?, ?, MIN(created_at), SUM(pages), ? FROM segments WHERE id IN ({marks(list(first_rows))})",
        (segment, worker, size, *first_rows),
    )
    rows = [(segment, first, old) for old, first in first_rows.items()]
    db.many("UPDATE segments SET merged_into = ?, first_row = ? WHERE id = ?", rows)
    # What was merged into those is told to lie here, too: the way to a row must not grow with every merge.
    db.many("UPDATE segments SET merged_into = ?, first_row = first_row + ? WHERE merged_into = ?", rows)

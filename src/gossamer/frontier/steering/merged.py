"""Puts a new segment in place of old ones."""

from __future__ import annotations

from collections.abc import Mapping

from gossamer.database.database import Database
from gossamer.database.lists import marks


def swap_in(db: Database, segment: str, worker: str, size: int, first_rows: Mapping[str, int]) -> None:
    """Let it count in place of those whose rows it has; inside a transaction. `first_rows`: old segment → the row of
    the new one at which its rows begin."""
    db.execute(
        "INSERT INTO segments (id, worker, created_at, pages, bytes) "
        f"SELECT ?, ?, MIN(created_at), SUM(pages), ? FROM segments WHERE id IN ({marks(list(first_rows))})",
        (segment, worker, size, *first_rows),
    )
    rows = [(segment, first, old) for old, first in first_rows.items()]
    db.many("UPDATE segments SET merged_into = ?, first_row = ? WHERE id = ?", rows)
    # Segments merged into those point here, too: the way to a row must not grow with every merge.
    db.many("UPDATE segments SET merged_into = ?, first_row = first_row + ? WHERE merged_into = ?", rows)

"""Statistics of the URL table (S0.8), kept with the rows: the number of URLs under each prefix of a site, and their
outcomes.

Each URL counts in one row, that of its leaf (`scope.statistics.prefix_of`), and a batch writes each row once, however
many of its URLs are in it; sums over higher prefixes are computed on reading. So the cost per page is the same however
many URLs there are, and nothing is ever counted again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import msgspec

from gossamer.database.database import Database
from gossamer.frontier.contract import Verdict, Visit
from gossamer.model.outcome import Outcome
from gossamer.model.site import key64
from gossamer.scope.statistics import Counts, prefix_of

_KNOWN, _FIT, _VISITED, _DOCUMENTS, _FAILED, _DUPLICATES, _NEAR = range(7)
"""The counters of a row, in the order of its columns."""

_ADD = """INSERT INTO prefixes (site_id, prefix, text, known, fit, visited, documents, failed, duplicates, near)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (site_id, prefix) DO UPDATE SET
    known = prefixes.known + excluded.known, fit = prefixes.fit + excluded.fit,
    visited = prefixes.visited + excluded.visited, documents = prefixes.documents + excluded.documents,
    failed = prefixes.failed + excluded.failed, duplicates = prefixes.duplicates + excluded.duplicates,
    near = prefixes.near + excluded.near"""

_COLUMN = {
    outcome: _DOCUMENTS if outcome is Outcome.DOCUMENT
    else _DUPLICATES if outcome.meaning.copy
    else _FAILED if outcome.meaning.error else None
    for outcome in Outcome
}  # fmt: skip
"""The counter for a URL with this outcome, besides `visited`."""


@lru_cache(maxsize=65_536)
def _keyed(shape: str) -> tuple[int, str]:
    prefix = prefix_of(shape)
    return key64(prefix), prefix


class PrefixTally:
    """Changes of a batch, by site and prefix."""

    def __init__(self) -> None:
        self._rows: dict[tuple[int, int, str], list[int]] = {}

    def _row(self, site_id: int, shape: str) -> list[int]:
        place = (site_id, *_keyed(shape))
        row = self._rows.get(place)
        if row is None:
            row = self._rows[place] = [0] * 7
        return row

    def entered(self, site_id: int, shape: str, fit: bool, urls: int = 1) -> None:
        """URLs of a shape came into the table, or left it if `urls` is negative."""
        row = self._row(site_id, shape)
        row[_KNOWN] += urls
        if fit:
            row[_FIT] += urls

    def fitted(self, site_id: int, shape: str, urls: int) -> None:
        """Known URLs of a shape fit a document rule now, or no longer if `urls` is negative."""
        self._row(site_id, shape)[_FIT] += urls

    def visited(self, site_id: int, shape: str, before: str, outcome: Outcome, near: bool) -> None:
        """A URL of a shape has another outcome than before."""
        row = self._row(site_id, shape)
        if before:
            if (column := _COLUMN[Outcome(before)]) is not None:
                row[column] -= 1
        else:
            row[_VISITED] += 1
        if (column := _COLUMN[outcome]) is not None:
            row[column] += 1
        row[_NEAR] += near

    def left(self, site_id: int, shape: str, fit: bool, before: str) -> None:
        """A URL of a shape was taken out of the table, with the outcome that it had."""
        self.entered(site_id, shape, fit, -1)
        if before:
            row = self._row(site_id, shape)
            row[_VISITED] -= 1
            if (column := _COLUMN[Outcome(before)]) is not None:
                row[column] -= 1

    def flush(self, db: Database) -> None:
        """Write the changes."""
        db.many(_ADD, [(*place, *counts) for place, counts in sorted(self._rows.items()) if any(counts)])


def add_counts(db: Database, rows: Iterable[tuple[str, str, Counts]]) -> None:
    """Add to the counters of some leaves, each named by site and prefix."""
    found = [(key64(site), key64(prefix), prefix, *msgspec.structs.astuple(counts)) for site, prefix, counts in rows]
    with db.transaction():
        db.many(_ADD, sorted(found))


def count_prefixes(
    db: Database,
    judged: Sequence[tuple[Visit, Verdict, int]],
    shapes: Sequence[str],
    keeps: Callable[[Visit, Verdict], bool],
) -> None:
    """Count visits; those that keep their outcome (`keeps`) change nothing."""
    tally = PrefixTally()
    for (visit, verdict, site_id), shape in zip(judged, shapes, strict=True):
        if not keeps(visit, verdict):
            tally.visited(site_id, shape, visit.task.previous, verdict.outcome, verdict.is_copy)
    tally.flush(db)

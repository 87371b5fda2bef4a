"""How well text is extracted from a site's pages, day by day.

A site that is redesigned, or begins to build its pages by script, keeps answering 200: nothing fails, but its pages are
empty. So each report counts, per site and day, the parsed pages, how many of them had next to no text, and how much
text there was. It counts extractions, not documents: duplicates and noindex pages count like the others.

A site keeps at most `KEPT` days; older rows leave at the site's first count of a day.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gossamer.database.database import Database
from gossamer.frontier.contract import Visit
from gossamer.model.site import key64

DAY = 86_400
KEPT = 90
"""Days for which the counts of a site are kept."""
LITTLE = 20
"""Characters below which a page has no real text: "Loading…", a name, a cookie notice's button."""
BEFORE = 14
"""Days before the last one that it is compared with."""


class Day(msgspec.Struct, frozen=True):
    """The pages of a site on one day."""

    day: int
    """Days since 1970."""
    pages: int
    """Pages parsed."""
    empty: int
    """Of those, the ones with next to no text."""
    characters: int
    """Characters of text in all of them."""

    @property
    def share(self) -> float:
        """Share of the pages without text, 0…1."""
        return self.empty / self.pages if self.pages else 0.0


class Drop(msgspec.Struct, frozen=True):
    """A site whose pages have lost their text."""

    site: str
    share: float
    """Share of the last day's pages without text, 0…1."""
    before: float
    """The same for the days before it."""
    pages: int
    """Pages of the last day."""


class Extraction:
    """Counts the pages of reports; one for each frontier."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._day = -1
        self._pruned: set[int] = set()
        """Sites whose old rows have left today."""

    def count(self, visits: Sequence[Visit], now: float) -> None:
        """Count a batch, inside its transaction."""
        sites: dict[int, list[int]] = {}
        for visit in visits:
            if visit.characters is not None:
                counts = sites.setdefault(key64(visit.site), [0, 0, 0])
                counts[0] += 1
                counts[1] += visit.characters < LITTLE
                counts[2] += visit.characters
        if not sites:
            return
        day = int(now // DAY)
        self._db.many(
            "INSERT INTO extraction (site_id, day, pages, empty, characters) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (site_id, day) DO UPDATE SET pages = extraction.pages + excluded.pages, "
            "empty = extraction.empty + excluded.empty, characters = extraction.characters + excluded.characters",
            [(site_id, day, *counts) for site_id, counts in sorted(sites.items())],
        )
        self._prune(sorted(sites), day)

    def _prune(self, sites: Sequence[int], day: int) -> None:
        if day != self._day:
            self._day, self._pruned = day, set()
        old = [(site_id, day - KEPT) for site_id in sites if site_id not in self._pruned]
        if old:
            self._db.many("DELETE FROM extraction WHERE site_id = ? AND day <= ?", old)
            self._pruned.update(sites)


def extraction_of(db: Database, site: str, days: int = 30) -> list[Day]:
    """The last days on which pages of a site were parsed, oldest first."""
    rows = db.execute(
        "SELECT day, pages, empty, characters FROM extraction WHERE site_id = ? ORDER BY day DESC LIMIT ?",
        (key64(site), days),
    )
    return [Day(*row) for row in reversed(rows)]


def extraction_drops(db: Database, today: int, drop: float, pages: int) -> list[Drop]:
    """Sites whose share of pages without text is higher by `drop` (0…1) than in the days before, worst first.

    Compares today, or yesterday while today has fewer than `pages` pages, with all pages of up to 14 days before; those
    must
    be as many, too."""
    rows = db.execute(
        "SELECT DISTINCT e.site_id, s.name FROM extraction e JOIN sites s ON s.id = e.site_id "
        "WHERE e.day >= ? AND e.day <= ? AND e.pages >= ? AND e.empty >= ? * e.pages",
        (today - 1, today, pages, drop),
    )
    found = [_drop(name, _days(db, site_id, today), today, pages) for site_id, name in rows]
    drops = [one for one in found if one is not None and one.share - one.before >= drop]
    return sorted(drops, key=lambda one: (one.before - one.share, one.site))


def _days(db: Database, site_id: int, today: int) -> list[Day]:
    """The days to compare, oldest first."""
    rows = db.execute(
        "SELECT day, pages, empty, characters FROM extraction WHERE site_id = ? AND day >= ? AND day <= ? ORDER BY day",
        (site_id, today - 1 - BEFORE, today),
    )
    return [Day(*row) for row in rows]


def _drop(site: str, days: Sequence[Day], today: int, pages: int) -> Drop | None:
    """The last day with enough pages, against those before it."""
    last = next((day for day in reversed(days) if day.day >= today - 1 and day.pages >= pages), None)
    if last is None:
        return None
    before = [day for day in days if last.day - BEFORE <= day.day < last.day]
    parsed = sum(day.pages for day in before)
    if parsed < max(pages, 1):
        return None
    return Drop(site, last.share, sum(day.empty for day in before) / parsed, last.pages)

"""Reads the statistics of the URL table: sums per site and prefix, and a recount to check them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import msgspec

from gossamer.database.database import Database
from gossamer.database.schema import REFUSED, REMOVED
from gossamer.model.outcome import COPIES, ERRORS, Outcome
from gossamer.model.site import key64
from gossamer.scope.statistics import Counts, prefix_of

_COLUMNS = Counts.__struct_fields__
_SUMS = ", ".join(f"SUM(p.{name})" for name in _COLUMNS)


class SiteCounts(msgspec.Struct, frozen=True):
    """The sums of one site."""

    site: str
    counts: Counts


def sites_by_size(db: Database, limit: int) -> list[SiteCounts]:
    """The sites with the most URLs."""
    rows = db.execute(
        f"SELECT s.name, {_SUMS} FROM prefixes p JOIN sites s ON s.id = p.site_id "
        "GROUP BY s.id, s.name ORDER BY 2 DESC, 1 LIMIT ?",
        (limit,),
    )
    return [SiteCounts(name, Counts(*counts)) for name, *counts in rows]


def leaves(db: Database, site: str) -> dict[str, Counts]:
    """The counts of each leaf of a site."""
    rows = db.execute(f"SELECT text, {', '.join(_COLUMNS)} FROM prefixes WHERE site_id = ?", (key64(site),))
    return {text: Counts(*counts) for text, *counts in rows}


def all_leaves(db: Database) -> dict[tuple[str, str], Counts]:
    """The same for all sites, by site and prefix."""
    columns = ", ".join(f"p.{name}" for name in _COLUMNS)
    rows = db.iterate(f"SELECT s.name, p.text, {columns} FROM prefixes p JOIN sites s ON s.id = p.site_id")
    return {(site, text): Counts(*counts) for site, text, *counts in rows}


def recount(db: Database, site: str, shape_of: Callable[[str], str]) -> dict[str, Counts]:
    """The same from the URLs themselves: slow, and right by definition. Without near-duplicates: whether the page that
    a document is like is one of its site was known only when it was stored."""
    sums: dict[str, Counts] = defaultdict(Counts)
    rows = db.iterate(
        f"SELECT url, fit, outcome FROM urls WHERE site_id = ? AND state <> {REMOVED} "
        f"AND (state <> {REFUSED} OR outcome IS NOT NULL)",
        (key64(site),),
    )
    for url, fit, outcome in rows:
        sums[prefix_of(shape_of(url))] += Counts(
            known=1,
            fit=fit,
            visited=int(outcome is not None),
            documents=int(outcome == Outcome.DOCUMENT.value),
            failed=int(outcome in ERRORS),
            duplicates=int(outcome in COPIES),
        )
    return dict(sums)

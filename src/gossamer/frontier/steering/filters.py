"""Automatic filters in the database: proposed, tried in the shadow, active, switched off, withdrawn.

    proposed ──► shadow ──► active          by `upkeep.filters`, on evidence
         any ──► off                        by the operator: never made again
         off ──► active                     by the operator
      shadow, active ──► withdrawn          it was wrong, or a path leads through it now

`meta.filters` counts the changes: running workers compare one number every few seconds. When a filter becomes active,
the first visits that it matches leave the queue; when it ends, they come back (`filtered_queue`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

import msgspec

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks
from gossamer.database.schema import REFUSED
from gossamer.frontier.steering.filtered_queue import empty_queue, names, refill_queue
from gossamer.model.site import key64
from gossamer.scope.automatic import RULE, AutomaticFilter, Evidence, FilterKind, Fits, SiteFilters, reason_of

PROPOSED, SHADOW, ACTIVE, OFF, WITHDRAWN = "proposed", "shadow", "active", "off", "withdrawn"

_SELECT = "SELECT site, kind, pattern, state, made_by, evidence, proposed_at, changed_at FROM filters"
_PUT = """INSERT INTO filters (site, kind, pattern, state, made_by, evidence, proposed_at, changed_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (site, kind, pattern) DO UPDATE SET state = excluded.state,
    made_by = excluded.made_by, evidence = excluded.evidence, proposed_at = excluded.proposed_at,
    changed_at = excluded.changed_at"""


class StoredFilter(msgspec.Struct, frozen=True):
    """A filter as it is stored."""

    site: str
    kind: FilterKind
    pattern: str
    state: str
    made_by: str
    """The rule that made it: prefix, yield or parameter."""
    evidence: Evidence
    proposed_at: float
    changed_at: float

    @property
    def filter(self) -> AutomaticFilter:
        """The pattern it refuses."""
        reason = reason_of(self.kind, self.pattern, self.evidence.sentence())
        return AutomaticFilter(self.site, self.kind, self.pattern, reason)


def version(db: Database) -> int:
    """A number that grows with every change."""
    rows = db.execute("SELECT value FROM meta WHERE key = 'filters'")
    return int(rows[0][0]) if rows else 0


def load_filters(db: Database) -> tuple[AutomaticFilter, ...]:
    """The active filters."""
    return tuple(row.filter for row in _rows(db, "state = ?", ACTIVE))


def list_filters(db: Database, site: str = "") -> list[StoredFilter]:
    """All filters that were ever made, of one site or of all."""
    return _rows(db, "? IN ('', site)", site)


def sites_on_trial(db: Database, proposed_before: float) -> set[str]:
    """Sites with a filter that has been in the shadow since a time."""
    sql = "SELECT DISTINCT site FROM filters WHERE state = ? AND proposed_at <= ?"
    return {site for (site,) in db.execute(sql, (SHADOW, proposed_before))}


def _rows(db: Database, where: str, *values: str) -> list[StoredFilter]:
    rows = db.execute(f"{_SELECT} WHERE {where} ORDER BY site, kind, pattern", values)
    return [
        StoredFilter(site, kind, pattern, state, made_by, msgspec.json.decode(evidence, type=Evidence), *times)
        for site, kind, pattern, state, made_by, evidence, *times in rows
    ]


def save(db: Database, filters: Iterable[StoredFilter]) -> None:
    """Write filters as they are now; one that an operator switched off stays so."""
    with db.transaction():
        kept = set(db.execute("SELECT site, kind, pattern FROM filters WHERE state = ?", (OFF,)))
        rows = [row for row in filters if (row.site, row.kind, row.pattern) not in kept]
        db.many(_PUT, map(_values, rows))
        if rows:
            _note_change(db)


def activate(
    db: Database, stored: StoredFilter, fits: Fits, probe: int, now: float, note: str = "", by_operator: bool = False
) -> int:
    """Activate a filter: matching URLs leave the queue. Returns how many."""
    live = _changed(stored, ACTIVE, now, note, by_operator)
    return empty_queue(db, live.filter, fits, probe) if _put(db, live, by_operator) else 0


def end(db: Database, stored: StoredFilter, state: str, now: float, note: str = "") -> int:
    """End a filter that is switched off or withdrawn. Returns how many URLs are queued again; those that another filter
    refuses too stay out under its name."""
    if not _put(db, _changed(stored, state, now, note), state == OFF) or stored.state != ACTIVE:
        return 0
    others = [row.filter for row in list_filters(db, stored.site) if row.state == ACTIVE]
    return refill_queue(db, stored.filter, SiteFilters(others), now)


def _put(db: Database, row: StoredFilter, by_operator: bool) -> bool:
    """Write a filter, unless the operator has switched it off meanwhile; returns whether it was written."""
    with db.transaction():
        sql = "SELECT state FROM filters WHERE site = ? AND kind = ? AND pattern = ?"
        if not by_operator and db.execute(sql, (row.site, row.kind, row.pattern)) == [(OFF,)]:
            return False
        db.many(_PUT, [_values(row)])
        _note_change(db)
    return True


def refused(db: Database, site: str = "") -> Counter[tuple[str, str, str]]:
    """URLs in the table that each filter (site, kind, pattern) refuses."""
    stored = list_filters(db, site)
    reasons: defaultdict[tuple[int, str], list[tuple[str, int]]] = defaultdict(list)
    for sites in chunks(sorted({key64(row.site) for row in stored})):
        rows = db.execute(
            f"SELECT site_id, rule, reason, COUNT(*) FROM urls WHERE site_id IN ({marks(sites)}) "
            f"AND state = {REFUSED} AND rule LIKE '{RULE}.%' GROUP BY 1, 2, 3",
            sites,
        )
        for site_id, rule, reason, urls in rows:
            reasons[site_id, rule].append((reason, urls))
    found: Counter[tuple[str, str, str]] = Counter()
    for row in stored:
        named = reasons[key64(row.site), f"{RULE}.{row.kind}"]
        found[row.site, row.kind, row.pattern] += sum(urls for reason, urls in named if names(reason, row.filter))
    return +found  # without those that refuse nothing


def _changed(stored: StoredFilter, state: str, now: float, note: str, kept: bool = False) -> StoredFilter:
    evidence = msgspec.structs.replace(stored.evidence, note=note, kept=kept)
    return msgspec.structs.replace(stored, state=state, evidence=evidence, changed_at=now)


def _values(row: StoredFilter) -> tuple[Any, ...]:
    evidence = msgspec.json.encode(row.evidence).decode()
    return (row.site, row.kind, row.pattern, row.state, row.made_by, evidence, row.proposed_at, row.changed_at)


def _note_change(db: Database) -> None:
    db.execute(
        "INSERT INTO meta VALUES ('filters', '1') ON CONFLICT (key) DO UPDATE SET "
        "value = CAST(CAST(meta.value AS BIGINT) + 1 AS TEXT)"
    )

"""Everything about one site, for operators: counters, clock, failures, yield of its pages.

Where single URLs are shown, a bounded number of rows is read: a page about a site of ten million URLs costs no more
than
one about a small site.
"""

from __future__ import annotations

from collections import defaultdict

import msgspec

from gossamer.database.database import Database
from gossamer.frontier.steering import operate
from gossamer.frontier.views.site_list import State, state_of
from gossamer.model.outcome import ERRORS, Outcome
from gossamer.model.site import key64

_LOOKED_AT = 5_000
"""Rows of a site that are read for examples."""
_EXAMPLES = 3


class Part(msgspec.Struct, frozen=True):
    """A part of a site; most sites have one."""

    number: int
    owner: str
    """The worker that holds it, empty if none does."""
    ready_at: float | None
    """When something of it is due."""
    not_before: float


class Site(msgspec.Struct, frozen=True):
    """The row of a site, and its counters."""

    name: str
    domain: str
    added_at: float
    crawl_delay: float
    trouble: int
    not_before: float
    wait_reason: str
    address: str
    known: int
    fetched: int
    refused: int
    paused: str
    least_delay: float
    most_pages: int
    outcomes: dict[str, int]
    parts: tuple[Part, ...]
    waiting: int
    """Known URLs that were not fetched yet."""

    def state(self, now: float) -> State:
        """Its state."""
        held = any(part.owner for part in self.parts)
        resting = self.not_before > now and self.wait_reason != ""
        ready = any(part.ready_at is not None and part.ready_at <= now for part in self.parts)
        return state_of(self.paused, 0 < self.most_pages <= self.fetched, held, resting, ready)

    @property
    def pages(self) -> int:
        """Documents kept."""
        return self.outcomes.get(Outcome.DOCUMENT.value, 0)

    @property
    def errors(self) -> dict[str, int]:
        """URLs whose last visit failed, by kind, the most frequent first."""
        found = {name: urls for name, urls in self.outcomes.items() if name in ERRORS}
        return dict(sorted(found.items(), key=lambda item: -item[1]))


_COLUMNS = Site.__struct_fields__[: Site.__struct_fields__.index("outcomes")]


def find_site(db: Database, name: str) -> Site | None:
    """A site by its name."""
    site_id = key64(name)
    rows = db.execute(f"SELECT {', '.join(_COLUMNS)} FROM sites WHERE id = ?", (site_id,))
    if not rows:
        return None
    outcomes: dict[str, int] = dict(
        db.execute("SELECT outcome, urls FROM outcomes WHERE site_id = ? AND urls > 0", (site_id,))
    )
    parts = db.execute(
        "SELECT part, COALESCE(owner, ''), ready_at, not_before FROM parts WHERE site_id = ? ORDER BY part", (site_id,)
    )
    waiting = db.execute("SELECT COALESCE(SUM(known - visited), 0) FROM prefixes WHERE site_id = ?", (site_id,))[0][0]
    return Site(
        **dict(zip(_COLUMNS, rows[0], strict=True)),
        outcomes=outcomes,
        parts=tuple(Part(*part) for part in parts),
        waiting=waiting,
    )


class Example(msgspec.Struct, frozen=True):
    """A URL that failed."""

    url: str
    reason: str
    status: int | None
    fetched_at: float | None


def failures(db: Database, site: str) -> dict[str, list[Example]]:
    """Some URLs for each kind of error, the latest among the rows that were read."""
    rows = db.execute(
        "SELECT t.outcome, t.url, COALESCE(t.reason, ''), t.status, t.fetched_at FROM (SELECT outcome, url, reason, "
        "status, fetched_at FROM urls WHERE site_id = ? LIMIT ?) t "
        f"WHERE t.outcome IN ({ERRORS.sql}) ORDER BY COALESCE(t.fetched_at, 0) DESC",
        (key64(site), _LOOKED_AT),
    )
    found: dict[str, list[Example]] = defaultdict(list)
    for outcome, *values in rows:
        if len(found[outcome]) < _EXAMPLES:
            found[outcome].append(Example(*values))
    return dict(found)


def visited_since(db: Database, site: Site, moment: float) -> int | None:
    """URLs of a site that were visited since a moment; None if it has too many URLs to look."""
    if site.known > _LOOKED_AT:
        return None
    sql = "SELECT COUNT(*) FROM urls WHERE site_id = ? AND fetched_at >= ?"
    return int(db.execute(sql, (key64(site.name), moment))[0][0])


def recrawl_failed(db: Database, site: str, now: float) -> int:
    """Queue the URLs of a site again whose last visit ended in an error; returns how many."""
    return operate.recrawl_failed(db, now, site)

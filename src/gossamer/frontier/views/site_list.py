"""The sites of a crawl as a list: sorted, filtered, page by page; which fail, and why.

Figures come from counters kept with the rows, as in `inspect`: a list costs by the number of sites, not of URLs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import msgspec

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks
from gossamer.frontier.steering import controls
from gossamer.model.outcome import ERRORS
from gossamer.model.site import key64

Order = Literal["errors", "share", "name", "pages", "fetched", "waiting", "last"]
ORDERS: tuple[Order, ...] = get_args(Order)
State = Literal["active", "waiting", "resting", "paused", "limited", "idle"]
STATES: tuple[State, ...] = get_args(State)


def _urls(which: str) -> str:
    """SQL for how many URLs of the site `s` have some outcome; a site has few, and they are read at once."""
    return f"(SELECT COALESCE(SUM(CASE WHEN {which} THEN o.urls ELSE 0 END), 0) FROM outcomes o WHERE o.site_id = s.id)"


_ALL, _ERRORS = _urls("o.urls > 0"), _urls(f"o.outcome IN ({ERRORS.sql})")
_PAGES, _OF_KIND = _urls("o.outcome = 'document'"), _urls("o.outcome = ?")
_UNFETCHED = "(SELECT COALESCE(SUM(x.known - x.visited), 0) FROM prefixes x WHERE x.site_id = s.id)"
_HELD = "EXISTS (SELECT 1 FROM parts p WHERE p.site_id = s.id AND p.owner IS NOT NULL)"
_DUE = "EXISTS (SELECT 1 FROM parts p WHERE p.site_id = s.id AND p.owner IS NULL AND p.ready_at <= ?)"
_RESTING = "(s.not_before > ? AND s.wait_reason <> '')"
_FREE = f"{controls.READY} AND NOT {_HELD}"
_CONDITIONS: dict[State, tuple[str, int]] = {
    "paused": ("s.paused <> ''", 0),
    "limited": (f"s.paused = '' AND NOT ({controls.READY})", 0),
    "active": (f"{controls.READY} AND {_HELD}", 0),
    "resting": (f"{_FREE} AND {_RESTING}", 1),
    "waiting": (f"{_FREE} AND NOT {_RESTING} AND {_DUE}", 2),
    "idle": (f"{_FREE} AND NOT {_RESTING} AND NOT {_DUE}", 2),
}
"""SQL for the state of a site, and how often it contains the present time."""
_SORTS: dict[Order, str] = {
    "name": "s.name",
    "pages": f"{_PAGES} DESC, s.name",
    "fetched": "s.fetched DESC, s.name",
    "errors": f"{_ERRORS} DESC, s.fetched DESC, s.name",
    "share": f"1.0 * {_ERRORS} / (1 + {_ALL}) DESC, s.name",
    "waiting": f"{_UNFETCHED} DESC, s.name",
    "last": "s.not_before DESC, s.name",
}
"""Each reads no more than it needs: a list of a hundred thousand sites is sorted while somebody waits. One visit more
in the share makes a single failure of a single visit less than the many of a large site.
"""


class Wanted(msgspec.Struct, frozen=True):
    """Which sites are listed, and in which order."""

    order: Order = "errors"
    state: State | Literal[""] = ""
    outcome: str = ""
    """Only sites with URLs of this outcome, those with the most first if they are sorted by errors."""
    name: str = ""
    """A part of the name."""


class SiteRow(msgspec.Struct, frozen=True):
    """A site in a list."""

    name: str
    state: State
    pages: int
    fetched: int
    """Requests for pages, whatever their outcome."""
    visited: int
    """URLs that were visited."""
    errors: int
    """URLs whose last visit failed."""
    of_kind: int
    """URLs of the wanted outcome."""
    waiting: int
    """Known URLs that were not fetched yet."""
    not_before: float
    wait_reason: str
    paused: str
    worst: str
    """The most frequent error, empty if there is none."""
    crawl_delay: float
    trouble: int
    least_delay: float

    @property
    def share(self) -> float:
        """Share of the visited URLs that failed."""
        return self.errors / self.visited if self.visited else 0.0


def list_sites(db: Database, wanted: Wanted, now: float, limit: int = 50, offset: int = 0) -> list[SiteRow]:
    """Sites in order."""
    where, values = _where(wanted, now)
    sort = _SORTS[wanted.order]
    if wanted.outcome and wanted.order == "errors":
        sort, values = f"{_OF_KIND} DESC, s.name", [*values, wanted.outcome]
    found = db.execute(f"SELECT s.id FROM sites s {where} ORDER BY {sort} LIMIT ? OFFSET ?", (*values, limit, offset))
    return _rows(db, [row[0] for row in found], wanted.outcome, now)


def named_sites(db: Database, names: Sequence[str], now: float) -> dict[str, SiteRow]:
    """The sites of these names, as far as the crawl knows them."""
    ids = sorted({key64(name) for name in names})
    return {row.name: row for row in _rows(db, ids, "", now)}


def _rows(db: Database, ids: Sequence[int], outcome: str, now: float) -> list[SiteRow]:
    rows = {row[0]: row for chunk in chunks(ids) for row in db.execute(
        "SELECT s.id, s.name, s.fetched, s.not_before, s.wait_reason, s.paused, s.crawl_delay, s.trouble, "
        f"s.least_delay, s.most_pages, {_PAGES}, {_ALL}, {_ERRORS}, {_OF_KIND}, {_UNFETCHED}, {_HELD}, {_DUE} "
        f"FROM sites s WHERE s.id IN ({marks(chunk)})",
        (outcome, now, *chunk),
    )}  # fmt: skip
    worst = _worst(db, ids)
    return [_site_row(rows[site_id], worst.get(site_id, ""), now) for site_id in ids if site_id in rows]


def count_sites(db: Database, wanted: Wanted, now: float) -> int:
    """How many sites the whole list has."""
    where, values = _where(wanted, now)
    return int(db.execute(f"SELECT COUNT(*) FROM sites s {where}", values)[0][0])


def _where(wanted: Wanted, now: float) -> tuple[str, list[Any]]:
    conditions: list[str] = []
    values: list[Any] = []
    if wanted.state:
        sql, times = _CONDITIONS[wanted.state]
        conditions.append(sql)
        values += [now] * times
    if wanted.outcome:
        conditions.append("EXISTS (SELECT 1 FROM outcomes o WHERE o.site_id = s.id AND o.outcome = ? AND o.urls > 0)")
        values.append(wanted.outcome)
    if wanted.name:
        conditions.append("s.name LIKE ? ESCAPE '!'")
        part = wanted.name.lower().replace("!", "!!").replace("%", "!%").replace("_", "!_")
        values.append(f"%{part}%")
    return (f"WHERE {' AND '.join(conditions)}" if conditions else ""), values


def _site_row(row: Sequence[Any], worst: str, now: float) -> SiteRow:
    _, name, fetched, not_before, reason, paused, crawl_delay, trouble, least_delay, most, *rest = row
    pages, visited, errors, of_kind, waiting, held, due = rest
    rests = not_before > now and reason != ""
    return SiteRow(
        name=name, state=state_of(paused, 0 < most <= fetched, bool(held), rests, bool(due)), pages=pages,
        fetched=fetched, visited=visited, errors=errors, of_kind=of_kind, waiting=waiting, not_before=not_before,
        wait_reason=reason, paused=paused, worst=worst, crawl_delay=crawl_delay, trouble=trouble,
        least_delay=least_delay,
    )  # fmt: skip


def state_of(paused: str, limited: bool, held: bool, resting: bool, ready: bool) -> State:
    """The state of a site: paused, at its limit, held by a worker, resting, due, or idle."""
    if paused:
        return "paused"
    if limited:
        return "limited"
    if held:
        return "active"
    if resting:
        return "resting"
    return "waiting" if ready else "idle"


def _worst(db: Database, ids: Sequence[int]) -> dict[int, str]:
    found: dict[int, tuple[int, str]] = {}
    for chunk in chunks(list(ids)):
        sql = f"SELECT site_id, outcome, urls FROM outcomes WHERE urls > 0 AND outcome IN ({ERRORS.sql})"
        for site_id, outcome, urls in db.execute(f"{sql} AND site_id IN ({marks(chunk)})", chunk):
            found[site_id] = max(found.get(site_id, (0, "")), (urls, outcome))
    return {site_id: outcome for site_id, (_, outcome) in found.items()}


class Machine(msgspec.Struct, frozen=True):
    """A machine that works on the crawl."""

    name: str
    """Empty if the crawl has one machine."""
    workers: int
    sites: int
    """Sites, or parts of sites, that its workers hold."""
    fetched: int
    """Pages its workers fetched so far."""
    since: float


def machines(db: Database, now: float) -> list[Machine]:
    """Machines that work on the crawl, and how many sites each holds."""
    rows = db.execute(
        "SELECT w.machine, COUNT(*), COALESCE(SUM(h.held), 0), COALESCE(SUM(w.fetched), 0), MIN(w.started_at) "
        "FROM workers w LEFT JOIN (SELECT owner, COUNT(*) AS held FROM parts WHERE owner IS NOT NULL GROUP BY owner) h "
        "ON h.owner = w.id WHERE w.expires_at >= ? GROUP BY w.machine ORDER BY w.machine",
        (now,),
    )
    return [Machine(*row) for row in rows]

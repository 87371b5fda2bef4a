"""Reads the state of a crawl, and the rows of URLs, from the frontier database.

Everything shown while a crawl runs comes from counters kept with the rows, so a look costs the same with a thousand
URLs
and with a hundred million.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from gossamer.database.database import Database
from gossamer.database.schema import STATE_NAMES
from gossamer.frontier.politeness import PACE
from gossamer.frontier.steering import controls
from gossamer.model.outcome import ERRORS, RETRIED, Count, Outcome
from gossamer.model.records import LEVELS
from gossamer.model.site import key64, site_of


class Status(msgspec.Struct):
    """The state of a crawl; every figure is over the whole life of the data folder."""

    pages: int
    """Documents kept."""
    fetched: int
    """Page requests made, those that failed or were redirected included; robots.txt not counted."""
    urls_known: int
    """URLs accepted into the table."""
    urls_due: int
    """URLs waiting in the queue."""
    revisits_due: int
    """Of those, pages to be visited again."""
    urls_scheduled: int
    """URLs to be tried again later."""
    urls_refused: int
    """URLs refused by filters, trap guards, budgets or robots.txt."""
    duplicates: int
    """Pages with the text of another page of their domain."""
    aliases: int
    """Pages whose canonical link names another page, which represents them."""
    noindex: int
    """Pages that ask not to be indexed."""
    redirects: int
    """URLs that point to another URL."""
    lists: int
    """Feeds and sitemaps."""
    unread: int
    """Files of a type that has no parser."""
    errors: int
    """URLs whose last try failed."""
    errors_by_kind: dict[str, int]
    again: int
    """Requests beyond the last one to each URL: retries, later visits, and those to URLs that were removed since."""
    outcomes: dict[str, int]
    """URLs by the outcome of their last visit."""
    sites: int
    sites_active: int
    """Sites that a worker holds now."""
    sites_waiting: int
    """Sites with due URLs that no worker holds."""
    sites_blocked: int
    """Of those, the ones that must wait first."""
    queue_by_level: dict[str, int]
    workers: int
    workers_by_machine: dict[str, int]
    """For a crawl that several machines share."""
    segments: int
    bytes: int
    """Size of the segments."""
    next_due_at: float | None
    """When the next site becomes ready, None if nothing is queued."""
    paused: str = ""
    """Why the whole crawl is paused; empty if it is not."""
    sites_paused: int = 0
    """Sites that an operator paused; they do not count as waiting."""
    sites_at_limit: int = 0
    """Sites that are at an operator's limit of requests; nor do they."""

    def as_dict(self) -> dict[str, Any]:
        """The figures by name."""
        return {name: getattr(self, name) for name in self.__struct_fields__}

    @property
    def fetched_as(self) -> dict[str, int]:
        """Results of the requests, by name; the figures add up to `fetched`."""
        found = {name: getattr(self, "pages" if name == "kept" else name) for name in FETCHED_AS}
        # A URL whose robots.txt is unavailable counts as an error, and was never requested.
        found["errors"] -= max(0, sum(found.values()) - self.fetched)
        return found


FETCHED_AS = (*(count.value for count in Count if count is not Count.REFUSED), "again")
"""The names under which `fetched` is divided up."""


class Waiting(msgspec.Struct):
    """A site that has to wait, and why."""

    site: str
    until: float
    reason: str


def status(db: Database, now: float) -> Status:
    """The counters of a crawl."""
    outcomes: dict[str, int] = dict(
        db.execute("SELECT outcome, SUM(urls) FROM outcomes GROUP BY outcome HAVING SUM(urls) > 0")
    )
    errors = {name: urls for name, urls in outcomes.items() if name in ERRORS}
    counts: Counter[Count] = Counter()
    for name, urls in outcomes.items():
        counts[Outcome(name).meaning.count] += urls
    sites, known, fetched, refused, sites_paused, at_limit = db.execute(
        "SELECT COUNT(*), COALESCE(SUM(known), 0), COALESCE(SUM(fetched), 0), COALESCE(SUM(refused), 0), "
        "COALESCE(SUM(CASE WHEN paused <> '' THEN 1 ELSE 0 END), 0), "
        "COALESCE(SUM(CASE WHEN most_pages > 0 AND fetched >= most_pages THEN 1 ELSE 0 END), 0) FROM sites"
    )[0]
    levels = db.execute("SELECT level, queued FROM levels WHERE queued > 0 ORDER BY level")
    segments, size = db.execute("SELECT COUNT(*), COALESCE(SUM(bytes), 0) FROM segments WHERE merged_into IS NULL")[0]
    free = f"p.owner IS NULL AND {controls.READY}"
    parts = db.execute(
        "SELECT SUM(CASE WHEN p.owner IS NOT NULL THEN 1 ELSE 0 END), "
        # A site whose pages are due later is neither waiting nor resting: it is done for now.
        f"SUM(CASE WHEN {free} AND (p.ready_at <= ? OR p.ready_at <= s.not_before) THEN 1 ELSE 0 END), "
        f"SUM(CASE WHEN {free} AND p.ready_at > ? AND p.ready_at <= s.not_before THEN 1 ELSE 0 END), "
        f"MIN(CASE WHEN {free} THEN p.ready_at END) FROM parts p JOIN sites s ON s.id = p.site_id",
        (now, now),
    )[0]
    crawl = controls.paused(db)
    workers = db.execute("SELECT machine, COUNT(*) FROM workers WHERE expires_at >= ? GROUP BY 1 ORDER BY 1", (now,))
    return Status(
        pages=counts[Count.KEPT],
        fetched=fetched,
        urls_known=known,
        urls_due=sum(queued for _, queued in levels),
        revisits_due=sum(queued for level, queued in levels if level >= LEVELS),
        urls_scheduled=db.execute("SELECT COUNT(*) FROM schedule")[0][0],
        urls_refused=refused + counts[Count.REFUSED],
        duplicates=counts[Count.DUPLICATES],
        aliases=counts[Count.ALIASES],
        noindex=counts[Count.NOINDEX],
        redirects=counts[Count.REDIRECTS],
        lists=counts[Count.LISTS],
        unread=counts[Count.UNREAD],
        errors=counts[Count.ERRORS],
        errors_by_kind=dict(sorted(errors.items(), key=lambda item: -item[1])),
        again=max(0, fetched - (counts.total() - counts[Count.REFUSED])),
        outcomes=dict(sorted(outcomes.items())),
        sites=sites,
        sites_active=parts[0] or 0,
        sites_waiting=parts[1] or 0,
        sites_blocked=parts[2] or 0,
        queue_by_level={str(level): queued for level, queued in levels},
        workers=sum(count for _, count in workers),
        workers_by_machine={machine: count for machine, count in workers if machine},
        segments=segments,
        bytes=size,
        next_due_at=parts[3],
        paused=crawl.reason if crawl else "",
        sites_paused=sites_paused,
        sites_at_limit=at_limit,
    )


def next_due_where_answered(db: Database) -> float | None:
    """When the next site becomes ready that has ever answered, or was never in trouble."""
    rows = db.execute(
        "SELECT MIN(p.ready_at) FROM parts p JOIN sites s ON s.id = p.site_id "
        f"WHERE p.owner IS NULL AND {controls.READY} "
        "AND (s.trouble = 0 OR EXISTS (SELECT 1 FROM outcomes o WHERE o.site_id = s.id AND o.urls > 0 "
        f"AND o.outcome NOT IN ({RETRIED.sql})))"
    )
    due: float | None = rows[0][0]
    return due


def is_paced(db: Database, until: float) -> bool:
    """Whether URLs wait on a site that becomes ready until then, and that only keeps its pace."""
    return bool(db.execute(
        "SELECT 1 FROM parts p JOIN sites s ON s.id = p.site_id "
        f"WHERE p.owner IS NULL AND {controls.READY} AND s.trouble = 0 AND s.not_before <= ? AND s.wait_reason LIKE ? "
        "AND EXISTS (SELECT 1 FROM queue q WHERE q.site_id = p.site_id AND q.part = p.part) LIMIT 1",
        (until, f"%{PACE}"),
    ))  # fmt: skip


def waiting_sites(db: Database, now: float, limit: int = 20) -> list[Waiting]:
    """Sites that must wait, those with a reason first."""
    rows = db.execute(
        "SELECT name, not_before, wait_reason FROM sites WHERE not_before > ? AND wait_reason <> '' "
        "ORDER BY not_before DESC LIMIT ?",
        (now, limit),
    )
    return [Waiting(*row) for row in rows]


class UrlRecord(msgspec.Struct):
    """The row of a URL."""

    url: str
    state: str
    site: str
    kind: str
    via: str
    level: int
    lowered: int
    """Levels by which it waits lower, because pages of its shape were copies."""
    depth: int
    found_at: float
    found_on: str | None
    attempts: int
    due_at: float | None
    outcome: str | None
    rule: str | None
    reason: str | None
    status: int | None
    fetched_at: float | None
    target: str | None
    content_hash: str | None
    segment: str | None
    segment_row: int | None
    fit: bool
    """Whether it fitted a document rule when it was found."""
    hub: bool
    """Whether it is polled like a feed."""
    checked_at: float | None
    """When its content was last known."""
    change_a: float | None
    change_b: float | None
    """Parameters of its rate of change."""
    clicks: int
    announced_at: float | None
    """When a feed said that it was published."""


_RECORD = """SELECT u.url, u.state, s.name, u.kind, u.via, u.level, u.lowered, u.depth, u.found_at, f.url,
    u.attempts, u.due_at, u.outcome, u.rule, u.reason, u.status, u.fetched_at, u.target, u.content_hash, u.segment,
    u.segment_row, u.fit, u.hub, u.checked_at, u.change_a, u.change_b, u.clicks, u.announced_at
    FROM urls u LEFT JOIN sites s ON s.id = u.site_id
    LEFT JOIN urls f ON f.site_id = u.found_site AND f.key = u.found_key"""

_PAGE = 2000
"""Rows read at a time."""


def find_url(db: Database, url: str) -> UrlRecord | None:
    """The row of a canonical URL."""
    rows = db.execute(f"{_RECORD} WHERE u.site_id = ? AND u.key = ?", (key64(site_of(url)), key64(url)))
    return _record(rows[0]) if rows else None


def all_urls(db: Database) -> Iterator[UrlRecord]:
    """Every row of the table, site by site; each as it is when its page of rows is read. With one cursor for all,
    SQLite could not clear its log for as long as the caller is slow."""
    select = _RECORD.replace("SELECT", "SELECT u.site_id, u.key,", 1)
    order = f"ORDER BY u.site_id, u.key LIMIT {_PAGE}"
    rows = db.execute(f"{select} {order}")
    while rows:
        for row in rows:
            yield _record(row[2:])
        rows = db.execute(f"{select} WHERE (u.site_id, u.key) > (?, ?) {order}", rows[-1][:2])


def _record(row: tuple[object, ...]) -> UrlRecord:
    url, state, site, *rest = row
    values = [url, STATE_NAMES[int(str(state))], site or site_of(str(url)), *rest]
    return msgspec.convert(dict(zip(UrlRecord.__struct_fields__, values, strict=True)), UrlRecord, strict=False)


def place_of(db: Database, segment: str, row: int) -> tuple[str, int] | None:
    """The present place of a stored row, whose segment may have been merged into others."""
    for _ in range(64):
        found = db.execute("SELECT merged_into, first_row FROM segments WHERE id = ?", (segment,))
        if not found:
            return None
        if found[0][0] is None:
            return segment, row
        segment, row = found[0][0], row + found[0][1]
    return None


def segment_ids(db: Database) -> list[str]:
    """The current segments, in order of creation."""
    return [row[0] for row in db.execute("SELECT id FROM segments WHERE merged_into IS NULL ORDER BY created_at, id")]


def queue_place(db: Database, url: str) -> int | None:
    """How many URLs of its site are fetched before a waiting URL."""
    site_id, key = key64(site_of(url)), key64(url)
    place = db.execute(
        "SELECT q.part, q.level, q.seq FROM queue q JOIN urls u ON u.site_id = q.site_id AND u.key = q.key "
        "WHERE q.site_id = ? AND q.key = ? AND (u.level = q.level OR q.level >= ?) LIMIT 1",
        (site_id, key, LEVELS),
    )
    if not place:
        return None
    part, level, seq = place[0]
    ahead: int = db.execute(
        "SELECT COUNT(*) FROM queue WHERE site_id = ? AND part = ? AND (level < ? OR (level = ? AND seq < ?))",
        (site_id, part, level, level, seq),
    )[0][0]
    return ahead


def site_clock(db: Database, site: str) -> tuple[float, float, str] | None:
    """A site's not-before time, Crawl-delay, and why it waits."""
    rows = db.execute("SELECT not_before, crawl_delay, wait_reason FROM sites WHERE id = ?", (key64(site),))
    return (rows[0][0], rows[0][1], rows[0][2]) if rows else None


def all_robots(db: Database) -> Iterator[tuple[str, bytes]]:
    """The stored states of all robots.txt by origin."""
    yield from db.iterate("SELECT origin, state FROM robots ORDER BY origin")


def stored_robots(db: Database, origin: str) -> bytes | None:
    """The stored state of an origin's robots.txt."""
    row = db.execute("SELECT state FROM robots WHERE origin = ?", (origin,))
    return bytes(row[0][0]) if row else None

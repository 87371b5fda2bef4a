"""What the table knows of each seed: its row, the targets of redirects and canonical links, and the state of its sites.

Read in batches: a crawl may have a hundred thousand seeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks
from gossamer.database.schema import STATE_NAMES
from gossamer.frontier.steering import controls
from gossamer.model.outcome import JOINED
from gossamer.model.site import key64, origin_of, site_of

_STEPS = 16
"""Redirects and canonical links in a row that are followed; crawls follow fewer."""
_PAIRS = 64
"""URLs that are looked up at once."""


class UrlState(msgspec.Struct, frozen=True):
    """The row of a URL, as far as it shows its result."""

    url: str
    state: str = "waiting"
    outcome: str = ""
    status: int = 0
    reason: str = ""
    rule: str = ""
    target: str = ""
    """Its target, if it is a redirect, an alias or a duplicate."""
    attempts: int = 0
    """Failed tries in a row."""
    due_at: float | None = None
    """When it is tried again, if that is planned."""
    checked_at: float | None = None
    """When its content was last read, if ever."""


class SiteState(msgspec.Struct, frozen=True):
    """The state of a site."""

    documents: int = 0
    waiting: int = 0
    """Whether URLs of it wait in the queue: none, one, or more (2)."""
    delay: float = 0.0
    """Seconds between two requests that robots.txt or an operator asks for."""
    paused: str = ""
    """Why an operator paused it."""
    at_limit: bool = False
    """Whether it is at an operator's limit of requests."""


class SeedView(msgspec.Struct, frozen=True):
    """A seed, and what the table knows of it."""

    url: str
    chain: tuple[UrlState, ...] = ()
    """Its own row, and those of the URLs it leads to, as far as they are known; empty if it is unknown."""
    site: SiteState = SiteState()
    """Of the URL it leads to; documents are those of all sites on the way."""
    robots: bytes | None = None
    """The stored robots.txt state for its target, if that was never requested."""
    shares_site: bool = False
    """Whether another seed of the same site was read, so that the site's pages need not come from this one."""

    @property
    def end(self) -> UrlState | None:
        """The URL it leads to."""
        return self.chain[-1] if self.chain else None


def seed_urls(db: Database) -> list[str]:
    """All seeds, the oldest first."""
    return [url for (url,) in db.execute("SELECT url FROM seeds ORDER BY added_at, url")]


def seed_views(db: Database, urls: Sequence[str]) -> list[SeedView]:
    """The views of these seeds."""
    chains = _chains(db, urls)
    sites = _sites(db, {site_of(one.url) for chain in chains.values() for one in chain})
    unasked = {origin_of(chain[-1].url) for chain in chains.values() if chain and not chain[-1].outcome}
    robots = _robots(db, sorted(unasked))
    read = _read_by_site(chains)
    return [_view(url, chains.get(url, []), sites, robots, read) for url in urls]


def _view(
    url: str, chain: list[UrlState], sites: dict[str, SiteState], robots: dict[str, bytes], read: dict[str, set[str]]
) -> SeedView:
    if not chain:
        return SeedView(url)
    names = dict.fromkeys(site_of(one.url) for one in chain)
    here = sites.get(site_of(chain[-1].url), SiteState())
    documents = sum(sites[name].documents for name in names if name in sites)
    return SeedView(
        url, tuple(chain), msgspec.structs.replace(here, documents=documents),
        robots.get(origin_of(chain[-1].url)), bool(read.get(site_of(url), set()) - {url}),
    )  # fmt: skip


def _read_by_site(chains: dict[str, list[UrlState]]) -> dict[str, set[str]]:
    """Seeds that lead to something that was ever read, by their site."""
    found: dict[str, set[str]] = {}
    for url, chain in chains.items():
        if any(one.checked_at is not None for one in chain):
            found.setdefault(site_of(url), set()).add(url)
    return found


def _chains(db: Database, urls: Sequence[str]) -> dict[str, list[UrlState]]:
    chains: dict[str, list[UrlState]] = {url: [] for url in urls}
    nexts = {url: url for url in chains}
    for _ in range(_STEPS):
        found = _rows(db, set(nexts.values()))
        onwards = {}
        for seed, url in nexts.items():
            row = found.get(url)
            if row is None or any(one.url == url for one in chains[seed]):
                continue
            chains[seed].append(row)
            if row.outcome in JOINED and row.target:
                onwards[seed] = row.target
        nexts = onwards
        if not nexts:
            break
    return chains


def _rows(db: Database, urls: Iterable[str]) -> dict[str, UrlState]:
    pairs = sorted((key64(site_of(url)), key64(url)) for url in urls)
    found = {}
    for start in range(0, len(pairs), _PAIRS):
        piece = pairs[start : start + _PAIRS]
        sql = (
            "SELECT url, state, outcome, status, reason, rule, target, attempts, due_at, checked_at FROM urls WHERE "
            + " OR ".join(["(site_id = ? AND key = ?)"] * len(piece))
        )
        for url, state, outcome, status, reason, rule, target, attempts, due_at, checked_at in db.execute(
            sql, [value for pair in piece for value in pair]
        ):
            found[url] = UrlState(
                url, STATE_NAMES[state], outcome or "", status or 0, reason or "", rule or "", target or "", attempts,
                due_at, checked_at,
            )  # fmt: skip
    return found


def _sites(db: Database, names: Iterable[str]) -> dict[str, SiteState]:
    ids = {key64(name): name for name in names}
    documents: dict[int, int] = {}
    found = {}
    for chunk in chunks(sorted(ids)) if ids else ():
        inside = f"IN ({marks(chunk)})"
        documents |= dict(
            db.execute(f"SELECT site_id, urls FROM outcomes WHERE outcome = 'document' AND site_id {inside}", chunk)
        )
        for site_id, waiting, asked, least, paused, ready in db.execute(
            "SELECT s.id, (SELECT COUNT(*) FROM (SELECT 1 FROM queue q WHERE q.site_id = s.id LIMIT 2) AS first), "
            f"s.crawl_delay, s.least_delay, s.paused, CASE WHEN {controls.READY} THEN 1 ELSE 0 END "
            f"FROM sites s WHERE s.id {inside}",
            chunk,
        ):
            found[ids[site_id]] = SiteState(
                documents.get(site_id, 0), waiting, max(asked, least), paused, not ready and not paused
            )  # fmt: skip
    return found


def _robots(db: Database, origins: Sequence[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for chunk in chunks(origins) if origins else ():
        sql = f"SELECT origin, state FROM robots WHERE origin IN ({marks(chunk)})"
        found |= {origin: bytes(state) for origin, state in db.execute(sql, chunk)}
    return found


def documents_by_domain(db: Database, domains: Iterable[str]) -> dict[str, int]:
    """Documents kept on all sites of these registrable domains."""
    return _summed(db, "s.domain", sorted(domains))


def documents_of_sites(db: Database, sites: Iterable[str]) -> dict[str, int]:
    """Documents kept on these sites, by registrable domain."""
    return _summed(db, "s.id", sorted(map(key64, sites)))


def _summed(db: Database, column: str, wanted: Sequence[str] | Sequence[int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for chunk in chunks(wanted) if wanted else ():
        for domain, urls in db.execute(
            "SELECT s.domain, SUM(o.urls) FROM sites s JOIN outcomes o ON o.site_id = s.id "
            f"WHERE o.outcome = 'document' AND {column} IN ({marks(chunk)}) GROUP BY s.domain",
            chunk,
        ):
            found[domain] = found.get(domain, 0) + int(urls)
    return found


def documents(db: Database) -> int:
    """Documents kept in all."""
    return int(db.execute("SELECT COALESCE(SUM(urls), 0) FROM outcomes WHERE outcome = 'document'")[0][0])

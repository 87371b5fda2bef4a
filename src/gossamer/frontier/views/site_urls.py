"""Reads rows of the URL table, for all of a site or of the crawl."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gossamer.database.database import Database, Row
from gossamer.database.schema import DONE, REFUSED, REMOVED
from gossamer.model.outcome import ORIGINALS, PAGES
from gossamer.model.site import key64, site_of

_FETCHABLE = f"site_id = ? AND state <> {REMOVED} AND (state <> {REFUSED} OR outcome IS NOT NULL)"


def fetchable_rows(db: Database, site: str) -> Iterator[Row]:
    """URLs of a site that were or may be fetched: key, url, kind, via, found_site, found_key, outcome, target, joined,
    fetched_at, segment."""
    yield from db.iterate(
        "SELECT key, url, kind, via, found_site, found_key, outcome, target, joined, fetched_at, segment "
        f"FROM urls WHERE {_FETCHABLE}",
        (key64(site),),
    )


def count_fetchable(db: Database, site: str) -> int:
    """How many those are."""
    return int(db.execute(f"SELECT COUNT(*) FROM urls WHERE {_FETCHABLE}", (key64(site),))[0][0])


def fetchable_urls(db: Database, site: str) -> list[str]:
    """Only their URLs."""
    return [url for (url,) in db.iterate(f"SELECT url FROM urls WHERE {_FETCHABLE}", (key64(site),))]


def found_rows(db: Database) -> Iterator[Row]:
    """All URLs but removed ones, in no order: key, url, kind, via, found_at, found_key, announced_at."""
    yield from db.iterate(
        f"SELECT key, url, kind, via, found_at, found_key, announced_at FROM urls WHERE state <> {REMOVED}"
    )


def read_urls(db: Database, site: str) -> list[str]:
    """URLs of a site whose pages were read."""
    sql = f"SELECT url FROM urls WHERE site_id = ? AND outcome IN ({PAGES.sql})"
    return [url for (url,) in db.iterate(sql, (key64(site),))]


def url_of(db: Database, site: str, key: int) -> str:
    """The URL with a key."""
    return str(db.execute("SELECT url FROM urls WHERE site_id = ? AND key = ?", (key64(site), key))[0][0])


def document_urls(db: Database, site: str, limit: int) -> list[str]:
    """Some documents of a site."""
    sql = "SELECT url FROM urls WHERE site_id = ? AND outcome = 'document' AND segment IS NOT NULL LIMIT ?"
    return [url for (url,) in db.execute(sql, (key64(site), limit))]


def refused_by(db: Database, site: str, rule: str, limit: int) -> list[Row]:
    """Some URLs that a rule refused: url, outcome, reason."""
    sql = f"SELECT url, outcome, reason FROM urls WHERE state = {REFUSED} AND site_id = ? AND rule = ? LIMIT ?"
    return db.execute(sql, (key64(site), rule, limit))


def some_pages(db: Database, site: str, limit: int) -> list[Row]:
    """Some URLs of pages: url, outcome."""
    sql = f"SELECT url, outcome FROM urls WHERE site_id = ? AND state <> {REMOVED} AND kind = 'page' LIMIT ?"
    return db.execute(sql, (key64(site), limit))


def pages_fetched_after(db: Database, site: str, moment: float, limit: int) -> list[Row]:
    """Some pages that were fetched since a time: url, outcome, joined, fit."""
    sql = "SELECT url, outcome, joined, fit FROM urls WHERE site_id = ? AND kind = 'page' AND fetched_at > ? LIMIT ?"
    return db.execute(sql, (key64(site), moment, limit))


def depths_of(db: Database, urls: Iterable[str]) -> dict[str, int]:
    """Known URLs → the number of links from a seed."""
    places = {(key64(site_of(url)), key64(url)): url for url in urls}
    rows = db.find("site_id, key, depth", "urls", ("site_id", "key"), sorted(places))
    return {places[site_id, key]: depth for site_id, key, depth in rows}


def kept_places(db: Database, urls: Iterable[str]) -> list[tuple[int, int]]:
    """Site and key of those URLs that are kept pages and not due."""
    wanted = sorted({(key64(site_of(url)), key64(url)) for url in urls})
    rows = db.find("site_id, key, state, outcome", "urls", ("site_id", "key"), wanted)
    return [(site_id, key) for site_id, key, state, outcome in rows if state == DONE and outcome in ORIGINALS]

"""Reads sites as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from gossamer.database.database import Database
from gossamer.model.site import key64


def site_names(db: Database) -> list[str]:
    """All sites."""
    return [name for (name,) in db.execute("SELECT name FROM sites ORDER BY name")]


def site_domains(db: Database) -> list[tuple[str, str]]:
    """All sites, each with its registrable domain."""
    return [(name, domain) for name, domain in db.execute("SELECT name, domain FROM sites ORDER BY name")]


def site_addresses(db: Database) -> dict[str, str]:
    """Site → the address that it was last reached at."""
    return dict(db.execute("SELECT name, address FROM sites WHERE address <> '' ORDER BY name"))


def sites_with(db: Database, least: int) -> list[tuple[str, int]]:
    """Sites with at least so many known URLs, and how many those are."""
    rows = db.execute("SELECT name, known FROM sites WHERE known >= ? ORDER BY name", (least,))
    return [(name, known) for name, known in rows]


def site_progress(db: Database) -> Iterator[tuple[str, int, int]]:
    """All sites with a number that grows with every URL known or refused and every page fetched, and known URLs."""
    yield from db.execute("SELECT name, known + refused + fetched, known FROM sites")


def crawl_delay(db: Database, site: str) -> float:
    """Seconds that its robots.txt asks for."""
    rows = db.execute("SELECT crawl_delay FROM sites WHERE id = ?", (key64(site),))
    return float(rows[0][0]) if rows else 0.0


def is_fetched(db: Database, site: str) -> bool:
    """Whether any page of it was ever fetched."""
    return bool(db.execute("SELECT 1 FROM sites WHERE id = ? AND fetched > 0", (key64(site),)))


def added_at(db: Database, site: str) -> float:
    """When it became known; 0 for never."""
    rows = db.execute("SELECT added_at FROM sites WHERE id = ?", (key64(site),))
    return float(rows[0][0]) if rows else 0.0


def documents_kept(db: Database, site: str) -> int:
    """Its documents."""
    rows = db.execute("SELECT urls FROM outcomes WHERE site_id = ? AND outcome = 'document'", (key64(site),))
    return int(rows[0][0]) if rows else 0


def are_leased(db: Database) -> bool:
    """Whether a worker holds any site."""
    return bool(db.execute("SELECT 1 FROM parts WHERE owner IS NOT NULL LIMIT 1"))

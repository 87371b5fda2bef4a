"""Reads seeds, the URLs that people named."""

from __future__ import annotations

import msgspec

from gossamer.database.database import Database


class NamedSeed(msgspec.Struct, frozen=True):
    """A URL that somebody named."""

    url: str
    site: str
    added_at: float


def has_seeds(db: Database) -> bool:
    """Whether anybody named a seed."""
    return bool(db.execute("SELECT 1 FROM seeds LIMIT 1"))


def count_seeds(db: Database) -> int:
    """How many there are."""
    return int(db.execute("SELECT COUNT(*) FROM seeds")[0][0])


def list_seeds(db: Database, limit: int, offset: int = 0) -> list[NamedSeed]:
    """Seeds, the newest first."""
    sql = "SELECT url, site, added_at FROM seeds ORDER BY added_at DESC, url LIMIT ? OFFSET ?"
    return [NamedSeed(*row) for row in db.execute(sql, (limit, offset))]


def seed_sites(db: Database) -> list[str]:
    """The sites of all seeds."""
    return [site for (site,) in db.execute("SELECT DISTINCT site FROM seeds ORDER BY site")]


def is_seed_site(db: Database, site: str) -> bool:
    """Whether somebody named a URL of this site."""
    return bool(db.execute("SELECT 1 FROM seeds WHERE site = ? LIMIT 1", (site,)))


def is_seed(db: Database, url: str) -> bool:
    """Whether somebody named this URL."""
    return bool(db.execute("SELECT 1 FROM seeds WHERE url = ?", (url,)))

"""Finds known URLs by a part of one: bounded work, whatever the size of the table."""

from __future__ import annotations

import msgspec

from gossamer.database.database import Database
from gossamer.database.schema import STATE_NAMES
from gossamer.model.site import key64

LOOKED_AT = 200_000
"""Rows read, of the table or of a site."""


class KnownUrl(msgspec.Struct, frozen=True):
    """A URL of the table, for lists."""

    url: str
    state: str
    outcome: str
    """Of its last visit; empty if there was none."""


_COLUMNS = "url, state, COALESCE(outcome, '')"


def urls_like(db: Database, part: str, limit: int) -> list[KnownUrl]:
    """URLs that contain a text, in any case; of a large table only the first rows are read."""
    pattern = part.lower().replace("!", "!!").replace("%", "!%").replace("_", "!_")
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM (SELECT url, state, outcome FROM urls LIMIT ?) AS known "
        "WHERE LOWER(url) LIKE ? ESCAPE '!' LIMIT ?",
        (LOOKED_AT, f"%{pattern}%", limit),
    )
    return [_known(row) for row in rows]


def urls_of(db: Database, site: str, start: str, limit: int) -> list[KnownUrl]:
    """URLs of a site whose path begins with a text; of a large site only some rows are read."""
    path = len("https://") + len(site)
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM (SELECT url, state, outcome FROM urls WHERE site_id = ? LIMIT ?) AS known WHERE "
        f"substr(url, {path + 1}, {len(start)}) = ? OR substr(url, {path}, {len(start)}) = ? LIMIT ?",
        (key64(site), LOOKED_AT, start, start, limit),
    )
    return sorted((_known(row) for row in rows), key=lambda one: one.url)


def sites_like(db: Database, part: str, limit: int) -> list[str]:
    """Names of sites that contain a text."""
    pattern = part.lower().replace("!", "!!").replace("%", "!%").replace("_", "!_")
    sql = "SELECT name FROM sites WHERE name LIKE ? ESCAPE '!' ORDER BY fetched DESC, name LIMIT ?"
    return [row[0] for row in db.execute(sql, (f"%{pattern}%", limit))]


def _known(row: tuple[str, int, str]) -> KnownUrl:
    return KnownUrl(row[0], STATE_NAMES[row[1]], row[2])

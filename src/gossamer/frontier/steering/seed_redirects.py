"""Targets of seeds' redirects: `uni.edu` sends its readers to `www.uni.edu`, which then belongs to the crawl, too.

Only a seed's own redirect does that, also through others (`http` → `https` → `www`), never that of a page that was
found. It is kept in `meta`, a row for each site and seed, and counts for as long as the seed does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gossamer.database.database import Database
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered
from gossamer.model.site import key64, site_of

_NOTE = "redirected "
"""Prefix of keys in `meta`; the site, a space and the seed follow."""
_STEPS = 100
"""URLs searched on the way back to a seed: many may redirect to one."""
_CHAIN = 20
"""Redirects followed from a seed."""
_BEFORE = """SELECT u.url FROM aliases a JOIN urls u ON u.site_id = a.site_id AND u.key = a.key
    WHERE a.target_site = ? AND a.target_key = ? AND a.outcome = ? AND u.outcome = ? AND u.target = ?
    ORDER BY u.url LIMIT ?"""


def take_in(db: Database, beyond: Sequence[Discovered]) -> list[Discovered]:
    """Of redirects that lead out of the crawl, those that a seed makes: their sites belong to it from now on."""
    taken = []
    for item in beyond:
        seed = _seed_behind(db, item.referrer)
        if seed:
            db.execute(
                "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO NOTHING",
                (f"{_NOTE}{site_of(item.url)} {seed}", seed),
            )
            taken.append(item)
    return taken


def redirected_sites(db: Database) -> list[tuple[str, str]]:
    """Sites that seeds redirect to, each with the seed."""
    rows = db.execute(
        "SELECT m.key, m.value FROM meta m JOIN seeds s ON s.url = m.value "
        f"WHERE substr(m.key, 1, {len(_NOTE)}) = ? ORDER BY m.key",
        (_NOTE,),
    )
    return [(key.split(" ")[1], seed) for key, seed in rows]


def chain_from(db: Database, seed: str) -> Iterator[str]:
    """The URLs that a seed redirected to at its last visit, one after the other."""
    url, walked = seed, {seed}
    for _ in range(_CHAIN):
        rows = db.execute(
            "SELECT target FROM urls WHERE site_id = ? AND key = ? AND outcome = ?",
            (key64(site_of(url)), key64(url), Outcome.REDIRECT.value),
        )
        url = str(rows[0][0] or "") if rows else ""
        if not url or url in walked:
            return
        walked.add(url)
        yield url


def _seed_behind(db: Database, url: str) -> str:
    """The seed that is this URL or redirects to it, also through others; empty if there is none."""
    todo, walked = [url], {url}
    while todo and len(walked) < _STEPS:
        url = todo.pop(0)
        if db.execute("SELECT 1 FROM seeds WHERE url = ?", (url,)):
            return url
        redirect = Outcome.REDIRECT.value
        values = (key64(site_of(url)), key64(url), redirect, redirect, url, _STEPS)
        before = [row[0] for row in db.execute(_BEFORE, values) if row[0] not in walked]
        walked.update(before)
        todo += before
    return ""

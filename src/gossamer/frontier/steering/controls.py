"""Pauses and limits: a paused site, a paused crawl, a site with a limit.

A pause takes nothing out of the queue. A paused site is not leased, and its worker gives it back, so its URLs keep
their
places and its politeness clock runs on; the same holds for all sites while the crawl is paused. All of it is in the
database: it counts for every worker on every machine, and survives restarts.

A limit slows or ends, never hurries: `least_delay` is obeyed like a Crawl-delay (the longest delay counts), and a site
that had `most_pages` requests waits until the limit is raised.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import msgspec

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks
from gossamer.errors import UsageError
from gossamer.frontier.contract import Directions
from gossamer.model.counts import counted
from gossamer.model.site import key64

NO_REASON = "an operator paused it"
LONGEST_DELAY = 86_400.0
"""Seconds: if you want more than a day between two requests, pause the site."""

PAUSED, PAUSED_AT = "paused", "paused_at"
"""Keys in `meta`: why the crawl is paused, and since when."""

READY = "s.paused = '' AND (s.most_pages = 0 OR s.fetched < s.most_pages)"
"""For a row `s` of `sites`: no pause or limit keeps it from being leased."""


class Paused(msgspec.Struct, frozen=True):
    """Why and since when the crawl is paused."""

    reason: str
    since: float


class PausedSite(msgspec.Struct, frozen=True):
    """Why and since when a site is paused."""

    site: str
    reason: str


class Controls(msgspec.Struct, frozen=True):
    """An operator's orders about a site."""

    paused: str = ""
    """Why it is paused; empty if it is not."""
    least_delay: float = 0.0
    """Least seconds between two requests; 0: as in the settings."""
    most_pages: int = 0
    """Page requests after which its URLs wait; 0: no limit."""


def pause_site(db: Database, site: str, reason: str, now: float) -> None:
    """Send no request to the site until it is resumed; a new reason replaces the old one."""
    with db.transaction():
        _change(db, site, "paused = ?", _reason(reason))


def resume_site(db: Database, site: str, now: float) -> None:
    """Resume a paused site; its politeness clock still counts."""
    with db.transaction():
        _change(db, site, "paused = ?", "")


def limit_site(db: Database, site: str, least_delay: float, most_pages: int, now: float) -> None:
    """Send a site requests more slowly, or only so many in all; 0 lifts a limit."""
    if not (math.isfinite(least_delay) and 0 <= least_delay <= LONGEST_DELAY):
        raise UsageError(
            f"a delay must be 0 to {LONGEST_DELAY:.0f} seconds, not {least_delay:g}: for a longer one, pause the site"
        )
    if not 0 <= most_pages < 2**53:
        raise UsageError(f"a number of pages must be 0 or more, not {most_pages}")
    with db.transaction():
        _change(db, site, "least_delay = ?, most_pages = ?", least_delay, most_pages)
        if not least_delay:
            return
        # The last request may have been a moment ago: the new gap counts from now.
        until = now + least_delay
        db.execute("UPDATE sites SET not_before = ? WHERE id = ? AND not_before < ?", (until, key64(site), until))
        db.execute(
            "UPDATE parts SET ready_at = ? WHERE site_id = ? AND owner IS NULL AND ready_at < ?",
            (until, key64(site), until),
        )


def pause_crawl(db: Database, reason: str, now: float) -> None:
    """Send no request until the crawl is resumed; a new reason replaces the old one, the time stays."""
    with db.transaction():
        db.execute(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (PAUSED, _reason(reason)),
        )
        db.execute("INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO NOTHING", (PAUSED_AT, repr(now)))


def resume_crawl(db: Database, now: float) -> None:
    """Resume the crawl; sites paused on their own stay so."""
    with db.transaction():
        db.execute("DELETE FROM meta WHERE key IN (?, ?)", (PAUSED, PAUSED_AT))


def paused(db: Database) -> Paused | None:
    """Why the crawl is paused, if it is."""
    said: dict[str, str] = dict(db.execute("SELECT key, value FROM meta WHERE key IN (?, ?)", (PAUSED, PAUSED_AT)))
    return Paused(said[PAUSED], float(said.get(PAUSED_AT, 0.0))) if PAUSED in said else None


def controls_of(db: Database, site: str) -> Controls:
    """An operator's orders about a site."""
    rows = db.execute("SELECT paused, least_delay, most_pages FROM sites WHERE id = ?", (key64(site),))
    if not rows:
        raise _unknown(site)
    return Controls(*rows[0])


def paused_sites(db: Database, limit: int = 1000) -> list[PausedSite]:
    """The paused sites by name."""
    rows = db.execute("SELECT name, paused FROM sites WHERE paused <> '' ORDER BY name LIMIT ?", (limit,))
    return [PausedSite(*row) for row in rows]


def steered_sites(db: Database) -> list[tuple[str, Controls]]:
    """All sites that an operator paused or limited, by name."""
    rows = db.execute(
        "SELECT name, paused, least_delay, most_pages FROM sites "
        "WHERE paused <> '' OR least_delay > 0 OR most_pages > 0 ORDER BY name"
    )
    return [(name, Controls(*rest)) for name, *rest in rows]


def directions(db: Database, held: Collection[str]) -> Directions:
    """An operator's orders about the sites that a worker holds."""
    if paused(db) is not None:
        return Directions(leave=frozenset(held))
    rows = [
        row for chunk in chunks(sorted({key64(site) for site in held})) for row in db.execute(
            f"SELECT name, paused, least_delay FROM sites WHERE id IN ({marks(chunk)})", chunk
        )
    ]  # fmt: skip
    leave = frozenset(name for name, reason, _ in rows if reason)
    return Directions(leave, {name: delay for name, _, delay in rows if name not in leave})


def why_it_rests(db: Database, site: str) -> str:
    """The pause or limit that keeps a site from getting requests, as a sentence; empty if there is none."""
    rows = db.execute("SELECT paused, most_pages, fetched FROM sites WHERE id = ?", (key64(site),))
    reason, most, fetched = rows[0] if rows else ("", 0, 0)
    if (crawl := paused(db)) is not None:
        return f"the crawl is paused: {crawl.reason}"
    if reason:
        return f"{site} is paused: {reason}"
    if most and fetched >= most:
        return f"{site} has had {counted(fetched, 'request')} and is limited to {most}: raise it with `gossamer limit`"
    return ""


def _change(db: Database, site: str, columns: str, *values: object) -> None:
    if not db.change(f"UPDATE sites SET {columns} WHERE id = ?", (*values, key64(site))):
        raise _unknown(site)


def _unknown(site: str) -> UsageError:
    return UsageError(f"{site!r} is not a site of this crawl: write it as in its URLs, such as www.example.org")


def _reason(text: str) -> str:
    return " ".join(text.replace("\0", " ").split())[:500] or NO_REASON

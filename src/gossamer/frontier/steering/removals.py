"""The table `removals`: what was taken down and stays out, and whether it covers a URL.

The column `prefix` says what a row covers, in one of four forms:

- `https://a.org/x`: every URL with this prefix;
- `//a.org/x`: the same under both schemes;
- `a.org`: the whole host, under all schemes and ports;
- `=https://a.org/x`: this URL and no other.

Every commit of a worker checks whether its URLs are covered, so the rows are kept in memory and read again when the
table changed (`meta.removals`).
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from typing import Literal

import msgspec

from gossamer.database.database import Database
from gossamer.model.site import host_of, site_of
from gossamer.scope.filters import FilterRule

RULE = "filter.removed."
"""Prefix of a refusal's rule if a removal is the reason."""
_VERSION = "removals"

Form = Literal["url", "host", "prefix"]


class Removal(msgspec.Struct, frozen=True):
    """A row of the table."""

    what: str
    reason: str
    removed_at: float
    unfinished: bool = False
    """Whether URLs were left when the removal was interrupted."""


def form_of(what: str) -> Form:
    """Whether it covers one URL, a host, or a prefix."""
    return "url" if what.startswith("=") else "prefix" if "//" in what else "host"


def words_of(what: str) -> str:
    """What it covers, for people."""
    form = form_of(what)
    if form == "url":
        return what[1:]
    return f"the host {what}" if form == "host" else f"everything that begins with {what}"


def beginnings(what: str) -> list[str]:
    """Prefixes of the URLs that are covered; the URL itself if it is one, none for a host."""
    if form_of(what) == "host":
        return []
    return [f"http:{what}", f"https:{what}"] if what.startswith("//") else [what.removeprefix("=")]


class Covered:
    """Tells whether a URL is covered, almost independently of the number of removals."""

    def __init__(self, removals: Iterable[str]) -> None:
        removals = list(removals)
        self._urls = {what[1:] for what in removals if form_of(what) == "url"}
        self._hosts = {what for what in removals if form_of(what) == "host"}
        self._beginnings = {start: what for what in removals if form_of(what) == "prefix" for start in beginnings(what)}
        self._lengths = sorted({len(start) for start in self._beginnings})

    def __bool__(self) -> bool:
        return bool(self._urls or self._hosts or self._beginnings)

    def __call__(self, url: str) -> bool:
        """Whether a removal covers the URL."""
        return self.by(url) is not None

    def by(self, url: str) -> str | None:
        """The removal that covers a canonical URL: of several the widest."""
        if self._hosts and (host := host_of(site_of(url))) in self._hosts:
            return host
        for length in self._lengths:
            if (what := self._beginnings.get(url[:length])) is not None:
                return what
        return f"={url}" if url in self._urls else None


def filter_rule(what: str) -> FilterRule:
    """The filter that keeps it out."""
    name, form = f"removed.{what}", form_of(what)
    if form == "host":
        return FilterRule("regex", "deny", rf"^https?://{re.escape(what)}(:\d+)?/", name)
    if form == "url":
        return FilterRule("regex", "deny", f"^{re.escape(what[1:])}$", name)
    return FilterRule("prefix", "deny", what, name)


def removed_prefixes(db: Database) -> list[str]:
    """Everything that is out."""
    return [what for (what,) in db.execute("SELECT prefix FROM removals ORDER BY prefix")]


def all_removals(db: Database) -> list[Removal]:
    """All removals, the newest first."""
    open_ones = unfinished(db)
    rows = db.execute("SELECT prefix, reason, removed_at FROM removals ORDER BY removed_at DESC, prefix")
    return [Removal(what, reason, at, what in open_ones) for what, reason, at in rows]


def removal_of(db: Database, url: str) -> Removal | None:
    """The removal that covers a canonical URL, if any."""
    what = covered(db).by(url)
    rows = db.execute("SELECT prefix, reason, removed_at FROM removals WHERE prefix = ?", (what,)) if what else []
    return Removal(*rows[0]) if rows else None


_KNOWN: dict[str, tuple[str, Covered]] = {}
"""By crawl: the version of its table, and the removals."""


def covered(db: Database) -> Covered:
    """The removals in the table now."""
    marks: dict[str, str] = dict(db.execute("SELECT key, value FROM meta WHERE key IN ('crawl', ?)", (_VERSION,)))
    crawl, version = marks.get("crawl", ""), marks.get(_VERSION, "")
    known = _KNOWN.get(crawl)
    if known is not None and known[0] == version:
        return known[1]
    found = Covered(row[0] for row in db.execute("SELECT prefix FROM removals"))
    if crawl and version:  # without a version the rows may be an older release's
        _KNOWN[crawl] = (version, found)
    return found


def enter(db: Database, what: str, reason: str, now: float) -> None:
    """Keep it out from now on; inside a transaction. Until `finish` it counts as unfinished."""
    db.execute(
        "INSERT INTO removals (prefix, reason, removed_at) VALUES (?, ?, ?) "
        "ON CONFLICT (prefix) DO UPDATE SET reason = excluded.reason",
        (what, reason, now),
    )
    db.execute(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (f"removing {what}", reason),
    )
    finish_return(db, what)
    _changed(db)


def strike(db: Database, what: str) -> bool:
    """Let it in again; inside a transaction. Returns whether it was out, or is still coming back: until `finish_return`
    it counts as such."""
    _changed(db)
    finish(db, what)
    mark = (f"restoring {what}", "")
    if db.change("DELETE FROM removals WHERE prefix = ?", (what,)):
        db.execute("INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO NOTHING", mark)
        return True
    return bool(db.execute("SELECT 1 FROM meta WHERE key = ?", mark[:1]))


def finish(db: Database, what: str) -> None:
    """All URLs it covers have left; inside a transaction."""
    db.execute("DELETE FROM meta WHERE key = ?", (f"removing {what}",))


def finish_return(db: Database, what: str) -> None:
    """All URLs it covered are back; inside a transaction."""
    db.execute("DELETE FROM meta WHERE key = ?", (f"restoring {what}",))


def unfinished(db: Database) -> dict[str, str]:
    """Removals that were interrupted or are under way, with their reasons."""
    rows = db.execute("SELECT key, value FROM meta WHERE substr(key, 1, 9) = 'removing '")
    return {key.removeprefix("removing "): reason for key, reason in rows}


def _changed(db: Database) -> None:
    db.execute(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (_VERSION, secrets.token_hex(8)),
    )

"""Document rules in the database, where running workers see that they changed.

`meta.rules` counts the changes: a worker compares one number every few seconds and reads the rules only when it
differs.

A page that has not changed on its server must still be extracted anew when its rule has: the validators (ETag,
Last-Modified) of the sites concerned are deleted, so their next visit fetches the whole page.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec

from gossamer.database.database import Database
from gossamer.model.site import host_of, registrable_domain, site_of
from gossamer.parse.rules import DocumentRule


def load_rules(db: Database) -> tuple[DocumentRule, ...]:
    """All rules, by domain and name."""
    rows = db.execute("SELECT body FROM rules ORDER BY domain, name")
    return tuple(msgspec.json.decode(body, type=DocumentRule) for (body,) in rows)


def rules_for(db: Database, url: str) -> tuple[DocumentRule, ...]:
    """The rules for a URL's host."""
    host = host_of(site_of(url))
    rows = db.execute(
        "SELECT body FROM rules WHERE domain IN (?, ?) ORDER BY domain, name", (host, registrable_domain(host))
    )
    return tuple(msgspec.json.decode(body, type=DocumentRule) for (body,) in rows)


def rules_version(db: Database) -> int:
    """A number that grows with every change."""
    rows = db.execute("SELECT value FROM meta WHERE key = 'rules'")
    return int(rows[0][0]) if rows else 0


def save_rules(db: Database, rules: Iterable[DocumentRule], now: float) -> tuple[int, int]:
    """Add rules, each in place of the one with its domain and name; returns how many are new, and how many differ from
    before."""
    wanted = {(rule.domain, rule.name): msgspec.json.encode(rule).decode() for rule in rules}
    with db.transaction():
        present = {(domain, name): body for domain, name, body in db.execute("SELECT domain, name, body FROM rules")}
        changed = {key: body for key, body in wanted.items() if present.get(key) != body}
        db.many(
            "INSERT INTO rules (domain, name, body, added_at) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (domain, name) DO UPDATE SET body = excluded.body, added_at = excluded.added_at",
            [(*key, body, now) for key, body in changed.items()],
        )
        if changed:
            _note_change(db, {domain for domain, _ in changed})
    replaced = sum(1 for key in changed if key in present)
    return len(changed) - replaced, replaced


def remove_rules(db: Database, domain: str, name: str = "") -> int:
    """Delete one rule of a domain, or all of them; returns how many there were."""
    with db.transaction():
        removed = db.change("DELETE FROM rules WHERE domain = ? AND (? = '' OR name = ?)", (domain, name, name))
        if removed:
            _note_change(db, {domain})
    return removed


def _note_change(db: Database, domains: Collection[str]) -> None:
    db.execute(
        "INSERT INTO meta VALUES ('rules', '1') ON CONFLICT (key) DO UPDATE SET "
        "value = CAST(CAST(meta.value AS BIGINT) + 1 AS TEXT)"
    )
    for site_id, name, domain in db.execute("SELECT id, name, domain FROM sites"):
        if domain in domains or host_of(name) in domains:
            db.execute(
                "UPDATE urls SET etag = NULL, last_modified = NULL "
                "WHERE site_id = ? AND (etag IS NOT NULL OR last_modified IS NOT NULL)",
                (site_id,),
            )

"""Changes of tables that only an import of a configuration makes."""

from __future__ import annotations

from collections.abc import Sequence

from gossamer.database.database import Database
from gossamer.frontier.steering.filters import StoredFilter
from gossamer.model.site import key64


def forget_seeds(db: Database, urls: Sequence[str]) -> None:
    """Delete seeds: their hosts no longer belong to the crawl, unless something else makes them."""
    with db.transaction():
        db.many("DELETE FROM seeds WHERE url = ?", [(url,) for url in urls])


def ask_now(db: Database, site: str, now: float) -> None:
    """Hand out the waiting URLs of a site that left the crawl at once: each is refused without a request, where it
    would otherwise count as work until the site has rested. The rest itself stays, in case the site is named again."""
    site_id = key64(site)
    with db.transaction():
        later = db.execute("SELECT key FROM schedule WHERE site_id = ? AND due_at > ?", (site_id, now))
        db.many("UPDATE urls SET due_at = ? WHERE site_id = ? AND key = ?", [(now, site_id, key) for (key,) in later])
        db.execute("UPDATE schedule SET due_at = ? WHERE site_id = ? AND due_at > ?", (now, site_id, now))
        db.execute(
            "UPDATE parts SET ready_at = ? WHERE site_id = ? AND owner IS NULL AND ready_at > ? AND ("
            "EXISTS (SELECT 1 FROM queue q WHERE q.site_id = parts.site_id AND q.part = parts.part) OR "
            "EXISTS (SELECT 1 FROM schedule c WHERE c.site_id = parts.site_id AND c.part = parts.part))",
            (now, site_id, now),
        )


def forget_filter(db: Database, one: StoredFilter) -> None:
    """Delete a filter as if it had never been made; an active one was ended before."""
    with db.transaction():
        sql = "DELETE FROM filters WHERE site = ? AND kind = ? AND pattern = ?"
        db.execute(sql, (one.site, one.kind, one.pattern))


def is_known(db: Database, site: str) -> bool:
    """Whether there is such a site."""
    return bool(db.execute("SELECT 1 FROM sites WHERE id = ?", (key64(site),)))


def rename_alert(db: Database, id: str, name: str) -> None:
    """Give a saved query the id that its readers know, if it has no hits yet."""
    with db.transaction():
        db.execute("UPDATE alerts SET id = ? WHERE id = ?", (name, id))

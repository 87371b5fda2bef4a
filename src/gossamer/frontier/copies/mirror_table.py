"""The known mirrors, and an operator's decisions about them.

A row says that a site is a mirror of a main one (`found` by the crawler, `accepted` by the operator after that, `set`
without it), or that the two are not (`rejected`; without a main: the crawler no longer looks for mirrors of the site).
A site has at most one row that is not a rejection, and rows never form a circle.

`meta.mirrors` counts the changes: running workers compare one number every few seconds. When a site is no longer a
mirror, its URLs that were refused for it are queued again.
"""

from __future__ import annotations

import msgspec

from gossamer.database.database import Database
from gossamer.database.schema import DONE, REFUSED
from gossamer.dedup.mirrors import MIN_SAME, MIRROR_RULE, follow, resolve
from gossamer.errors import UsageError
from gossamer.frontier.recording import requeue
from gossamer.model.outcome import PAGES
from gossamer.model.site import key64

FOUND, ACCEPTED, SET, REJECTED, UNDECIDED = "found", "accepted", "set", "rejected", "undecided"
_LOOKED_AT = 1000
"""URLs that show whether a site is read over https."""


class Mirror(msgspec.Struct, frozen=True):
    """The decision about two sites."""

    site: str
    main: str
    """`""` if the site is kept out of all mirrors."""
    scheme: str
    """Of the main site."""
    state: str
    """found, accepted, set or rejected; in lists also undecided, if the evidence was not enough."""
    reason: str
    decided_at: float
    same: int = 0
    """Pages found equal at the same path."""
    compared: int = 0
    """Pages compared when the two were last checked."""
    equal: int = 0
    """Those of them that were equal."""


def version(db: Database) -> int:
    """A number that grows with every change."""
    rows = db.execute("SELECT value FROM meta WHERE key = 'mirrors'")
    return int(rows[0][0]) if rows else 0


def load_mirrors(db: Database, automatic: bool = True) -> dict[str, str]:
    """Site → origin that represents it; without `automatic` only the operator's decisions."""
    rows = [row for row in _rows(db) if row.state in (ACCEPTED, SET) or (automatic and row.state == FOUND)]
    # Of two rows with one main, the operator's determines the scheme, then the later one.
    rows.sort(key=lambda row: (row.state != FOUND, row.decided_at))
    schemes = {row.main: row.scheme for row in rows}
    mains = resolve({row.site: row.main for row in rows})
    return {site: f"{schemes[main]}://{main}" for site, main in sorted(mains.items())}


def list_mirrors(db: Database) -> list[Mirror]:
    """All decisions, with the evidence; then pairs of sites that share many pages and yet too few."""
    listed, signs, mains = [], _signs(db), active(db)
    for row in _rows(db):
        same, compared, equal = signs.pop(_pair(row.site, row.main), (0, 0, 0))
        listed.append(msgspec.structs.replace(row, same=same, compared=compared, equal=equal))
    for (one, other), (same, compared, equal) in sorted(signs.items()):
        if follow(mains, one) == follow(mains, other) or is_rejected(db, one, other):
            continue
        listed.append(
            Mirror(
                one,
                other,
                "",
                UNDECIDED,
                "too many of their pages differ, even if only a little",
                0.0,
                same,
                compared,
                equal,
            )
        )
    return listed


def _signs(db: Database) -> dict[tuple[str, str], tuple[int, int, int]]:
    rows = db.execute(
        "SELECT one.name, other.name, s.same, s.compared, s.equal FROM mirror_signs s "
        "JOIN sites one ON one.id = s.site_id JOIN sites other ON other.id = s.other_id WHERE s.same >= ?",
        (MIN_SAME,),
    )
    return {_pair(one, other): (same, compared, equal) for one, other, same, compared, equal in rows}


def _pair(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one <= other else (other, one)


def _rows(db: Database, site: str = "") -> list[Mirror]:
    sql = "SELECT site, main, scheme, state, reason, decided_at FROM mirrors"
    rows = db.execute(f"{sql} WHERE site = ?", (site,)) if site else db.execute(f"{sql} ORDER BY site, main")
    return [Mirror(*row) for row in rows]


def main_of(db: Database, site: str) -> Mirror | None:
    """The row that makes a site a mirror."""
    return next((row for row in _rows(db, site) if row.state != REJECTED), None)


def active(db: Database) -> dict[str, str]:
    """Site → main as in the rows, one step each."""
    rows: list[tuple[str, str]] = db.execute("SELECT site, main FROM mirrors WHERE state <> ?", (REJECTED,))
    return dict(rows)


def is_rejected(db: Database, one: str, other: str) -> bool:
    """Whether the operator keeps these two apart."""
    sql = (
        "SELECT 1 FROM mirrors WHERE state = ? AND ((site = ? AND main IN (?, '')) OR (site = ? AND main IN (?, ''))) "
        "LIMIT 1"
    )
    return bool(db.execute(sql, (REJECTED, one, other, other, one)))


def write(db: Database, row: Mirror) -> None:
    """Add a row in place of earlier ones about the two."""
    db.execute(
        "DELETE FROM mirrors WHERE (site = ? AND main = ?) OR (site = ? AND main = ?)",
        (row.site, row.main, row.main, row.site),
    )
    db.execute(
        "INSERT INTO mirrors (site, main, scheme, state, reason, decided_at) VALUES (?, ?, ?, ?, ?, ?)",
        (row.site, row.main, row.scheme, row.state, row.reason, row.decided_at),
    )
    _note_change(db)


def _note_change(db: Database) -> None:
    db.execute(
        "INSERT INTO meta VALUES ('mirrors', '1') ON CONFLICT (key) DO UPDATE SET "
        "value = CAST(CAST(meta.value AS BIGINT) + 1 AS TEXT)"
    )


def accept(db: Database, site: str, main: str, scheme: str, now: float) -> Mirror:
    """The operator declares a site a mirror of another. `scheme` is the main one's, `""` to take it from its URLs. If
    the main one was a mirror of the site, that ends."""
    if site == main:
        raise UsageError(f"{site} cannot be a mirror of itself")
    with db.transaction():
        if not db.execute("SELECT 1 FROM sites WHERE id = ?", (key64(main),)):
            raise UsageError(f"{main} is not a site of this crawl: add it with `gossamer inject` first")
        old = main_of(db, site)
        if old is not None and old.main != main:
            end(db, old, now)
            old = None
        back = main_of(db, main)
        if back is not None and follow(active(db), main) == site:
            end(db, back, now)
        db.execute("DELETE FROM mirrors WHERE site = ? AND main = '' AND state = ?", (site, REJECTED))
        scheme = scheme or (old.scheme if old else scheme_of(db, main))
        if old is None:
            new = Mirror(site, main, scheme, SET, "set by the operator", now)
        else:
            state = SET if old.state == SET else ACCEPTED
            new = msgspec.structs.replace(old, scheme=scheme, state=state)
        write(db, new)
        return new


def reject(db: Database, site: str, main: str, now: float) -> int:
    """The operator declares that two sites are no mirrors of each other, or (main `""`) that a site is kept out of all
    mirrors. Returns the number of URLs that are queued again."""
    with db.transaction():
        urls, steps = 0, active(db)
        for row in _rows(db):
            if row.state != REJECTED and _concerns(row, site, main, steps):
                urls += end(db, row, now)
        write(db, Mirror(site, main, "", REJECTED, "rejected by the operator", now))
        return urls


def _concerns(row: Mirror, site: str, main: str, steps: dict[str, str]) -> bool:
    """Whether a rejection ends a mirror: also one that leads to the main site through others."""
    if row.site == site:
        return main in ("", row.main, follow(steps, site))
    return row.site == main and row.main == site


def forget(db: Database, site: str, now: float) -> tuple[int, int]:
    """Delete all decisions about a site, so that the crawler may find out anew. Returns the number of decisions, and of
    the URLs that are queued again."""
    with db.transaction():
        rows = [row for row in _rows(db) if row.site == site or (row.state == REJECTED and row.main == site)]
        urls = sum(end(db, row, now) for row in rows)
        sql = "UPDATE mirror_signs SET look_at = ? WHERE site_id = ? OR other_id = ?"
        db.execute(sql, (MIN_SAME, key64(site), key64(site)))
        return len(rows), urls


def end(db: Database, row: Mirror, now: float) -> int:
    """Delete a row. URLs that were refused because of it are queued again, and so are pages stored since: their links
    may have been rewritten to the main site, so they are fetched as if for the first time."""
    db.execute("DELETE FROM mirrors WHERE site = ? AND main = ?", (row.site, row.main))
    _note_change(db)
    if row.state == REJECTED:
        return 0
    site_id = key64(row.site)
    refused = db.execute(
        f"SELECT key FROM urls WHERE state = {REFUSED} AND site_id = ? AND rule = ? ORDER BY found_at, key",
        (site_id, MIRROR_RULE),
    )
    stored = db.execute(
        "SELECT u.key FROM urls u JOIN segments s ON s.id = u.segment WHERE u.site_id = ? AND u.state = ? "
        "AND s.created_at > ? ORDER BY u.found_at, u.key",
        (site_id, DONE, row.decided_at),
    )
    db.many("UPDATE urls SET etag = NULL, last_modified = NULL WHERE site_id = ? AND key = ?",
            [(site_id, key) for (key,) in stored])  # fmt: skip
    return requeue(db, site_id, [key for (key,) in (*stored, *refused)], now)


def scheme_of(db: Database, site: str) -> str:
    """The scheme of most of a sample of a site's URLs, preferably of those that were read."""
    rows = db.execute("SELECT url, outcome FROM urls WHERE site_id = ? ORDER BY key LIMIT ?", (key64(site), _LOOKED_AT))
    urls = [url for url, outcome in rows if outcome in PAGES] or [url for url, _ in rows]
    return "http" if 2 * sum(url.startswith("http:") for url in urls) > len(urls) else "https"

"""Who works on which site: claims, signs of life, take-overs, addresses.

A lease is `parts.owner` with a token that grows at each claim. It lives as long as its worker gives signs of life
(`workers.expires_at`), so a heartbeat touches one row however many sites a worker holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gossamer.database.database import Database, Row
from gossamer.database.lists import chunks, marks
from gossamer.errors import LeaseLost
from gossamer.frontier import politeness
from gossamer.frontier.contract import Budgets, Lease, Place, SiteReport
from gossamer.frontier.politeness import PolitenessConfig, SiteClock
from gossamer.frontier.queueing import LATER, Queue, queue_of
from gossamer.frontier.steering import controls
from gossamer.model.site import key64

_CLAIMED = """SELECT p.site_id, p.part, p.token, COALESCE(x.parts, 1), s.name, s.address,
    CASE WHEN s.most_pages > 0 THEN s.most_pages - s.fetched END, s.crawl_delay, s.trouble,
    CASE WHEN p.not_before > s.not_before THEN p.not_before ELSE s.not_before END, s.wait_reason, s.least_delay
    FROM parts p JOIN sites s ON s.id = p.site_id LEFT JOIN partitions x ON x.site_id = p.site_id"""
_UNPAUSED = f"""CASE WHEN EXISTS (SELECT 1 FROM meta WHERE key = '{controls.PAUSED}') THEN -1.0
    ELSE CAST(? AS DOUBLE PRECISION) END"""
"""The present, or a time before all others while the crawl is paused: as the bound of a range it is computed once,
while a separate condition would be tried on every ready site.
"""
_READY = f"""{_CLAIMED}
    LEFT JOIN addresses a ON a.address = CASE WHEN p.part = 0 THEN s.address ELSE s.address || '#' || p.part END
    WHERE p.owner IS NULL AND p.ready_at <= {_UNPAUSED} AND (a.owner IS NULL OR a.owner = ?)
    AND {controls.READY} AND COALESCE(x.next_plan, '') = ''
    ORDER BY p.ready_at, p.site_id LIMIT ?"""


def register(
    db: Database, worker: str, now: float, budgets: Budgets, config: PolitenessConfig, machine: str = ""
) -> None:
    """Enter a worker, and free what an earlier one of that name held: nobody else would."""
    retire(db, worker, now, config)
    db.execute(
        "INSERT INTO workers (id, started_at, expires_at, machine) VALUES (?, ?, ?, ?)",
        (worker, now, now + budgets.lease, machine),
    )


def renew(db: Database, worker: str, now: float, budgets: Budgets) -> None:
    """Extend a worker's life, unless its sites were given away already; a delayed call takes nothing back."""
    until = now + budgets.lease
    sql = "UPDATE workers SET expires_at = CASE WHEN expires_at > ? THEN expires_at ELSE ? END WHERE id = ?"
    if not db.change(sql, (until, until, worker)):
        raise LeaseLost(f"worker {worker} was silent too long: other workers have its sites now")


def check_alive(db: Database, worker: str) -> None:
    """Raise `LeaseLost` if the worker's sites were given away; leaves the row unlocked for signs of life."""
    if not db.execute("SELECT 1 FROM workers WHERE id = ?", (worker,)):
        raise LeaseLost(f"worker {worker} was silent too long: other workers have its sites now")


def expired(db: Database, now: float, lock: bool = False) -> list[str]:
    """Workers whose time has run out; locked, so that none of them can give a sign of life any more."""
    table = f"workers p WHERE expires_at < ? ORDER BY id{db.lock_rows}" if lock else "workers WHERE expires_at < ?"
    return [row[0] for row in db.execute(f"SELECT id FROM {table}", (now,))]


def retire(db: Database, worker: str, now: float, config: PolitenessConfig) -> None:
    """Free what a dead worker held; its sites and addresses count as asked now."""
    rows = db.execute(
        f"{_CLAIMED} WHERE p.owner = ? ORDER BY 1, 2",
        (worker,),
    )
    for site_id, part, _, parts, _, _, _, *clock in rows:
        after = politeness.taken_over(SiteClock(*clock), now, politeness.for_part(config, parts))
        table, columns = ("sites", "id = ?") if parts == 1 else ("parts", "site_id = ? AND part = ?")
        place = (site_id,) if parts == 1 else (site_id, part)
        db.execute(f"UPDATE {table} SET not_before = ? WHERE {columns}", (after.not_before, *place))
        free_part(db, Queue(site_id, part), now)
    db.execute(
        "UPDATE addresses SET owner = NULL, not_before = CASE WHEN not_before > ? THEN not_before ELSE ? END "
        "WHERE owner = ?",
        (now + config.address_delay, now + config.address_delay, worker),
    )
    gone = db.execute("DELETE FROM workers WHERE id = ? RETURNING fetched", (worker,))
    if gone and gone[0][0]:
        add_number(db, "fetched_before", gone[0][0])


def free_part(db: Database, queue: Queue, now: float) -> None:
    """Take the owner off a site and compute when the site is ready again."""
    ready: float | None = None
    if db.execute("SELECT 1 FROM queue WHERE site_id = ? AND part = ? LIMIT 1", queue):
        ready = now
    else:
        due = [
            db.execute(f"SELECT MIN(due_at) FROM {table} WHERE site_id = ? AND part = ?", queue)[0][0]
            for table in LATER
        ]
        ready = min((time for time in due if time is not None), default=None)
    if ready is not None:
        site = db.execute("SELECT not_before FROM sites WHERE id = ?", (queue.site_id,))[0][0]
        own = db.execute("SELECT not_before FROM parts WHERE site_id = ? AND part = ?", queue)[0][0]
        ready = max(ready, site, own)
    db.execute("UPDATE parts SET owner = NULL, ready_at = ? WHERE site_id = ? AND part = ?", (ready, *queue))


_ONE = f"""{_CLAIMED} WHERE p.owner IS NULL AND p.site_id = ? AND p.part = 0 AND s.paused = ''
    AND NOT EXISTS (SELECT 1 FROM meta WHERE key = '{controls.PAUSED}')"""


def claim_site(db: Database, worker: str, site_id: int, now: float, config: PolitenessConfig) -> Lease | None:
    """Lease one site, ready or not; None if it has an owner, or is paused."""
    rows = db.execute(_ONE + db.lock_rows, (site_id,))
    return _leased(db, worker, rows[0], now, config).lease if rows else None


def claim_part(db: Database, worker: str, queue: Queue, now: float, config: PolitenessConfig) -> Lease | None:
    """Lease one part of a site, ready, paused or not; None if it has an owner."""
    sql = f"{_CLAIMED} WHERE p.owner IS NULL AND p.site_id = ? AND p.part = ?{db.lock_rows}"
    rows = db.execute(sql, queue)
    return _leased(db, worker, rows[0], now, config).lease if rows else None


class Claimed(NamedTuple):
    """A site that was just leased."""

    lease: Lease
    left: int | None
    """Requests left of an operator's limit; None if there is none."""


def claim(db: Database, worker: str, now: float, sites: int, config: PolitenessConfig) -> Iterator[Claimed]:
    """Lease ready sites one by one, those that waited longest first, until the caller stops."""
    for row in db.execute(_READY + db.lock_rows, (now, worker, sites)):
        yield _leased(db, worker, row, now, config)


def _leased(db: Database, worker: str, row: Row, now: float, config: PolitenessConfig) -> Claimed:
    site_id, part, token, parts, name, address, left, *clock = row
    site_clock = politeness.believable(SiteClock(*clock), now, politeness.for_part(config, parts))
    db.execute(
        "UPDATE parts SET owner = ?, token = ? WHERE site_id = ? AND part = ?",
        (worker, token + 1, site_id, part),
    )
    return Claimed(Lease(Place(name, part), token + 1, site_clock, address, parts=parts), left)


def anything_ready(db: Database, worker: str, now: float) -> bool:
    """Whether a claim could succeed: a read, made before the write."""
    return bool(db.execute(_READY, (now, worker, 1)))


def fewest_sites(db: Database, worker: str, now: float) -> int | None:
    """Sites of the other live worker that holds the fewest; None if there is no other."""
    rows = db.execute(
        "SELECT COUNT(p.site_id) FROM workers w LEFT JOIN parts p ON p.owner = w.id "
        "WHERE w.expires_at >= ? AND w.id <> ? GROUP BY w.id ORDER BY 1 LIMIT 1",
        (now, worker),
    )
    return int(rows[0][0]) if rows else None


_OWNED = f"""SELECT s.paused <> '' OR EXISTS (SELECT 1 FROM meta WHERE key = '{controls.PAUSED}'), s.most_pages,
    s.fetched FROM parts p JOIN sites s ON s.id = p.site_id WHERE p.site_id = ? AND p.part = ? AND p.owner = ?"""


def allowance(db: Database, worker: str, place: Place, holding: int) -> int | None:
    """How many more URLs of its site a worker with so many unreported ones may get; None if there is no limit. Raises
    `LeaseLost` if it does not hold the site."""
    rows = db.execute(_OWNED, (*queue_of(place), worker))
    if not rows:
        raise LeaseLost(f"{place.site} has another worker now")
    is_paused, most, fetched = rows[0]
    if is_paused:
        return 0
    return max(0, most - fetched - holding) if most else None


def check_leases(db: Database, worker: str, sites: Sequence[SiteReport]) -> None:
    """Raise `LeaseLost` if the worker does not hold one of the sites under the reported token."""
    tokens: dict[tuple[int, int], int] = {}
    for chunk in chunks(sorted({key64(site.site) for site in sites})):
        # Compare the owner here, not in the query: SQLite would walk all sites of the worker.
        sql = f"SELECT site_id, part, token, owner FROM parts WHERE site_id IN ({marks(chunk)})"
        rows = db.execute(sql, chunk)
        tokens.update(((site_id, part), token) for site_id, part, token, owner in rows if owner == worker)
    for site in sites:
        if tokens.get(queue_of(site.place)) != site.token:
            raise LeaseLost(f"{site.site} has another worker now")


def hold_address(db: Database, worker: str, site_id: int, address: str, now: float) -> float | None:
    """Make the worker the only one to talk to an address, if it is free; `#n` after it: for part n of a site."""
    check_alive(db, worker)  # else it would hold the address for ever: nobody would notice that its time has run out
    db.execute("UPDATE sites SET address = ? WHERE id = ?", (address.partition("#")[0], site_id))
    row = db.execute(
        "SELECT a.owner, a.not_before, w.expires_at FROM addresses a LEFT JOIN workers w ON w.id = a.owner "
        "WHERE a.address = ?",
        (address,),
    )
    if row and row[0][0] not in (None, worker) and row[0][2] is not None and row[0][2] >= now:
        return None
    db.execute(
        "INSERT INTO addresses (address, owner) VALUES (?, ?) "
        "ON CONFLICT (address) DO UPDATE SET owner = excluded.owner",
        (address, worker),
    )
    return float(row[0][1]) if row else 0.0


def add_number(db: Database, key: str, amount: int) -> None:
    """Add to a number in `meta`."""
    old = db.execute("SELECT value FROM meta WHERE key = ?", (key,))
    total = (int(old[0][0]) if old else 0) + amount
    db.execute(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, str(total)),
    )

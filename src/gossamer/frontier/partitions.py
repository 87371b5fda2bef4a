"""Sites that are split into parts: the current plan, and how a new one takes effect.

A part is leased, queued and waited for like a site. A URL of another part goes there through the table, so exactly one
part fetches it. A new plan waits until nobody works on the site (its workers are told to leave it), then one
transaction moves all rows of the site.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gossamer.database.database import Database
from gossamer.errors import CorruptError
from gossamer.frontier import leases
from gossamer.frontier.queueing import INSERT_QUEUE, LATER, Queue, queue_rows
from gossamer.model.site import key64
from gossamer.partition.assignment import Assignment, one_part

_PIECE = 10_000
"""URLs read at a time."""


class Partition(msgspec.Struct, frozen=True):
    """The parts of a site."""

    site: str
    plan: Assignment
    waiting: bool
    """Whether a new plan waits until workers have left the site."""
    made_at: float
    urls: tuple[int, ...]
    """Known URLs of each part."""


class Plans:
    """The current plans, read again after a change; few sites have one."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._versions: dict[int, int] = {}
        self._plans: dict[int, Assignment] = {}

    def refresh(self) -> None:
        """Read changes; call it inside the transaction."""
        versions: dict[int, int] = dict(self._db.execute("SELECT site_id, version FROM partitions"))
        if versions == self._versions:
            return
        rows = self._db.execute("SELECT site_id, plan FROM partitions")
        self._plans = {site_id: _decoded(text) for site_id, text in rows}
        self._versions = versions

    def of(self, site_id: int) -> Assignment | None:
        """The plan of a site; None if it is not split."""
        return self._plans.get(site_id)


def plan_of(db: Database, site: str) -> Assignment | None:
    """The current plan of a site; None if it is not split."""
    rows = db.execute("SELECT plan FROM partitions WHERE site_id = ?", (key64(site),))
    return _decoded(rows[0][0]) if rows else None


def partitions(db: Database) -> list[Partition]:
    """All sites that are split, or about to be."""
    rows = db.execute(
        "SELECT COALESCE(s.name, ''), x.plan, x.next_plan, x.made_at, x.site_id FROM partitions x "
        "LEFT JOIN sites s ON s.id = x.site_id ORDER BY 1"
    )
    found = []
    for name, plan, next_plan, made_at, site_id in rows:
        counts: dict[int, int] = dict(
            db.execute("SELECT part, COUNT(*) FROM urls WHERE site_id = ? GROUP BY 1", (site_id,))
        )
        assignment = _decoded(plan)
        urls = tuple(counts.get(part, 0) for part in range(assignment.parts))
        found.append(Partition(name, assignment, bool(next_plan), made_at, urls))
    return found


def adopt(db: Database, site: str, plan: Assignment, now: float) -> None:
    """Split a site by a plan as soon as nobody works on it; a plan of one part joins it again."""
    plan.check()
    with db.transaction():
        db.execute(
            "INSERT INTO partitions (site_id, parts, plan, next_plan, version, made_at) VALUES (?, 1, ?, ?, 0, ?) "
            "ON CONFLICT (site_id) DO UPDATE SET next_plan = excluded.next_plan, made_at = excluded.made_at",
            (key64(site), one_part().to_json(), plan.to_json(), now),
        )


def waiting_sites(db: Database) -> set[str]:
    """Sites that their workers should leave, because a new plan waits."""
    rows = db.execute("SELECT s.name FROM partitions x JOIN sites s ON s.id = x.site_id WHERE x.next_plan <> ''")
    return {row[0] for row in rows}


def anything_waiting(db: Database) -> bool:
    """Whether `apply_waiting` would do something: a read, made before the write."""
    return bool(_free_sites(db))


def apply_waiting(db: Database, now: float) -> None:
    """Split the sites whose new plans wait and that nobody works on; inside a transaction."""
    for site_id, text in _free_sites(db):
        plan = _decoded(text)
        db.many(
            # Tokens continue from the highest: the token of an old part is never right again.
            "INSERT INTO parts (site_id, part, token) SELECT ?, ?, MAX(token) FROM parts WHERE site_id = ? "
            "ON CONFLICT DO NOTHING",
            [(site_id, part, site_id) for part in range(plan.parts)],
        )
        _pass_clocks_on(db, site_id)
        _move_urls(db, site_id, plan)
        _move_queue(db, site_id, now)
        for table in LATER:
            _move_later(db, table, site_id)
        db.execute("DELETE FROM parts WHERE site_id = ? AND part >= ?", (site_id, plan.parts))
        for part in range(plan.parts):
            leases.free_part(db, Queue(site_id, part), now)
        if plan.parts == 1:
            db.execute("DELETE FROM partitions WHERE site_id = ?", (site_id,))
        else:
            db.execute(
                "UPDATE partitions SET parts = ?, plan = ?, next_plan = '', version = ? WHERE site_id = ?",
                (plan.parts, text, _next_version(db), site_id),
            )


def _next_version(db: Database) -> int:
    """Never the same twice, so that a plan differs from one that was taken back meanwhile."""
    leases.add_number(db, "partition_version", 1)
    return int(db.execute("SELECT value FROM meta WHERE key = 'partition_version'")[0][0])


def _free_sites(db: Database) -> list[tuple[int, str]]:
    """Sites with a waiting plan and without a worker."""
    return [
        (row[0], row[1])
        for row in db.execute(
            "SELECT x.site_id, x.next_plan FROM partitions x JOIN sites s ON s.id = x.site_id WHERE x.next_plan <> '' "
            "AND NOT EXISTS (SELECT 1 FROM parts p WHERE p.site_id = x.site_id AND p.owner IS NOT NULL) ORDER BY 1"
        )
    ]


def _pass_clocks_on(db: Database, site_id: int) -> None:
    """The next worker, of whichever part, waits as long as the last one would have."""
    latest = db.execute("SELECT MAX(not_before) FROM parts WHERE site_id = ?", (site_id,))[0][0]
    db.execute("UPDATE sites SET not_before = ? WHERE id = ? AND not_before < ?", (latest, site_id, latest))


def _move_urls(db: Database, site_id: int, plan: Assignment) -> None:
    for piece in _urls(db, site_id):
        moved = [(new, site_id, key) for key, url, old in piece if (new := plan.part_of(url)) != old]
        db.many("UPDATE urls SET part = ? WHERE site_id = ? AND key = ?", moved)


def _urls(db: Database, site_id: int) -> Iterator[list[tuple[int, str, int]]]:
    last = -(2**63)
    while True:
        rows = db.execute(
            "SELECT key, url, part FROM urls WHERE site_id = ? AND key > ? ORDER BY key LIMIT ?",
            (site_id, last, _PIECE),
        )
        if not rows:
            return
        yield [(key, url, part) for key, url, part in rows]
        last = rows[-1][0]


def _move_queue(db: Database, site_id: int, now: float) -> None:
    rows = db.execute(
        "SELECT q.part, q.level, q.seq, q.key, u.part FROM queue q JOIN urls u ON u.site_id = q.site_id "
        "AND u.key = q.key WHERE q.site_id = ? AND u.part <> q.part ORDER BY q.level, q.seq",
        (site_id,),
    )
    db.many(
        "DELETE FROM queue WHERE site_id = ? AND part = ? AND level = ? AND seq = ?",
        [(site_id, *row[:3]) for row in rows],
    )
    for part in sorted({row[4] for row in rows}):
        moved = [(level, key) for _, level, _, key, new in rows if new == part]
        db.many(INSERT_QUEUE, queue_rows(db, Queue(site_id, part), moved, now, 0.0))


def _move_later(db: Database, table: str, site_id: int) -> None:
    rows = db.execute(
        f"SELECT t.part, t.due_at, t.key, u.part FROM {table} t JOIN urls u ON u.site_id = t.site_id "
        "AND u.key = t.key WHERE t.site_id = ? AND u.part <> t.part",
        (site_id,),
    )
    db.many(
        f"DELETE FROM {table} WHERE site_id = ? AND part = ? AND due_at = ? AND key = ?",
        [(site_id, *row[:3]) for row in rows],
    )
    db.many(
        f"INSERT INTO {table} (site_id, part, due_at, key) VALUES (?, ?, ?, ?)",
        [(site_id, new, due_at, key) for _, due_at, key, new in rows],
    )


def _decoded(text: str) -> Assignment:
    try:
        return Assignment.from_json(text)
    except ValueError as error:
        way_out = "take it back with `gossamer partition set SITE none`"
        raise CorruptError(f"the stored plan for the parts of a site is damaged ({error}): {way_out}") from error

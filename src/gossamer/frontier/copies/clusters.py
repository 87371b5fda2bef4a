"""Which documents are near-duplicates of each other, decided inside the transaction.

A document that is like no other founds a *cluster*, and its fingerprint stays the cluster's own: every member is like
the founder's text, so clusters do not drift from copy to copy until their ends have nothing in common. A document is
compared with a bounded number of clusters, those that share a lookup key with it (`dedup.near`), so a report takes the
same time however many pages there are. A page alone is a cluster of one, and keeps its number when others join: stored
or indexed pages need no rewriting.

`members` lists the pages of clusters that have, or had, more than one. One page *represents* the cluster; `clusters`
says which, and why (`dedup.clusters`).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

import msgspec

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks
from gossamer.dedup.clusters import Member, choose
from gossamer.dedup.near.contract import NearMethod
from gossamer.frontier.contract import Verdict, Visit
from gossamer.model.outcome import Outcome
from gossamer.model.site import key64

CANDIDATES = 64
"""Clusters read for each lookup key, the newest first. Unrelated pages share a key once in a million; pages of one
template that differ by more than the threshold may do so by the thousand.
"""
_CONSIDERED = 100
"""Members among which a new representative is chosen."""

Place = tuple[int, int]
"""Site and key of a URL."""


class _Cluster(msgspec.Struct):
    """A row of `clusters`, without its fingerprint."""

    id: int
    pages: int
    place: Place
    published: str
    seen_at: float
    reason: str = ""
    near_keys: bytes = b""
    is_new: bool = False
    has_changed: bool = False


def adopt_method(db: Database, name: str) -> None:
    """Fingerprints of another method cannot be compared: their clusters stay, but take no new members."""
    if db.execute("SELECT 1 FROM meta WHERE key = 'near' AND value = ?", (name,)):
        return
    with db.transaction():
        db.execute("DELETE FROM near_keys")
        db.execute(
            "INSERT INTO meta VALUES ('near', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (name,)
        )


def current_clusters(db: Database, visits: Sequence[Visit]) -> dict[Place, tuple[int, bool]]:
    """Clusters of those visited URLs that are documents already, and whether others had founded them."""
    sites: dict[int, list[int]] = {}
    for visit in visits:
        if visit.task.previous == Outcome.DOCUMENT.value:
            sites.setdefault(key64(visit.site), []).append(visit.task.key)
    found: dict[Place, tuple[int, bool]] = {}
    for site_id, keys in sites.items():
        for chunk in chunks(sorted(keys)):
            sql = f"SELECT key, cluster, joined FROM urls WHERE site_id = ? AND key IN ({marks(chunk)})"
            rows = db.execute(sql, (site_id, *chunk))
            found.update(((site_id, key), (number, bool(joined))) for key, number, joined in rows if number is not None)
    return found


def assign(
    db: Database,
    method: NearMethod,
    visits: Sequence[Visit],
    verdicts: Sequence[Verdict],
    current: dict[Place, tuple[int, bool]],
) -> None:
    """Give each document its cluster (`verdict.cluster`): an existing one that it is like, or a new one."""
    fresh: list[tuple[Visit, Verdict, int | None, bool]] = []
    for visit, verdict in zip(visits, verdicts, strict=True):
        if verdict.outcome is not Outcome.DOCUMENT:
            continue
        cluster, joined = current.get((key64(visit.site), visit.task.key), (None, False))
        if cluster is not None and visit.content_hash == visit.task.content_hash:
            verdict.cluster, verdict.joined = cluster, joined
        elif visit.fingerprint:
            fresh.append((visit, verdict, cluster, joined))
    if fresh:
        fresh.sort(key=lambda one: one[0].at)  # the page fetched first is the founder, whichever was parsed first
        _Assignment(db, method, [visit for visit, *_ in fresh]).run(fresh)


class _Assignment:
    """One batch: reads all candidates at once, and writes all rows at once."""

    def __init__(self, db: Database, method: NearMethod, visits: Sequence[Visit]) -> None:
        self._db = db
        self._method = method
        keys = sorted({key for visit in visits for key in visit.near_keys})
        sql = f"SELECT cluster FROM near_keys WHERE near_key = ? ORDER BY cluster DESC LIMIT {CANDIDATES}"
        answers = db.each(sql, [(key,) for key in keys])
        self._by_key: dict[int, list[int]] = {
            key: [row[0] for row in rows] for key, rows in zip(keys, answers, strict=True)
        }
        ids = sorted({cluster for found in self._by_key.values() for cluster in found})
        self._clusters: dict[int, _Cluster] = {}
        self._prints: dict[int, bytes] = {}
        for chunk in chunks(ids):
            sql = (
                "SELECT id, fingerprint, pages, site_id, key, published, seen_at, reason FROM clusters "
                f"WHERE id IN ({marks(chunk)})"
            )
            for number, fingerprint, pages, site_id, key, published, seen_at, reason in db.execute(sql, chunk):
                self._prints[number] = fingerprint
                self._clusters[number] = _Cluster(number, pages, (site_id, key), published, seen_at, reason)
        self._next = _next_number(db)
        self._keys: list[tuple[int, int]] = []
        self._members: list[tuple[int, int, int, str, float]] = []

    def run(self, fresh: Sequence[tuple[Visit, Verdict, int | None, bool]]) -> None:
        """Assign and write."""
        for visit, verdict, before, joined in fresh:
            like = self._most_alike(visit, before)
            if like is None:
                verdict.cluster, verdict.joined = self._found(visit), False
            elif like == before:
                verdict.cluster, verdict.joined = like, joined
            else:
                verdict.cluster, verdict.joined = like, True
                verdict.is_copy = self._is_same_site(like, visit)
                self._join(self._clusters[like], visit)
        self._write()

    def _most_alike(self, visit: Visit, before: int | None) -> int | None:
        """The cluster most like the page; its present one, if it is still alike."""
        best, best_similarity = None, self._method.threshold
        for number in sorted({number for key in visit.near_keys for number in self._by_key[key]}):
            fingerprint = self._prints.get(number)
            if not fingerprint:
                continue
            similarity = self._method.similarity(visit.fingerprint, fingerprint)
            if similarity >= self._method.threshold and number == before:
                return number
            if similarity > best_similarity or (similarity == best_similarity and best is None):
                best, best_similarity = number, similarity
        return best

    def _found(self, visit: Visit) -> int:
        number, self._next = self._next, self._next + 1
        place = (key64(visit.site), visit.task.key)
        near_keys = _packed(visit.near_keys)
        self._clusters[number] = _Cluster(number, 1, place, visit.published, visit.at, "", near_keys, is_new=True)
        self._prints[number] = visit.fingerprint
        for key in visit.near_keys:
            self._by_key[key].append(number)
            self._keys.append((key, number))
        return number

    def _join(self, cluster: _Cluster, visit: Visit) -> None:
        place = (key64(visit.site), visit.task.key)
        if cluster.pages == 1:
            self._members.append((cluster.id, *cluster.place, cluster.published, cluster.seen_at))
        self._members.append((cluster.id, *place, visit.published, visit.at))
        cluster.pages += 1
        cluster.has_changed = True
        old = _member(self._db, cluster.place, cluster.published, cluster.seen_at)
        new = _member(self._db, place, visit.published, visit.at, visit.task.url)
        chosen = choose([old, new])
        cluster.reason = chosen.reason
        if chosen.member == new:
            cluster.place, cluster.published, cluster.seen_at = place, visit.published, visit.at

    def _is_same_site(self, number: int, visit: Visit) -> bool:
        return self._clusters[number].place[0] == key64(visit.site)

    def _write(self) -> None:
        new = [one for one in self._clusters.values() if one.is_new]
        self._db.many(
            "INSERT INTO clusters (id, fingerprint, near_keys, pages, site_id, key, published, seen_at, reason) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(c.id, self._prints[c.id], c.near_keys, c.pages, *c.place, c.published, c.seen_at, c.reason) for c in new],
        )
        self._db.many(
            "UPDATE clusters SET pages = ?, site_id = ?, key = ?, published = ?, seen_at = ?, reason = ? WHERE id = ?",
            [
                (c.pages, *c.place, c.published, c.seen_at, c.reason, c.id)
                for c in self._clusters.values()
                if c.has_changed and not c.is_new
            ],
        )
        self._db.many("INSERT INTO near_keys (near_key, cluster) VALUES (?, ?)", sorted(set(self._keys)))
        self._db.many(
            "INSERT INTO members (cluster, site_id, key, published, seen_at) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (cluster, site_id, key) DO NOTHING",
            sorted(self._members),
        )
        if new:
            self._db.execute(
                "INSERT INTO meta VALUES ('next_cluster', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                (str(self._next),),
            )


def _next_number(db: Database) -> int:
    """Numbers are never used again: old versions of pages keep theirs."""
    row = db.execute("SELECT value FROM meta WHERE key = 'next_cluster'")
    return int(row[0][0]) if row else 1


def leave(db: Database, places: Iterable[tuple[Place, int]]) -> None:
    """Take pages out of clusters: they changed, or went away."""
    for (site_id, key), number in places:
        rows = db.execute(
            "UPDATE clusters SET pages = pages - 1 WHERE id = ? RETURNING pages, site_id, key, near_keys", (number,)
        )
        if not rows:
            continue
        pages, main_site, main_key, near_keys = rows[0]
        db.execute("DELETE FROM members WHERE cluster = ? AND site_id = ? AND key = ?", (number, site_id, key))
        if pages <= 0:
            db.execute("DELETE FROM clusters WHERE id = ?", (number,))
            db.many(
                "DELETE FROM near_keys WHERE near_key = ? AND cluster = ?", [(k, number) for k in _unpacked(near_keys)]
            )
        elif (main_site, main_key) == (site_id, key):
            _choose_again(db, number)


def _packed(keys: Sequence[int]) -> bytes:
    return array("q", sorted(set(keys))).tobytes()


def _unpacked(keys: bytes) -> list[int]:
    return array("q", keys).tolist()


def _choose_again(db: Database, number: int) -> None:
    """Choose another representative."""
    rows = db.execute(
        "SELECT site_id, key, published, seen_at FROM members WHERE cluster = ? LIMIT ?", (number, _CONSIDERED)
    )
    members = {_member(db, (row[0], row[1]), row[2], row[3]): row for row in rows}
    if members:
        chosen = choose(members)
        sql = "UPDATE clusters SET site_id = ?, key = ?, published = ?, seen_at = ?, reason = ? WHERE id = ?"
        db.execute(sql, (*members[chosen.member], chosen.reason, number))


def _member(db: Database, place: Place, published: str, seen_at: float, url: str = "") -> Member:
    if not url:
        row = db.execute("SELECT url FROM urls WHERE site_id = ? AND key = ?", place)
        url = row[0][0] if row else ""
    naming = db.execute(
        "SELECT COUNT(*) FROM (SELECT 1 FROM aliases a JOIN urls u ON u.site_id = a.site_id AND u.key = a.key "
        "WHERE a.target_site = ? AND a.target_key = ? AND a.outcome = 'alias' AND u.outcome = 'alias' "
        "AND u.target = ? LIMIT 100) AS named",
        (*place, url),
    )
    return Member(url, seen_at, naming[0][0], published)

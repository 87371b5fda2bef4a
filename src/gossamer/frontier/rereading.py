"""Pages that are judged again from their stored responses, because more is known of their site now.

No request is made, and no lease is needed: only pages that nobody is about to fetch are touched (state DONE), and the
transaction checks that again. The plan of their visits stays as it is, and their text hash moves along, so that a
re-reading never looks like a change of the page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks
from gossamer.database.schema import DONE
from gossamer.dedup.near.contract import NearMethod
from gossamer.frontier import changes, recording
from gossamer.frontier.contract import Place, Verdict, Visit
from gossamer.frontier.copies import clusters, duplicates
from gossamer.frontier.prefixes import count_prefixes
from gossamer.model.outcome import Outcome
from gossamer.model.records import Kind, Task
from gossamer.model.site import key64
from gossamer.scope.shape import path_shape

_UPDATE = """UPDATE urls SET outcome = ?, target = ?, content_hash = ?, cluster = ?, joined = ?, segment = ?,
    segment_row = ? WHERE site_id = ? AND key = ?"""

Judged = tuple[Visit, Verdict]


class Stale(msgspec.Struct, frozen=True):
    """A document that was read when less was known of its site."""

    task: Task
    segment: str
    row: int


class Again(msgspec.Struct):
    """Pages of one site that were read again, for one transaction."""

    site: str
    version: int
    """Of the facts by which they were read."""
    read: list[Stale]
    """All of them, also those that say the same as before."""
    changed: list[tuple[Stale, Visit]]
    segment: str = ""
    worker: str = ""
    bytes_stored: int = 0


def stale_pages(db: Database, site_id: int, version: int, after: int, limit: int) -> list[Stale]:
    """The next documents, by key, that were read by an earlier version of what is known of their site."""
    rows = db.execute(
        "SELECT url, key, depth, content_hash, segment, segment_row FROM urls WHERE site_id = ? AND key > ? AND "
        "state = ? AND outcome = 'document' AND segment IS NOT NULL AND site_version < ? ORDER BY key LIMIT ?",
        (site_id, after, DONE, version, limit),
    )
    return [
        Stale(
            Task(
                url, key, Kind.PAGE, level=0, seq=0, depth=depth, hops=0, attempts=0, content_hash=content_hash or "",
                previous=Outcome.DOCUMENT.value,
            ),
            segment, row,
        )
        for url, key, depth, content_hash, segment, row in rows
    ]  # fmt: skip


def site_name(db: Database, site_id: int) -> str:
    """The name of a site; empty if it is gone."""
    rows = db.execute("SELECT name FROM sites WHERE id = ?", (site_id,))
    return rows[0][0] if rows else ""


def record_again(
    db: Database, near: NearMethod, again: Again, now: float, write_pages: Callable[[Sequence[Judged]], None]
) -> int:
    """Record pages that were read again, in one transaction; returns how many were written. `write_pages` writes the
    rows of those that still are as they were, in this order."""
    site_id = key64(again.site)
    with db.transaction():
        untouched = _untouched(db, site_id, again.read)
        visits = [visit for stale, visit in again.changed if stale.task.key in untouched]
        for row, visit in enumerate(visits):
            visit.row = row
        verdicts = duplicates.judge(db, near, visits, (), again.segment, again.worker)
        before = clusters.current_clusters(db, visits)
        clusters.assign(db, near, visits, verdicts, before)
        judged = list(zip(visits, verdicts, strict=True))
        if judged:
            write_pages(judged)
            _record(db, site_id, judged, again, now)
            clusters.leave(db, recording.left_clusters(visits, verdicts, (), before))
        db.many(
            "UPDATE urls SET site_version = ? WHERE site_id = ? AND key = ?",
            [(again.version, site_id, key) for key in sorted(untouched)],
        )
        _move_on(db, site_id, again)
    return len(judged)


def _untouched(db: Database, site_id: int, read: Sequence[Stale]) -> set[int]:
    """Keys of pages that nobody has fetched, queued or taken out since they were read."""
    places = {stale.task.key: (stale.segment, stale.row) for stale in read}
    found: set[int] = set()
    for chunk in chunks(sorted(places)):
        sql = (
            "SELECT key, segment, segment_row FROM urls WHERE site_id = ? AND state = ? AND outcome = 'document' "
            f"AND key IN ({marks(chunk)})"
        )
        rows = db.execute(sql, (site_id, DONE, *chunk))
        found.update(key for key, segment, row in rows if places[key] == (segment, row))
    return found


def _record(db: Database, site_id: int, judged: Sequence[Judged], again: Again, now: float) -> None:
    db.many(
        _UPDATE,
        [
            (
                verdict.outcome.value, verdict.target or None,
                (visit.content_hash or None) if verdict.outcome is Outcome.DOCUMENT else None, verdict.cluster,
                None if verdict.joined is None else int(verdict.joined), again.segment, visit.row, site_id,
                visit.task.key,
            )
            for visit, verdict in judged
        ],
    )  # fmt: skip
    copies = [(visit, verdict, site_id) for visit, verdict in judged if verdict.outcome is not Outcome.DOCUMENT]
    recording.join(db, copies)
    tally: Counter[tuple[int, str]] = Counter()
    for _, verdict, _ in copies:
        tally[site_id, verdict.outcome.value] += 1
        tally[site_id, Outcome.DOCUMENT.value] -= 1
    recording.change_tally(db, tally)
    count_prefixes(db, copies, [path_shape(visit.task.url) for visit, _, _ in copies], recording.keeps_outcome)
    change = changes.next_change(db)
    changes.note_departures(db, change, [(site_id, visit.task.key) for visit, _, _ in copies])
    db.execute(
        "INSERT INTO segments (id, worker, created_at, pages, bytes, seq) VALUES (?, ?, ?, ?, ?, ?)",
        (again.segment, again.worker, now, len(judged), again.bytes_stored, change),
    )


def _move_on(db: Database, site_id: int, again: Again) -> None:
    """The next pages come after these; unless somebody has learned more meanwhile, and all begins anew."""
    db.execute(
        "UPDATE site_facts SET reread = ? WHERE site_id = ? AND version = ?",
        (again.read[-1].task.key if again.read else None, site_id, again.version),
    )


def visit_again(stale: Stale, site: str, part: int = 0) -> Visit:
    """The visit that a re-reading stands for: the one that stored the response."""
    return Visit(Place(site, part), stale.task, Outcome.DOCUMENT, 0.0, fetched=False)

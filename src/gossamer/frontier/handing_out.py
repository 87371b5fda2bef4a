"""Picks the URLs of a leased site to fetch next: those due, the best levels first.

First visits, feeds and sitemaps wait in levels 0 to 31, pages that are visited again in as many levels of their own,
which get a share of the places. A URL that rose leaves a row behind in its old level: it is skipped here, and deleted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from gossamer.database.database import Database, Row
from gossamer.database.lists import chunks, marks
from gossamer.database.schema import QUEUED
from gossamer.frontier.queueing import LATER, Queue, count_levels, enqueue
from gossamer.model.records import LEVELS, Kind, Task
from gossamer.priority.levels import levels_of, score_of_level
from gossamer.revisit.freshness import freshness
from gossamer.revisit.rates import rates_of

_COLUMNS = """SELECT u.url, q.key, u.kind, q.level, q.seq, u.depth, u.hops, u.attempts, u.keep_alias,
    u.etag, u.last_modified, u.content_hash, u.outcome, u.lowered, u.fit, u.hub, u.checked_at, u.change_a, u.change_b,
    u.bucket, u.clicks, u.announced_at, u.state, u.level
    FROM queue q JOIN urls u ON u.site_id = q.site_id AND u.key = q.key"""
_TASKS = f"""{_COLUMNS}
    WHERE q.site_id = ? AND q.part = ? AND q.level >= ? AND q.level < ? AND (q.level, q.seq) > (?, ?)
    ORDER BY q.level, q.seq LIMIT ?"""


def promote(db: Database, queue: Queue, now: float) -> bool:
    """Move due URLs to the ends of their levels: a first visit or a source to its old one, a page that is visited again
    by its importance and its need (S4.1)."""
    found = False
    for table in LATER:
        due = db.execute(
            "SELECT s.due_at, s.key, u.level, u.kind, u.hub, u.checked_at, u.bucket "
            f"FROM {table} s JOIN urls u ON u.site_id = s.site_id AND u.key = s.key "
            "WHERE s.site_id = ? AND s.part = ? AND s.due_at <= ? ORDER BY s.due_at, s.key LIMIT 1000",
            (*queue, now),
        )
        if not due:
            continue
        found = True
        db.many(
            f"DELETE FROM {table} WHERE site_id = ? AND part = ? AND due_at = ? AND key = ?",
            [(*queue, row[0], row[1]) for row in due],
        )
        db.many(
            "UPDATE urls SET state = ?, due_at = NULL WHERE site_id = ? AND key = ?",
            [(QUEUED, queue.site_id, row[1]) for row in due],
        )
        levels = _visit_levels(due, table == "revisits", now)
        enqueue(db, queue, [(level, row[1]) for level, row in zip(levels, due, strict=True)], now, 0.0)
    return found


def _visit_levels(due: Sequence[Row], revisits: bool, now: float) -> list[int]:
    """VRank = QRank · RVRank of due pages, cut into levels; pages seen before have levels of their own."""
    levels = [level for _, _, level, *_ in due]
    again = [
        place for place, (_, _, _, kind, hub, checked_at, _) in enumerate(due)
        if kind == Kind.PAGE.value and not hub and (revisits or checked_at is not None)
    ]  # fmt: skip
    if again:
        since = np.array([now - (due[place][5] or 0.0) for place in again])
        buckets = np.array([max(due[place][6] or 0, 0) for place in again])
        importance = np.array([score_of_level(levels[place]) for place in again])
        need = 1.0 - freshness(rates_of(buckets), np.maximum(since, 1.0))
        for place, level in zip(again, levels_of(importance * need).tolist(), strict=True):
            levels[place] = LEVELS + level
    return levels


def has_due(db: Database, queue: Queue, now: float) -> bool:
    """Whether `promote` would move anything."""
    return any(
        db.execute(f"SELECT 1 FROM {table} WHERE site_id = ? AND part = ? AND due_at <= ? LIMIT 1", (*queue, now))
        for table in LATER
    )


class Handful(NamedTuple):
    """URLs to fetch next, and stale rows of the queue."""

    tasks: list[Task]
    stale: list[tuple[int, int]]
    """Level and place of URLs that wait in another level now."""


def tasks(db: Database, queue: Queue, holding: Collection[int], urls: int, share: float = 1.0) -> Handful:
    """The best due URLs of a site that are not held already; pages seen before get `share` of the places while new ones
    wait."""
    stale: list[tuple[int, int]] = []
    new = _first(db, queue, (0, LEVELS), holding, urls, stale)
    again = _first(db, queue, (LEVELS, 2 * LEVELS), holding, urls, stale)
    if not again:
        return Handful(new, stale)
    places = max(urls - len(new), min(round(urls * share), urls))
    again = again[:places]
    return Handful(_mixed(new[: urls - len(again)], again), stale)


def _first(
    db: Database, queue: Queue, levels: tuple[int, int], holding: Collection[int], urls: int,
    stale: list[tuple[int, int]],
) -> list[Task]:  # fmt: skip
    """The first URLs of a range of levels."""
    found: dict[int, Task] = {}
    place = (-1, 0)
    while len(found) < urls:
        limit = urls - len(found) + len(holding)
        rows = db.execute(_TASKS, (*queue, *levels, *place, limit))
        for row in rows:
            task = _task(row)
            if task.key in holding:
                continue  # also if links raised it meanwhile: its report deletes the row by which it was handed out
            if row[-2] != QUEUED or (task.level < LEVELS and task.level != row[-1]):
                stale.append((task.level, task.seq))
            else:
                found.setdefault(task.key, task)
        if len(rows) < limit:
            break
        place = (rows[-1][3], rows[-1][4])
    return list(found.values())[:urls]


def named_tasks(db: Database, queue: Queue, keys: Collection[int]) -> list[Task]:
    """The waiting URLs with these keys. Nobody looks for them often: a queue is ordered by level."""
    found: dict[int, Task] = {}
    for chunk in chunks(sorted(keys)):
        sql = f"{_COLUMNS} WHERE q.site_id = ? AND q.part = ? AND q.key IN ({marks(chunk)}) ORDER BY q.level, q.seq"
        for row in db.execute(sql, (*queue, *chunk)):
            task = _task(row)
            if row[-2] == QUEUED and (task.level >= LEVELS or task.level == row[-1]):
                found.setdefault(task.key, task)
    return list(found.values())


def _mixed(new: Sequence[Task], again: Sequence[Task]) -> list[Task]:
    """Both kinds spread evenly, each in its order."""
    ranked = [((place + 0.5) / len(new), 0, task) for place, task in enumerate(new)]
    ranked += [((place + 0.5) / len(again), 1, task) for place, task in enumerate(again)]
    return [task for _, _, task in sorted(ranked, key=lambda one: one[:2])]


def drop_stale(db: Database, queue: Queue, stale: Sequence[tuple[int, int]]) -> None:
    """Delete stale rows of the queue."""
    db.many(
        "DELETE FROM queue WHERE site_id = ? AND part = ? AND level = ? AND seq = ?",
        [(*queue, *place) for place in sorted(stale)],
    )
    count_levels(db, {level: -n for level, n in Counter(level for level, _ in stale).items()})


def _task(row: Row) -> Task:
    url, key, kind, level, seq, depth, hops, attempts, keep, etag, modified, content_hash, outcome, *rest = row
    lowered, fit, hub, checked_at, change_a, change_b, bucket, clicks, announced_at, _, _ = rest
    return Task(
        url, key, Kind(kind), level, seq, depth, hops, attempts, bool(keep),
        etag or "", modified or "", content_hash or "", outcome or "", lowered, bool(fit), bool(hub),
        checked_at or 0.0, (change_a or 0.0, change_b or 0.0), bucket, clicks, announced_at or 0.0,
    )  # fmt: skip


def lower(db: Database, queue: Queue, late: Sequence[tuple[Task, int]], now: float) -> None:
    """Move waiting URLs some levels down, to the ends of those levels."""
    db.many(
        "DELETE FROM queue WHERE site_id = ? AND part = ? AND level = ? AND seq = ?",
        [(*queue, task.level, task.seq) for task, _ in late],
    )
    moved = [(min(task.level + by, LEVELS - 1), by, task) for task, by in late]
    db.many(
        "UPDATE urls SET level = ?, lowered = ? WHERE site_id = ? AND key = ?",
        [(level, by, queue.site_id, task.key) for level, by, task in moved],
    )
    count_levels(db, {level: -n for level, n in Counter(task.level for task, _ in late).items()})
    enqueue(db, queue, [(level, task.key) for level, _, task in moved], now, 0.0)

"""When a page is visited again, decided in the transaction that records its visit (S4.5, S3.7).

A page's rate of change is learned from whether its *main text* changed between two visits. Before the second visit it
is estimated from its class: pages of its site under the same prefix, of its site, of its type, of the crawl. Rates are
kept in classes (`revisit.rates`). The plan, which shares out the budget of visits, comes from the number of documents
of each (`freshness`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks
from gossamer.dedup.short import has_changed
from gossamer.frontier.contract import Verdict, Visit
from gossamer.frontier.freshness import NOT_COUNTED, Planned, count_documents, hour_of
from gossamer.model.outcome import ORIGINALS, Outcome
from gossamer.model.records import Task
from gossamer.model.site import key64
from gossamer.revisit.buckets import BUCKETS
from gossamer.revisit.change import Estimator, Evidence, estimator
from gossamer.revisit.config import RevisitConfig
from gossamer.revisit.policy import Plan, plan
from gossamer.revisit.rates import buckets_of
from gossamer.scope.statistics import prefix_of

_PLAN_AGE = 60.0
"""Seconds for which a plan is good, unless the number of pages has grown much."""
_GROWN = 1.25
_EVERYTHING = 0
"""The class of all pages."""


class Finished(NamedTuple):
    """The columns of a finished URL that concern its visits so far."""

    outcome: str
    fetched_at: float
    checked_at: float | None
    a: float | None
    b: float | None
    clicks: int


class Learned(NamedTuple):
    """A visit that showed a page's present content."""

    visit: Visit
    classes: tuple[int, ...]
    gap: float
    """Seconds since its content was last known; 0 at the first visit."""
    changed: bool
    document: bool
    """Whether readers find it, so that it counts for freshness."""


def estimator_of(config: RevisitConfig) -> Estimator:
    """How rates are learned."""
    return estimator(config.estimator, config.policy, config.floor, config.ceiling)


def weight_of(clicks: int) -> float:
    """Weight of a page by the clicks of readers: one more for each doubling."""
    return 1.0 + math.log2(1 + clicks)


class Revisits:
    """Plans visits; one object per frontier, called inside the transaction of a report."""

    def __init__(self, db: Database, config: RevisitConfig) -> None:
        self._db, self._config = db, config
        self._estimator = estimator_of(config)
        self._plan: Plan | None = None
        self._planned_at, self._planned_pages = 0.0, 0.0

    def plan_visits(
        self, judged: Sequence[tuple[Visit, Verdict, int]], shapes: Sequence[str], now: float
    ) -> dict[tuple[int, int], Planned]:
        """The next visits of all visited URLs, by site and key."""
        planned: dict[tuple[int, int], Planned] = {}
        learned: dict[tuple[int, int], Learned] = {}
        moves: Counter[tuple[int, int]] = Counter()
        for (visit, verdict, site_id), shape in zip(judged, shapes, strict=True):
            place = (site_id, visit.task.key)
            if visit.retry_at is not None:
                continue
            if _is_kept(visit, verdict):
                classes = _classes(visit, site_id, shape)
                learned[place] = Learned(visit, classes, *_observed(visit), _is_document(visit, verdict))
            else:
                again = self._config.policy != "none" and visit.fetched and not verdict.outcome.meaning.refusal
                again = again and not visit.rests
                due = visit.at + self._config.ceiling if again else None
                planned[place] = Planned(due, None, None, None, NOT_COUNTED)
                _move(moves, visit, NOT_COUNTED)
        if learned:
            planned |= self._plan_learned(learned, moves, now)
        self._count(moves)
        return planned

    def _plan_learned(
        self, learned: Mapping[tuple[int, int], Learned], moves: Counter[tuple[int, int]], now: float
    ) -> dict[tuple[int, int], Planned]:
        items = list(learned.values())
        self._observe_classes(items)
        a, b = self._beliefs(items)
        rates = self._estimator.rates(a, b)
        buckets = [
            bucket if item.document else NOT_COUNTED
            for item, bucket in zip(items, buckets_of(rates).tolist(), strict=True)
        ]
        for item, bucket in zip(items, buckets, strict=True):
            _move(moves, item.visit, bucket)
        due: list[float | None] = [None] * len(items)
        if self._config.policy != "none":
            weights = np.array([weight_of(item.visit.task.clicks) for item in items])
            intervals = self.current_plan(now, moves).intervals(rates, weights)
            due = [
                None if item.visit.rests else item.visit.at + interval
                for item, interval in zip(items, intervals.tolist(), strict=True)
            ]
        rows = zip(learned, items, due, a.tolist(), b.tolist(), buckets, strict=True)
        return {
            place: Planned(due_at, item.visit.at, one, two, bucket) for place, item, due_at, one, two, bucket in rows
        }

    def _beliefs(self, items: Sequence[Learned]) -> tuple[np.ndarray, np.ndarray]:
        """The estimated rate of each page after its visit."""
        first = [item for item in items if not _is_known(item.visit.task)]
        evidence = self._evidence({name for item in first for name in item.classes})
        begun_a, begun_b = self._estimator.start([[evidence[name] for name in item.classes] for item in first])
        begun = iter(zip(begun_a.tolist(), begun_b.tolist(), strict=True))
        states = [item.visit.task.change if _is_known(item.visit.task) else next(begun) for item in items]
        a, b = np.array([one for one, _ in states]), np.array([two for _, two in states])
        seen = np.array([item.gap > 0 for item in items])
        if seen.any():
            gaps, changed = np.array([item.gap for item in items]), np.array([item.changed for item in items])
            a[seen], b[seen] = self._estimator.observe(a[seen], b[seen], gaps[seen], changed[seen])
        return a, b

    def _evidence(self, names: set[int]) -> dict[int, Evidence]:
        found = dict.fromkeys(names, Evidence(0, 0, 0.0))
        for chunk in chunks(sorted(names)):
            sql = f"SELECT class, visits, changes, exposure FROM change_classes WHERE class IN ({marks(chunk)})"
            found.update((name, Evidence(*numbers)) for name, *numbers in self._db.execute(sql, chunk))
        return found

    def _observe_classes(self, items: Sequence[Learned]) -> None:
        totals: dict[int, list[float]] = {}
        for item in items:
            if item.gap > 0:
                for name in item.classes:
                    row = totals.setdefault(name, [0, 0, 0.0])
                    row[0] += 1
                    row[1] += item.changed
                    row[2] += item.gap
        self._db.many(
            "INSERT INTO change_classes (class, visits, changes, exposure) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (class) DO UPDATE SET visits = change_classes.visits + excluded.visits, "
            "changes = change_classes.changes + excluded.changes, "
            "exposure = change_classes.exposure + excluded.exposure",
            [(name, *numbers) for name, numbers in sorted(totals.items())],
        )

    def current_plan(self, now: float, moves: Mapping[tuple[int, int], int] | None = None) -> Plan:
        """How the budget is shared out; computed anew as the collection grows and time goes by."""
        pages = self._planned_pages + sum((moves or {}).values())
        if self._plan is None or abs(now - self._planned_at) > _PLAN_AGE or pages > _GROWN * self._planned_pages:
            histogram = np.zeros(BUCKETS)
            for bucket, count in self._db.execute("SELECT bucket, SUM(pages) FROM freshness GROUP BY bucket"):
                histogram[bucket] += count
            for (bucket, _), count in (moves or {}).items():
                histogram[bucket] += count
            config, total = self._config, float(histogram.sum())
            self._plan = plan(
                "uniform" if config.policy == "none" else config.policy, np.maximum(histogram, 0.0),
                total / config.every, floor=config.floor, ceiling=max(config.ceiling, config.floor),
            )  # fmt: skip
            self._planned_at, self._planned_pages = now, total
        return self._plan

    def replan(self, pages: Sequence[Finished], now: float) -> list[float | None]:
        """When finished pages are visited again by the present settings; None: never."""
        if self._config.policy == "none":
            return [None] * len(pages)
        due: list[float | None] = [page.fetched_at + self._config.ceiling for page in pages]
        kept = [
            place for place, page in enumerate(pages)
            if page.outcome in ORIGINALS and page.checked_at is not None and page.a is not None and page.b is not None
        ]  # fmt: skip
        if kept:
            a, b = np.array([pages[place].a for place in kept]), np.array([pages[place].b for place in kept])
            weights = np.array([weight_of(pages[place].clicks) for place in kept])
            intervals = self.current_plan(now).intervals(self._estimator.rates(a, b), weights)
            for place, interval in zip(kept, intervals.tolist(), strict=True):
                due[place] = (pages[place].checked_at or 0.0) + interval
        return due

    def _count(self, moves: Mapping[tuple[int, int], int]) -> None:
        count_documents(self._db, moves)


def _is_kept(visit: Visit, verdict: Verdict) -> bool:
    if verdict.outcome is Outcome.NOT_MODIFIED:
        return visit.task.previous in ORIGINALS
    return verdict.outcome.meaning.original


def _is_document(visit: Visit, verdict: Verdict) -> bool:
    outcome = verdict.outcome
    return outcome is Outcome.DOCUMENT or (
        outcome is Outcome.NOT_MODIFIED and visit.task.previous == Outcome.DOCUMENT.value
    )


def _is_known(task: Task) -> bool:
    """Whether a page has a rate of change. A start page that was an alias was read before, but has none."""
    return task.checked_at > 0 and task.change[1] > 0


def _observed(visit: Visit) -> tuple[float, bool]:
    """Seconds since the page's content was last known, and whether its text changed."""
    task = visit.task
    if not task.checked_at:
        return 0.0, False
    changed = visit.outcome is Outcome.DOCUMENT and has_changed(task.content_hash, visit.content_hash)
    return max(visit.at - task.checked_at, 0.0), changed


def _classes(visit: Visit, site_id: int, shape: str) -> tuple[int, ...]:
    """The classes of a page from specific to general."""
    return (
        key64(f"{site_id} {prefix_of(shape)}"),
        site_id,
        key64(f"type {visit.page_type}"),
        _EVERYTHING,
    )


def _move(moves: Counter[tuple[int, int]], visit: Visit, bucket: int) -> None:
    """Count a document at its new place and no longer at its old one."""
    task = visit.task
    if task.bucket is not None and task.bucket != NOT_COUNTED:
        moves[task.bucket, hour_of(task.checked_at)] -= 1
    if bucket != NOT_COUNTED:
        moves[bucket, hour_of(visit.at)] += 1

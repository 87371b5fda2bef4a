"""Clicks of readers on search results: a page that is opened often is visited more often (S3.8).

A page has a number of clicks and nothing else: not who, when, or after which query. `revisits.weight_of` turns the
number
into a weight, which counts whenever a next visit is planned. Here a planned visit moves to where the greater weight
puts
it, earlier and never later. A page that waits in the queue, or for a retry, keeps its place: its clicks count from its
visit on.

Clicks do not fade: a page that was popular once keeps its weight. It grows with the logarithm of the clicks only, so
that
the past of one page takes little from the present of others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gossamer.database.database import Database
from gossamer.database.lists import chunks, marks
from gossamer.database.schema import DONE, REMOVED
from gossamer.frontier.revisits import Revisits, estimator_of, weight_of
from gossamer.model.outcome import Outcome
from gossamer.model.site import key64, site_of
from gossamer.revisit.config import RevisitConfig
from gossamer.revisit.policy import Plan


class _Page(NamedTuple):
    """A document that was clicked on."""

    site_id: int
    key: int
    part: int
    state: int
    due_at: float | None
    checked_at: float | None
    a: float | None
    b: float | None
    clicks: int
    """Including the new ones."""
    new: int


def record(db: Database, clicks: Mapping[str, int], config: RevisitConfig, now: float) -> int:
    """Count clicks by URL and bring the next visits of these pages forward; returns how many of the URLs are documents.
    Other URLs are ignored: the caller need not know the table."""
    # Made before the transaction begins: the workers wait for it.
    plan = Revisits(db, config).current_plan(now)
    with db.transaction():
        pages = _documents(db, clicks)
        db.many(
            "UPDATE urls SET clicks = clicks + ? WHERE site_id = ? AND key = ?",
            [(page.new, page.site_id, page.key) for page in pages],
        )
        if config.policy != "none":
            _bring_forward(db, _earlier(pages, config, plan, now))
    return len(pages)


def _documents(db: Database, clicks: Mapping[str, int]) -> list[_Page]:
    by_site: dict[int, dict[int, int]] = defaultdict(dict)
    for url, count in clicks.items():
        if "//" in url and count > 0:
            by_site[key64(site_of(url))][key64(url)] = count
    pages = []
    for site_id, counts in sorted(by_site.items()):
        for chunk in chunks(sorted(counts)):
            rows = db.execute(
                "SELECT key, part, state, due_at, checked_at, change_a, change_b, clicks FROM urls "
                f"WHERE outcome = ? AND state <> ? AND site_id = ? AND key IN ({marks(chunk)}) ORDER BY key",
                (Outcome.DOCUMENT.value, REMOVED, site_id, *chunk),
            )
            pages += [
                _Page._make((site_id, key, *row, before + counts[key], counts[key])) for key, *row, before in rows
            ]
    return pages


def _earlier(pages: Sequence[_Page], config: RevisitConfig, plan: Plan, now: float) -> list[tuple[_Page, float]]:
    """Pages whose planned visits are too late by their weight, with the right time. It is not in the past: the site
    would count as one that has waited long."""
    planned = [page for page in pages if page.state == DONE and None not in (page.due_at, page.checked_at, page.a)]
    if not planned:
        return []
    due, checked, a, b = np.array([(page.due_at, page.checked_at, page.a, page.b) for page in planned]).T
    weights = np.array([weight_of(page.clicks) for page in planned])
    right = np.maximum(checked + plan.intervals(estimator_of(config).rates(a, b), weights), now)
    return [(page, time) for page, time, late in zip(planned, right.tolist(), right < due, strict=True) if late]


def _bring_forward(db: Database, moves: Sequence[tuple[_Page, float]]) -> None:
    db.many(
        "UPDATE revisits SET due_at = ? WHERE site_id = ? AND part = ? AND due_at = ? AND key = ?",
        [(time, page.site_id, page.part, page.due_at, page.key) for page, time in moves],
    )
    db.many(
        "UPDATE urls SET due_at = ? WHERE site_id = ? AND key = ?",
        [(time, page.site_id, page.key) for page, time in moves],
    )
    first: dict[tuple[int, int], float] = {}
    for page, time in moves:
        place = (page.site_id, page.part)
        first[place] = min(time, first.get(place, time))
    for place, time in sorted(first.items()):
        # The owner of a part checks what is due, and sets the time when giving it back.
        ready = max(time, db.execute("SELECT not_before FROM sites WHERE id = ?", place[:1])[0][0])
        db.execute(
            "UPDATE parts SET ready_at = ? WHERE site_id = ? AND part = ? AND owner IS NULL "
            "AND (ready_at IS NULL OR ready_at > ?)",
            (ready, *place, ready),
        )

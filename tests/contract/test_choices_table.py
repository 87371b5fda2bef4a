"""Counts of what readers chose, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from frontier_kit import Crew, make_sql, page

from gossamer.database.database import Database
from gossamer.frontier.contract import Budgets
from gossamer.model.outcome import Outcome
from gossamer.model.site import key64
from gossamer.tables import choices
from gossamer.tables.choices import SLICES, Seen, Times

pytestmark = pytest.mark.usefixtures("dialect")

SITE = key64("a.test")
QUERY, DAY = -7, 20_000
PAGES = [key64(f"http://a.test/{n}") for n in range(4)]


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    """A crawl whose first three pages are documents; the fourth was not found."""
    frontier = make_sql(tmp_path, Budgets())
    crew = Crew(frontier)
    urls = [f"http://a.test/{n}" for n in range(4)]
    worker = crew.worker("w")
    crew.add(*map(page, urls))
    worker.take()
    for n, url in enumerate(urls):
        worker.did(url, Outcome.DOCUMENT if n < 3 else Outcome.GONE)
    yield frontier.db
    frontier.db.close()


def seen(page: int, day: int = DAY, place: int = 1, query: int = QUERY) -> Seen:
    return Seen(SITE, PAGES[page], query, day, place)


def test_counts_add_up_and_pages_that_are_no_documents_are_left_out(db: Database) -> None:
    for _ in range(2):
        choices.record(db, {seen(0): Times(3, 1), seen(0, place=4): Times(1, 1), seen(3): Times(9, 9)}, {})
    found = choices.of_query(db, QUERY, PAGES, DAY, 1)
    assert found == [(PAGES[0], DAY, 1, 6, 2), (PAGES[0], DAY, 4, 2, 2)]
    assert choices.of_query(db, QUERY, PAGES, DAY, 5) == choices.of_query(db, QUERY + 1, PAGES, DAY, 1) == []
    assert choices.of_query(db, QUERY, [], DAY, 1) == choices.of_query(db, QUERY, PAGES, DAY + 1, 1) == []


def test_a_sample_has_sums_over_days_and_begins_anew_where_nothing_follows(db: Database) -> None:
    choices.record(db, {seen(n, day): Times(3, 1) for n in range(3) for day in (DAY, DAY + 1)}, {})
    for start in (-(1 << 63), (1 << 63) - 1):
        assert choices.sample(db, start, DAY, 100) == [(key, QUERY, 1, 6, 2) for key in sorted(PAGES[:3])]
    assert len(choices.sample(db, -(1 << 63), DAY, 4)) == 2
    assert choices.sample(db, 0, DAY + 2, 100) == []


def test_what_is_taken_down_or_old_leaves(db: Database) -> None:
    choices.record(db, {seen(n, day): Times(3, 1) for n in range(3) for day in (DAY, DAY + 9)}, {(DAY, "with"): 2})
    choices.forget(db, PAGES[:1])
    assert {row[0] for row in choices.of_query(db, QUERY, PAGES, DAY, 1)} == set(PAGES[1:3])
    for slice in range(SLICES):
        choices.sweep(db, slice, DAY + 5)
    assert {row[1] for row in choices.of_query(db, QUERY, PAGES, DAY, 1)} == {DAY + 9}
    assert choices.preferences(db, 0) == {}


def test_preferences_may_be_taken_back(db: Database) -> None:
    choices.record(db, {}, {(DAY, "with"): 2, (DAY, "tie"): 1})
    choices.record(db, {}, {(DAY, "with"): 1, (DAY, "tie"): -1})
    assert choices.preferences(db, DAY) == {"with": 3, "tie": 0}
    assert choices.preferences(db, DAY + 1) == {}


def test_the_model_is_kept(db: Database) -> None:
    assert choices.model(db) == ""
    choices.keep_model(db, "{}")
    choices.keep_model(db, '{"a": 1}')
    assert choices.model(db) == '{"a": 1}'

"""Whether a crawl could move, as the alarms ask for it: the same on both databases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from frontier_kit import LEASE, NAMES, SQL_MAKERS, Crew, pages

from gossamer.frontier.contract import Budgets
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.views import vitals


@pytest.fixture(params=SQL_MAKERS, ids=NAMES[1:])
def sql(request: pytest.FixtureRequest, tmp_path: Path) -> SqlFrontier:
    make: Callable[[Path, Budgets], SqlFrontier] = request.param
    return make(tmp_path, Budgets(lease=LEASE))


def test_sites_with_urls_due_are_ready_held_or_not_but_for_those_that_are_paused(sql: SqlFrontier) -> None:
    crew = Crew(sql)
    assert vitals.activity(sql.db, crew.now).ready == 0
    crew.add(*pages("one.org", 2), *pages("two.org", 2), *pages("three.org", 2))
    assert vitals.activity(sql.db, crew.now).ready == 3
    crew.worker("w").take(sites=1)
    moving = vitals.activity(sql.db, crew.now)
    assert (moving.ready, moving.workers, moving.paused) == (3, 1, False)
    sql.pause_site("two.org", "maintenance", crew.now)
    assert vitals.activity(sql.db, crew.now).ready == 2
    sql.pause_crawl("maintenance", crew.now)
    assert vitals.activity(sql.db, crew.now).paused


def test_what_is_ready_is_counted_up_to_a_bound(sql: SqlFrontier, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vitals, "MOST_READY", 3)
    crew = Crew(sql)
    crew.add(*(page for number in range(7) for page in pages(f"site{number}.org", 1)))
    crew.worker("w").take(sites=2)
    assert vitals.activity(sql.db, crew.now).ready == 3

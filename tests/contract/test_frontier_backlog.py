"""Where a crawl has most to do yet."""

from __future__ import annotations

from pathlib import Path

import pytest
from frontier_kit import Crew, page, place_of_database, sql_on

from gossamer.database.database import Database, open_database
from gossamer.frontier.contract import Budgets
from gossamer.frontier.politeness import PolitenessConfig
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.views.backlog import slowest

pytestmark = pytest.mark.usefixtures("dialect")
CONFIG = PolitenessConfig(delay=2.0)


def db_of(crew: Crew) -> Database:
    assert isinstance(crew.frontier, SqlFrontier)
    return crew.frontier.db


@pytest.fixture
def crew(tmp_path: Path) -> Crew:
    crew = Crew(sql_on(open_database(place_of_database(tmp_path)), Budgets(lease=1e9)))
    for site, pages in (("a", 3), ("b", 10), ("c", 5)):
        crew.add(*(page(f"https://{site}.example/{number}") for number in range(pages)))
    return crew


def test_the_sites_that_take_longest_at_their_pace_come_first(crew: Crew) -> None:
    db_of(crew).execute("UPDATE sites SET crawl_delay = 30 WHERE name = 'c.example'")
    found = slowest(db_of(crew), CONFIG)
    assert [(one.name, one.urls, one.gap) for one in found] == [
        ("c.example", 5, 30.0), ("b.example", 10, 2.0), ("a.example", 3, 2.0),
    ]  # fmt: skip
    assert found[0].seconds(crew.now) >= 150.0


def test_what_was_visited_does_not_wait_any_more(crew: Crew) -> None:
    worker = crew.worker("w")
    for lease in worker.take():
        if lease.site == "b.example":
            worker.report(*(worker.visit(task) for task in lease.tasks[:4]))
    assert {one.name: one.urls for one in slowest(db_of(crew), CONFIG)} == {
        "a.example": 3,
        "b.example": 6,
        "c.example": 5,
    }


def test_sites_of_one_address_are_waited_for_together(crew: Crew) -> None:
    db_of(crew).execute("UPDATE sites SET address = '192.0.2.1' WHERE name <> 'c.example'")
    *_, shared = slowest(db_of(crew), CONFIG)
    assert (shared.name, shared.urls, shared.gap) == ("192.0.2.1", 13, 2.0)


def test_a_paused_site_holds_nobody_up(crew: Crew) -> None:
    crew.frontier.pause_site("b.example", "rest", crew.now)
    assert "b.example" not in {one.name for one in slowest(db_of(crew), CONFIG)}

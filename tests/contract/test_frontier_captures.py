"""URLs whose responses are in an archive: leased without waiting, and only if the archive knows more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from frontier_kit import LEASE, NAMES, NO, NOW, SQL_MAKERS, Crew, Hand, page, pages, place_of_database, sql_on

from gossamer.database.database import open_database
from gossamer.errors import BusyError
from gossamer.frontier.contract import Budgets
from gossamer.frontier.guidance import Guidance
from gossamer.frontier.sql import SqlFrontier
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered, Via

SITE, OTHER = "www.one.org", "two.org"
FIRST, SECOND = f"https://{SITE}/0", f"https://{SITE}/1"
OLD = NOW - 86_400.0


@pytest.fixture(params=SQL_MAKERS, ids=NAMES[1:])
def sql(request: pytest.FixtureRequest, tmp_path: Path) -> SqlFrontier:
    make: Callable[[Path, Budgets], SqlFrontier] = request.param
    return make(tmp_path, Budgets(lease=LEASE))


@pytest.fixture
def crew(sql: SqlFrontier) -> Crew:
    return Crew(sql)


def admit(hand: Hand, *found: Discovered, at: float = OLD) -> list[str]:
    """The URLs leased for captures of this time."""
    assert isinstance(hand.frontier, SqlFrontier)
    leases = hand.frontier.admit(hand.name, found, [at] * len(found), hand.crew.now)
    hand.leases.update((lease.site, lease) for lease in leases)
    return sorted(task.url for lease in leases for task in lease.tasks)


def captured(hand: Hand, url: str, at: float = OLD, outcome: Outcome = Outcome.DOCUMENT, **fields: Any) -> None:
    """Import one capture."""
    assert admit(hand, page(url, via=Via.ARCHIVE), at=at) == [url]
    [task] = hand.tasks(url)
    visit = hand.visit(task, outcome, requested=False, **fields)
    visit.at = at
    hand.report(visit, segment=f"s{at}")
    hand.release(SITE)


def test_new_urls_and_those_that_wait_are_leased_at_once(crew: Crew) -> None:
    crew.add(*pages(SITE, 4))
    hand = crew.worker("import")
    assert admit(hand, page(FIRST), page(f"https://{OTHER}/")) == [f"https://{OTHER}/", FIRST]
    for site in (SITE, OTHER):
        hand.release(site)
    waiting = crew.worker("w").urls()
    assert sorted(waiting) == [f"https://{OTHER}/", *(f"https://{SITE}/{n}" for n in range(4))]


def test_a_url_is_taken_again_only_for_a_newer_capture(crew: Crew) -> None:
    hand = crew.worker("import")
    captured(hand, FIRST)
    assert admit(hand, page(FIRST), at=OLD) == admit(hand, page(FIRST), at=OLD - 1) == []
    captured(hand, FIRST, at=OLD + 1)
    assert crew.worker("w").take() == []


def test_a_url_that_is_to_be_tried_again_is_taken_now(crew: Crew) -> None:
    crew.add(page(FIRST))
    worker = crew.worker("w")
    worker.take()
    worker.did(FIRST, Outcome.SERVER_ERROR, retry_at=NOW + 1_000)
    worker.release(SITE)
    hand = crew.worker("import")
    captured(hand, FIRST, at=NOW + 1)
    crew.wait(2_000)
    assert crew.worker("w").take() == []


def test_refused_and_removed_urls_stay_so(crew: Crew) -> None:
    hand = crew.worker("import")
    assert admit(hand, page(FIRST, refusal=NO), page(SECOND)) == [SECOND]
    hand.release(SITE)
    assert admit(hand, page(FIRST, refusal=NO)) == []


def test_a_paused_site_may_be_imported_and_stays_paused(crew: Crew) -> None:
    crew.add(*pages(SITE, 2))
    crew.frontier.pause_site(SITE, "maintenance", crew.now)
    captured(crew.worker("import"), FIRST)
    assert crew.worker("w").take() == []


def test_a_site_of_another_worker_is_left_alone(crew: Crew) -> None:
    crew.add(*pages(SITE, 2))
    crew.worker("w").take()
    hand = crew.worker("import")
    with pytest.raises(BusyError, match="no crawl runs"):
        admit(hand, page(FIRST), page(f"https://{OTHER}/"))
    assert admit(hand, page(f"https://{OTHER}/")) == [f"https://{OTHER}/"]


def test_an_import_counts_no_request(crew: Crew, sql: SqlFrontier) -> None:
    captured(crew.worker("import"), FIRST)
    assert sql.fetched() == 0
    assert sql.db.execute("SELECT fetched, fetched_at FROM sites JOIN urls ON site_id = id") == [(0, OLD)]


@pytest.mark.parametrize("rests", [True, False])
def test_a_page_of_a_host_outside_is_not_planned_again(tmp_path: Path, rests: bool, dialect: str) -> None:
    frontier = sql_on(open_database(place_of_database(tmp_path)), Budgets(lease=LEASE), Guidance())
    crew = Crew(frontier)
    captured(crew.worker("import"), FIRST, rests=rests)
    captured(crew.worker("again"), SECOND, outcome=Outcome.GONE, rests=rests)
    due = [row[0] for row in frontier.db.execute("SELECT due_at FROM urls")]
    assert [time is None for time in due] == [rests, rests]

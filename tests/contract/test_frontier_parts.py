"""A site in parts: each URL belongs to one of them, they are leased apart, and a new plan loses nothing."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from frontier_kit import DELAY, LEASE, POLITENESS, Crew, make_sql, page

from gossamer.frontier import partitions
from gossamer.frontier.contract import Budgets, Lease, Place, SiteReport
from gossamer.frontier.politeness import SiteClock, for_part, gap
from gossamer.frontier.sql import SqlFrontier
from gossamer.model.outcome import Outcome
from gossamer.model.site import key64
from gossamer.partition.assignment import Assignment, one_part

pytestmark = pytest.mark.usefixtures("dialect")

SITE = "www.one.org"
HALVES = Assignment(2, {"/": (0,), "/b/": (1,)})
LEFT = [f"https://{SITE}/a/{n}" for n in range(4)]
RIGHT = [f"https://{SITE}/b/{n}" for n in range(4)]


@pytest.fixture
def frontier(tmp_path: Path) -> SqlFrontier:
    return make_sql(tmp_path, Budgets(lease=LEASE))


@pytest.fixture
def crew(frontier: SqlFrontier) -> Crew:
    return Crew(frontier)


def split(crew: Crew, plan: Assignment = HALVES) -> None:
    assert isinstance(crew.frontier, SqlFrontier)
    partitions.adopt(crew.frontier.db, SITE, plan, crew.now)


def leases_of(crew: Crew, name: str, sites: int = 9) -> list[Lease]:
    return sorted(crew.frontier.take(name, crew.now, sites, 99), key=lambda lease: lease.place.part)


def urls(lease: Lease) -> list[str]:
    return sorted(task.url for task in lease.tasks)


def test_two_workers_each_have_a_part_with_its_own_urls(crew: Crew) -> None:
    crew.add(*map(page, LEFT + RIGHT))
    split(crew)
    crew.worker("one"), crew.worker("two")
    [first], [second] = leases_of(crew, "one", 1), leases_of(crew, "two", 1)
    assert {first.place.part, second.place.part} == {0, 1}
    by_part = {lease.place.part: urls(lease) for lease in (first, second)}
    assert by_part == {0: LEFT, 1: RIGHT}
    assert first.parts == second.parts == 2


def test_what_is_found_later_goes_to_the_part_it_belongs_to(crew: Crew) -> None:
    crew.add(page(LEFT[0]))
    split(crew)
    crew.worker("one")
    [lease] = leases_of(crew, "one")
    crew.add(*map(page, LEFT + RIGHT))
    [other] = leases_of(crew, "one")
    assert (lease.place.part, other.place.part) == (0, 1)
    assert urls(other) == RIGHT
    refilled = crew.frontier.refill("one", Place(SITE), [task.key for task in lease.tasks], crew.now, 99)
    assert sorted(task.url for task in refilled) == LEFT[1:]


def test_a_site_in_use_is_split_when_it_is_given_back(crew: Crew, frontier: SqlFrontier) -> None:
    crew.add(*map(page, LEFT + RIGHT))
    worker = crew.worker("one")
    worker.take()
    split(crew)
    assert frontier.sites_to_leave() == {SITE}
    crew.worker("two")
    assert leases_of(crew, "two") == []
    worker.did(LEFT[0])
    worker.release(SITE)
    crew.wait(2 * DELAY)
    found = leases_of(crew, "two")
    assert [urls(lease) for lease in found] == [LEFT[1:], RIGHT]
    assert frontier.sites_to_leave() == set()


def test_nothing_is_lost_or_doubled_when_plans_change(crew: Crew, frontier: SqlFrontier) -> None:
    """Through three plans, with URLs that wait, that are to be tried again, and that are done."""
    crew.add(*map(page, LEFT + RIGHT))
    worker = crew.worker("one")
    worker.take()
    worker.did(LEFT[0])
    worker.did(RIGHT[0], Outcome.TIMEOUT, retry_at=crew.now + 50)
    worker.release(SITE)
    thirds = Assignment(3, {"/": (0, 1, 2)})
    for plan in (HALVES, thirds, one_part()):
        split(crew, plan)
        crew.wait(10)
        worker.take(sites=0)  # applies the plan, leases nothing
        counted = frontier.db.execute("SELECT part, url FROM urls ORDER BY url")
        assert [(plan.part_of(url), url) for _, url in counted] == counted
        waiting = frontier.db.execute("SELECT q.part, u.part, u.url FROM queue q JOIN urls u ON u.key = q.key")
        assert sorted(url for _, _, url in waiting) == sorted(LEFT[1:] + RIGHT[1:])
        assert all(queued == known for queued, known, _ in waiting)
        assert frontier.db.execute("SELECT COUNT(*) FROM parts") == [(plan.parts,)]
    crew.wait(60)
    crew.worker("two")
    assert sorted(url for lease in leases_of(crew, "two") for url in urls(lease)) == sorted(LEFT[1:] + RIGHT)
    assert partitions.partitions(frontier.db) == []


def test_parts_pause_apart_and_rest_together(crew: Crew, frontier: SqlFrontier) -> None:
    """A part's own delay is its own affair; trouble with the server concerns all of them."""
    crew.add(*map(page, LEFT + RIGHT))
    split(crew)
    crew.worker("one")
    left, right = leases_of(crew, "one")
    later = msgspec.structs.replace(left.clock, not_before=crew.now + 5)
    trouble = msgspec.structs.replace(right.clock, not_before=crew.now + 500, reason="HTTP 503")
    reports = [report_of(left, later), report_of(right, right.clock)]
    frontier.release("one", reports, [], crew.now)
    ready = dict(frontier.db.execute("SELECT part, ready_at FROM parts"))
    assert ready[0] == crew.now + 5
    assert ready[1] < crew.now + 5
    assert frontier.waits([SITE]) == {}
    [right] = leases_of(crew, "one")
    frontier.release("one", [report_of(right, trouble)], [], crew.now)
    assert frontier.waits([SITE]) == {SITE: (crew.now + 500, "HTTP 503")}
    crew.wait(30)
    assert all(lease.clock.not_before >= crew.now + 400 for lease in leases_of(crew, "one"))


def report_of(lease: Lease, clock: SiteClock) -> SiteReport:
    return SiteReport(lease.place, lease.token, clock, "10.0.0.1", len(lease.tasks), lease.parts)


def test_the_parts_of_a_dead_worker_count_as_asked_just_now(crew: Crew, frontier: SqlFrontier) -> None:
    crew.add(*map(page, LEFT + RIGHT))
    split(crew)
    crew.worker("one"), crew.worker("two")
    leases_of(crew, "one", 1)
    leases_of(crew, "two", 1)
    crew.wait(LEASE + 1)
    crew.worker("three")
    for lease in leases_of(crew, "three"):
        assert lease.clock.not_before >= crew.now + DELAY
    crew.wait(DELAY)
    assert len(leases_of(crew, "three")) in (0, 2)


def test_an_address_is_held_once_for_each_part(crew: Crew, frontier: SqlFrontier) -> None:
    crew.add(*map(page, LEFT + RIGHT))
    split(crew)
    crew.worker("one"), crew.worker("two")
    assert frontier.hold_address("one", SITE, "10.0.0.1", crew.now) == 0.0
    assert frontier.hold_address("two", SITE, "10.0.0.1", crew.now) is None
    assert frontier.hold_address("two", SITE, "10.0.0.1#1", crew.now) == 0.0
    assert frontier.hold_address("one", SITE, "10.0.0.1#1", crew.now) is None
    assert frontier.db.execute("SELECT address FROM sites WHERE id = ?", (key64(SITE),)) == [("10.0.0.1",)]


def test_a_part_waits_for_the_whole_site_where_robots_txt_asks_for_a_delay() -> None:
    capped = msgspec.structs.replace(POLITENESS, site_rate=2.0)
    asked = SiteClock(crawl_delay=10.0)
    assert gap(asked, for_part(POLITENESS, 3)) == 30.0
    assert gap(SiteClock(), for_part(POLITENESS, 3)) == DELAY
    assert gap(SiteClock(), for_part(capped, 4)) == 2 * DELAY
    assert gap(asked, for_part(POLITENESS, 1)) == 10.0

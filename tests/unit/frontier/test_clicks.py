"""Clicks add up and bring the next visit forward: never back, never before its time, and a worker finds it there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.database.database import Database, open_database
from gossamer.database.schema import QUEUED, SCHEDULED
from gossamer.dedup.near.registry import near_method
from gossamer.errors import GossamerError
from gossamer.frontier.contract import Batch, Budgets, Lease, Place, SiteReport, Visit
from gossamer.frontier.guidance import Guidance
from gossamer.frontier.politeness import PolitenessConfig
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.steering.operate import recrawl, remove
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered
from gossamer.model.site import site_of
from gossamer.revisit.config import FeedConfig, RevisitConfig
from gossamer.scope.shape import path_shape
from gossamer.tables.clicks import record

NOW, DAY = 1_700_000_000.0, 86_400.0
CONFIG = RevisitConfig()
POPULAR, OTHER = "http://a.org/popular", "http://a.org/other"
ELSEWHERE = "http://b.org/page"
MISSING = "http://a.org/missing"


@pytest.fixture
def frontier(tmp_path: Path) -> Iterator[SqlFrontier]:
    """Two sites with three documents and a page that is not there, all visited at `NOW`."""
    db = open_database(tmp_path / "frontier.db")
    db.execute("PRAGMA synchronous = OFF")
    guidance = Guidance(revisit=CONFIG, feeds=FeedConfig(poll=False))
    near = near_method("minhash")
    frontier = SqlFrontier(db, Budgets(), PolitenessConfig(delay=0.0), path_shape, near, guidance=guidance)
    frontier.add([Discovered(url) for url in (POPULAR, OTHER, ELSEWHERE, MISSING)], NOW)
    frontier.register("w", NOW)
    finish(frontier, frontier.take("w", NOW, 10, 100))
    yield frontier
    db.close()


def finish(frontier: SqlFrontier, leases: list[Lease], at: float = NOW) -> None:
    """Visit what was handed out and give the sites back."""
    for lease in leases:
        visits = [
            Visit(
                Place(lease.site), task, Outcome.GONE if task.url == MISSING else Outcome.DOCUMENT, at,
                content_hash=task.url,
            )
            for task in lease.tasks
        ]  # fmt: skip
        sites = [SiteReport(Place(lease.site), lease.token, lease.clock)]
        frontier.report("w", Batch(f"s{at}", visits, sites=sites), at)
        frontier.release("w", sites, [], at)


def clicks(db: Database, url: str) -> int:
    [(count,)] = db.execute("SELECT clicks FROM urls WHERE url = ?", (url,))
    return int(count)


def due(db: Database, url: str) -> float:
    """When the page is visited again, of which the table and the plan must say the same."""
    [(site_id, part, key, time)] = db.execute("SELECT site_id, part, key, due_at FROM urls WHERE url = ?", (url,))
    sql = "SELECT due_at FROM revisits WHERE site_id = ? AND part = ? AND key = ?"
    assert db.execute(sql, (site_id, part, key)) == [(time,)]
    return float(time)


def ready(db: Database, url: str) -> float:
    sql = "SELECT ready_at FROM parts WHERE site_id = (SELECT id FROM sites WHERE name = ?)"
    [(time,)] = db.execute(sql, (site_of(url),))
    return float(time)


def handed_out(frontier: SqlFrontier, now: float, worker: str = "w2") -> set[str]:
    frontier.register(worker, now)
    return {task.url for lease in frontier.take(worker, now, 10, 100) for task in lease.tasks}


def test_clicks_add_up(frontier: SqlFrontier) -> None:
    assert record(frontier.db, {POPULAR: 2, ELSEWHERE: 1}, CONFIG, NOW) == 2
    assert record(frontier.db, {POPULAR: 3}, CONFIG, NOW) == 1
    assert [clicks(frontier.db, url) for url in (POPULAR, OTHER, ELSEWHERE)] == [5, 0, 1]


def test_only_documents_of_the_crawl_count(frontier: SqlFrontier) -> None:
    db = frontier.db
    remove(db, OTHER, "asked to", NOW)
    nonsense = {"http://a.org/unknown": 9, "http://c.org/": 9, "": 9, "no address": 9, "http://": 9, "//": 9}
    assert record(db, {MISSING: 9, OTHER: 9, **nonsense}, CONFIG, NOW) == 0
    assert db.execute("SELECT SUM(clicks) FROM urls") == [(0,)]


def test_the_next_visit_comes_earlier_and_a_worker_gets_the_page_then(frontier: SqlFrontier) -> None:
    db, before = frontier.db, due(frontier.db, POPULAR)
    unclicked = due(db, OTHER)
    record(db, {POPULAR: 30}, CONFIG, NOW + DAY)
    moved = due(db, POPULAR)
    assert NOW + DAY <= moved < before
    assert due(db, OTHER) == unclicked
    assert handed_out(frontier, moved - 1) == set()
    assert handed_out(frontier, moved, "w3") == {POPULAR}


def test_the_more_clicks_the_earlier_but_not_below_the_floor(frontier: SqlFrontier) -> None:
    times = [due(frontier.db, POPULAR)]
    for _ in range(8):
        record(frontier.db, {POPULAR: 10 ** len(times)}, CONFIG, NOW)
        times.append(due(frontier.db, POPULAR))
    assert times == sorted(times, reverse=True)
    assert times[3] < times[2] < times[1] < times[0]
    assert times[-1] >= NOW + CONFIG.floor


def test_the_weight_stays_when_the_page_was_visited_again(frontier: SqlFrontier) -> None:
    db = frontier.db
    record(db, {POPULAR: 30}, CONFIG, NOW)
    later = max(due(db, url) for url in (POPULAR, OTHER, ELSEWHERE))
    frontier.register("w", later)
    finish(frontier, frontier.take("w", later, 10, 100), later)
    assert later < due(db, POPULAR) < due(db, OTHER)
    assert clicks(db, POPULAR) == 30


def test_a_visit_that_should_have_been_is_made_now(frontier: SqlFrontier) -> None:
    now = due(frontier.db, POPULAR) - 1
    record(frontier.db, {POPULAR: 1000}, CONFIG, now)
    assert due(frontier.db, POPULAR) == ready(frontier.db, POPULAR) == now
    assert handed_out(frontier, now) == {POPULAR}


@settings(max_examples=20)
@given(
    st.lists(
        st.tuples(
            st.dictionaries(st.sampled_from([POPULAR, OTHER, ELSEWHERE]), st.integers(0, 1000)), st.floats(0, DAY)
        ),
        max_size=5,
    )
)
def test_no_clicks_make_a_visit_later_or_lose_it(
    frontier: SqlFrontier, batches: list[tuple[dict[str, int], float]]
) -> None:
    db, now = frontier.db, NOW
    for batch, pause in batches:
        now += pause
        before = {url: due(db, url) for url in (POPULAR, OTHER, ELSEWHERE)}
        record(db, batch, CONFIG, now)
        for url, time in before.items():
            assert min(time, now) <= due(db, url) <= time
            assert batch.get(url) or due(db, url) == time
        assert ready(db, POPULAR) == min(due(db, POPULAR), due(db, OTHER))
        assert ready(db, ELSEWHERE) == due(db, ELSEWHERE)
    assert db.execute("SELECT COUNT(*) FROM revisits WHERE due_at < ?", (NOW + 60 * DAY,))[0][0] == 3


def test_a_page_in_the_queue_is_left_alone(frontier: SqlFrontier) -> None:
    db = frontier.db
    recrawl(db, POPULAR, NOW)
    queue = db.execute("SELECT * FROM queue")
    record(db, {POPULAR: 30}, CONFIG, NOW)
    assert db.execute("SELECT state, due_at, clicks FROM urls WHERE url = ?", (POPULAR,)) == [(QUEUED, None, 30)]
    assert db.execute("SELECT * FROM queue") == queue


def test_a_page_that_is_tried_again_later_is_left_alone(frontier: SqlFrontier) -> None:
    db, retry_at = frontier.db, NOW + 5 * DAY
    recrawl(db, POPULAR, NOW)
    frontier.register("w2", NOW)
    [lease] = frontier.take("w2", NOW, 1, 1)
    sites = [SiteReport(Place(lease.site), lease.token, lease.clock)]
    visit = Visit(Place(lease.site), lease.tasks[0], Outcome.SERVER_ERROR, NOW, retry_at=retry_at)
    frontier.report("w2", Batch("s2", [visit], sites=sites), NOW)
    frontier.release("w2", sites, [], NOW)
    record(db, {POPULAR: 1000}, CONFIG, NOW)
    assert db.execute("SELECT state, due_at, clicks FROM urls WHERE url = ?", (POPULAR,)) == [
        (SCHEDULED, retry_at, 1000)
    ]
    assert db.execute("SELECT due_at FROM schedule") == [(retry_at,)]


def test_a_site_that_must_rest_is_not_ready_earlier(frontier: SqlFrontier) -> None:
    frontier.block_until("a.org", NOW + 50 * DAY, "it asked us to")
    record(frontier.db, {POPULAR: 1000}, CONFIG, NOW)
    assert ready(frontier.db, POPULAR) >= NOW + 50 * DAY
    assert handed_out(frontier, NOW + 49 * DAY) == {ELSEWHERE}


def taken_for_a_new_page(frontier: SqlFrontier) -> Lease:
    frontier.add([Discovered("http://a.org/new")], NOW)
    frontier.register("w", NOW)
    [lease] = frontier.take("w", NOW, 10, 100)
    return lease


def test_a_worker_that_has_the_site_finds_the_page_there(frontier: SqlFrontier) -> None:
    lease = taken_for_a_new_page(frontier)
    record(frontier.db, {POPULAR: 30}, CONFIG, NOW)
    holding, moved = [task.key for task in lease.tasks], due(frontier.db, POPULAR)
    assert frontier.refill("w", Place("a.org"), holding, moved - 1, 10) == []
    assert [task.url for task in frontier.refill("w", Place("a.org"), holding, moved, 10)] == [POPULAR]


def test_a_worker_that_gives_the_site_back_says_when_the_page_is_due(frontier: SqlFrontier) -> None:
    lease = taken_for_a_new_page(frontier)
    record(frontier.db, {POPULAR: 30}, CONFIG, NOW)
    finish(frontier, [lease])
    assert ready(frontier.db, POPULAR) == due(frontier.db, POPULAR)


def test_where_nothing_is_visited_again_clicks_are_only_counted(frontier: SqlFrontier) -> None:
    before = due(frontier.db, POPULAR)
    assert record(frontier.db, {POPULAR: 1000}, RevisitConfig(policy="none"), NOW) == 1
    assert (clicks(frontier.db, POPULAR), due(frontier.db, POPULAR)) == (1000, before)


def test_all_of_it_is_written_or_nothing(frontier: SqlFrontier) -> None:
    db, before = frontier.db, due(frontier.db, POPULAR)
    db.execute("CREATE TRIGGER broken BEFORE UPDATE ON parts BEGIN SELECT RAISE(ABORT, 'the disk is gone'); END")
    with pytest.raises(GossamerError):
        record(db, {POPULAR: 1000}, CONFIG, NOW)
    assert (clicks(db, POPULAR), due(db, POPULAR)) == (0, before)

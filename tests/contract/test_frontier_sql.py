"""What only the SQL frontier promises: page limits, removals, borrowed sites, several processes at
once, and a memory that does not grow with the table."""

from __future__ import annotations

import multiprocessing
from multiprocessing.synchronize import Barrier
from pathlib import Path
from random import Random
from typing import Any

import hypothesis.strategies as st
import pytest
from frontier_kit import (
    LEASE,
    NO,
    NOW,
    Crew,
    Hand,
    dump_tables,
    make_sql,
    page,
    pages,
    place_of_database,
    sql_on,
)
from hypothesis import HealthCheck, given, settings

from gossamer.database.database import Where, open_database, read_database
from gossamer.errors import LeaseLost
from gossamer.frontier.contract import Added, Budgets, Place, Verdict
from gossamer.frontier.seen import SeenCache
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.steering import operate
from gossamer.frontier.views import inspect
from gossamer.model.outcome import Outcome
from gossamer.model.site import key64, site_of

pytestmark = pytest.mark.usefixtures("dialect")

ROUNDS = 300
A, B, C = (f"https://www.one.org/{name}" for name in "abc")
SITE = "www.one.org"


@pytest.fixture
def frontier(tmp_path: Path) -> SqlFrontier:
    return make_sql(tmp_path, Budgets(lease=LEASE, per_site=5))


@pytest.fixture
def crew(frontier: SqlFrontier) -> Crew:
    return Crew(frontier)


class TestListing:
    """`gossamer export urls`, beside a crawl, into whatever reads it."""

    def test_every_url_comes_once_and_in_order_while_others_are_added_and_go(
        self, frontier: SqlFrontier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(inspect, "_PAGE", 7)
        sites = [f"www.s{number}.org" for number in range(5)]
        kept = [one for site in sites for one in pages(site, 20)]
        gone = "https://www.s3.org/gone"
        frontier.add([*kept, page(gone)], NOW)
        reading, found = read_database(place_of_database(tmp_path)), []
        for number, record in enumerate(inspect.all_urls(reading)):
            found.append(record.url)
            if number < 50:
                frontier.add([page(f"https://{sites[number % 5]}/new{number}")], NOW)
            if number == 50:
                frontier.db.execute("DELETE FROM urls WHERE url = ?", (gone,))
        reading.close()
        assert len(set(found)) == len(found) and {one.url for one in kept} <= set(found)
        assert found == sorted(found, key=lambda url: (key64(site_of(url)), key64(url)))

    def test_nothing_and_whole_pages_are_listed(self, frontier: SqlFrontier, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(inspect, "_PAGE", 5)
        assert list(inspect.all_urls(frontier.db)) == []
        frontier.add(pages(SITE, 10), NOW)
        assert {one.url for one in inspect.all_urls(frontier.db)} == {one.url for one in pages(SITE, 10)}

    def test_a_reader_that_stands_still_does_not_keep_the_log_from_being_cleared(
        self, frontier: SqlFrontier, tmp_path: Path, dialect: str
    ) -> None:
        if dialect != "sqlite":
            pytest.skip("a server keeps its log itself")
        frontier.add(pages(SITE, 10), NOW)
        reading = read_database(place_of_database(tmp_path))
        listing = inspect.all_urls(reading)
        assert next(listing).site == SITE
        frontier.add(pages("www.two.org", 10), NOW)
        ((busy, _, _),) = frontier.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert not busy and (tmp_path / "frontier.db-wal").stat().st_size == 0
        assert len(list(listing)) >= 9
        reading.close()


class TestPageLimit:
    """`--pages N` means N page requests over all workers, not one more and not one less."""

    def work(self, worker: Hand, random: Random) -> int:
        """One worker's turn: take or refill, report some; how many pages it fetched."""
        worker.take(sites=random.randint(1, 3), urls=random.randint(1, 9))
        for site, lease in worker.leases.items():
            if random.random() < 0.5:
                lease.tasks += worker.refill(site, [task.key for task in lease.tasks], random.randint(1, 5))
        fetched = 0
        for site in list(worker.leases):
            tasks = worker.leases[site].tasks
            chosen = random.sample(tasks, random.randint(0, len(tasks)))
            visits = [worker.visit(task, fetched=random.random() < 0.8) for task in chosen]
            worker.report(*visits, sites=[worker.site_report(site)], segment=f"{random.random()}")
            fetched += sum(visit.fetched for visit in visits)
            if random.random() < 0.3:
                worker.release(site, unused=len(worker.leases[site].tasks))
        return fetched

    @pytest.mark.parametrize("seed", range(8))
    def test_the_limit_is_exact_over_two_workers(self, crew: Crew, frontier: SqlFrontier, seed: int) -> None:
        random = Random(seed)
        crew.add(*(one for site in "abcde" for one in pages(f"{site}.org", 40)))
        frontier.limit_pages(57)
        workers = [crew.worker("first"), crew.worker("second")]
        fetched = 0
        for _ in range(400):
            fetched += self.work(random.choice(workers), random)
            held = sum(len(lease.tasks) for worker in workers for lease in worker.leases.values())
            assert fetched + held <= 57
            crew.wait(1)
            for worker in workers:
                frontier.renew(worker.name, crew.now)
        assert fetched == frontier.fetched() == 57
        assert frontier.page_limit_reached()

    def test_pages_that_a_dead_worker_held_may_be_fetched_by_others(self, crew: Crew, frontier: SqlFrontier) -> None:
        crew.add(*pages("a.org", 5))
        frontier.limit_pages(5)
        crew.worker("dead").take()
        heir = crew.worker("heir")
        crew.wait(LEASE + 1)
        frontier.register("heir", crew.now)
        heir.take()
        crew.wait(10)
        assert len(heir.urls()) == 5

    def test_a_limit_counts_from_now_and_can_be_lifted(self, crew: Crew, frontier: SqlFrontier) -> None:
        crew.add(*pages("a.org", 9))
        worker = crew.worker("w")
        worker.take(urls=2)
        for task in list(worker.leases["a.org"].tasks):
            worker.report(worker.visit(task))
        frontier.limit_pages(3)
        assert len(worker.refill("a.org", urls=9)) == 3
        frontier.limit_pages(None)
        assert len(worker.refill("a.org", urls=9)) == 5

    def test_retired_workers_pages_stay_counted(self, crew: Crew, frontier: SqlFrontier) -> None:
        crew.add(*pages("a.org", 3))
        worker = crew.worker("w")
        worker.take()
        worker.did("https://a.org/0")
        frontier.retire("w", crew.now)
        assert frontier.fetched() == 1


class TestRemovals:
    """What an operator removed stays out."""

    def test_a_page_that_is_removed_while_it_is_fetched_is_not_kept(self, crew: Crew, frontier: SqlFrontier) -> None:
        crew.add(page(A), page(B))
        worker = crew.worker("w")
        worker.take()
        [a, b] = worker.tasks(A, B)
        operate.remove(frontier.db, A, "asked for", crew.now)
        before = dump_tables(frontier.db)["urls"]
        assert worker.report(worker.visit(a, content_hash="t")) == [Verdict(Outcome.REFUSED)]
        assert dump_tables(frontier.db)["urls"] == before
        assert worker.report(worker.visit(b, content_hash="t"), segment="s2") == [Verdict(Outcome.DOCUMENT)]
        assert frontier.db.execute("SELECT queued FROM levels") == [(0,)]
        assert frontier.db.execute("SELECT outcome, urls FROM outcomes WHERE urls <> 0") == [("document", 1)]

    def test_a_removed_url_is_known_and_never_queued(self, crew: Crew, frontier: SqlFrontier) -> None:
        crew.add(page(A))
        operate.remove(frontier.db, A, "asked for", crew.now)
        frontier.seen.clear()
        assert crew.add(page(A)) == Added(known=1)
        assert crew.worker("w").take() == []

    def test_a_page_whose_canonical_target_was_removed_is_kept(self, crew: Crew, frontier: SqlFrontier) -> None:
        crew.add(page(A), page(B))
        worker = crew.worker("w")
        worker.take()
        operate.remove(frontier.db, B, "asked for", crew.now)
        assert worker.did(A, content_hash="t", canonical=B) == Verdict(Outcome.DOCUMENT)

    def test_removing_a_page_wakes_its_duplicates(self, crew: Crew, frontier: SqlFrontier) -> None:
        crew.add(page(A), page(B))
        worker = crew.worker("w")
        worker.take()
        worker.did(A, content_hash="t")
        worker.did(B, content_hash="t")
        operate.remove(frontier.db, A, "asked for", crew.now)
        assert worker.did(B, content_hash="t") == Verdict(Outcome.DOCUMENT)


class TestRestart:
    """Another process, which has seen nothing, gives the same answers."""

    @pytest.mark.parametrize(
        ("outcome", "answer"),
        [
            (Outcome.DOCUMENT, Added(known=1)),
            (Outcome.GONE, Added(known=1)),
            (Outcome.ROBOTS_DENIED, Added(known=1)),
            (Outcome.REFUSED, Added(new=1)),
        ],
    )
    def test_a_visited_url_that_is_found_again(
        self, crew: Crew, frontier: SqlFrontier, outcome: Outcome, answer: Added
    ) -> None:
        crew.add(page(A))
        worker = crew.worker("w")
        worker.take()
        worker.did(A, outcome)
        crew.frontier = sql_on(frontier.db, Budgets())
        assert crew.add(page(A)) == answer
        assert crew.add(page(A)) == Added(known=1)
        assert [task.url for task in worker.refill(SITE)] == [A] * answer.new

    def test_a_refused_url_that_is_found_again(self, crew: Crew, frontier: SqlFrontier) -> None:
        crew.add(page(A, refusal=NO))
        crew.frontier = sql_on(frontier.db, Budgets())
        assert crew.add(page(A, refusal=NO)) == Added(known=1)
        assert crew.add(page(A)) == Added(new=1)


class TestBorrowing:
    """A site leased by name, for its robots.txt."""

    def test_a_borrowed_site_is_nobody_elses(self, crew: Crew, frontier: SqlFrontier) -> None:
        crew.add(page(A))
        first, second = crew.worker("first"), crew.worker("second")
        lease = frontier.borrow("first", SITE, crew.now)
        assert lease is not None
        assert second.take() == []
        assert frontier.borrow("second", SITE, crew.now) is None
        first.leases[SITE] = lease
        first.release(SITE)
        assert second.urls() == [A]

    def test_a_site_nobody_knew_can_be_borrowed(self, crew: Crew, frontier: SqlFrontier) -> None:
        worker = crew.worker("w")
        lease = frontier.borrow("w", SITE, crew.now)
        assert lease is not None
        worker.leases[SITE] = lease
        worker.release(SITE)
        assert worker.take() == []
        crew.add(page(A))
        assert worker.urls() == [A]


class TestMemory:
    """Law 7."""

    @given(st.lists(st.tuples(st.booleans(), st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9)), max_size=60))
    def test_the_cache_of_seen_keys_is_bounded_and_finds_nothing_that_was_not_put_in(
        self, story: list[tuple[bool, int]]
    ) -> None:
        cache, known = SeenCache(bits=2), set[int]()
        for remember, key in story:
            (cache.update if remember else cache.discard)([key])
            (known.add if remember else known.discard)(key)
            assert (key in cache) == remember
            found = {key for _, key in story if key in cache}
            assert found <= known
            assert len(found) <= 4
            keys = [key for _, key in story]
            assert [keys[place] for place in cache.missing(keys)] == [key for key in keys if key not in found]
        cache.clear()
        assert not any(key in cache for _, key in story)

    @settings(max_examples=20, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(batches=st.lists(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=5), max_size=8))
    def test_a_small_cache_gives_the_same_answers(self, tmp_path_factory: Any, batches: Any, dialect: str) -> None:
        if dialect != "sqlite":
            pytest.skip("the cache is the same on PostgreSQL")
        answers = []
        for bits in (1, 20):
            frontier = make_sql(tmp_path_factory.mktemp("frontier"), Budgets(pages_per_site=4, refused_per_site=3))
            frontier._intake.seen = SeenCache(bits)
            frontier._intake._refused = SeenCache(bits)
            found = [[page(f"https://a.org/{n}", refusal=NO if no else None) for n, no in b] for b in batches]
            answers.append([frontier.add(batch, NOW) for batch in found])
            frontier.db.close()
        assert answers[0] == answers[1]

    def test_no_question_walks_the_whole_table(self, frontier: SqlFrontier, crew: Crew, dialect: str) -> None:
        """Every statement of a page's life finds its rows by key, whatever the size of the table."""
        if dialect != "sqlite":
            pytest.skip("PostgreSQL plans by the size of its tables, which are empty here")
        statements: list[str] = []
        crew.add(page(A), page(B), page(C))
        frontier.db._connection.set_trace_callback(statements.append)
        worker = crew.worker("w")
        worker.take()
        frontier.hold_address("w", SITE, "10.0.0.1", crew.now)
        found = [page("https://new.org/1"), page(A, refusal=NO), page(B)]
        worker.did(A, content_hash="t", canonical=B, etag="e", found=found)
        worker.did(B, Outcome.GONE)
        worker.did(A, content_hash="t", canonical=B, found=[page(B)])
        worker.did(C, Outcome.TIMEOUT, retry_at=crew.now)
        worker.refill(SITE)
        worker.release(SITE)
        frontier.db._connection.set_trace_callback(None)
        asked = {text for text in statements if text.startswith(("SELECT", "UPDATE", "DELETE", "INSERT"))}
        plans = {text: [row[3] for row in frontier.db.execute(f"EXPLAIN QUERY PLAN {text}")] for text in asked}
        small = (
            "SCAN workers",
            "SCAN removals",
            "SCAN addresses",
            "SCAN partitions",
            "SCAN x",
            "SCAN filters USING INDEX filters_active",
        )
        walks = {t: p for t, plan in plans.items() for p in plan if p.startswith("SCAN") and not p.startswith(small)}
        assert len(asked) > 30
        assert walks == {}


def _report_together(where: Where, name: str, barrier: Barrier, outcomes: Any) -> None:
    frontier = sql_on(open_database(where), Budgets(lease=3600, per_site=ROUNDS))
    frontier.add(pages(f"{name}.one.org", ROUNDS), NOW)
    frontier.register(name, NOW)
    crew = Crew(frontier)
    worker = Hand(crew, name)
    barrier.wait()
    [lease] = worker.take(sites=1)
    said = []
    for number, task in enumerate(list(lease.tasks)):
        barrier.wait()
        [verdict] = worker.report(worker.visit(task, content_hash=f"text {number}"), segment=f"{name}{number}")
        said.append(verdict.outcome.value)
    outcomes.put((name, said))


def test_of_two_processes_with_the_same_text_exactly_one_has_the_document(tmp_path: Path) -> None:
    """Law 5 where it matters: both report at the same instant, on one real database."""
    where = place_of_database(tmp_path)
    open_database(where).close()
    context = multiprocessing.get_context("spawn")
    barrier, outcomes = context.Barrier(2, timeout=200), context.Queue()
    names = ["left", "right"]
    children = [context.Process(target=_report_together, args=(where, name, barrier, outcomes)) for name in names]
    for child in children:
        child.start()
    said = dict(outcomes.get(timeout=240) for _ in children)
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0, 0]
    rounds = list(zip(said["left"], said["right"], strict=True))
    assert len(rounds) == ROUNDS
    assert all(sorted(one) == ["document", "duplicate"] for one in rounds)
    assert len(set(rounds)) == 2, "one process always won: they did not meet"
    database = open_database(where)
    assert database.execute("SELECT COUNT(*) FROM texts") == [(ROUNDS,)]
    assert database.execute("SELECT outcome, SUM(urls) FROM outcomes GROUP BY 1 ORDER BY 1") == [
        ("document", ROUNDS), ("duplicate", ROUNDS),
    ]  # fmt: skip


def test_a_take_that_loses_the_race_gets_what_is_left(tmp_path: Path) -> None:
    """Two connections: what one has leased the other does not see as free."""
    first = make_sql(tmp_path, Budgets())
    second = make_sql(tmp_path, Budgets())
    first.add([*pages("a.org", 1), *pages("b.org", 1)], NOW)
    for name, frontier in (("first", first), ("second", second)):
        frontier.register(name, NOW)
    taken = first.take("first", NOW, 1, 9) + second.take("second", NOW, 9, 9)
    assert sorted(lease.site for lease in taken) == ["a.org", "b.org"]
    with pytest.raises(LeaseLost):
        second.refill("second", Place(taken[0].site), [], NOW, 9)

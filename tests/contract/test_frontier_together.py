"""What goes wrong between machines: clocks and leases seen from two connections, parts of a site under several
workers, text and numbers of hostile servers, settings of the database server that are not the usual ones."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from frontier_kit import (
    DELAY,
    DIALECTS,
    LEASE,
    NOW,
    Crew,
    make_sql,
    page,
    place_of_database,
    sql_on,
)

from gossamer.clock import CorrectedClock, SystemClock
from gossamer.crawl.alive.heartbeat import Heartbeat
from gossamer.crawl.worker import Worker
from gossamer.data.folder import DataFolder
from gossamer.data.opening import open_frontier
from gossamer.database import schema
from gossamer.database.database import Database, DatabaseLost, open_database
from gossamer.database.postgres import PostgresDatabase
from gossamer.discover.seeds import read_seeds
from gossamer.errors import DatabaseError, LeaseLost
from gossamer.frontier import leases, partitions
from gossamer.frontier.contract import Batch, Budgets, Lease, Place, SiteReport, Visit
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.steering import operate
from gossamer.model.outcome import Outcome
from gossamer.model.records import Kind
from gossamer.model.site import site_of
from gossamer.partition.assignment import Assignment, one_part
from gossamer.settings import Settings
from gossamer.store.config import StorageConfig
from gossamer.supervise.seeding import add_seeds
from gossamer.testing import FakeClock, FakeWeb, Log, violations
from kit.old_schema import back_to_version_5
from kit.postgres import PostgresServer

pytestmark = pytest.mark.usefixtures("dialect")

SITE = "www.one.org"
A = f"https://{SITE}/a"
HALVES = Assignment(2, {"/": (0,), "/b/": (1,)})
THIRDS = Assignment(3, {"/": (0,), "/b/": (1,), "/c/": (2,)})
LEFT = [f"https://{SITE}/a/{n}" for n in range(4)]
RIGHT = [f"https://{SITE}/b/{n}" for n in range(4)]
THIRD = [f"https://{SITE}/c/{n}" for n in range(4)]
BUDGETS = Budgets(lease=LEASE)


@pytest.fixture
def frontier(tmp_path: Path) -> SqlFrontier:
    return make_sql(tmp_path, BUDGETS)


@pytest.fixture
def crew(frontier: SqlFrontier) -> Crew:
    return Crew(frontier)


def only_postgres() -> None:
    if DIALECTS[-1] != "postgres":
        pytest.skip("of a database server")


def beside(tmp_path: Path) -> Database:
    """Another connection to the same database."""
    return open_database(place_of_database(tmp_path), wait=1.0)


def expires_at(frontier: SqlFrontier, worker: str) -> float:
    rows = frontier.db.execute("SELECT expires_at FROM workers WHERE id = ?", (worker,))
    return float(rows[0][0])


class TestSignsOfLife:
    """A worker that gives signs of life keeps its sites; one that is given up knows it."""

    def test_a_report_that_waited_long_for_its_turn_does_not_shorten_a_lease(
        self, crew: Crew, frontier: SqlFrontier
    ) -> None:
        crew.add(page(A))
        worker = crew.worker("w")
        worker.take()
        frontier.renew("w", crew.now + 50)
        worker.did(A)  # as of when it was ready to be reported
        assert expires_at(frontier, "w") == crew.now + 50 + LEASE

    def test_a_sign_of_life_does_not_wait_for_the_pages_to_be_written(
        self, crew: Crew, frontier: SqlFrontier, tmp_path: Path
    ) -> None:
        only_postgres()
        crew.add(page(A))
        worker = crew.worker("w")
        worker.take()
        heart = beside(tmp_path)
        renewed = threading.Event()

        def beat() -> None:
            leases.renew(heart, "w", crew.now + 30, BUDGETS)
            renewed.set()

        beats: list[bool] = []

        def write(_: Any) -> None:
            thread = threading.Thread(target=beat)
            thread.start()
            beats.append(renewed.wait(60))

        [task] = worker.tasks(A)
        worker.report(worker.visit(task), write_pages=write)
        assert beats == [True]

    def test_who_is_renewed_at_the_last_moment_is_not_given_up_unknowingly(
        self, crew: Crew, frontier: SqlFrontier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The renewal comes between the look for the expired and their end: one of both must notice the other."""
        only_postgres()
        crew.add(page(A))
        crew.worker("slow").take()
        crew.wait(LEASE + 1)
        heart, ended = beside(tmp_path), leases.retire
        said: list[str] = []

        def renew() -> None:
            try:
                leases.renew(heart, "slow", crew.now, BUDGETS)
                said.append("renewed")
            except LeaseLost:
                said.append("lost")

        thread = threading.Thread(target=renew)

        def retire(db: Database, worker: str, *rest: Any) -> None:
            if worker == "slow":
                thread.start()
                thread.join(1)
            ended(db, worker, *rest)

        monkeypatch.setattr(leases, "retire", retire)
        frontier.register("other", crew.now)
        frontier.take("other", crew.now, 0, 0)
        thread.join(60)
        known = bool(frontier.db.execute("SELECT 1 FROM workers WHERE id = 'slow'"))
        assert (said, known) in [(["lost"], False), (["renewed"], True)]

    def test_a_sign_of_life_that_was_held_up_counts_from_when_it_was_given(self, tmp_path: Path) -> None:
        only_postgres()
        frontier = make_sql(tmp_path, BUDGETS)
        frontier.register("w", NOW)
        clock = FakeClock(NOW)
        database = PostgresDatabase(str(place_of_database(tmp_path)))
        heart = Heartbeat(database, BUDGETS, CorrectedClock(clock))
        heart._compare_at = float("inf")
        cut(database, frontier.db)
        held_up(database, lambda: clock.advance(300))
        asyncio.run(heart.beat("w"))
        assert expires_at(frontier, "w") == NOW + 300 + LEASE


def cut(database: PostgresDatabase, other: Database) -> None:
    """End a connection from outside."""
    other.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ?", (database._name,)
    )


def held_up(database: PostgresDatabase, meanwhile: Callable[[], object]) -> None:
    """Let something happen while the connection is made anew."""
    reconnect = database._reconnect

    def slowly() -> None:
        meanwhile()
        reconnect()

    database._reconnect = slowly


class TestTime:
    """Machines agree on the time, whatever happens to their connections."""

    def test_a_connection_that_breaks_while_clocks_are_compared_does_not_set_them_wrong(self, tmp_path: Path) -> None:
        only_postgres()
        other = open_database(place_of_database(tmp_path))
        database = PostgresDatabase(str(place_of_database(tmp_path)))
        [(server_time,)] = other.execute("SELECT EXTRACT(EPOCH FROM CLOCK_TIMESTAMP())::double precision")
        # An own clock that is right; it stands still but for the outage, which the server's clock does not see.
        own = FakeClock(server_time)
        cut(database, other)
        held_up(database, lambda: own.advance(200))
        ahead = database.clock_ahead(own.now)
        # By our clock the server's answer came at the end of the outage, and 200 s lie between the two clocks by then.
        assert ahead == pytest.approx(200, abs=60)


class TestServersOfOthers:
    """A database server that is not set up as we would."""

    def test_a_name_for_the_connection_in_the_url_is_no_accident(self, tmp_path: Path) -> None:
        only_postgres()
        url = f"{place_of_database(tmp_path)}&application_name=mine"
        assert open_database(url).execute("SELECT 1") == [(1,)]

    def test_a_stricter_isolation_by_default_does_not_make_turns_look_at_the_past(self, tmp_path: Path) -> None:
        only_postgres()
        url = str(place_of_database(tmp_path))
        open_database(url).close()
        strict = f"{url}%20-cdefault_transaction_isolation%3Drepeatable%5C%20read"
        first, second = open_database(strict), open_database(strict)
        assert first.execute("SHOW default_transaction_isolation") == [("repeatable read",)]
        seen: list[Any] = []
        waits = threading.Event()

        def follow() -> None:
            waits.set()
            with second.transaction():
                seen.append(second.execute("SELECT value FROM meta WHERE key = 'a'"))

        with first.transaction():
            thread = threading.Thread(target=follow)
            thread.start()
            waits.wait(60)
            waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            while not first.execute(waiting):
                pass
            first.execute("INSERT INTO meta VALUES ('a', 'b')")
        thread.join(60)
        assert seen == [[("b",)]]

    def test_a_server_that_takes_connections_and_no_work_is_not_asked_without_pause(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        only_postgres()
        url = str(place_of_database(tmp_path))
        open_database(url).close()
        database = PostgresDatabase(url, patience=2.0)
        tries: list[int] = []
        connect = database._connect
        monkeypatch.setattr(database, "_connect", lambda: (tries.append(1), connect())[1])

        def refused() -> None:
            raise DatabaseLost("it is a replica, and takes no writes")

        with pytest.raises(DatabaseError):
            database.patiently(refused)
        assert len(tries) < 20

    def test_tables_of_the_version_before_become_those_of_today(self, tmp_path: Path) -> None:
        only_postgres()
        frontier = make_sql(tmp_path, BUDGETS)
        crew = Crew(frontier)
        crew.add(page(A))
        today = columns(frontier.db)
        back_to_version_5(frontier.db)
        assert columns(frontier.db) != today
        frontier.db.close()
        again = sql_on(open_database(place_of_database(tmp_path)), BUDGETS)
        assert columns(again.db) == today
        assert again.db.execute("SELECT value FROM meta WHERE key = 'schema'") == [(str(schema.VERSION),)]
        crew = Crew(again)
        assert crew.worker("w").urls() == [A]

    def test_a_hostile_length_of_a_text_does_not_end_a_batch(self, crew: Crew) -> None:
        """A feed names itself by 1,900 letters of three bytes each: more than an index of PostgreSQL takes."""
        letters = random.Random(1)
        topic = f"https://{SITE}/" + "".join(chr(letters.randrange(0x4E00, 0x9FA5)) for _ in range(1900))
        crew.add(page(A, kind=Kind.FEED))
        worker = crew.worker("w")
        worker.take()
        [task] = worker.tasks(A)
        visit = Visit(Place(SITE), task, Outcome.RESOURCE, crew.now, push=("https://hub.org/", topic))
        assert [verdict.outcome for verdict in worker.report(visit)] == [Outcome.RESOURCE]

    @pytest.mark.parametrize("text", ["a\x00b", "a\ud800b", "\U0010ffff" * 400, "\x01\x7f\x85"])
    def test_no_text_ends_a_batch(self, crew: Crew, frontier: SqlFrontier, text: str) -> None:
        """Whatever a server says is stored, or put right; the batch with the other pages counts."""
        crew.add(page(A), page(LEFT[0]))
        worker = crew.worker("w")
        worker.take()
        first, second = worker.tasks(A, LEFT[0])
        clock = msgspec.structs.replace(worker.leases[SITE].clock, reason=text, not_before=crew.now + 1)
        visits = [
            worker.visit(first, reason=text, etag=text, last_modified=text, published=text, content_hash="t"),
            worker.visit(second, Outcome.PARSE_FAILED, reason=text),
        ]
        worker.report(*visits, sites=[worker.site_report(SITE, clock)])
        assert frontier.db.execute("SELECT COUNT(*) FROM urls WHERE outcome IS NOT NULL") == [(2,)]

    def test_no_number_ends_a_batch(self, crew: Crew, frontier: SqlFrontier) -> None:
        """Times, delays and counts at the ends of what they may be."""
        crew.add(page(A, announced_at=4e12, depth=2**31 - 1), page(LEFT[0]))
        worker = crew.worker("w")
        worker.take()
        [task] = worker.tasks(A)
        clock = msgspec.structs.replace(worker.leases[SITE].clock, crawl_delay=1e300, trouble=2**31 - 1)
        worker.report(
            worker.visit(task, status=999, listed=[4e12, -4e12, 0.0]), sites=[worker.site_report(SITE, clock)]
        )
        assert frontier.db.execute("SELECT status FROM urls WHERE key = ?", (task.key,)) == [(999,)]


def columns(db: Database) -> list[tuple[Any, ...]]:
    return db.execute(
        "SELECT table_name, column_name, data_type, is_nullable, collation_name, column_default "
        "FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY 1, 2"
    )


class TestPlans:
    """Sites in parts, and what happens to them while several workers are at it."""

    def split(self, crew: Crew, plan: Assignment = HALVES) -> None:
        assert isinstance(crew.frontier, SqlFrontier)
        partitions.adopt(crew.frontier.db, SITE, plan, crew.now)

    def take(self, crew: Crew, name: str, sites: int = 9) -> list[Lease]:
        return sorted(crew.frontier.take(name, crew.now, sites, 99), key=lambda lease: lease.place.part)

    def release(self, crew: Crew, name: str, lease: Lease) -> None:
        report = SiteReport(lease.place, lease.token, lease.clock, "", len(lease.tasks), lease.parts)
        crew.frontier.release(name, [report], [], crew.now)

    def test_workers_that_come_and_go_do_not_keep_a_plan_waiting(self, crew: Crew, frontier: SqlFrontier) -> None:
        crew.add(*map(page, LEFT + RIGHT))
        self.split(crew)
        crew.worker("one"), crew.worker("two")
        [first], [second] = self.take(crew, "one", 1), self.take(crew, "two", 1)
        self.split(crew, THIRDS)
        self.release(crew, "one", first)
        crew.wait(2 * DELAY)
        assert self.take(crew, "one") == []  # the other part is still at work
        self.release(crew, "two", second)
        crew.wait(2 * DELAY)
        assert {lease.parts for lease in self.take(crew, "two")} == {3}
        assert frontier.sites_to_leave() == set()

    def test_a_plan_of_before_is_not_taken_for_the_present_one(
        self, crew: Crew, frontier: SqlFrontier, tmp_path: Path
    ) -> None:
        crew.add(page(LEFT[0]))
        self.split(crew, THIRDS)
        frontier.split_anew(crew.now)
        other = make_sql(tmp_path, BUDGETS)
        other.add([page(RIGHT[0])], crew.now)  # it knows the plan now
        for plan in (one_part(), HALVES):
            self.split(crew, plan)
            frontier.split_anew(crew.now)
        other.add([page(THIRD[0])], crew.now)
        assert frontier.db.execute("SELECT part FROM urls WHERE url = ?", (THIRD[0],)) == [(HALVES.part_of(THIRD[0]),)]
        crew.worker("w")
        taken = [task.url for lease in self.take(crew, "w") for task in lease.tasks]
        assert sorted(taken) == sorted([LEFT[0], RIGHT[0], THIRD[0]])

    def parted(self, crew: Crew) -> tuple[Lease, Lease]:
        crew.add(*map(page, LEFT + RIGHT))
        self.split(crew)
        crew.worker("one"), crew.worker("two")
        [first], [second] = self.take(crew, "one", 1), self.take(crew, "two", 1)
        return first, second

    def report(self, crew: Crew, name: str, lease: Lease, **fields: Any) -> None:
        clock = msgspec.structs.replace(lease.clock, **fields)
        visit = Visit(lease.place, lease.tasks[0], Outcome.DOCUMENT, crew.now)
        report = SiteReport(lease.place, lease.token, clock, parts=2)
        batch = Batch(f"{name}{crew.now}", [visit], sites=[report])
        crew.frontier.report(name, batch, crew.now)
        lease.tasks.pop(0)

    def test_a_part_that_knows_of_no_trouble_does_not_end_it_for_the_others(
        self, crew: Crew, frontier: SqlFrontier
    ) -> None:
        first, second = self.parted(crew)
        self.report(crew, "one", first, trouble=3, not_before=crew.now + 500, reason="HTTP 503")
        crew.wait(1)
        self.report(crew, "two", second, not_before=crew.now + DELAY)
        assert frontier.db.execute("SELECT trouble, wait_reason FROM sites") == [(3, "HTTP 503")]

    def test_trouble_that_is_over_is_not_told_any_more(self, crew: Crew, frontier: SqlFrontier) -> None:
        first, _ = self.parted(crew)
        self.report(crew, "one", first, trouble=1, not_before=crew.now + 5, reason="HTTP 503")
        assert frontier.waits([SITE]) == {SITE: (crew.now + 5, "HTTP 503")}
        crew.wait(10)
        self.report(crew, "one", first, trouble=0, not_before=crew.now + DELAY)
        waits = frontier.waits([SITE])
        assert waits == {}, "each part would hold its own pause for one of the site, and all wait for each other"

    def test_a_removed_page_leaves_the_queue_of_its_part(self, crew: Crew, frontier: SqlFrontier) -> None:
        first, second = self.parted(crew)
        operate.remove(frontier.db, RIGHT[1], "asked for", crew.now)
        operate.recrawl(frontier.db, RIGHT[0], crew.now)
        queued = frontier.db.execute("SELECT q.part, u.url FROM queue q JOIN urls u ON u.key = q.key ORDER BY 2")
        assert queued == [*((0, url) for url in LEFT), *((1, url) for url in RIGHT if url != RIGHT[1])]
        assert (first.place.part, second.place.part) == (0, 1)

    def test_a_blocked_site_is_blocked_in_all_its_parts(self, crew: Crew, frontier: SqlFrontier) -> None:
        first, second = self.parted(crew)
        frontier.block_until(SITE, crew.now + 500, "asked for")
        self.release(crew, "one", first)
        self.release(crew, "two", second)
        crew.wait(400)
        frontier.renew("one", crew.now)
        assert self.take(crew, "one") == []

    def test_borrowing_does_not_take_a_part_from_its_owner(self, crew: Crew, frontier: SqlFrontier) -> None:
        first, second = self.parted(crew)
        crew.worker("three")
        assert frontier.borrow("three", SITE, crew.now) is None
        whole, other = (first, "one") if first.place.part == 0 else (second, "two")
        self.release(crew, other, whole)
        crew.wait(1)
        lease = frontier.borrow("three", SITE, crew.now)
        assert lease is not None
        assert (lease.place.part, lease.parts) == (0, 2)

    def test_a_lease_of_a_part_that_was_gone_in_between_is_not_mistaken_for_a_new_one(
        self, crew: Crew, frontier: SqlFrontier
    ) -> None:
        """Parts that come, go and come again do not count their leases from the beginning."""
        _, second = self.parted(crew)
        frontier.retire("one", crew.now)
        frontier.retire("two", crew.now)
        for plan in (one_part(), HALVES):
            self.split(crew, plan)
            frontier.split_anew(crew.now)
        crew.wait(2 * DELAY)
        crew.worker("two")
        assert all(lease.token > second.token for lease in self.take(crew, "two"))


class TestWorkers:
    """Real workers on a server that is slow, or away."""

    def prepared(self, web: FakeWeb, root: Path, url: str, **budget: float) -> tuple[Settings, DataFolder]:
        tables = {
            "network": {"allow": ["127.0.0.0/8"], "resolve": web.resolve},
            "politeness": {"delay": 0.02},
            "crawl": {"commit_seconds": 0.1, "parsers": 1},
            "budget": budget,
        }
        settings = msgspec.convert(tables, Settings)
        folder = DataFolder(root, StorageConfig(url, str(root / "segments")))
        folder.create()
        frontier = open_frontier(folder, settings)
        add_seeds(frontier, settings, read_seeds([web.url(host) for host in web.sites]), SystemClock().now())
        frontier.db.close()
        return settings, folder

    async def test_a_worker_that_waits_long_for_its_turn_keeps_its_sites(self, tmp_path: Path) -> None:
        """Somebody else's turn lasts longer than a lease: the worker goes on under its name when it is over."""
        only_postgres()
        url = str(place_of_database(tmp_path))
        web = FakeWeb("127.0.97")
        web.site("a.test", pages=2000, links=5)
        with web:
            # A worker that is itself held up for seconds keeps a lease of this length.
            settings, folder = self.prepared(web, tmp_path, url, lease=15.0)
            worker, other = Worker(settings, folder, SystemClock()), open_database(url)

            def names() -> list[Any]:
                return [row[0] for row in other.execute("SELECT id FROM workers ORDER BY id")]

            async def in_between() -> list[list[Any]]:
                while len(web.log()) < 10:
                    await asyncio.sleep(0.02)
                seen = [names()]
                with other.transaction():
                    await asyncio.sleep(17)
                fetched = len(web.log())
                while len(web.log()) < fetched + 10:
                    await asyncio.sleep(0.02)
                seen.append(names())
                worker.stop()
                return seen

            _, (before, after) = await asyncio.gather(worker.run(), in_between())
        assert len(before) == 1
        assert after == before

    @pytest.mark.parametrize("delay", [0.0, 0.3])
    async def test_parts_in_one_worker_obey_one_robots_txt(self, tmp_path: Path, delay: float) -> None:
        """It is fetched once, and what it asks for holds for all parts: together they ask no more often."""
        web = FakeWeb("127.0.97")
        site = web.site("a.test")
        left, right = ([f"/{part}/{n}" for n in range(8)] for part in "ab")
        for path in left + right:
            site.page(path, f"Page {path}.")
        site.robots(f"User-agent: *\nCrawl-delay: {delay}\n")
        with web:
            settings, folder = self.prepared(web, tmp_path, self.url_of(tmp_path))
            frontier = open_frontier(folder, settings)
            frontier.add([page(site.url(path)) for path in left + right], SystemClock().now())
            partitions.adopt(frontier.db, site_of(site.url("/")), HALVES, SystemClock().now())
            worker = Worker(settings, folder, SystemClock())

            async def stop_later() -> None:
                while len(web.log()) < 18:
                    await asyncio.sleep(0.02)
                worker.stop()

            await asyncio.gather(worker.run(), stop_later())
            log = web.log()
        assert sum(request.path == "/robots.txt" for request in log) == 1
        parts = [Log([one for one in log if HALVES.part_of(one.url) == part]) for part in range(2)]
        assert [violations(one, 2 * delay, 2 * delay) for one in parts] == [[], []]

    def url_of(self, folder: Path) -> str:
        return str(place_of_database(folder)) if DIALECTS[-1] == "postgres" else ""

    async def test_a_worker_is_stopped_although_the_database_is_away(self, tmp_path: Path) -> None:
        only_postgres()
        server = PostgresServer(durable=True)
        web = FakeWeb("127.0.97")
        web.site("a.test", pages=2000, links=5)
        try:
            with web:
                settings, folder = self.prepared(web, tmp_path, server.database())
                worker = Worker(settings, folder, SystemClock())

                async def stop_later() -> None:
                    while len(web.log()) < 10:
                        await asyncio.sleep(0.02)
                    server.kill()
                    await asyncio.sleep(1)
                    worker.stop()

                async with asyncio.timeout(200):
                    with pytest.raises(DatabaseError, match=r"nothing committed is lost|that the server is up"):
                        await asyncio.gather(worker.run(), stop_later())
        finally:
            server.stop()

"""Crawls by the command line on PostgreSQL and an object store, with faults in the middle.

Run by test_cluster_faults.py in a network namespace of its own; a "machine" is a data folder here.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster_kit import Command, check_storage, pages_of, since, workers_of_machine
from s3_kit import BUCKET, Answer, Asked, Store, running_store

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from crawl_kit import PATIENCE, run, settings_of, wait_until, workers_of, write_settings

from gossamer.data.crawl_settings import note_settings
from gossamer.data.folder import DataFolder
from gossamer.data.machine import machine_name
from gossamer.data.opening import open_frontier
from gossamer.errors import UsageError
from gossamer.settings import Settings
from gossamer.store.config import StorageConfig
from gossamer.testing import FakeWeb, Log, violations
from kit.postgres import PostgresServer

pytestmark = pytest.mark.timeout(1500)

DELAY = 0.3
"""Seconds: a crawl lasts much longer than a helper takes to start."""
LEASE = 12.0
"""Seconds: longer than a busy machine holds a worker up."""
HOSTS = 8
SITES = 4
PAGES = 60
ALONE = {"learn": False}
"""Texts are compared, and the crawls are stopped: only the next ones would judge pages again by their sites."""


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with running_store() as running:
        yield running


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    running = PostgresServer(durable=True)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeWeb]:
    made = FakeWeb(process=True, log=tmp_path_factory.mktemp("web") / "requests.jsonl")
    for n in range(HOSTS):
        made.site(f"h{n}.test", pages=PAGES, links=8, seed=n)
    with made:
        yield made


@pytest.fixture(scope="module")
def expected(web: FakeWeb, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What one machine on its own finds."""
    data = tmp_path_factory.mktemp("alone") / "data"
    write_settings(data, settings_of(web, site=ALONE))
    done = run("crawl", *seeds_of(web), "--quiet", data=data)
    assert done.returncode == 0, done.stderr
    found = pages_of(data)
    assert len(found) == HOSTS * PAGES
    return found


def seeds_of(web: FakeWeb) -> list[str]:
    return [web.url(f"h{n}.test") for n in range(HOSTS)]


class Crawl:
    """A crawl under way, by two machines."""

    def __init__(self, web: FakeWeb, server: PostgresServer, folder: Path, delay: float = DELAY) -> None:
        self._web, self._before = web, web.log()
        self.seed = seeds_of(web)[0]
        self.storage = ["--database", server.database(), "--segments", f"s3://{BUCKET}/{folder.name}"]
        self.first, self.second = folder / "first", folder / "second"
        crawl = {"sites": SITES, "commit_seconds": 0.2, "stuck_after": 600.0}
        self.settings = settings_of(web, politeness={"delay": delay}, budget={"lease": LEASE}, crawl=crawl, site=ALONE)
        write_settings(self.first, self.settings)
        self.head = Command("crawl", *seeds_of(web), "--workers", "1", "--quiet", *self.storage, data=self.first)
        self.wait_for_requests(5)
        self.helper = Command("work", *self.storage, data=self.second)
        wait_until(lambda: self.workers(self.second))

    def log(self) -> Log:
        """What the web has seen of this crawl."""
        return since(self._web.log(), self._before)

    def wait_for_requests(self, more: int) -> None:
        wanted = len(self.log()) + more
        wait_until(lambda: len(self.log()) >= wanted)

    def workers(self, data: Path) -> set[str]:
        """The names under which a machine is known to the database."""
        return workers_of_machine(DataFolder(self.first), machine_name(DataFolder(data)))

    def segments(self) -> int:
        """How many there are."""
        status = run("status", "--json", data=self.first)
        return int(json.loads(status.stdout)["segments"])

    def ends_well(self) -> None:
        """The crawl ends by itself, its helper when asked to."""
        self.head.succeeds(PATIENCE)
        self.helper.stop()
        self.helper.succeeds(PATIENCE)

    def end(self) -> None:
        self.head.kill()
        self.helper.kill()


@pytest.fixture
def crawl(
    web: FakeWeb, expected: dict[str, str], store: Store, server: PostgresServer, tmp_path: Path
) -> Iterator[Crawl]:
    store.good_again()
    made = Crawl(web, server, tmp_path)
    yield made
    made.end()


def test_a_database_that_dies_and_comes_back(crawl: Crawl, server: PostgresServer, expected: dict[str, str]) -> None:
    """It is away for longer than a lease lasts, so that nobody's leases hold when it is back."""
    crawl.wait_for_requests(60)
    server.kill()
    time.sleep(LEASE + 2)
    server.start()
    crawl.ends_well()
    assert pages_of(crawl.first) == expected
    assert violations(crawl.log(), DELAY, DELAY) == []
    check_storage(crawl.first, dead=set())


def test_a_worker_that_is_frozen_past_its_lease(crawl: Crawl, expected: dict[str, str]) -> None:
    """It cannot close its connections in time, so those are not counted as rude here."""
    crawl.wait_for_requests(60)
    [frozen] = workers_of(crawl.helper.pid)
    [name] = crawl.workers(crawl.second)
    os.kill(frozen, signal.SIGSTOP)
    wait_until(lambda: not crawl.workers(crawl.second))  # it may have stood still in its turn to write
    time.sleep(1)
    os.kill(frozen, signal.SIGCONT)
    wait_until(lambda: crawl.workers(crawl.second))
    crawl.ends_well()
    assert f"worker {name} starts afresh" in crawl.helper.said
    assert pages_of(crawl.first) == expected
    assert [found for found in violations(crawl.log(), DELAY, DELAY) if found.kind != "connections"] == []
    check_storage(crawl.first, dead=set())


def test_a_store_that_answers_errors_for_a_while(crawl: Crawl, store: Store, expected: dict[str, str]) -> None:
    crawl.wait_for_requests(60)
    refused = []

    def fault(asked: Asked) -> Answer:
        refused.append(asked)
        return Answer(500, "InternalError")

    store.fault = fault
    time.sleep(10)
    store.good_again()
    crawl.ends_well()
    assert refused
    assert pages_of(crawl.first) == expected
    assert violations(crawl.log(), DELAY, DELAY) == []
    check_storage(crawl.first, dead=set())


@pytest.fixture
def slow_crawl(web: FakeWeb, store: Store, server: PostgresServer, tmp_path: Path) -> Iterator[Crawl]:
    """One that is still under way when other commands are done."""
    store.good_again()
    made = Crawl(web, server, tmp_path, delay=5.0)
    yield made
    made.end()


def test_what_cannot_work_says_why_in_one_line(slow_crawl: Crawl, server: PostgresServer, tmp_path: Path) -> None:
    crawl = slow_crawl
    database, place = crawl.storage[1], crawl.storage[3]
    write_settings(tmp_path / "third", crawl.settings)
    wait_until(lambda: crawl.segments() > 0)

    def refused(code: int, *arguments: str) -> str:
        done = run(*arguments, data=tmp_path / "third")
        assert (done.returncode, done.stdout) == (code, ""), done
        [line] = done.stderr.splitlines()
        return line

    said = refused(2, "work", "--database", database, "--segments", f"s3://{BUCKET}/elsewhere")
    assert "the segments at s3://crawls/elsewhere are not those of this crawl" in said
    nowhere = "postgresql://gossamer:secret@127.0.0.1:1/nowhere"
    said = refused(1, "work", "--database", nowhere, "--segments", place)
    assert "cannot reach" in said and "127.0.0.1:1/nowhere" in said
    assert "secret" not in said
    said = refused(2, "work", "--database", server.database(), "--segments", place)
    assert f"no crawl in {server.url('postgres')} yet: start one" in said
    said = refused(1, "crawl", crawl.seed, "--database", database, "--segments", place)
    assert "another `gossamer crawl` is running on" in said
    assert "start `gossamer work` on further machines" in said
    crawl.head.stop()
    crawl.ends_well()


def test_only_the_one_who_starts_a_crawl_says_where_its_segments_lie(server: PostgresServer, tmp_path: Path) -> None:
    """Also before anything is stored, or what others put elsewhere would be missing."""
    database = server.database()
    first, second = (DataFolder(tmp_path / name, StorageConfig(database, str(tmp_path / name))) for name in "ab")
    note_settings(open_frontier(first, Settings(), founding=True).db, Settings(), {})
    with pytest.raises(UsageError, match="not those of this crawl"):
        open_frontier(second, Settings())
    open_frontier(second, Settings(), founding=True)

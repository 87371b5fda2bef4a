"""A crawl by three machines, of which one is cut off from the database and another is killed.

Run by test_three_machines.py in a network namespace of its own.

    lan   10.9.0.0/16   one, two, three; store 10.9.0.4; web 10.9.5.1 …
    data  10.8.0.0/24   one, two, three; the database 10.8.0.4 beside the store
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from cluster_kit import Command, NetworkDatabase, check_storage, pages_of, since, workers_of_machine
from machines_kit import Machine, Switch

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from crawl_kit import PATIENCE, run, settings_of, wait_until, write_settings

from gossamer.data.folder import DataFolder
from gossamer.data.machine import machine_name
from gossamer.testing import FakeWeb, Log, violations
from gossamer.testing.log import Request

DELAY = 0.2
LEASE = 15.0
"""Seconds: longer than a busy machine holds a worker up."""
HOSTS = 12
SITES = 4
"""Sites that a worker has at once: as many as there are, shared out."""
LATE = 6
"""Hosts that become known when all machines are well again: more than one worker has at once."""
STORE = "http://10.9.0.4:5000"
BUCKET = "crawls"


class Lab:
    """The machines, with what runs on those that do not crawl."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lan, self.data = Switch("lan"), Switch("data")
        self.nodes = [Machine(f"node{n}") for n in (1, 2, 3)]
        for n, node in enumerate(self.nodes, 1):
            node.connect(self.lan, f"10.9.0.{n}/16")
            node.connect(self.data, f"10.8.0.{n}/24")
        self._start_servers()
        self._start_web()

    def _start_servers(self) -> None:
        servers = Machine("servers")
        servers.connect(self.lan, "10.9.0.4/16")
        servers.connect(self.data, "10.8.0.4/24")
        os.environ.update(AWS_ACCESS_KEY_ID="key", AWS_SECRET_ACCESS_KEY="secret", AWS_REGION="us-east-1")
        os.environ["AWS_ENDPOINT_URL"] = STORE
        moto = [sys.executable, "-m", "moto.server", "-H", "10.9.0.4", "-p", "5000"]
        (self.folder / "database").mkdir()
        with servers.inside(), (self.folder / "store.said").open("wb") as said:
            self.store = subprocess.Popen(moto, stdout=said, stderr=said, stdin=subprocess.DEVNULL)
            self.database = NetworkDatabase(self.folder / "database", "10.8.0.4", "10.8.0.0/24")
            self.database_url = self.database.database()
            wait_until(self._has_bucket)

    def _has_bucket(self) -> bool:
        try:
            boto3.client("s3", region_name="us-east-1").create_bucket(Bucket=BUCKET)
        except Exception:
            assert self.store.poll() is None
            return False
        return True

    def _start_web(self) -> None:
        machine = Machine("web")
        machine.connect(self.lan, *(f"10.9.5.{n}/16" for n in range(1, HOSTS + LATE + 1)))
        with machine.inside():
            self.web = FakeWeb("10.9.5", process=True, log=self.folder / "requests.jsonl")
            for n in range(HOSTS + LATE):
                elsewhere = [f"h{n - 1}.test"] if n not in (0, HOSTS) else []
                self.web.site(f"h{n}.test", pages=60 + 10 * (n % SITES), links=8, seed=n, elsewhere=elsewhere)
            self.web.start()
        urls = [self.web.url(f"h{n}.test") for n in range(HOSTS + LATE)]
        self.seeds, self.late = urls[:HOSTS], urls[HOSTS:]

    def settings(self, delay: float) -> dict[str, dict[str, object]]:
        return settings_of(
            self.web, network={"allow": ["10.9.0.0/16"]}, politeness={"delay": delay}, budget={"lease": LEASE},
            site={"learn": False},  # the crawl is stopped: the next one would judge pages again, and texts are compared
            crawl={"contact": "test@example.org", "sites": SITES},
        )  # fmt: skip

    def close(self) -> None:
        self.web.close()
        self.database.stop()
        self.store.kill()
        self.store.wait()


def asked_by(log: Log, node: int) -> list[Request]:
    peers = {connection.number: connection.peer for connection in log.connections}
    return [request for request in log if peers[request.connection].startswith(f"10.9.0.{node}:")]


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    made = Lab(tmp_path)
    yield made
    made.close()


def reference(lab: Lab) -> dict[str, str]:
    """The same web, crawled by one machine on its own."""
    data = lab.folder / "alone"
    write_settings(data, lab.settings(0.0))
    with lab.nodes[0].inside():
        done = run("crawl", *lab.seeds, *lab.late, "--workers", "2", "--quiet", data=data)
        assert done.returncode == 0, done.stderr
        return pages_of(data)


class Crawl:
    """One crawl by all nodes."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._storage = ["--database", lab.database_url, "--segments", f"s3://{BUCKET}/crawl"]
        self.folders = [lab.folder / f"node{n}" for n in (1, 2, 3)]
        self.commands: list[Command] = []

    def start(self) -> None:
        """The first node begins, the others join when there is a crawl to join."""
        lab = self._lab
        write_settings(self.folders[0], lab.settings(DELAY))
        before = len(lab.web.log())
        self._on(1, "crawl", *lab.seeds, "--workers", "1", "--watch", "--quiet")
        wait_until(lambda: len(lab.web.log()) > before)
        self._on(2, "work")
        self._on(3, "work")

    def _on(self, node: int, *arguments: str) -> None:
        with self._lab.nodes[node - 1].inside():
            self.commands.append(Command(*arguments, *self._storage, data=self.folders[node - 1]))

    def inject(self, urls: list[str]) -> None:
        with self._lab.nodes[0].inside():
            done = run("inject", *urls, data=self.folders[0])
        assert done.returncode == 0, done.stderr

    def counted(self) -> int:
        """Documents by the counters of the crawl."""
        with self._lab.nodes[0].inside():
            done = run("status", "--json", data=self.folders[0])
        return int(json.loads(done.stdout)["pages"])

    def pages(self) -> dict[str, str]:
        with self._lab.nodes[0].inside():
            return pages_of(self.folders[0])

    def workers(self, node: int) -> set[str]:
        """The names under which a node is known to the database."""
        with self._lab.nodes[0].inside():
            return workers_of_machine(DataFolder(self.folders[0]), machine_name(DataFolder(self.folders[node - 1])))

    def end(self) -> None:
        for command in self.commands:
            command.kill()


@pytest.fixture
def crawl(lab: Lab) -> Iterator[Crawl]:
    made = Crawl(lab)
    yield made
    made.end()


@pytest.mark.timeout(2300)
def test_a_crawl_survives_a_dead_machine_and_one_that_is_cut_off(lab: Lab, crawl: Crawl) -> None:
    expected = reference(lab)
    assert len(expected) == sum(60 + 10 * (n % SITES) for n in range(HOSTS + LATE))
    before = lab.web.log()
    crawl.start()
    head, second, third = crawl.commands
    wait_until(lambda: min(len(asked_by(lab.web.log(), node)) for node in (2, 3)) > 20)

    lab.nodes[2].pull(lab.data)
    cut_at, sites = time.time(), {request.site for request in asked_by(lab.web.log(), 3)}
    time.sleep(LEASE / 2)
    dead = crawl.workers(2)
    second.kill()
    killed_at = time.time()
    time.sleep(LEASE)
    # Cut off in its turn to write, it holds up the others until the database gives it up, for half a minute.
    wait_until(lambda: any(taken_over(lab.web.log(), sites, cut_at)))
    lab.nodes[2].plug(lab.data)
    healed_at = time.time()
    # Connecting again waits as long as TCP does. Only then is there more to do, so that there is something left for it.
    wait_until(lambda: "starts afresh" in third.said)
    crawl.inject(lab.late)
    wait_until(lambda: crawl.counted() == len(expected))
    for command in (third, head):
        command.stop()
        command.succeeds(PATIENCE)

    log = since(lab.web.log(), before)
    assert violations(log, DELAY, DELAY) == []
    assert [request for request in asked_by(log, 2) if request.arrived > killed_at + 10] == []
    assert [request for request in asked_by(log, 3) if request.arrived > healed_at]
    assert crawl.pages() == expected
    with lab.nodes[0].inside():
        check_storage(crawl.folders[0], dead)


def taken_over(log: Log, sites: set[str], cut_at: float) -> Iterator[Request]:
    """Requests of other nodes to the sites that the third one had."""
    return (r for node in (1, 2) for r in asked_by(log, node) if r.site in sites and r.arrived > cut_at)

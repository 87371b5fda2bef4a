"""A crawl by three machines, of which one is cut off from the database and another is killed.

Run by test_three_machines.py in a network namespace of its own.

    lan   10.9.0.0/16   one, two, three; store 10.9.0.4; web 10.9.5.1 …
    data  10.8.0.0/24   one, two, three; the database 10.8.0.4 beside the store
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from cluster_kit import Command, NetworkDatabase, check_storage, pages_of
from machines_kit import Machine, Switch

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from crawl_kit import run, settings_of, wait_until, write_settings

from gossamer.testing import FakeWeb, Log, Request, violations

DELAY = 0.15
LEASE = 6.0
HOSTS = 12
SITES = 4
"""Sites that a worker has at once: as many as there are, shared out."""
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
        machine.connect(self.lan, *(f"10.9.5.{n}/16" for n in range(1, HOSTS + 1)))
        with machine.inside():
            self.web = FakeWeb("10.9.5", process=True, log=self.folder / "requests.jsonl")
            for n in range(HOSTS):
                elsewhere = [f"h{n - 1}.test"] if n else []
                self.web.site(f"h{n}.test", pages=50 + 10 * (n % SITES), links=8, seed=n, elsewhere=elsewhere)
            self.web.start()
        self.seeds = [self.web.url(f"h{n}.test") for n in range(HOSTS)]

    def settings(self, delay: float) -> dict[str, dict[str, object]]:
        return settings_of(
            self.web, network={"allow": ["10.9.0.0/16"]}, politeness={"delay": delay}, budget={"lease": LEASE},
            crawl={"contact": "test@example.org", "sites": SITES},
        )  # fmt: skip

    def asked_by(self, node: int) -> list[Request]:
        """What the web saw of a node."""
        return asked_by(self.web.log(), node)

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
        done = run("crawl", *lab.seeds, "--workers", "2", "--quiet", data=data)
        assert done.returncode == 0, done.stderr
        return pages_of(data)


def test_a_crawl_survives_a_dead_machine_and_one_that_is_cut_off(lab: Lab) -> None:
    expected = reference(lab)
    assert len(expected) == sum(50 + 10 * (n % SITES) for n in range(HOSTS))
    before = len(lab.web.log())
    storage = ["--database", lab.database_url(), "--segments", f"s3://{BUCKET}/crawl"]

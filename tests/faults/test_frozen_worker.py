"""A worker that is frozen past its lease must not talk to its old sites, nor store what it holds.

What remains is a request that was about to be sent at that very moment: it goes out when the worker wakes up.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from crawl_kit import PATIENCE, descendants, exported, kill, settings_of, start, wait_until, workers_of, write_settings

from gossamer.clock import SystemClock
from gossamer.testing import FakeWeb, Log, violations

DELAY = 0.1
LEASE = 10.0
"""Seconds: longer than a busy machine holds the worker up that is not frozen."""


def connections_of(pid: int) -> set[tuple[str, str]]:
    """The address of the server and the port of the client of each connection that a process has open."""
    own = {str(fd.readlink()) for fd in Path(f"/proc/{pid}/fd").iterdir()}
    rows = [line.split() for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    ends = [(row[2].split(":")[0], row[1].split(":")[1]) for row in rows if f"socket:[{row[9]}]" in own]
    return {(".".join(map(str, bytes.fromhex(there)[::-1])), str(int(here, 16))) for there, here in ends}


def sent_late(log: Log, connections: set[tuple[str, str]], since: float) -> Log:
    """What came over these connections after a time."""
    numbers = {one.number for one in log.connections if (one.ip, one.peer.rpartition(":")[2]) in connections}
    return Log(request for request in log if request.connection in numbers and request.arrived >= since)


def test_a_frozen_worker_wakes_up_harmless(tmp_path: Path) -> None:
    """SIGSTOP for longer than the lease, then SIGCONT: every page once, nothing asked twice at once.

    The frozen process cannot close its connection, so a second open one is not counted as rude here.
    """
    web = FakeWeb("127.0.6", process=True, log=tmp_path / "log")
    for n in range(6):
        web.site(f"h{n}.test", pages=80, seed=n)
    data = tmp_path / "data"
    with web:
        settings = settings_of(web, politeness={"delay": DELAY}, budget={"lease": LEASE}, crawl={"commit_seconds": 0.2})
        write_settings(data, settings)
        main = start("crawl", *(web.url(f"h{n}.test") for n in range(6)), "--workers", "2", "--quiet", data=data)
        try:
            wait_until(lambda: len(web.log()) > 40)
            frozen = workers_of(main.pid)[0]
            os.kill(frozen, signal.SIGSTOP)
            connections = connections_of(frozen)
            time.sleep(LEASE + 2.0)
            woken = SystemClock().now()
            os.kill(frozen, signal.SIGCONT)
            _, errors = main.communicate(timeout=PATIENCE)
            assert main.returncode == 0, errors
        finally:
            for pid in [*descendants(main.pid), main.pid]:
                kill(pid)
        pages = Counter(page["url"] for page in exported("pages", data))
        assert len(pages) == 480
        assert set(pages.values()) == {1}
        log = web.log()
        late = sent_late(log, connections, woken)
        assert len(late) <= 1
        others = Log([request for request in log if request not in late], log.connections)
        assert [v for v in violations(others, DELAY, DELAY) if v.kind != "connections"] == []


def test_a_worker_that_is_frozen_for_good_while_it_writes_is_replaced(tmp_path: Path) -> None:
    """It has the database's lock: without an end to it, nobody could ever write again."""
    web = FakeWeb("127.0.7", process=True, log=tmp_path / "log")
    web.site("h.test", pages=200, seed=1)
    data = tmp_path / "data"
    with web:
        settings = settings_of(web, politeness={"delay": 0.05}, crawl={"commit_seconds": 0.05, "stuck_after": 10.0})
        write_settings(data, settings)
        main = start("crawl", web.url("h.test"), "--workers", "1", "--quiet", data=data)
        try:
            wait_until(lambda: len(web.log()) > 20)
            freeze_while_it_writes(workers_of(main.pid)[0], data / "frontier.db")
            _, errors = main.communicate(timeout=PATIENCE)
            assert main.returncode == 0, errors
        finally:
            for pid in [*descendants(main.pid), main.pid]:
                kill(pid)
        assert "gave no sign of life" in errors
        pages = Counter(page["url"] for page in exported("pages", data))
        assert len(pages) == 200
        assert set(pages.values()) == {1}


def freeze_while_it_writes(pid: int, database: Path) -> None:
    """Stop a process at a moment in which the database's lock is its own, and stays so."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if not is_locked(database, 0.0):
            continue
        os.kill(pid, signal.SIGSTOP)
        if is_locked(database, 2.0):
            return
        os.kill(pid, signal.SIGCONT)
    raise AssertionError("it was never met while it wrote")


def is_locked(database: Path, wait: float) -> bool:
    """Whether somebody else writes, and goes on to for some seconds."""
    connection = sqlite3.connect(database, timeout=wait, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
    except sqlite3.OperationalError:
        return True
    finally:
        connection.close()
    return False

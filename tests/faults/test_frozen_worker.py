"""A worker that is frozen past its lease must not talk to its old sites, nor store what it holds.

What remains is a request that was about to be sent at that very moment: it goes out when the worker wakes up.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from crawl_kit import descendants, exported, kill, settings_of, start, wait_until, workers_of, write_settings

from gossamer.clock import SystemClock
from gossamer.testing import FakeWeb, Log, violations

DELAY = 0.1


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
        settings = settings_of(web, politeness={"delay": DELAY}, budget={"lease": 2.0}, crawl={"commit_seconds": 0.2})
        write_settings(data, settings)
        main = start("crawl", *(web.url(f"h{n}.test") for n in range(6)), "--workers", "2", "--quiet", data=data)
        try:
            wait_until(lambda: len(web.log()) > 40)
            frozen = workers_of(main.pid)[0]
            os.kill(frozen, signal.SIGSTOP)
            connections = connections_of(frozen)
            time.sleep(4.0)
            woken = SystemClock().now()
            os.kill(frozen, signal.SIGCONT)
            _, errors = main.communicate(timeout=240)
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

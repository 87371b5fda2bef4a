"""A worker that is frozen past its lease must not talk to its old sites, nor store what it holds."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from crawl_kit import descendants, exported, kill, settings_of, start, wait_until, workers_of, write_settings

from gossamer.testing import FakeWeb, violations

DELAY = 0.1


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
            time.sleep(4.0)
            os.kill(frozen, signal.SIGCONT)
            _, errors = main.communicate(timeout=120)
            assert main.returncode == 0, errors
        finally:
            for pid in [*descendants(main.pid), main.pid]:
                kill(pid)
        pages = Counter(page["url"] for page in exported("pages", data))
        assert len(pages) == 480
        assert set(pages.values()) == {1}
        assert [v for v in violations(web.log(), DELAY, DELAY) if v.kind != "connections"] == []

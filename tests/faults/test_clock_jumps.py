"""The system clock jumps by a day while a crawl runs: processes that start afterwards see another time than those
that were there before, and still nobody is asked too often, nothing is lost and nothing stands still."""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from unittest import mock

import pytest

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from crawl_kit import (
    PATIENCE,
    descendants,
    exported,
    kill,
    run,
    settings_of,
    start,
    wait_until,
    workers_of,
    write_settings,
)
from time_kit import later

from gossamer.testing import FakeWeb, violations

DELAY = 0.1
DAY = 86_400.0
LEASE = 15.0
"""Seconds: longer than a busy machine holds a worker up that is well, short enough to wait for."""
CLOCK = Path(__file__).parent.parent / "crawls" / "clock_ahead"


@pytest.mark.parametrize("jump", [DAY, -DAY], ids=["ahead", "back"])
def test_a_clock_that_jumps_by_a_day_disturbs_nobody(tmp_path: Path, jump: float) -> None:
    """A worker that is started after the jump stands beside one from before it."""
    web = FakeWeb("127.0.7", process=True, log=tmp_path / "log")
    for n in range(6):
        web.site(f"h{n}.test", pages=120, seed=n)
    data, ahead = tmp_path / "data", tmp_path / "ahead"
    ahead.write_text("0")
    environment = {"PYTHONPATH": str(CLOCK), "CLOCK_AHEAD_FILE": str(ahead)}
    with web, mock.patch.dict(os.environ, environment):
        write_settings(data, settings_of(web, politeness={"delay": DELAY}, budget={"lease": LEASE}))
        main = start("crawl", *(web.url(f"h{n}.test") for n in range(6)), "--workers", "2", "--quiet", data=data)
        try:
            wait_until(lambda: len(web.log()) > 60)
            ahead.write_text(repr(jump))
            kill(workers_of(main.pid)[0])
            _, errors = main.communicate(timeout=PATIENCE)
            assert main.returncode == 0, errors
        finally:
            for pid in [*descendants(main.pid), main.pid]:
                kill(pid)
        ahead.write_text("0")
        pages = Counter(page["url"] for page in exported("pages", data))
        assert len(pages) == 720
        assert set(pages.values()) == {1}
        assert violations(web.log(), DELAY, DELAY) == []


def test_after_a_clock_that_ran_ahead_no_site_rests_until_the_false_time(tmp_path: Path) -> None:
    """The states of robots.txt are stored, too: a Crawl-delay counts from when it was read, a failure until its end."""
    web = FakeWeb("127.0.8")
    polite, ill = web.site("polite.test", pages=6, seed=1), web.site("ill.test", pages=4, seed=2)
    polite.robots("User-agent: *\nCrawl-delay: 0.2")
    ill.robots("", status=503)
    data = tmp_path / "data"
    with web:
        write_settings(data, settings_of(web, robots={"retry_first": 1.0, "retry_cap": 1.0}))
        with later(30 * DAY):
            done = run("crawl", polite.generated[0], ill.generated[0], "--pages", "2", "--quiet", data=data)
        before = {ask.path for ask in web.log() if ask.site.startswith("polite")}
        assert 0 < len(before - {"/robots.txt"}) < 6, done.stderr
        assert "--accept-clock" in run("crawl", data=data).stderr
        ill.robots("User-agent: *\nDisallow:")
        done = run("crawl", "--accept-clock", "--quiet", "--for", "3m", data=data)
    assert done.returncode == 0, done.stderr
    pages = {page["url"] for page in exported("pages", data)}
    assert pages >= {*polite.generated, *ill.generated}

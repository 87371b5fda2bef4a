"""Promise 2, judged by the server's own log: one connection and one request per delay, per site and per address."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from crawl_kit import PATIENCE, crawl, descendants, exported, kill, settings_of, start, workers_of, write_settings

from gossamer.testing import Ask, FakeWeb, Reply, violations

DELAY = 0.1


def shared_machine(log: Path) -> FakeWeb:
    """Four names on one address, two on another, and three with their own."""
    web = FakeWeb("127.0.5", process=True, log=log)
    first = web.site("a0.test", pages=12, seed=1, elsewhere=["a1.test", "b0.test"])
    for n in (1, 2, 3):
        web.site(f"a{n}.test", pages=10, seed=10 + n, ip=first.ip)
    second = web.site("b0.test", pages=25, seed=20)
    web.site("b1.test", pages=15, seed=21, ip=second.ip)
    for n in range(3):
        web.site(f"c{n}.test", pages=40, seed=30 + n)
    return web


HOSTS = ["a0.test", "a1.test", "a2.test", "a3.test", "b0.test", "b1.test", "c0.test", "c1.test", "c2.test"]


def test_four_workers_share_addresses_without_a_violation(tmp_path: Path) -> None:
    with shared_machine(tmp_path / "log") as web:
        data = tmp_path / "data"
        status = crawl(web, data, [web.url(h) for h in HOSTS], "--workers", "4", politeness={"delay": DELAY})
        assert status["pages"] == 12 + 30 + 40 + 120
        assert violations(web.log(), DELAY, DELAY, robots_first=True, once_within=3600.0) == []


def test_workers_that_are_killed_and_replaced_are_not_rude(tmp_path: Path) -> None:
    chance = random.Random(7)
    with shared_machine(tmp_path / "log") as web:
        data = tmp_path / "data"
        write_settings(data, settings_of(web, politeness={"delay": DELAY}))
        main = start("crawl", *(web.url(h) for h in HOSTS), "--workers", "4", "--quiet", data=data)
        try:
            for _ in range(8):
                time.sleep(chance.uniform(0.3, 0.8))
                if workers := workers_of(main.pid):
                    kill(chance.choice(workers))
            _, errors = main.communicate(timeout=PATIENCE)
            assert main.returncode == 0, errors
        finally:
            for pid in [*descendants(main.pid), main.pid]:
                kill(pid)
        assert violations(web.log(), DELAY, DELAY, robots_first=True) == []
        assert len(exported("pages", data)) == 202


def test_crawl_delay_slows_one_site_and_no_other(tmp_path: Path) -> None:
    web = FakeWeb("127.0.5", process=True, log=tmp_path / "log")
    slow, fast = web.site("slow.test", pages=5), web.site("fast.test", pages=5, seed=2)
    slow.robots("User-agent: *\nCrawl-delay: 0.4\n")
    with web:
        crawl(web, tmp_path / "data", [slow.url(), fast.url()], politeness={"delay": 0.05})
        log = web.log()
        assert violations(log, {slow.name: 0.4, fast.name: 0.05}) == []
        assert len([r for r in log if r.site == slow.name]) == 6


@pytest.mark.parametrize(("status", "header"), [(429, "2"), (503, "2")])
def test_retry_after_is_honoured_by_the_whole_site(tmp_path: Path, status: int, header: str) -> None:
    """After a 429 or 503 nothing is asked of the site for that long; the page is fetched in the end."""
    web = FakeWeb("127.0.5", log=tmp_path / "log")
    site = web.site("busy.test", pages=6)
    answers = iter([status])

    def moody(ask: Ask) -> Reply:
        if code := next(answers, 0):
            return Reply("busy", code, [("Retry-After", header)])
        return Reply(f"<p>{'now it works ' * 20}")

    site.handler("/p/1.html", moody)
    with web:
        crawl(web, tmp_path / "data", [site.url()])
        log = [r for r in web.log() if r.site == site.name]
        refused = next(n for n, r in enumerate(log) if r.status == status)
        assert log[refused + 1].arrived - log[refused].arrived >= 2.0
        assert {f"http://{r.site}{r.path}" for r in log if r.status == 200} >= set(site.generated)

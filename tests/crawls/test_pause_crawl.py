"""Pausing, resuming and limiting real crawls, judged by the server's own log."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from crawl_kit import PATIENCE, descendants, exported, kill, run, settings_of, start, wait_until, write_settings
from inside import fails, gossamer
from table_kit import problems

from gossamer.data.folder import DataFolder
from gossamer.tables.audit import entries
from gossamer.testing import FakeWeb, violations

DELAY = 0.12
PAGES = 120
"""Of each site: a worker looks every two seconds what operators have said, and all is to be under way then."""
ONE, TWO = "one.test", "two.test"
LOOK = 1.5
"""Seconds for which nothing is asked: at `DELAY`, a dozen requests of each site if the pause did not hold."""


@contextmanager
def two_sites(folder: Path) -> Iterator[tuple[FakeWeb, Path]]:
    """A small web and a data folder with settings for it."""
    web = FakeWeb("127.0.9", process=True, log=folder / "log")
    for seed, host in enumerate((ONE, TWO)):
        web.site(host, pages=PAGES, seed=seed)
    with web:
        data = folder / "data"
        write_settings(data, settings_of(web, politeness={"delay": DELAY}))
        yield web, data


@contextmanager
def crawling(data: Path, *seeds: str) -> Iterator[subprocess.Popen[str]]:
    """A crawl under way; whatever is left of it at the end is killed."""
    main = start("crawl", *seeds, "--workers", "2", data=data)
    try:
        yield main
    finally:
        destroy(main)


def destroy(main: subprocess.Popen[str]) -> None:
    for pid in [main.pid, *descendants(main.pid)]:
        kill(pid)
    main.wait()


def status(data: Path) -> dict[str, Any]:
    return dict(gossamer("status", "--json", data=data).json)


def name_of(web: FakeWeb, host: str) -> str:
    """The site as the crawl calls it."""
    return web.url(host).split("/")[2]


def requests(web: FakeWeb, host: str = "") -> int:
    return sum(host in request.url for request in web.log())


def given_back(data: Path) -> None:
    wait_until(lambda: status(data)["sites_active"] == 0)


def test_a_paused_crawl_asks_nothing_survives_a_kill_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with two_sites(tmp_path) as (web, data):
        with crawling(data, web.url(ONE), web.url(TWO)) as main:
            wait_until(lambda: requests(web) > 20)
            assert gossamer("pause", "--reason", "storm", data=data).code == 0
            given_back(data)
            before = requests(web)
            time.sleep(LOOK)
            assert requests(web) == before < 2 * PAGES
            assert main.poll() is None, "the crawl waits to be resumed"
            assert main.stderr is not None
            assert any("paused: storm" in line for line in main.stderr)  # read until it is said
            destroy(main)
        with crawling(data) as main:
            wait_until(lambda: status(data)["workers"] == 2)
            time.sleep(LOOK)
            standing = status(data)
            assert (standing["paused"], standing["sites_active"]) == ("storm", 0)
            assert requests(web) == before
            assert gossamer("resume", data=data).code == 0
            main.communicate(timeout=PATIENCE)
            assert main.returncode == 0
        assert len(exported("pages", data)) == 2 * PAGES
        assert problems(data) == []
        assert violations(web.log(), DELAY, DELAY, robots_first=True, once_within=3600.0) == []


def test_a_paused_site_is_given_back_while_the_crawl_ends_with_the_others(tmp_path: Path) -> None:
    with two_sites(tmp_path) as (web, data):
        with crawling(data, web.url(ONE), web.url(TWO)) as main:
            wait_until(lambda: requests(web, ONE) > 8 and requests(web, TWO) > 8)
            assert gossamer("pause", web.url(ONE), "--reason", "they asked us to", data=data).code == 0
            main.communicate(timeout=PATIENCE)
            assert main.returncode == 0
        stopped = requests(web, ONE)
        standing = status(data)
        assert (standing["sites_paused"], standing["sites_waiting"]) == (1, 0)
        assert standing["paused_sites"] == [{"site": name_of(web, ONE), "reason": "they asked us to"}]
        assert standing["urls_due"] > 0, "what waits there is kept"
        waiting = next(row["url"] for row in exported("urls", data) if row["state"] == "waiting")
        assert "they asked us to" in gossamer("explain", waiting, "--json", data=data).json["reason"]
        assert run("crawl", "--quiet", data=data).returncode == 0
        assert requests(web, ONE) == stopped < PAGES
        assert gossamer("resume", name_of(web, ONE), data=data).code == 0
        assert run("crawl", "--quiet", data=data).returncode == 0
        assert len(exported("pages", data)) == 2 * PAGES
        assert violations(web.log(), DELAY, DELAY, robots_first=True, once_within=3600.0) == []


def test_a_site_that_was_never_asked_is_not_even_asked_for_its_robots_txt(tmp_path: Path) -> None:
    with two_sites(tmp_path) as (web, data):
        assert run("crawl", web.url(ONE), "--pages", "1", "--quiet", data=data).returncode == 0
        assert gossamer("inject", web.url(TWO), data=data).code == 0
        assert gossamer("pause", web.url(TWO), data=data).code == 0
        assert run("crawl", "--quiet", data=data).returncode == 0
        assert requests(web, TWO) == 0
        assert requests(web, ONE) > PAGES


def test_a_site_is_asked_exactly_as_often_as_its_limit_says(tmp_path: Path) -> None:
    with two_sites(tmp_path) as (web, data):
        assert run("crawl", web.url(ONE), "--pages", "3", "--quiet", data=data).returncode == 0
        assert gossamer("limit", web.url(ONE), "--pages", "12", data=data).code == 0
        assert run("crawl", "--workers", "2", "--quiet", data=data).returncode == 0
        standing = status(data)
        assert (standing["fetched"], standing["sites_at_limit"]) == (12, 1)
        waiting = next(row["url"] for row in exported("urls", data) if row["state"] == "waiting")
        assert "limited to 12" in gossamer("explain", waiting, "--json", data=data).json["reason"]
        assert gossamer("limit", web.url(ONE), "--pages", "0", data=data).code == 0
        assert run("crawl", "--quiet", data=data).returncode == 0
        assert len(exported("pages", data)) == PAGES


def test_a_longer_delay_reaches_the_worker_that_has_the_site(tmp_path: Path) -> None:
    wanted = 0.4
    with two_sites(tmp_path) as (web, data), crawling(data, web.url(ONE)):
        wait_until(lambda: requests(web) > 5)
        assert gossamer("limit", web.url(ONE), "--delay", str(wanted), data=data).code == 0

        def slowed() -> bool:
            times = [request.arrived for request in web.log()][-4:]
            return min(later - earlier for earlier, later in pairwise(times)) >= wanted

        wait_until(slowed)
        assert requests(web) <= PAGES, "it was still under way"


class TestVerbs:
    """One small crawl, and what is said about it."""

    def test_what_operators_say_is_told_as_json_and_written_down(self, tmp_path: Path) -> None:
        with two_sites(tmp_path) as (web, data):
            assert run("crawl", web.url(ONE), "--pages", "1", "--quiet", data=data).returncode == 0
            site = name_of(web, ONE)
            paused = gossamer("pause", site, "--reason", "rest", "--json", data=data).json
            assert paused == {"paused": [site], "reason": "rest"}
            limited = gossamer("limit", site, "--delay", "2m", "--pages", "9", "--json", data=data).json
            assert (limited["least_delay"], limited["most_pages"], limited["rests"]) == (
                120.0,
                9,
                f"{site} is paused: rest",
            )
            kept = gossamer("limit", site, "--pages", "0", "--json", data=data).json
            assert (kept["least_delay"], kept["most_pages"]) == (120.0, 0), "what is not given stays"
            assert gossamer("pause", "--json", data=data).json["paused"] == "crawl"
            assert "still paused" in gossamer("resume", site, data=data).out
            assert gossamer("resume", "--json", data=data).json == {
                "resumed": "crawl",
                "paused_sites": [],
                "paused": None,
            }
            db = DataFolder(data).read()
            lines = [(line.action, line.subject) for line in reversed(entries(db))]
            assert all(line.who.startswith("cli:") for line in entries(db))
            db.close()
        assert lines == [
            ("pause site", site), ("limit site", site), ("limit site", site), ("pause crawl", ""),
            ("resume site", site), ("resume crawl", ""),
        ]  # fmt: skip

    def test_what_cannot_be_done_is_said_in_a_sentence_and_nothing_is_changed(self, tmp_path: Path) -> None:
        with two_sites(tmp_path) as (web, data):
            fails(gossamer("pause", data=tmp_path / "none"), 2, "no crawl in")
            assert run("crawl", web.url(ONE), "--pages", "1", "--quiet", data=data).returncode == 0
            fails(gossamer("pause", web.url(ONE), "nowhere.test", data=data), 2, "nowhere.test")
            fails(gossamer("limit", web.url(ONE), "--delay", "soon", data=data), 2, "duration")
            fails(gossamer("limit", web.url(ONE), "--delay", "3d", data=data), 2, "pause the site")
            fails(gossamer("limit", web.url(ONE), "--pages", "-1", data=data), 2, "pages")
            assert status(data)["sites_paused"] == 0

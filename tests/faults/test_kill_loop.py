"""Promise 1 and 2: SIGKILL of any process at any instant loses nothing, stores nothing twice, and is never rude."""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from crawl_kit import command_of, descendants, exported, kill, run, settings_of, start, workers_of, write_settings

from gossamer.testing import FakeWeb, Log, violations
from kit.postgres import PostgresServer

DELAY = 0.05
HOSTS = 6
PAGES = 500


def make_web(log: Path) -> FakeWeb:
    """Six hosts, the last two names of one machine; pages link within and across hosts."""
    web = FakeWeb("127.0.4", process=True, log=log)
    first = [web.site(f"h{n}.test", pages=PAGES, links=8, seed=n) for n in range(HOSTS - 1)]
    web.site(f"h{HOSTS - 1}.test", pages=PAGES // 2, links=8, seed=HOSTS, ip=first[-1].ip)
    return web


def killed_crawl(web: FakeWeb, data: Path, kills: int, chance: random.Random) -> Counter[str]:
    """Crawl to the end, killing the main process, a worker, a parser, the nursery or all of them on the way."""
    seeds = [web.url(f"h{n}.test") for n in range(HOSTS)]
    done: Counter[str] = Counter()
    main = start("crawl", *seeds, "--workers", "2", "--quiet", data=data)
    try:
        while True:
            time.sleep(chance.uniform(0.0, 1.0) ** 2 * 1.6)
            if main.poll() is not None:
                assert main.returncode <= 0, main.communicate()[1]
                if main.returncode == 0:
                    return done
                main.communicate()
                main = start("crawl", *seeds, "--workers", "2", "--quiet", data=data)
            elif done.total() < kills:
                done += kill_one(main.pid, chance)
    finally:
        for pid in [*descendants(main.pid), main.pid]:
            kill(pid)


def kill_one(main: int, chance: random.Random) -> Counter[str]:
    what = chance.choices(["worker", "main", "all", "parser", "nursery"], [5, 3, 1, 1, 1])[0]
    below, workers = descendants(main), workers_of(main)
    victims = {
        "main": [main],
        "all": [main, *below],
        "worker": workers[:1] if chance.random() < 0.5 else workers[1:],
        "parser": [pid for pid in below if "parser_process" in command_of(pid)][:1],
        "nursery": [pid for pid in below if "nursery_process" in command_of(pid)],
    }[what]
    return Counter({what: 1}) if sum(kill(pid) for pid in victims) else Counter()


def since(log: Log, before: Log) -> Log:
    """The part of a log that is new."""
    return Log(log[len(before) :], log.connections[len(before.connections) :])


def check(log: Log, data: Path, expected: dict[str, str]) -> None:
    pages = exported("pages", data)
    assert Counter(page["url"] for page in pages) == Counter(expected.keys())
    assert {page["url"]: page["content_hash"] for page in pages} == expected
    assert violations(log, DELAY, DELAY) == []
    leftovers = {path.name for path in (data / "segments").iterdir() if path.is_dir()} - {".building"}
    known = run("status", "--json", data=data)
    assert f'"segments": {len(leftovers)}' in known.stdout
    assert not list((data / "segments" / ".building").glob("*"))


def compare(tmp_path: Path, kills: int, seed: int, database: str = "") -> None:
    reference = tmp_path / "reference"
    with make_web(tmp_path / "reference.log") as web:
        write_settings(reference, settings_of(web))
        done = run("crawl", *(web.url(f"h{n}.test") for n in range(HOSTS)), "--quiet", data=reference)
        assert done.returncode == 0, done.stderr
        expected = {page["url"]: page["content_hash"] for page in exported("pages", reference)}
        assert len(expected) == PAGES * (HOSTS - 1) + PAGES // 2
        data = tmp_path / "killed"
        storage = {"database": database}
        crawl = {"commit_seconds": 0.2}
        write_settings(data, settings_of(web, politeness={"delay": DELAY}, crawl=crawl, storage=storage))
        before = web.log()
        done_kills = killed_crawl(web, data, kills, random.Random(seed))
        assert done_kills.total() >= kills, f"the crawl was over after {done_kills} kills: make the web larger"
        check(since(web.log(), before), data, expected)


@pytest.mark.timeout(1800)
def test_fifty_kills_change_nothing(tmp_path: Path) -> None:
    """Same pages, each once, as an uninterrupted crawl; no impolite request in the server's log."""
    compare(tmp_path, kills=50, seed=20261115)


@pytest.mark.timeout(1800)
def test_kills_change_nothing_on_postgresql(tmp_path: Path) -> None:
    server = PostgresServer()
    try:
        compare(tmp_path, kills=20, seed=15112026, database=server.database())
    finally:
        server.stop()


@pytest.mark.soak
@pytest.mark.timeout(2400)
@pytest.mark.parametrize("seed", range(20))
def test_a_thousand_kills_change_nothing(tmp_path: Path, seed: int) -> None:
    """The same, twenty times over with other seeds."""
    compare(tmp_path, kills=50, seed=seed)

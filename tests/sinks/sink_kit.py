"""What the tests of streams and sinks share: a crawl of a small site that changes once."""

from __future__ import annotations

import multiprocessing
import random
import signal
from pathlib import Path
from typing import Any, NamedTuple

import gossamer
from gossamer.cli.main import main
from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder
from gossamer.frontier.steering.operate import recrawl
from gossamer.testing import FakeWeb

PAGES = 60
KILLS = 50
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    ["pytest", "gossamer.cli.searching.sync", "gossamer.cli.main", "gossamer.sinks.postgres_table"]
)


def text(topic: str) -> str:
    words = " ".join(f"The {topic} number {n} stands at the harbour, and nobody has moved it." for n in range(12))
    return f'<html lang="en"><title>About {topic}</title><body><main><h1>{topic}</h1><p>{words}</p></main>'


class World:
    """A site and the data folder of its crawl."""

    def __init__(self, web: FakeWeb, data: Path) -> None:
        self.web, self.data = web, data
        self.site = web.site("s.test")
        links = " ".join(f'<a href="/p{n}">{n}</a>' for n in range(PAGES))
        self.site.page("/", text("anchor") + links)
        for n in range(PAGES):
            self.site.page(f"/p{n}", text(f"boat {n}"))
        self._settings: dict[str, dict[str, Any]] = {
            "network": {"allow": ["127.0.0.0/8"], "resolve": web.resolve},
            "politeness": {"delay": 0.0, "backoff_first": 0.2},
            "crawl": {"linger": 3.0, "workers": 1, "parsers": 1, "parse_timeout": 240.0},
            "fetch": {"connect_timeout": 60.0, "idle_timeout": 60.0, "total_timeout": 240.0},
            "alerts": {"secret": "a key of the test", "allow_networks": ["127.0.0.0/8"]},
        }

    def crawl(self) -> gossamer.Folder:
        return gossamer.crawl(self.site.url(), folder=self.data, settings=self._settings).run()

    def change(self) -> gossamer.Folder:
        """A quarter of the pages changes, a quarter leaves, some come; then everything is fetched anew."""
        for n in range(0, PAGES, 4):
            self.site.page(f"/p{n}", text(f"barge {n}") + f'<a href="/new{n}">new</a>')
            self.site.page(f"/new{n}", text(f"dock {n}"))
            self.site.remove(f"/p{n + 1}")
        db = DataFolder(self.data).open_database()
        recrawl(db, self.site.url(), SystemClock().now())
        db.close()
        return self.crawl()


class Crawls(NamedTuple):
    """The same crawl at two times."""

    before: Path
    after: Path


def sync(target: str, data: Path, *options: str) -> None:
    raise SystemExit(main(["sync", target, "--data", str(data), *options]))


def started(target: str, data: Path, *options: str) -> Any:
    process = PROCESSES.Process(target=sync, args=(target, data, *options))
    process.start()
    return process


def synced(target: str, data: Path) -> None:
    process = started(target, data)
    process.join(300)
    assert process.exitcode == 0


class Killer:
    """Kills syncs at any moment, as often as it is told in all; those that end first do not count."""

    def __init__(self) -> None:
        self.kills = 0
        self._dice = random.Random(5)
        self._longest = 0.2
        """Seconds after which it kills at the latest; follows how long a sync takes here and now."""

    def until_done(self, target: str, data: Path) -> None:
        """Sync until one run is not killed."""
        while self.kills < KILLS:
            process = started(target, data)
            process.join(self._dice.uniform(0.0, self._longest))
            process.kill()
            process.join()
            if process.exitcode == 0:
                self._longest *= 0.8
                return
            assert process.exitcode == -signal.SIGKILL
            self.kills += 1
            self._longest *= 1.1
        synced(target, data)


def expected(data: Path) -> dict[str, str]:
    return {page.url: page.markdown for page in gossamer.open(data).pages()}

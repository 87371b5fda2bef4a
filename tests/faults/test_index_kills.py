"""S0.4: killing indexer, server, workers or the whole crawl at any instant loses and doubles nothing in the index."""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import socket
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from crawl_kit import command_of, descendants, exported, kill, run, settings_of, start, write_settings
from index_kit import contents

from gossamer.testing import FakeWeb

HOSTS = 4
PAGES = 220
KILLS, OF_INDEXERS = 40, 10
_DIRECTLY = urllib.request.build_opener(urllib.request.ProxyHandler({}))
VICTIMS = {"indexer": "indexer_process", "server": "serve --data", "worker": "worker_process"}


def make_web() -> FakeWeb:
    web = FakeWeb("127.0.43", process=True)
    for n in range(HOSTS):
        web.site(f"k{n}.test", pages=PAGES, links=8, seed=n)
    return web


class Crawl:
    """A crawl with indexer and server that is killed now and then and goes on."""

    def __init__(self, web: FakeWeb, data: Path, port: int) -> None:
        self._arguments = ["crawl", *(web.url(f"k{n}.test") for n in range(HOSTS)), "--workers", "2", "--quiet"]
        self._arguments += ["--serve", "--port", str(port)]
        self._data = data
        self.process = start(*self._arguments, data=data)

    def kill_one(self, chance: random.Random, done: Counter[str]) -> Counter[str]:
        """Whoever is chosen and there; in the end indexers alone, which take longest to come back."""
        what = chance.choices(["indexer", "server", "worker", "main", "all"], [6, 2, 2, 2, 1])[0]
        what = "indexer" if done.total() >= KILLS else what
        below = descendants(self.process.pid)
        victims = [self.process.pid] if what == "main" else [self.process.pid, *below] if what == "all" else []
        victims += [pid for pid in below if VICTIMS.get(what, "-") in command_of(pid)][:1]
        return Counter({what: 1}) if sum(kill(pid) for pid in victims) else Counter()

    def go_on(self) -> bool:
        """Start again what was killed; False where the crawl has come to its end."""
        if self.process.poll() is not None:
            words = self.process.communicate()[1]
            assert self.process.returncode <= 0, words
            if self.process.returncode == 0:
                return False
            self.process = start(*self._arguments, data=self._data)
        return True

    def end(self) -> None:
        for pid in [*descendants(self.process.pid), self.process.pid]:
            kill(pid)
        self.process.communicate()


def is_enough(done: Counter[str]) -> bool:
    return done.total() >= KILLS and done["indexer"] >= OF_INDEXERS


def free_port(chance: random.Random) -> int:
    """One that nobody listens on and that the system gives no client, since each server that follows listens there."""
    while True:
        port = chance.randrange(20_000, 30_000)
        with socket.socket() as tried, contextlib.suppress(OSError):
            tried.bind(("127.0.0.1", port))
            return port


def ask_server(port: int, answers: Counter[int]) -> None:
    """Whatever is killed when: the server answers, says that there is nothing yet, or is away; it never fails."""
    with contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError, http.client.HTTPException):
        try:
            with _DIRECTLY.open(f"http://127.0.0.1:{port}/api/v1/search?q=page", timeout=5) as response:
                hits = json.load(response)["hits"]
                assert len({hit["url"] for hit in hits}) == len(hits)
                answers[response.status] += 1
        except urllib.error.HTTPError as error:
            answers[error.code] += 1


@pytest.mark.timeout(1800)
def test_forty_kills_of_indexer_server_and_crawl_leave_the_index_that_is_built_in_one_go(tmp_path: Path) -> None:
    chance, done, answers = random.Random(20261115), Counter[str](), Counter[int]()
    data, port = tmp_path / "data", free_port(random.Random())
    with make_web() as web:
        write_settings(data, settings_of(web, politeness={"delay": 0.04}, crawl={"index": True, "commit_seconds": 0.2}))
        crawl = Crawl(web, data, port)
        try:
            while crawl.go_on() or not is_enough(done):
                if crawl.process.poll() is not None:  # over too soon: all of it once more
                    again = run("recrawl", *(web.url(f"k{n}.test") for n in range(HOSTS)), data=data)
                    assert again.returncode == 0, again.stderr
                    crawl = Crawl(web, data, port)
                if not is_enough(done):
                    done += crawl.kill_one(chance, done)
                ask_server(port, answers)
                time.sleep(chance.uniform(0.0, 1.0) ** 2 * 1.5)
        finally:
            crawl.end()
    assert set(answers) <= {200, 503}, answers
    finished = run("index", data=data)
    assert finished.returncode == 0, finished.stderr
    killed = contents(data)
    assert killed.copies == []
    assert {url: page["text"] for url, page in killed.pages.items()} == {
        page["url"]: page["text"] for page in exported("pages", data)
    }
    assert len(killed.pages) == HOSTS * PAGES
    rebuilt = run("index", "--rebuild", data=data)
    assert rebuilt.returncode == 0, rebuilt.stderr
    assert contents(data) == killed

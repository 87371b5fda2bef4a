"""Over HTTP, too, an answer is given again only while it is true: from the API, the page and the feed alike."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from web_kit import PATIENCE, SETTINGS

from gossamer.model.site import key64
from gossamer.search.desk.acting import NO_RULES, Rules
from gossamer.search.desk.rules import Desk, Hidden
from gossamer.search.remembered import RememberingSearcher
from gossamer.search.results import Results
from gossamer.testing import FakeClock
from gossamer.web.app import create_app
from gossamer.web.server import WebServer
from tests.unit.search.searcher_kit import NOW, SmallIndex, page


class Desks:
    """Published rules, as they are known without waiting."""

    def __init__(self) -> None:
        self.rules = NO_RULES

    def current(self) -> Rules:
        return self.rules

    def recent(self) -> Rules:
        return self.rules

    def forget(self) -> None:
        pass


class Counting(RememberingSearcher):
    """Notes on which threads answers are worked out."""

    threads: list[str]

    def _search(self, *args: object) -> Results:
        self.threads.append(threading.current_thread().name)
        return super()._search(*args)  # type: ignore[arg-type]  # passed on as they came


class Served:
    """A server of an index that changes."""

    def __init__(self, root: Path) -> None:
        self.index = SmallIndex(root, page("/owl", "The owl sleeps.", "Owl"), page("/barn", "An owl's barn.", "Barn"))
        self.desk = Desks()
        self.searcher = Counting(self.index.folder, clock=FakeClock(NOW), desk=self.desk)
        self.searcher.threads = []
        self.http = httpx.Client()

    def api(self, **more: str) -> list[str]:
        answer = self.http.get("/api/v1/search", params={"q": "owl", **more})
        assert answer.status_code == 200
        return [hit["url"].removeprefix("http://site.test") for hit in answer.json()["hits"]]

    def has(self, path: str) -> set[str]:
        """Where a page is found: in the API, on the page, in the feed."""
        texts = {place: self.http.get(place, params={"q": "owl"}).text for place in ("/search", "/feed.atom")}
        found = {place for place, text in texts.items() if f"http://site.test{path}" in text}
        return found | ({"api"} if path in self.api() else set())


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    one = Served(tmp_path)
    running = WebServer(create_app(one.searcher, SETTINGS, desk=one.desk), SETTINGS)
    ready = threading.Event()
    thread = threading.Thread(target=running.run, args=(lambda address: ready.set(),), daemon=True)
    thread.start()
    try:
        assert ready.wait(PATIENCE), "the server did not start"
        with contextlib.closing(httpx.Client(base_url=running.address, timeout=PATIENCE, trust_env=False)) as one.http:
            yield one
    finally:
        running.stop()
        thread.join(PATIENCE)


EVERYWHERE = {"api", "/search", "/feed.atom"}


def test_a_repeated_answer_of_the_api_is_equal_and_takes_no_search(served: Served) -> None:
    first, again = (served.http.get("/api/v1/search?q=owl").json() for _ in range(2))
    assert {**first, "seconds": 0} == {**again, "seconds": 0}
    assert len(served.searcher.threads) == 1
    assert served.searcher.threads[0].startswith("search")


def test_the_page_gives_the_same_answer_as_the_api_without_another_search(served: Served) -> None:
    served.api()
    assert "http://site.test/owl" in served.http.get("/search?q=owl").text
    assert len(served.searcher.threads) == 1


def test_nothing_is_stale_after_a_commit(served: Served) -> None:
    assert served.has("/third") == set()
    served.index.put(page("/third", "A third owl.", "Third"))
    assert served.has("/third") == EVERYWHERE


def test_nothing_is_stale_after_a_page_was_taken_away(served: Served) -> None:
    assert served.has("/owl") == served.has("/owl") == EVERYWHERE
    served.index.writer.apply({}, [key64("http://site.test/owl")], served.index.writer.position + 1, NOW)
    assert served.has("/owl") == set()


def test_nothing_is_stale_after_the_desk_published(served: Served) -> None:
    assert served.has("/owl") == served.has("/owl") == EVERYWHERE
    served.desk.rules = Rules(Desk(hidden=(Hidden("http://site.test/owl"),)), 1)
    assert served.has("/owl") == set()


def test_a_wrong_parameter_is_refused_though_the_answer_without_it_is_remembered(served: Served) -> None:
    served.api()
    assert served.http.get("/api/v1/search?q=owl&colour=red").status_code == 400
    assert served.http.get("/api/v1/search?q=owl&page=x").status_code == 400
    assert served.http.get("/api/v1/search?q=owl&collection=none").status_code == 400


def test_repeated_answers_are_counted(served: Served) -> None:
    for _ in range(3):
        served.api()
    text = served.http.get("/metrics").text
    assert 'gossamer_searches_total{via="api"} 3.0' in text
    assert 'gossamer_searches_remembered_total{via="api"} 2.0' in text
    assert 'gossamer_searches_remembered_total{via="page"} 0.0' in text

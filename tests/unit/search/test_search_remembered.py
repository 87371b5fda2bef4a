"""Answers are given again: only while they are true, and only so many."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from gossamer.search.remembered import KEPT, RememberingSearcher
from gossamer.search.results import Request, Results
from gossamer.search.searcher import Searcher
from gossamer.testing import FakeClock
from tests.unit.search.searcher_kit import NOW, SmallIndex, page


class Counting(RememberingSearcher):
    """Counts how often an answer is worked out."""

    worked = 0

    def _search(self, *args: object) -> Results:
        type(self).worked += 1
        return super()._search(*args)  # type: ignore[arg-type]  # passed on as they came


@pytest.fixture
def index(tmp_path: Path) -> SmallIndex:
    return SmallIndex(tmp_path, page("/owl", "The owl sleeps.", "Owl"), page("/barn", "A barn with an owl.", "Barn"))


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW)


@pytest.fixture
def searcher(index: SmallIndex, clock: FakeClock) -> Counting:
    Counting.worked = 0
    return Counting(index.folder, clock=clock)


def urls(results: Results) -> list[str]:
    return [hit.url for hit in results.hits]


def test_a_repeated_request_is_answered_equally_and_without_work(searcher: Counting, index: SmallIndex) -> None:
    first, again = (searcher.search(Request(query="owl")) for _ in range(2))
    assert first.hits == again.hits == Searcher(index.folder, clock=FakeClock(NOW)).search(Request(query="owl")).hits
    assert searcher.worked == 1


def test_another_request_gets_an_answer_of_its_own(searcher: Counting) -> None:
    assert len(urls(searcher.search(Request(query="owl")))) == 2
    assert len(urls(searcher.search(Request(query="barn")))) == 1
    assert len(urls(searcher.search(Request(query="owl", size=1)))) == 1


def test_the_next_search_after_a_commit_sees_it(searcher: Counting, index: SmallIndex) -> None:
    searcher.search(Request(query="owl"))
    index.put(page("/second", "Another owl.", "Second"))
    assert "http://site.test/second" in urls(searcher.search(Request(query="owl")))


def test_an_answer_is_given_again_for_a_minute_at_most(searcher: Counting, clock: FakeClock) -> None:
    searcher.search(Request(query="owl"))
    clock.advance(KEPT - 1)
    searcher.search(Request(query="owl"))
    assert searcher.worked == 1
    clock.advance(1)
    searcher.search(Request(query="owl"))
    assert searcher.worked == 2


def test_memory_is_bounded_by_the_hits_of_all_answers(index: SmallIndex, clock: FakeClock) -> None:
    Counting.worked = 0
    searcher = Counting(index.folder, clock=clock, most_hits=5)
    for query in ("owl", "barn", "owl"):
        searcher.search(Request(query=query))
    assert searcher.worked == 2
    searcher.search(Request(query="sleeps"))  # "barn" has waited longest
    searcher.search(Request(query="owl"))
    assert searcher.worked == 3
    searcher.search(Request(query="barn"))
    assert searcher.worked == 4


def test_the_words_of_the_index_are_read_before_the_first_mistake(searcher: Counting) -> None:
    searcher.search(Request(query="owl"))
    deadline = time.monotonic() + 60
    while searcher._views._vocabulary is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert searcher._views._vocabulary is not None
    assert searcher.search(Request(query="bran")).attempt is not None

"""Answers are given again: only while they are true, and only so many."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import pytest

from gossamer.model.site import key64
from gossamer.search.desk.acting import NO_RULES, Rules
from gossamer.search.desk.rules import BestBet, Desk, Hidden
from gossamer.search.remembered import KEPT, KEPT_NEWS, RememberingSearcher, size_of
from gossamer.search.results import Request, Results
from gossamer.search.searcher import Searcher
from gossamer.testing import FakeClock
from tests.unit.search.searcher_kit import NOW, SmallIndex, page

DAY = 86_400.0


class Counting(RememberingSearcher):
    """Counts how often an answer is worked out."""

    worked = 0

    def _search(self, *args: object) -> Results:
        type(self).worked += 1
        return super()._search(*args)  # type: ignore[arg-type]  # passed on as they came


class Desks:
    """Rules that somebody may publish."""

    def __init__(self) -> None:
        self.rules = NO_RULES

    def current(self) -> Rules:
        return self.rules


class Ranks:
    """Link ranks that are worked out again now and then."""

    def __init__(self) -> None:
        self.generation = "r000001"
        self.best = ""

    def of(self, keys: object) -> list[float]:
        assert isinstance(keys, list)
        return [50.0 if self.best and key == key64(self.best) else 1.0 for key in keys]


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


def wait_for_words(searcher: Searcher) -> None:
    deadline = time.monotonic() + 60
    while not searcher._views.has_vocabulary and time.monotonic() < deadline:
        time.sleep(0.01)


def urls(results: Results) -> list[str]:
    return [hit.url for hit in results.hits]


def test_a_repeated_request_is_answered_equally_and_without_work(searcher: Counting, index: SmallIndex) -> None:
    first, again = (searcher.search(Request(query="owl")) for _ in range(2))
    assert first.hits == again.hits == Searcher(index.folder, clock=FakeClock(NOW)).search(Request(query="owl")).hits
    assert searcher.worked == 1
    assert (first.remembered, again.remembered) == (False, True)


def test_another_request_gets_an_answer_of_its_own(searcher: Counting) -> None:
    assert len(urls(searcher.search(Request(query="owl")))) == 2
    assert len(urls(searcher.search(Request(query="barn")))) == 1
    assert len(urls(searcher.search(Request(query="owl", size=1)))) == 1


def test_the_next_search_after_a_commit_sees_it(searcher: Counting, index: SmallIndex) -> None:
    searcher.search(Request(query="owl"))
    index.put(page("/second", "Another owl.", "Second"))
    assert "http://site.test/second" in urls(searcher.search(Request(query="owl")))


def test_the_next_search_after_a_page_was_taken_away_does_not_show_it(searcher: Counting, index: SmallIndex) -> None:
    assert "http://site.test/owl" in urls(searcher.search(Request(query="owl")))
    index.writer.apply({}, [key64("http://site.test/owl")], index.writer.position + 1, NOW)
    assert urls(searcher.search(Request(query="owl"))) == ["http://site.test/barn"]


def test_the_next_search_after_another_generation_asks_that_one(searcher: Counting, index: SmallIndex) -> None:
    searcher.search(Request(query="owl"))
    index.folder.switch(index.folder.create())
    assert urls(searcher.search(Request(query="owl"))) == []


def test_the_next_search_after_the_desk_published_obeys_it(index: SmallIndex, clock: FakeClock) -> None:
    desk = Desks()
    searcher = RememberingSearcher(index.folder, clock=clock, desk=desk)
    before = urls(searcher.search(Request(query="owl")))
    desk.rules = Rules(Desk(hidden=(Hidden("http://site.test/owl"),)), 1)
    assert urls(searcher.search(Request(query="owl"))) == ["http://site.test/barn"]
    desk.rules = NO_RULES  # undone
    assert urls(searcher.search(Request(query="owl"))) == before


def test_a_best_bet_with_dates_begins_and_ends_on_its_days(index: SmallIndex, clock: FakeClock) -> None:
    bet = BestBet(("owl",), "http://site.test/barn", "2025-06-16", "2025-06-16")  # the day after NOW
    desk = Desks()
    desk.rules = Rules(Desk(best_bet=(bet,)), 1)
    searcher = RememberingSearcher(index.folder, clock=clock, desk=desk)

    def first() -> str:
        return urls(searcher.search(Request(query="owl")))[0]

    found = [first()]
    for _ in range(2):
        clock.advance(DAY)
        found.append(first())
    assert found == [f"http://site.test/{path}" for path in ("owl", "barn", "owl")]


def test_the_next_search_after_new_link_ranks_uses_them(index: SmallIndex, clock: FakeClock) -> None:
    ranks = Ranks()
    searcher = RememberingSearcher(index.folder, ranks=ranks, clock=clock)
    before = searcher.search(Request(query="owl"))
    ranks.best, ranks.generation = "http://site.test/barn", "r000002"
    after = searcher.search(Request(query="owl"))
    assert [hit.score for hit in before.hits] != [hit.score for hit in after.hits]


@pytest.mark.parametrize(
    ("request_", "kept"),
    [
        (Request(query="owl"), KEPT),
        (Request(query="owl", since="year"), KEPT_NEWS),
        (Request(query="owl news"), KEPT_NEWS),
        (Request(query="owl", sort="date"), KEPT_NEWS),
        (Request(query="owl sort:date"), KEPT_NEWS),
    ],
)
def test_an_answer_is_given_again_for_its_time_at_most(
    searcher: Counting, clock: FakeClock, request_: Request, kept: float
) -> None:
    searcher.search(request_)
    clock.advance(kept - 1)
    searcher.search(request_)
    assert searcher.worked == 1
    clock.advance(1)
    searcher.search(request_)
    assert searcher.worked == 2


def test_memory_is_bounded_by_bytes(index: SmallIndex, clock: FakeClock) -> None:
    Counting.worked = 0
    plain = Searcher(index.folder, clock=clock)
    sizes = {query: size_of(plain.search(Request(query=query))) for query in ("owl", "barn", "sleeps")}
    searcher = Counting(index.folder, clock=clock, most_bytes=sizes["owl"] + max(sizes["barn"], sizes["sleeps"]))
    for query in ("owl", "barn", "owl"):
        searcher.search(Request(query=query))
    assert searcher.worked == 2
    searcher.search(Request(query="sleeps"))  # "barn" has waited longest
    searcher.search(Request(query="owl"))
    assert searcher.worked == 3
    searcher.search(Request(query="barn"))
    assert searcher.worked == 4


def test_without_memory_every_answer_is_worked_out(index: SmallIndex, clock: FakeClock) -> None:
    Counting.worked = 0
    searcher = Counting(index.folder, clock=clock, most_bytes=0)
    found = [searcher.search(Request(query="owl")) for _ in range(2)]
    assert searcher.worked == 2
    assert [one.remembered for one in found] == [False, False]
    assert searcher.suggest("ow") == searcher.suggest("ow") == ["Owl"]


def test_an_answer_is_counted_as_about_the_memory_that_it_takes(tmp_path: Path, clock: FakeClock) -> None:
    pages = [page(f"/{n}", f"The owl sleeps in barn {n}. " * 30, f"Owl {n}", lang="en", date="2020") for n in range(40)]
    index = SmallIndex(tmp_path, *pages)
    plain = Searcher(index.folder, clock=clock)
    plain.search(Request(query="owl barn"))
    tracemalloc.start()
    try:
        kept = [plain.search(Request(query=f"owl barn {n}")) for n in range(40)]
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 0.5 < sum(map(size_of, kept)) / taken < 2.0


def test_suggestions_are_given_again_until_the_index_changes(searcher: Counting, index: SmallIndex) -> None:
    searcher.search(Request(query="owl"))
    wait_for_words(searcher)
    assert searcher.suggest("slee") == searcher.suggest("slee") == ["sleeps"]
    index.put(page("/sleet", "Sleet falls. Sleet.", "Weather"), page("/more", "Sleet again.", "More weather"))
    assert searcher.suggest("slee") == ["sleet", "sleeps"]


def test_the_words_of_the_index_are_read_before_the_first_mistake(searcher: Counting) -> None:
    searcher.search(Request(query="owl"))
    wait_for_words(searcher)
    assert searcher.search(Request(query="bran")).attempt is not None

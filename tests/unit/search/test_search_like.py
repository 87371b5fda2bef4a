"""More like this: pages that share with another what tells it from the rest."""

from __future__ import annotations

from pathlib import Path

import pytest
from searcher_kit import NOW, SmallIndex, near, page

from gossamer.index.document import IndexPage
from gossamer.search.desk.acting import Rules
from gossamer.search.desk.reading import read_desk
from gossamer.search.like.telling import MOST_WORDS, said, spellings
from gossamer.search.results import Request
from gossamer.search.searcher import Searcher
from gossamer.testing import FakeClock

FILLING = "People write about many things here, and every page of this place says so in some words."


def texts(topic: str, words: str, count: int, lang: str = "en") -> list[IndexPage]:
    """Pages about one thing, each with most of its words."""
    spoken = words.split()
    return [
        page(
            f"/{topic}/{number}",
            f"{' '.join(word for at, word in enumerate(spoken) if (at + number) % 4)}. {FILLING} Number{number}.",
            f"{topic} {number}",
            lang=lang,
        )
        for number in range(count)
    ]


ROCKETS = "nozzle oxidiser propellant combustion chamber thrust payload stage ignition turbopump gimbal exhaust"
BREAD = "flour yeast dough kneading oven crust sourdough starter proofing rye loaf baker"


@pytest.fixture
def index(tmp_path: Path) -> SmallIndex:
    others = [page(f"/other/{n}", f"{FILLING} Something{n} else{n}.", f"Other {n}", lang="en") for n in range(30)]
    return SmallIndex(tmp_path, *texts("rocket", ROCKETS, 8), *texts("bread", BREAD, 8), *others)


def test_pages_about_the_same_thing_are_found_and_the_page_itself_is_not(index: SmallIndex) -> None:
    assert index.found("like:http://site.test/rocket/3") == {f"/rocket/{n}" for n in range(8) if n != 3}
    assert index.found("like:http://site.test/bread/0") == {f"/bread/{n}" for n in range(1, 8)}


def test_the_answer_names_the_page_and_some_of_the_words(index: SmallIndex) -> None:
    (notice,) = index.search("like:http://site.test/rocket/3").notices
    assert "“rocket 3”" in notice and any(word in notice for word in ROCKETS.split())
    assert "people" not in notice.lower()


def test_words_and_filters_narrow_it(index: SmallIndex) -> None:
    assert index.found("like:http://site.test/rocket/3 site:site.test/rocket/5") == {"/rocket/5"}
    assert index.found("like:http://site.test/rocket/3 number6") == {"/rocket/6"}
    assert "/rocket/6" not in index.found("like:http://site.test/rocket/3 -number6")
    assert not index.found("like:http://site.test/rocket/3 lang:de")


def test_people_may_leave_out_scheme_and_slash(index: SmallIndex) -> None:
    whole = index.found("like:http://site.test/rocket/3")
    assert index.found("like:site.test/rocket/3") == index.found("like:http://site.test/rocket/3/") == whole


def test_it_cannot_be_excluded_and_needs_an_address(index: SmallIndex) -> None:
    assert "cannot be excluded" in index.search("-like:http://site.test/rocket/3").notices[0]
    assert "is not the address of a page" in index.search("like:this").notices[0]


@pytest.mark.parametrize("query", ["like:http://site.test/nowhere", "like:http://site.test/nowhere nozzle"])
def test_a_page_that_is_not_in_the_index_is_like_none_and_the_answer_says_so(index: SmallIndex, query: str) -> None:
    results = index.search(query)
    assert not results.total
    assert "The index has no page http://site.test/nowhere" in results.reason


def test_a_page_without_words_of_its_own_is_like_none_and_the_answer_says_so(index: SmallIndex) -> None:
    results = index.search("like:http://site.test/other/3")
    assert not results.total and "no words that only some pages have" in results.reason


def test_near_copies_of_the_page_are_left_out(tmp_path: Path) -> None:
    first, *others = texts("rocket", ROCKETS, 6)
    copies = near(7, first, page("http://copy.test/rocket", first.text, first.title, lang="en"))
    rest = [page(f"/other/{n}", f"{FILLING} Something{n}.", lang="en") for n in range(30)]
    index = SmallIndex(tmp_path, *copies, *others, *rest)
    assert index.found("like:http://site.test/rocket/0") == {f"/rocket/{n}" for n in range(1, 6)}
    assert index.found("like:http://copy.test/rocket", similar=True) == {f"/rocket/{n}" for n in range(1, 6)}


def test_pages_are_in_the_language_of_the_page(tmp_path: Path) -> None:
    english, german = texts("rocket", ROCKETS, 6), texts("rakete", ROCKETS, 6, lang="de")
    rest = [page(f"/other/{n}", f"{FILLING} Something{n}.", lang="en") for n in range(30)]
    index = SmallIndex(tmp_path, *english, *german, *rest)
    assert index.found("like:http://site.test/rocket/0") == {f"/rocket/{n}" for n in range(1, 6)}
    assert index.found("like:http://site.test/rocket/0 lang:de") <= {f"/rakete/{n}" for n in range(6)}
    assert index.found("like:http://site.test/rocket/0 lang:de")


def test_chinese_pages_are_found_by_their_words(tmp_path: Path) -> None:
    said_of = "火箭发动机 推进剂 燃烧室 氧化剂 喷管 推力 有效载荷 涡轮泵".split()
    pages = [
        page(f"/火箭/{n}", "。".join(w for at, w in enumerate(said_of) if (at + n) % 4), lang="zh") for n in range(6)
    ]
    rest = [page(f"/其他/{n}", f"面包和面粉的故事第{n}回，人们在这里写很多事情。", lang="zh") for n in range(30)]
    index = SmallIndex(tmp_path, *pages, *rest)
    found = index.found("like:http://site.test/火箭/0")
    assert found and found <= {f"/火箭/{n}" for n in range(6)} and "/火箭/0" not in found


def test_its_score_is_explained(index: SmallIndex) -> None:
    query = Request(query="like:http://site.test/rocket/3")
    first = index.searcher.search(query).hits[0]
    why = index.searcher.explain(query, first.url)
    assert why.matches and why.score == pytest.approx(first.score, rel=1e-4)
    assert any("shares" in factor.name for factor in why.factors)


def test_hidden_pages_are_neither_found_nor_asked_with(index: SmallIndex) -> None:
    class Desk:
        def current(self) -> Rules:
            return Rules(read_desk('[[hidden]]\nurl = "http://site.test/rocket/5"\n', "test"), 1)

    searcher = Searcher(index.folder, clock=FakeClock(NOW), desk=Desk())
    found = searcher.search(Request(query="like:http://site.test/rocket/3", size=100))
    assert found.total == 6 and "http://site.test/rocket/5" not in {hit.url for hit in found.hits}
    hidden = searcher.search(Request(query="like:http://site.test/rocket/5"))
    assert not hidden.total and "The index has no page" in hidden.reason


def test_a_long_page_costs_no_more_than_its_first_words() -> None:
    text = " ".join(f"word{number} word{number}" for number in range(50_000))
    assert len(list(said("Title", text, "en", ()))) <= 200
    assert MOST_WORDS == 25


def test_characters_that_mean_something_in_a_query_may_stand_in_the_address(tmp_path: Path) -> None:
    rockets = texts("rocket", ROCKETS, 6)
    odd = page("http://site.test/a|b(c)", " ".join(ROCKETS.split()[:9]), lang="en")
    rest = [page(f"/other/{n}", f"{FILLING} Something{n}.", lang="en") for n in range(30)]
    index = SmallIndex(tmp_path, *rockets, odd, *rest)
    assert index.found("like:http://site.test/a%7Cb%28c%29") == {f"/rocket/{n}" for n in range(6)}


def test_few_spellings_of_an_address_are_tried() -> None:
    assert len(spellings("example.org/a")) <= 16
    assert spellings("https://example.org/a")[0] == "https://example.org/a"


def test_a_title_cannot_turn_the_sentence_around(tmp_path: Path) -> None:
    odd = page("/odd", " ".join(ROCKETS.split()[:9]), "\u202eodd\x1b[2J title", lang="en")
    index = SmallIndex(tmp_path, *texts("rocket", ROCKETS, 6), odd, *texts("bread", BREAD, 8))
    (notice,) = index.search("like:http://site.test/odd").notices
    assert notice.isprintable() and "“odd [2J title”" in notice

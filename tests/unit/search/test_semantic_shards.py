"""A divided index is searched by words and meaning as one index is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from shards_kit import DividedIndex

from gossamer.index.document import IndexPage
from gossamer.index.folder import IndexFolder
from gossamer.indexer.vector_making import VectorMaker
from gossamer.search.desk.acting import Rules
from gossamer.search.desk.reading import read_desk
from gossamer.search.ranking import RankingConfig
from gossamer.search.results import Request
from gossamer.search.searcher import Searcher
from gossamer.search.semantic.mixing import Meaning
from gossamer.search.shards.sharded import ShardedSearcher
from kit.semantic import WordsEncoder

CONFIG = RankingConfig(semantic=0.5)


def english(number: int, text: str, **more: Any) -> IndexPage:
    return IndexPage(url=f"http://site.test/{number}", text=text, lang="en", **more)


def pages() -> list[IndexPage]:
    """Every text has four words, so that shards know how long texts are."""
    cars = [english(n, f"{'car' if n % 3 else 'automobile'} number{n} extra{n} {'tyres' if n % 2 else 'wheels'}")
            for n in range(40)]  # fmt: skip
    return cars + [english(100 + n, f"other{n} words{n} about{n} things{n}") for n in range(60)]


class Hiding:
    """A desk that hides a page which has the word and one which means it."""

    def current(self) -> Rules:
        return Rules(read_desk("".join(f'[[hidden]]\nurl = "http://site.test/{n}"\n' for n in (0, 1)), "test"))


class DividedMeaning(DividedIndex):
    """The same pages with vectors in one index and, divided, in several."""

    def __init__(self, root: Path, shards: int) -> None:
        super().__init__(root, shards, *pages())
        whole = IndexFolder(root / "whole")
        self.make(whole)
        self.single._config, self.single._meaning = CONFIG, Meaning(whole, 0.5, WordsEncoder())
        for cut, node in zip((cut for cut in self.writers if cut.shards), self.nodes.nodes.values(), strict=True):
            folder = IndexFolder(root / str(cut).replace("/", "of"))
            self.make(folder)
            node._meaning = Meaning(folder, 0.5, WordsEncoder())
        self.divided._config = CONFIG

    def make(self, folder: IndexFolder) -> None:
        assert VectorMaker(folder, WordsEncoder()).finish()


def ranked(searcher: Searcher | ShardedSearcher, query: str, **more: Any) -> list[tuple[float, str]]:
    hits = searcher.search(Request(query=query, size=100, **more)).hits
    return sorted(((round(hit.score, 2), hit.url) for hit in hits), key=lambda one: (-one[0], one[1]))


@pytest.fixture(scope="module", params=[1, 3])
def index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> DividedMeaning:
    return DividedMeaning(tmp_path_factory.mktemp("shards"), request.param)


@pytest.mark.parametrize("query", ["automobile", "automobile wheels", "car tyres -wheels", "number7 automobile"])
def test_shards_find_and_score_what_one_index_does(index: DividedMeaning, query: str) -> None:
    assert ranked(index.divided, query) == ranked(index.single, query)
    assert index.divided.search(Request(query=query)).total == index.single.search(Request(query=query)).total


def test_pages_that_only_meaning_finds_come_in(index: DividedMeaning) -> None:
    found = {url for _, url in ranked(index.divided, "automobile")}
    assert found == {f"http://site.test/{n}" for n in range(40)}
    assert len({hit.url for number in (1, 2, 3, 4)
                for hit in index.divided.search(Request(query="automobile", page=number)).hits}) == 40  # fmt: skip


def test_words_alone_stay_alone(index: DividedMeaning) -> None:
    for query in ('"automobile"', "intitle:car", "autoMobile"):
        assert ranked(index.divided, query) == ranked(index.single, query)
    with_the_word = {f"http://site.test/{n}" for n in range(0, 40, 3)}
    assert {url for _, url in ranked(index.divided, '"automobile"')} == with_the_word


def test_the_parts_of_a_score_are_told(index: DividedMeaning) -> None:
    asked = Request(query="automobile")
    for hit in index.divided.search(asked).hits:
        told = index.divided.explain(asked, hit.url)
        assert told.matches and told.score == pytest.approx(hit.score, abs=0.01)
        assert "meaning" in {factor.name for factor in told.factors}


def test_hidden_pages_stay_hidden(tmp_path: Path) -> None:
    index = DividedMeaning(tmp_path, 3)
    index.divided._desk = index.single._desk = Hiding()
    for searcher in (index.divided, index.single):
        assert {url for _, url in ranked(searcher, "automobile")} == {f"http://site.test/{n}" for n in range(2, 40)}


def test_shards_without_vectors_and_missing_ones_leave_the_words(tmp_path: Path) -> None:
    index = DividedMeaning(tmp_path, 3)
    index.nodes.nodes[2]._meaning = None
    everything = {f"http://site.test/{n}" for n in range(0, 40, 3)}
    assert {url for _, url in ranked(index.divided, "automobile")} >= everything
    for node in index.nodes.nodes.values():
        node._meaning = None
    assert {url for _, url in ranked(index.divided, "automobile")} == everything

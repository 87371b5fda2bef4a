"""More like this and the limit for a site in a divided index: equal to one index."""

from __future__ import annotations

from pathlib import Path

import pytest
from searcher_kit import near, page
from shards_kit import DividedIndex
from test_search_grouping import MANY, rocket
from test_search_like import BREAD, FILLING, ROCKETS, texts

from gossamer.search.desk.acting import Rules
from gossamer.search.desk.reading import read_desk
from gossamer.search.results import Request, Results

COPIES = near(9, *(rocket("big.example.org", number, 5) for number in range(100, 104)))


def words(results: Results) -> tuple[object, ...]:
    return results.total, results.reason, results.notices, sorted(hit.url for hit in results.hits)


def of_large(results: Results) -> list[tuple[int, object]]:
    """The places of the largest site, and what is said of it."""
    return [(place, hit.more_from) for place, hit in enumerate(results.hits) if hit.group == "example.org"]


@pytest.fixture(scope="module", params=[1, 3])
def topics(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> DividedIndex:
    others = [page(f"/other/{n}", f"{FILLING} Something{n} else{n}.", f"Other {n}", lang="en") for n in range(30)]
    pages = [*texts("rocket", ROCKETS, 8), *texts("bread", BREAD, 8), *others]
    return DividedIndex(tmp_path_factory.mktemp("index"), request.param, *pages)


@pytest.mark.parametrize(
    "query",
    [
        "like:http://site.test/rocket/3", "like:site.test/bread/2/", "like:http://site.test/rocket/3 number6",
        "like:http://site.test/rocket/3 lang:de", "like:http://site.test/nowhere", "like:http://site.test/other/1",
    ],
)  # fmt: skip
def test_pages_like_another_are_the_same(topics: DividedIndex, query: str) -> None:
    one, many = (searcher.search(Request(query=query, size=100)) for searcher in (topics.single, topics.divided))
    assert words(one) == words(many)
    assert [hit.score for hit in many.hits] == pytest.approx([hit.score for hit in one.hits], rel=1e-4)
    assert {hit.url: hit.excerpt for hit in one.hits} == {hit.url: hit.excerpt for hit in many.hits}


def test_why_a_page_is_like_another_is_explained(topics: DividedIndex) -> None:
    asked = Request(query="like:http://site.test/rocket/3")
    hit = topics.divided.search(asked).hits[0]
    assert topics.divided.explain(asked, hit.url).score == pytest.approx(hit.score, rel=1e-3)


def test_a_hidden_page_is_not_asked_with(topics: DividedIndex) -> None:
    class Desk:
        def current(self) -> Rules:
            return Rules(read_desk('[[hidden]]\nurl = "http://site.test/rocket/5"\n', "test"), 1)

    topics.divided._desk = Desk()
    try:
        assert not topics.divided.search(Request(query="like:http://site.test/rocket/5")).total
        assert topics.divided.search(Request(query="like:http://site.test/rocket/3")).total == 6
    finally:
        topics.divided._desk = None


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("size", [5, 10])
def test_pages_have_the_same_limit_for_a_site(tmp_path: Path, shards: int, size: int) -> None:
    index = DividedIndex(tmp_path, shards, *MANY, *COPIES)
    shown: list[str] = []
    for number in range(1, index.single.search(Request(query="rocket", size=size)).pages + 1):
        request = Request(query="rocket", size=size, page=number)
        one, many = index.single.search(request), index.divided.search(request)
        assert one.grouped and many.grouped and one.total == many.total == 32
        assert of_large(one) == of_large(many)  # the others have equal scores
        shown += [hit.url for hit in many.hits]
    assert len(shown) == len(set(shown)) == 32

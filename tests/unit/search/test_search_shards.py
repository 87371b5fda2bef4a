"""A divided index inside one process: equal to one index, and clear about what is missing."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from searcher_kit import near, page
from shards_kit import DividedIndex

from gossamer.index.analysis import Languages
from gossamer.index.shards import Cut
from gossamer.search.corpus import Whole
from gossamer.search.query.language import parse
from gossamer.search.results import Request, Results
from gossamer.search.shards.ballast import WANTED, Balance, weigh
from gossamer.search.shards.rounds import ShardsMissingError

WORDS = "silk thread spider orb wheel garden moon rocket паук нить 蜘蛛 图书馆".split()
QUERIES = [
    "spider",
    "silk thread",
    '"silk thread"',
    "moon OR rocket",
    "паук",
    "图书馆",
    "garden -silk",
    "thraed",
    "news",
]


def pages(count: int = 60) -> list[Any]:
    """Pages of different lengths, among them copies and several languages."""
    found = []
    for n in range(count):
        words = [WORDS[(n * step) % len(WORDS)] for step in range(1, 4 + n % 17)]
        found.append(page(f"/{n}/{words[0]}", " ".join(words), " ".join(words[:2]), date=f"2024-05-{1 + n % 28:02}"))
    copies = near(7, *(page(f"/copy{n}", "silk thread spider again and again", "silk") for n in range(6)))
    return found + copies


def same(one: Results, many: Results) -> None:
    """Equal but for times and for the order of hits with the same score."""
    for name in ("total", "pages", "estimated", "facets", "did_you_mean", "notices"):
        assert getattr(one, name) == getattr(many, name), name
    assert [hit.score for hit in many.hits] == pytest.approx([hit.score for hit in one.hits], rel=1e-5)

    scores = {hit.url: hit.score for hit in one.hits}
    assert {hit.url: hit.score for hit in many.hits} == pytest.approx(scores, rel=1e-5)
    seen = {(hit.url, hit.title, hit.excerpt, hit.similar, hit.date) for hit in one.hits}
    assert {(hit.url, hit.title, hit.excerpt, hit.similar, hit.date) for hit in many.hits} == seen


@pytest.mark.parametrize("shards", [1, 2, 5])
@pytest.mark.parametrize("query", QUERIES)
def test_a_divided_index_finds_what_one_index_finds(tmp_path: Path, shards: int, query: str) -> None:
    index = DividedIndex(tmp_path, shards, *pages())
    for request in (Request(query=query, size=100), Request(query=query, size=100, sort="date", similar=True)):
        same(index.single.search(request), index.divided.search(request))


def test_with_one_shard_nothing_at_all_differs(tmp_path: Path) -> None:
    index = DividedIndex(tmp_path, 1, *pages())
    for query in QUERIES:
        one, many = (searcher.search(Request(query=query)) for searcher in (index.single, index.divided))
        assert one.hits == many.hits and one.facets == many.facets and one.total == many.total
        assert index.single.suggest(query[:3]) == index.divided.suggest(query[:3])


@pytest.mark.parametrize("query", ['"burn fuel"', '"fuel" OR moon', '"burn fuel" OR "silk thread"'])
def test_a_phrase_counts_alike_in_shards_that_know_no_other_forms_of_its_words(tmp_path: Path, query: str) -> None:
    """Few pages match, so other forms are looked for: only one shard has some."""
    exact = [page(f"/exact{n}", f"rockets burn fuel and {n} moon", "burn fuel" * (n % 2)) for n in range(6)]
    other = page("/other", "it burned fuels of all kinds", "burned fuels")
    index = DividedIndex(tmp_path, 4, *exact, other)
    request = Request(query=query, size=100)
    one, many = (searcher.search(request) for searcher in (index.single, index.divided))
    assert other.url in {hit.url for hit in one.hits} and one.attempt is not None
    same(one, many)


@settings(max_examples=15)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12), min_size=1, max_size=25),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
    st.integers(2, 4),
)
def test_scores_do_not_depend_on_how_documents_are_divided(
    tmp_path_factory: pytest.TempPathFactory, texts: list[list[str]], words: list[str], shards: int
) -> None:
    drawn = [page(f"/{n}", " ".join(text), text[0]) for n, text in enumerate(texts)]
    index = DividedIndex(tmp_path_factory.mktemp("divided"), shards, *drawn)
    request = Request(query=" ".join(words), size=100)
    same(index.single.search(request), index.divided.search(request))


@pytest.mark.parametrize("size", [1, 5, 10])
def test_the_best_have_their_true_scores_however_many_pages_are_alike(tmp_path: Path, size: int) -> None:
    """A score that was not corrected must not overtake those that were."""
    alike = [page(f"/{n}", "spider silk", "spider") for n in range(80)]
    others = [page(f"/long{n}", "moon " * (5 + 40 * (n % 3)), "moon") for n in range(7)]
    index = DividedIndex(tmp_path, 3, *alike, *others, page("/best", "spider", "spider"))
    one, many = (searcher.search(Request(query="spider", size=size)) for searcher in (index.single, index.divided))
    assert [hit.score for hit in many.hits] == pytest.approx([hit.score for hit in one.hits], rel=1e-5)


def test_ranks_and_representatives_count_across_shards(tmp_path: Path) -> None:
    index = DividedIndex(tmp_path, 3, *pages())
    copies = [one for one in pages() if one.cluster == 7]
    index.leaders.known[7] = copies[3].key
    index.ranks = {one.key: float(n) for n, one in enumerate(copies)}
    one, many = (searcher.search(Request(query="silk again")) for searcher in (index.single, index.divided))
    same(one, many)
    shown = next(hit for hit in many.hits if hit.similar)
    assert shown.url == copies[3].url and shown.similar == 5
    assert {hit.url for hit in index.divided.similar(Request(query="silk again"), shown.url)} == {
        copy.url for copy in copies if copy is not copies[3]
    }


def test_an_explanation_adds_up_to_the_score(tmp_path: Path) -> None:
    index = DividedIndex(tmp_path, 3, *pages())
    for hit in index.divided.search(Request(query="silk moon")).hits:
        told = index.divided.explain(Request(query="silk moon"), hit.url)
        assert told.matches and told.score == pytest.approx(hit.score, rel=1e-4)


def test_a_stored_page_comes_from_its_shard(tmp_path: Path) -> None:
    index = DividedIndex(tmp_path, 3, *pages())
    url = pages()[5].url
    assert index.divided.page(url) == index.single.page(url)
    assert index.divided.page("http://site.test/nowhere") is None


def test_a_missing_shard_is_told_and_forgotten_when_it_is_back(tmp_path: Path) -> None:
    index = DividedIndex(tmp_path, 4, *pages())
    index.nodes.down = {2}
    results = index.divided.search(Request(query="spider", size=100))
    assert results.incomplete and results.notices[0] == "1 of 4 shards does not answer: results may be incomplete."
    assert results.shards is not None and results.shards.problems == ("shard 2 is down",)
    index.nodes.down = {1, 2, 3}
    assert "3 of 4 shards do not answer" in index.divided.search(Request(query="spider")).notices[0]
    index.nodes.down = {1, 2, 3, 4}
    with pytest.raises(ShardsMissingError, match="no shard of the index answers: shard 1 is down; shard 2 is down"):
        index.divided.search(Request(query="spider"))
    index.nodes.down = set()
    request = Request(query="spider", size=100)
    same(index.single.search(request), index.divided.search(request))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"crawl": "another"}, "is an index of another crawl"),
        ({"schema": 99}, "format 99"),
        ({"protocol": 99}, "version 99 of the protocol"),
        ({"shards": 5}, "holds shard 3/5"),
    ],
)
def test_a_node_that_does_not_fit_counts_as_missing_with_the_reason(
    tmp_path: Path, change: dict[str, Any], reason: str
) -> None:
    index = DividedIndex(tmp_path, 3, *pages())
    index.nodes.changed = {3: change}
    results = index.divided.search(Request(query="spider"))
    assert results.shards is not None and results.shards.answered == 2
    assert reason in results.shards.problems[0] and "shard 3 of 3" in results.shards.problems[0]


def test_numbers_of_known_words_are_not_asked_for_again_until_something_is_committed(tmp_path: Path) -> None:
    index = DividedIndex(tmp_path, 2, *pages())
    index.divided.search(Request(query="spider silk"))
    index.nodes.asked.clear()
    index.divided.search(Request(query="spider"))
    assert "statistics" not in {operation for operation, _ in index.nodes.asked}
    index.put(page("/new", "spider spider rareword", "spider"))
    index.divided.search(Request(query="spider"))  # learns from the answers that the indexes have moved on
    for query in ("spider", "rareword"):
        request = Request(query=query, size=100)
        same(index.single.search(request), index.divided.search(request))


def test_nothing_is_asked_for_nothing(tmp_path: Path) -> None:
    index = DividedIndex(tmp_path, 2, *pages(5))
    index.nodes.down = {1, 2}
    assert index.divided.search(Request(query="  ")).total == 0
    assert index.divided.suggest("  ") == []


def test_a_search_of_known_words_takes_one_round(tmp_path: Path) -> None:
    index = DividedIndex(tmp_path, 2, *(one for one in pages() if one.cluster is None))
    request = Request(query="spider silk")
    index.divided.search(request)
    index.nodes.asked.clear()
    same(index.single.search(request), index.divided.search(request))
    assert index.nodes.asked == [("find", 1), ("find", 2)]


def test_a_shard_that_has_most_of_the_results_is_asked_for_the_rest(tmp_path: Path) -> None:
    alike = [page(f"/{n}", f"spider {'silk ' * (n % 9)}", "spider") for n in range(120)]
    here = [one for one in alike if Cut(1, 3).holds(one.key)][:25]
    index = DividedIndex(tmp_path, 3, *here, page("/other", "moon"))
    request = Request(query="spider")
    same(index.single.search(request), index.divided.search(request))
    assert {shard for operation, shard in index.nodes.asked if operation == "show"} == {1}


@pytest.mark.parametrize("query", [*QUERIES, '"silk thread" OR garden'])
def test_scores_are_right_with_ballast_and_without_it(tmp_path: Path, query: str) -> None:
    """Words side by side, in titles and in texts: the library itself scores them by the averages of all documents."""
    index = DividedIndex(tmp_path, 3, *pages())
    request = Request(query=query, size=100)
    same(index.single.search(request), index.divided.search(request))
    whole = index.divided._question(request, parse(query), index.divided._rounds()).whole
    for node in index.nodes.nodes.values():
        node._balance._make(node._views.current(), whole)
        view = node._balance.view(node._views.current(), whole)
        assert view is not node._views.current()
        assert view.lengths == pytest.approx(whole.lengths, rel=1e-4) and view.documents == whole.written
    same(index.single.search(request), index.divided.search(request))
    assert all("_" not in hit.excerpt.text for hit in index.divided.search(request).hits)


def test_ballast_is_made_after_some_searches_and_again_after_a_commit(tmp_path: Path) -> None:
    index = DividedIndex(tmp_path, 2, *pages())
    request = Request(query="spider", size=100)
    for _ in range(2):
        for node in index.nodes.nodes.values():
            node._balance._rest_until = 0.0
        for _ in range(WANTED):
            same(index.single.search(request), index.divided.search(request))
        wait_for(lambda: all(node._balance._view is not None for node in index.nodes.nodes.values()))
        same(index.single.search(request), index.divided.search(request))
        index.put(page("/more", "spider spider " * 30, "spider"))
        index.divided.search(request)  # learns that the indexes have moved on


def test_ballast_is_used_again_as_long_as_it_fits_and_no_other_is_made_at_once(tmp_path: Path) -> None:
    index = DividedIndex(tmp_path, 2, *pages())
    request, now = Request(query="spider", size=100), 1000.0
    node = index.nodes.nodes[1]
    balance = node._balance = Balance(lambda: now)

    def whole() -> Whole:
        index.divided._tallies.note({1: -1, 2: -1})
        return index.divided._question(request, parse("spider"), index.divided._rounds()).whole

    balance.view(node._views.current(), whole())
    balance._make(node._views.current(), whole())
    first = balance._ballast
    assert first is not None and balance.view(node._views.current(), whole()) is balance._view is not None
    index.put()  # another commit of the same pages
    assert node._views.current() is not balance._of
    balance.view(node._views.current(), whole())
    balance._make(node._views.current(), whole())
    assert balance._ballast is first and balance._view is not None
    same(index.single.search(request), index.divided.search(request))
    index.put(page("/long", "spider thread " * 500, "spider"))
    balance.view(node._views.current(), whole())
    balance._rest_until = now + 1
    balance._make(node._views.current(), whole())
    assert balance._ballast is first and balance._view is None
    same(index.single.search(request), index.divided.search(request))
    now += 2
    balance._make(node._views.current(), whole())
    assert balance._ballast is not first and balance._view is not None
    same(index.single.search(request), index.divided.search(request))


def test_a_shard_too_unlike_the_others_gets_no_ballast() -> None:
    def whole(lengths: dict[str, float]) -> Whole:
        return Whole(10**9, 10**9, Languages(), lengths, False, {})

    assert weigh(10**8, {"title": 3.0, "body": 500.0}, whole({"title": 3.0, "body": 100.0})) is None
    found = weigh(10**6, {"title": 3.0, "body": 500.0}, whole({"title": 3.1, "body": 495.0}))
    assert found is not None and found.documents < 20_000 and found.words["title"] > 0
    assert weigh(100, {"title": 3.0}, msgspec.structs.replace(whole({"title": 3.0}), written=100)) is None


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)

"""Ranking: priors in saturated form, freshness, copies, and explanations that add up."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from searcher_kit import SmallIndex, near, page

from gossamer.model.site import key64
from gossamer.search.ranking import saturated
from gossamer.search.results import Request

LONG = " ".join(f"Sentence number {n} of a long text about comets and their tails." for n in range(20))


@given(st.floats(0, 1e12), st.floats(0, 1e12), st.floats(0.01, 100), st.floats(0.01, 100))
def test_a_signal_helps_more_the_larger_it_is_and_never_beyond_its_weight(
    low: float, high: float, weight: float, half: float
) -> None:
    low, high = sorted((low, high))
    assert 0 <= saturated(low, weight, half) <= saturated(high, weight, half) <= weight
    assert saturated(half, weight, half) == pytest.approx(weight / 2)
    assert saturated(0, weight, half) == 0


def test_of_equal_pages_the_one_with_the_shorter_address_and_the_higher_rank_comes_first(tmp_path: Path) -> None:
    index = SmallIndex(tmp_path / "index", page("/a/b/c/d", "comet one"), page("/a", "comet two"))
    assert index.paths("comet") == ["/a", "/a/b/c/d"]
    index.ranks[key64("http://site.test/a/b/c/d")] = 8.0
    assert index.paths("comet") == ["/a/b/c/d", "/a"]


def test_freshness_counts_only_where_the_query_asks_for_it(tmp_path: Path) -> None:
    old = page("/old", "comet news and more comet news", date="2019-01-01")
    new = page("/new", "comet news and other things", date="2025-06-14")
    index = SmallIndex(tmp_path / "index", old, new)
    assert index.paths("comet") == ["/old", "/new"]
    assert index.paths("comet news") == ["/new", "/old"]


ENTRIES = "Comet seen over the lake. Rocket engine test. New telescope. Comet tails explained."


def _blog(root: Path, **config: float) -> SmallIndex:
    """Lists with the words of their entries, and the page that is one of these."""
    return SmallIndex(
        root,
        page("/tag/comet/", ENTRIES, "comet 2", page_type="listing"),
        page(
            "/a/b/lake",
            "Yesterday a comet was seen above, and many people saw it from the lake. " + LONG,
            "Over the lake",
        ),
        page("/", ENTRIES, "Sky and lake", page_type="listing"),
        page("/shop/", "comet posters comet prints", "Posters", page_type="collection"),
        *(page(f"/filler/{n}", "Nothing of that kind.", "Filler") for n in range(50)),
        **config,
    )


def test_a_list_stays_behind_the_pages_that_it_lists(tmp_path: Path) -> None:
    assert _blog(tmp_path / "with").paths("comet lake")[0] == "/a/b/lake"
    assert _blog(tmp_path / "without", list_weight=0.0).paths("comet lake")[0] != "/a/b/lake"


def test_a_list_comes_first_where_the_query_names_it_or_asks_for_lists(tmp_path: Path) -> None:
    index = _blog(tmp_path / "index")
    assert index.paths("comet")[0] == "/tag/comet/"
    assert index.paths("sky lake")[0] == "/"
    assert index.paths("posters")[0] == "/shop/"
    for asked in (index.search("comet lake pagetype:listing"), index.search("comet lake", page_type="listing")):
        assert {hit.url for hit in asked.hits} == {"http://site.test/", "http://site.test/tag/comet/"}
        assert asked.hits[0].score > 0


def test_what_a_list_loses_is_explained(tmp_path: Path) -> None:
    index = _blog(tmp_path / "index")
    told = index.searcher.explain(Request(query="comet lake"), "http://site.test/tag/comet/")
    assert [factor.value < 0 for factor in told.factors if factor.name == "prior: list of other pages"] == [True]
    hit = next(hit for hit in index.search("comet lake").hits if hit.url.endswith("/tag/comet/"))
    assert told.score == pytest.approx(hit.score)


def test_copies_are_collapsed_under_the_best_and_can_be_expanded(tmp_path: Path) -> None:
    mirrors = [page(f"http://mirror{n}.test/x/y", LONG, "Comets") for n in range(3)]
    copies = near(1, *mirrors, page("/comets", LONG.replace("number 7 of", "number 7 in"), "Comets"))
    index = SmallIndex(tmp_path / "index", *copies, page("/other", "comet", "Other"))
    answer = index.search("comets")
    assert [(hit.url, hit.similar) for hit in answer.hits] == [
        ("http://site.test/comets", 3),
        ("http://site.test/other", 0),
    ]
    assert answer.total == 2 and answer.pages == 1
    under = index.searcher.similar(Request(query="comets"), "http://site.test/comets")
    assert {hit.url for hit in under} == {f"http://mirror{n}.test/x/y" for n in range(3)}
    assert len(index.search("comets", similar=True).hits) == 5


def test_paging_shows_every_result_once_and_ends_with_a_notice(tmp_path: Path) -> None:
    texts = [" ".join(["comet", *(f"w{n}x{k}" for k in range(n))]) for n in range(45)]
    index = SmallIndex(tmp_path / "index", *(page(f"/{n}", text) for n, text in enumerate(texts)))
    answer = index.search("comet")
    assert (answer.total, answer.pages) == (45, 5)
    shown = [path for number in range(1, 6) for path in index.paths("comet", page=number)]
    assert sorted(shown) == sorted(f"/{n}" for n in range(45))
    beyond = index.search("comet", page=10**9)
    assert beyond.hits == () and beyond.total == 45 and beyond.notices == ("There are only 45 results.",)
    assert index.search("comet", size=10**6).hits and index.search("comet", size=-1, page=-5).hits


def test_a_page_from_the_future_does_not_lead_the_newest(tmp_path: Path) -> None:
    index = SmallIndex(
        tmp_path / "index", page("/now", "comet", date="2025-06-15"), page("/later", "comet", date="2099-01-01")
    )
    assert index.paths("comet", sort="date") == ["/now"] == index.paths("comet sort:date")
    assert len(index.paths("comet")) == 2


@pytest.mark.parametrize("query", ["comet", "comets tails", '"long text" comet', "comet news", "sentence OR comet"])
def test_the_factors_of_an_explanation_add_up_to_the_score(tmp_path: Path, query: str) -> None:
    index = SmallIndex(
        tmp_path / "index",
        page("/a/b", LONG, "Comets", lang="en", date="2025-01-01"),
        page("/c", "comet news sentence"),
    )
    index.ranks[key64("http://site.test/a/b")] = 2.0
    for hit in index.search(query).hits:
        why = index.searcher.explain(Request(query=query), hit.url)
        assert why.matches and why.score == pytest.approx(hit.score, rel=1e-5)
        assert why.score == pytest.approx(sum(factor.value for factor in why.factors))


def test_what_does_not_match_is_explained_too(tmp_path: Path) -> None:
    index = SmallIndex(tmp_path / "index", page("/a", "comet"))
    assert "not in the index" in index.searcher.explain(Request(query="comet"), "http://site.test/b").reason
    assert "none of the words" in index.searcher.explain(Request(query="tail"), "http://site.test/a").reason


@pytest.mark.parametrize("ranking", ["web", "bm25", "classic"])
def test_every_ranking_finds_the_page(tmp_path: Path, ranking: str) -> None:
    index = SmallIndex(tmp_path / "index", page("/a", "comet tail"), page("/b", "something else"))
    assert index.paths("comet", ranking=ranking) == ["/a"]

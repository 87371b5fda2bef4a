"""Ranks of an earlier crawl, and four ways to rank the pages it did not know."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated_crawl import Crawl, area, by_score, page_ranks, scale_free

from gossamer.errors import UsageError
from gossamer.model.records import Discovered, Via
from gossamer.model.site import key64
from gossamer.priority.chance import RandomOrder
from gossamer.priority.config import PriorityConfig
from gossamer.priority.earlier import Earlier, EarlierOrParent, KeyedRanks, earlier
from gossamer.priority.levels import levels_of
from gossamer.priority.strategy import Context, LinkStrategy, Strategy
from studies.priority import Omniscient, Oracle


def keyed(ranks: dict[str, float]) -> dict[int, float]:
    return {key64(url): rank for url, rank in ranks.items()}


def levels(strategy: Strategy, *urls: str) -> list[int]:
    found: list[int] = levels_of(strategy.scores([Discovered(url) for url in urls])).tolist()
    return found


RANKS = keyed({"top": 3000.0, "good": 300.0, "fair": 1.0, "low": 0.15})


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9])
def test_known_pages_are_ordered_by_rank_whatever_its_scale(scale: float) -> None:
    strategy = Earlier({key: rank * scale for key, rank in RANKS.items()})
    assert levels(strategy, "top", "good", "fair", "low", "unknown") == [0, 3, 12, 15, 16]


@given(st.lists(st.floats(min_value=0, allow_infinity=False), min_size=1, unique=True))
def test_a_higher_rank_never_has_a_lower_score(ranks: list[float]) -> None:
    strategy = Earlier(keyed({str(rank): rank for rank in ranks}))
    scores = strategy.scores([Discovered(str(rank)) for rank in sorted(ranks)])
    assert bool(np.all(np.diff(scores) >= 0))
    assert bool(np.all((scores > 0) & (scores <= 1)))


@given(
    st.dictionaries(st.integers(0, 30), st.floats(0.01, 100), max_size=20),
    st.sampled_from(["parent", "random", "zero"]),
)
def test_ranks_in_arrays_are_the_same_ranks(ranks: dict[int, float], unranked: str) -> None:
    known = keyed({str(number): rank for number, rank in ranks.items()})
    arrays = KeyedRanks(np.array(sorted(known), np.int64), np.array([known[key] for key in sorted(known)]))
    assert dict(arrays) == known and len(arrays) == len(known)
    assert arrays.get(key64("none")) is None
    found = [Discovered(str(number), Via.SEED if number % 2 else Via.LINK) for number in range(40)]
    if unranked == "parent":
        standings = [EarlierOrParent(one).start(found, 1.0) for one in (arrays, known)]
        assert all(np.array_equal(*pair) for pair in zip(*standings, strict=True))
    else:
        scores = [Earlier(one, "random" if unranked == "random" else "zero").scores(found) for one in (arrays, known)]
        assert np.array_equal(scores[0], scores[1])


@pytest.mark.parametrize("rank", [0.0, -1.0, math.nan, math.inf])
def test_what_is_no_rank_counts_as_unknown(rank: float) -> None:
    strategy = Earlier({**RANKS, key64("odd"): rank})
    assert levels(strategy, "odd", "top") == [16, 0]


def test_by_lot_unknown_pages_have_the_ranks_of_known_ones_in_proportion() -> None:
    known = {"top": 1024.0} | {f"low{number}": 1.0 for number in range(3)}
    strategy = Earlier(keyed(known), "random")
    drawn = levels(strategy, *(f"new{number}" for number in range(4000)))
    assert set(drawn) == {0, 15}
    assert drawn.count(0) == pytest.approx(1000, abs=150)
    assert drawn == levels(strategy, *(f"new{number}" for number in range(4000))), "the same each time"


def test_an_unknown_page_has_what_its_parents_have_for_each_of_their_links() -> None:
    graph = {"top": ["a", "b", "good"], "good": ["b", "fair"], "a": ["c", "d"], "b": ["e"]}
    crawl = Crawl(graph, ["top"], EarlierOrParent(RANKS), place=by_score)
    crawl.run()
    ranks = {url: cash for url, (cash, _, _) in crawl.standings.items()}
    assert ranks["a"] == 1000.0
    assert ranks["c"] == 500.0, "estimates are handed on"
    assert ranks["b"] == 1000.0 + 150.0, "and add up"
    assert (ranks["good"], ranks["fair"]) == (300.0, 1.0), "known ranks are not changed by links"
    assert crawl.order == ["top", "a", "b", "e", "c", "d", "good", "fair"]


def test_an_unknown_seed_is_a_page_like_any() -> None:
    start = EarlierOrParent(RANKS).start([Discovered("new", Via.SEED), Discovered("top", Via.SEED)], 0.0)
    assert start.cash.tolist() == pytest.approx([(3000 + 300 + 1 + 0.15) / 4, 3000])


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_estimates_stay_within_the_scale(cash: float, gift: float) -> None:
    strategy = EarlierOrParent(RANKS)
    standing = strategy.gain(strategy.start([Discovered("new")], 0.0), np.array([cash]))
    values = strategy.values(strategy.gain(standing, np.array([gift])))
    assert 0 < values[0] <= 1


def test_the_settings_choose_how_unknown_pages_are_ranked() -> None:
    made = {
        unranked: earlier(Context(PriorityConfig(unranked=unranked), ranks=RANKS))
        for unranked in ("parent", "random", "zero")
    }
    assert isinstance(made["parent"], LinkStrategy)
    assert not isinstance(made["random"], LinkStrategy)
    assert not isinstance(made["zero"], LinkStrategy)
    assert levels(made["zero"], "new") == [16]
    assert levels(made["random"], "new") != [16]


def test_without_ranks_the_strategy_is_refused() -> None:
    with pytest.raises(UsageError, match="`ranks`"):
        earlier(Context())


def test_an_oracle_knows_the_true_ranks_of_unknown_pages_only() -> None:
    oracle = Oracle(RANKS, keyed({"top": 0.15, "new": 3000.0}))
    assert levels(oracle, "top", "new", "low") == [0, 0, 15]


def test_the_omniscient_takes_the_best_page_it_can_reach() -> None:
    graph = {"s": ["a", "b"], "a": ["c"], "b": [], "c": []}
    truth = keyed({"s": 1.0, "a": 2.0, "b": 4.0, "c": 8.0})
    assert Crawl(graph, ["s"], Omniscient(truth), place=by_score).run() == ["s", "b", "a", "c"]


def test_the_more_is_known_the_earlier_good_pages_are_fetched() -> None:
    graph = scale_free(1500, 8, seed=4)
    truth = page_ranks(graph)
    before = {url: links for url, links in graph.items() if key64(url) % 3}
    known = keyed(page_ranks({url: [link for link in links if link in before] for url, links in before.items()}))
    seeds = [list(graph)[number] for number in (1499, 1200, 900)]
    strategies: dict[str, Strategy | LinkStrategy] = {
        "by lot": RandomOrder(),
        "zero": Earlier(known, "zero"),
        "random": Earlier(known, "random"),
        "parent": EarlierOrParent(known),
        "oracle": Oracle(known, keyed(truth)),
        "omniscient": Omniscient(keyed(truth)),
    }
    areas = {name: area(Crawl(graph, seeds, strategy).run(), truth) for name, strategy in strategies.items()}
    for way in ("zero", "random", "parent", "oracle"):
        assert areas["by lot"] * 1.1 < areas[way] <= areas["omniscient"] * 1.02
    assert areas["oracle"] >= max(areas["zero"], areas["random"])

"""Strategies that go by links: backlink count, OPIC, FICA, alone and in simulated crawls."""

from __future__ import annotations

import heapq
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated_crawl import Crawl, area, by_score, page_ranks, scale_free

from gossamer.model.records import Discovered, Kind, Via
from gossamer.priority.backlinks import Backlinks
from gossamer.priority.breadth import BreadthFirst
from gossamer.priority.chance import RandomOrder
from gossamer.priority.config import PriorityConfig
from gossamer.priority.entries import entries
from gossamer.priority.fica import Fica
from gossamer.priority.fit import Fit
from gossamer.priority.levels import levels_of
from gossamer.priority.opic import WELCOME, Opic
from gossamer.priority.product import Product
from gossamer.priority.strategy import Context, Floats, LinkStrategy, Standing

OPIC = Opic(Context())


def adaptive(window: float) -> Opic:
    return Opic(Context(PriorityConfig(opic_window=window)))


EVERY = [Backlinks(), OPIC, adaptive(100.0), Fica(), Fica(gamma=1.0)]
each_strategy = pytest.mark.parametrize("strategy", EVERY, ids=lambda strategy: type(strategy).__name__)


def one(cash: float, history: float = 0.0, at: float = 0.0) -> Standing:
    return Standing(np.array([cash]), np.array([history]), np.array([at]))


def floats(*numbers: float) -> Floats:
    return np.array(numbers, dtype=np.float64)


def level(strategy: LinkStrategy, cash: float, history: float = 0.0) -> int:
    return int(levels_of(strategy.values(one(cash, history)))[0])


graphs = st.dictionaries(st.integers(0, 11), st.lists(st.integers(0, 11), unique=True), min_size=1).map(
    lambda graph: {str(page): [str(link) for link in links if link != page] for page, links in graph.items()}
)
amounts = st.floats(min_value=0, max_value=1e9)


@each_strategy
def test_what_goes_by_links_is_known_as_such(strategy: LinkStrategy) -> None:
    assert isinstance(strategy, LinkStrategy)
    assert not isinstance(BreadthFirst(), LinkStrategy)


@each_strategy
@given(rows=st.lists(st.tuples(amounts, amounts, amounts)))
def test_values_are_above_0_and_not_above_1(strategy: LinkStrategy, rows: list[tuple[float, float, float]]) -> None:
    columns = np.array(rows, dtype=np.float64).reshape(-1, 3)
    values = strategy.values(Standing(columns[:, 0], columns[:, 1], columns[:, 2]))
    assert values.shape == (len(rows),)
    assert bool(np.all((values > 0) & (values <= 1)))


@each_strategy
def test_seeds_are_on_the_first_level_and_pages_without_links_are_not(strategy: LinkStrategy) -> None:
    start = strategy.start([Discovered("https://a.test/", Via.SEED), Discovered("https://a.test/1", depth=1)], 7.0)
    seed, other = levels_of(strategy.values(start)).tolist()
    assert seed == 0
    assert other > 10


@each_strategy
@given(graph=graphs)
def test_a_crawl_fetches_each_page_that_links_lead_to_once(strategy: LinkStrategy, graph: dict[str, list[str]]) -> None:
    seed = next(iter(graph))
    order = Crawl(graph, [seed], strategy).run()
    assert len(order) == len(set(order))
    assert set(order) == set(Crawl(graph, [seed], BreadthFirst()).run())


@each_strategy
def test_gifts_never_lower_a_page(strategy: LinkStrategy) -> None:
    before = strategy.start([Discovered("https://a.test/1", depth=1)], 0.0)
    for gift in (0.001, 0.5, 3.0):
        after = strategy.gain(before, floats(gift))
        assert strategy.values(after)[0] >= strategy.values(before)[0]
        before = after


@pytest.mark.parametrize(
    ("found", "is_entry"),
    [
        (Discovered("https://a.test/", Via.SEED), True),
        (Discovered("https://a.test/sitemap.xml", Via.ROBOTS, Kind.SITEMAP), True),
        (Discovered("https://a.test/news", Via.FEED, depth=1), True),
        (Discovered("https://www.a.test/", Via.REDIRECT, depth=0), True),
        (Discovered("https://a.test/feed", Via.LINK, Kind.FEED, depth=0), True),
        (Discovered("https://a.test/1", Via.LINK, depth=1), False),
        (Discovered("https://a.test/1", Via.LINK, depth=0), False),
        (Discovered("https://a.test/2", Via.REDIRECT, depth=3), False),
        (Discovered("https://a.test/3", Via.SITEMAP, depth=1, hint=1.0), False),
    ],
)
def test_a_crawl_enters_the_web_where_no_link_is_needed(found: Discovered, is_entry: bool) -> None:
    assert entries([found]).tolist() == [is_entry]


@each_strategy
@given(gifts=st.lists(st.floats(0, 10), min_size=1))
def test_gifts_that_come_together_count_like_gifts_one_by_one(strategy: LinkStrategy, gifts: list[float]) -> None:
    together = singly = strategy.start([Discovered("https://a.test/1", depth=1)], 0.0)
    for gift in gifts:
        singly = strategy.gain(singly, floats(gift))
    together = strategy.gain(together, floats(sum(gifts) if strategy.joins == "sum" else min(gifts)))
    assert np.concatenate(together).tolist() == pytest.approx(np.concatenate(singly).tolist())


# --- backlinks


@pytest.mark.parametrize(
    ("links", "expected"), [(0, 15), (1, 13), (2, 12), (4, 11), (32, 7), (512, 1), (1024, 0), (10**6, 0)]
)
def test_a_page_with_more_links_has_a_better_level(links: int, expected: int) -> None:
    assert level(Backlinks(), links) == expected


@given(graphs)
def test_backlinks_count_the_links_of_all_fetched_pages(graph: dict[str, list[str]]) -> None:
    crawl = Crawl(graph, list(graph), Backlinks())
    crawl.run()
    counted = {url: cash for url, (cash, _, _) in crawl.standings.items()}
    assert counted == {url: sum(url in graph[other] for other in graph if other != url) for url in counted}


def test_pages_with_most_links_are_fetched_first() -> None:
    links = {"a": 9, "b": 1, "c": 30, "d": 3}
    graph = {f"hub{number}": [page for page, count in links.items() if number < count] for number in range(30)}
    order = Crawl(graph, list(graph), Backlinks(), place=by_score).run()
    assert order[-4:] == ["c", "a", "d", "b"]


def test_a_link_counts_once_however_often_its_page_is_visited() -> None:
    assert not Backlinks().again


# --- OPIC


def test_opic_shares_the_cash_of_a_page_equally() -> None:
    gifts, after = OPIC.give(one(cash=0.6, history=1.0), floats(3), now=5.0)
    assert gifts.tolist() == pytest.approx([0.2])
    assert (after.cash.tolist(), after.history.tolist(), after.at.tolist()) == ([0.0], [1.6], [5.0])
    assert OPIC.gain(one(cash=0.3, history=9.0), floats(0.2)).cash.tolist() == [0.5]


def test_opic_by_hand() -> None:
    """s gives a and b half of its 1 each; a hands all it has on to b."""
    crawl = Crawl({"s": ["a", "b"], "a": ["b"], "b": ["c", "d", "s"]}, ["s"], OPIC)
    crawl.run(2)
    assert crawl.order == ["s", "a"]
    assert crawl.standings["b"][0] == pytest.approx(1 + 2 * WELCOME)
    crawl.run()
    assert crawl.order == ["s", "a", "b", "c", "d"]
    third = (1 + 2 * WELCOME) / 3
    assert [crawl.standings[url][1] for url in "sabcd"] == pytest.approx([1, 0.5 + WELCOME, 3 * third, 0, 0])
    assert [crawl.standings[url][0] for url in "sabcd"] == pytest.approx(
        [third, 0, 0, third + WELCOME, third + WELCOME]
    )


@given(graphs, st.lists(st.integers(0, 11), max_size=30))
def test_opic_neither_makes_nor_loses_cash(graph: dict[str, list[str]], again: list[int]) -> None:
    crawl = Crawl(graph, list(graph), OPIC)
    crawl.run()
    for number in again:
        crawl.visit(crawl.order[number % len(crawl.order)])
    brought = len(graph) + WELCOME * (len(crawl.standings) - len(graph))
    assert sum(cash for cash, _, _ in crawl.standings.values()) == pytest.approx(brought)


@given(graphs, st.lists(st.integers(0, 11), max_size=30))
def test_opic_s_histories_tell_all_that_was_ever_received(graph: dict[str, list[str]], again: list[int]) -> None:
    crawl = Crawl(graph, list(graph), OPIC)
    crawl.run()
    for number in again:
        crawl.visit(crawl.order[number % len(crawl.order)])
    received = dict.fromkeys(crawl.standings, WELCOME) | dict.fromkeys(graph, 1.0)
    for url, links in graph.items():
        for link in links:
            received[link] += crawl.standings[url][1] / len(links)
    assert {url: cash + history for url, (cash, history, _) in crawl.standings.items()} == pytest.approx(received)


def test_opic_s_histories_tend_to_the_visits_of_a_random_surfer() -> None:
    graph = {"a": ["b", "c"], "b": ["c"], "c": ["a"]}
    crawl = Crawl(graph, ["a"], OPIC)
    crawl.run()
    for _ in range(2000):
        crawl.visit(max(crawl.standings, key=lambda url: crawl.standings[url][0]))
    histories = {url: history for url, (_, history, _) in crawl.standings.items()}
    total = sum(histories.values())
    shares = {url: history / total for url, history in histories.items()}
    assert shares == pytest.approx({"a": 2 / 5, "b": 1 / 5, "c": 2 / 5}, abs=0.002)


def test_opic_tells_amounts_of_cash_apart() -> None:
    assert [level(OPIC, cash) for cash in (5.0, 1.0, 2.0**-3, 2.0**-9, 2.0**-21, 0.0)] == [0, 0, 4, 12, 28, 31]
    assert level(OPIC, 1.2 * WELCOME) < level(OPIC, WELCOME), "a small gift counts"


@pytest.mark.parametrize(
    ("now", "history"),
    [
        (10.0, 8.0 + 2.0),  # no time has gone by
        (35.0, 8.0 * 0.75 + 2.0),  # a quarter of the window
        (110.0, 2.0),  # all of it
        (210.0, 1.0),  # twice the window: half of what came
        (3.0, 8.0 + 2.0),  # a clock that was put back
    ],
)
def test_adaptive_opic_counts_what_came_within_the_window(now: float, history: float) -> None:
    _, after = adaptive(100.0).give(one(cash=2.0, history=8.0, at=10.0), floats(4), now)
    assert after.history.tolist() == [history]
    assert after.at.tolist() == [now]


@given(amounts, st.floats(0.001, 1e6), st.floats(0.02, 20))
def test_a_steady_flow_of_cash_fills_the_window(rate: float, gap: float, visits: float) -> None:
    """Whatever the rhythm of the visits, the estimate tends to rate · window."""
    window = gap * visits
    strategy, standing, now = adaptive(window), one(0.0), 0.0
    for _ in range(math.ceil(40 * max(visits, 1))):
        now += gap
        _, standing = strategy.give(strategy.gain(standing, floats(rate * gap)), floats(1), now)
    assert standing.history.tolist() == pytest.approx([rate * window], rel=1e-6)


def test_adaptive_opic_ranks_by_what_came_and_what_waits() -> None:
    assert adaptive(100.0).values(one(0.125, 0.875)).tolist() == [1.0]
    assert OPIC.values(one(0.125, 0.875)).tolist() == [0.125]


# --- FICA


def test_fica_by_hand() -> None:
    """b is one of ten links of the seed, but the only one of a, which is one of two of the other seed."""
    graph = {"s": [*"b123456789"], "t": ["a", "x"], "a": ["b"]}
    crawl = Crawl(graph, ["s", "t"], Fica(gamma=0.8))
    crawl.run()
    assert crawl.standings["x"][0] == pytest.approx(math.log10(2))
    assert crawl.standings["b"][0] == pytest.approx(0.8 * math.log10(2))
    assert crawl.standings["1"][0] == pytest.approx(1.0)
    assert crawl.order.index("b") < crawl.order.index("1")


@given(graphs)
def test_fica_finds_the_shortest_ways(graph: dict[str, list[str]]) -> None:
    seed = next(iter(graph))
    crawl = Crawl(graph, [seed], Fica(gamma=1.0), place=by_score)
    crawl.run()
    expected = shortest_ways(graph, seed)
    assert {url: cash for url, (cash, _, _) in crawl.standings.items()} == pytest.approx(expected, abs=1e-9)
    ways = [expected[url] for url in crawl.order]
    assert ways == pytest.approx(sorted(ways), abs=1e-9), "the nearest first"


def shortest_ways(graph: dict[str, list[str]], seed: str) -> dict[str, float]:
    ways = {seed: 0.0}
    heap = [(0.0, seed)]
    while heap:
        way, url = heapq.heappop(heap)
        for link in graph.get(url, []):
            longer = way + math.log10(len(graph[url]))
            if longer < ways.get(link, math.inf):
                ways[link] = longer
                heapq.heappush(heap, (longer, link))
    return ways


@given(st.lists(st.floats(0, 30), min_size=1))
def test_fica_has_the_near_before_the_far(distances: list[float]) -> None:
    near_first = np.array(sorted(distances))
    levels = levels_of(Fica().values(Standing(near_first, near_first, near_first))).tolist()
    assert levels == sorted(levels)


# --- crawls


@pytest.fixture(scope="module")
def web() -> tuple[dict[str, list[str]], dict[str, float]]:
    graph = scale_free(1500, 8, seed=3)
    return graph, page_ranks(graph)


@pytest.mark.parametrize(
    "strategy", [Backlinks(), OPIC, adaptive(1000.0), Fica()], ids=["backlinks", "opic", "adaptive", "fica"]
)
def test_pages_of_high_rank_are_reached_earlier_than_by_lot(
    strategy: LinkStrategy, web: tuple[dict[str, list[str]], dict[str, float]]
) -> None:
    graph, ranks = web
    seeds = [list(graph)[number] for number in (1499, 1200, 900)]
    by_lot = area(Crawl(graph, seeds, RandomOrder()).run(), ranks)
    assert area(Crawl(graph, seeds, strategy).run(), ranks) > 1.1 * by_lot


@pytest.mark.parametrize("strategy", [Backlinks(), OPIC, Fica()], ids=["backlinks", "opic", "fica"])
def test_no_page_that_does_not_fit_is_fetched_while_one_that_fits_waits(
    strategy: LinkStrategy, web: tuple[dict[str, list[str]], dict[str, float]]
) -> None:
    graph, _ = web
    start = next(iter(graph))

    def fits(url: str) -> bool:
        return url.endswith(("1", "4", "7"))

    known, fetched = {start}, set[str]()
    for url in Crawl(graph, [start], Product([Fit(Context(fits=fits))], strategy)).run():
        if url != start and not fits(url):
            assert not any(fits(other) for other in known - fetched)
        fetched.add(url)
        known.update(graph[url])

"""Strategies that look at the URL alone: breadth first, random order, fit."""

from __future__ import annotations

from collections import Counter, deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated_crawl import Crawl, scale_free

from gossamer.model.records import LEVELS, Discovered, Via
from gossamer.priority.breadth import BreadthFirst
from gossamer.priority.chance import RandomOrder
from gossamer.priority.config import PriorityConfig
from gossamer.priority.fit import Fit
from gossamer.priority.levels import levels_of
from gossamer.priority.strategy import Context, Strategy

A_URL = "https://a.test/"


def level(strategy: Strategy, found: Discovered) -> int:
    return int(levels_of(strategy.scores([found]))[0])


@pytest.mark.parametrize(("depth", "expected"), [(0, 0), (1, 1), (7, 7), (15, 15), (16, 15), (10**9, 15), (-1, 0)])
def test_breadth_first_has_the_depth_as_level(depth: int, expected: int) -> None:
    assert level(BreadthFirst(), Discovered(A_URL, depth=depth)) == expected


@pytest.mark.parametrize(
    ("hint", "expected"), [(1.0, 1), (0.8, 1), (0.5, 2), (0.0, 3), (7.0, 1), (-7.0, 3), (float("nan"), 3)]
)
def test_a_sitemap_s_favourites_wait_nearer_to_the_seeds(hint: float, expected: int) -> None:
    assert level(BreadthFirst(), Discovered(A_URL, Via.SITEMAP, depth=9, hint=hint)) == expected


def test_breadth_first_takes_news_first() -> None:
    assert level(BreadthFirst(), Discovered(A_URL, Via.FEED, depth=5, hint=0.1)) == 0


@given(st.integers(0, 1000))
def test_breadth_first_visits_pages_in_order_of_depth(seed: int) -> None:
    graph = scale_free(60, 3, seed)
    start = next(iter(graph))
    crawl = Crawl(graph, [start], BreadthFirst())
    assert crawl.run() == breadth_first(graph, start)


def breadth_first(graph: dict[str, list[str]], start: str) -> list[str]:
    order, queue = [start], deque([start])
    while queue:
        for link in graph[queue.popleft()]:
            if link not in order:
                order.append(link)
                queue.append(link)
    return order


def test_random_order_spreads_urls_evenly_over_the_levels() -> None:
    found = [Discovered(f"https://a.test/{number}") for number in range(LEVELS * 1000)]
    counts = Counter(levels_of(RandomOrder().scores(found)).tolist())
    assert len(counts) == LEVELS
    assert all(850 < count < 1150 for count in counts.values()), "five standard deviations"


def test_random_order_is_the_same_each_time_and_does_not_depend_on_the_neighbours() -> None:
    found = [Discovered(f"https://a.test/{number}") for number in range(20)]
    together = RandomOrder().scores(found).tolist()
    assert together == [float(RandomOrder().scores([one])[0]) for one in found]


def test_what_fits_or_has_no_rules_comes_before_what_does_not_fit() -> None:
    verdicts = {"https://a.test/news/1": True, "https://a.test/tag/1": False, "https://b.test/": None}
    fit = Fit(Context(PriorityConfig(fit=0.5, unfit=0.125), fits=verdicts.__getitem__))
    assert fit.scores([Discovered(url) for url in verdicts]).tolist() == [0.5, 0.125, 0.5]


def test_each_url_is_judged_once() -> None:
    asked: list[str] = []

    def fits(url: str) -> bool:
        asked.append(url)
        return True

    fit = Fit(Context(fits=fits))
    urls = [f"https://a.test/{number}" for number in range(50)]
    fit.scores([Discovered(url) for url in urls])
    assert asked == urls


def test_unfit_pages_wait_under_all_fit_pages_of_any_depth() -> None:
    fit = Fit(Context(fits=lambda url: "news" in url))
    deep = Discovered("https://a.test/news", depth=1000)
    near = Discovered("https://a.test/tags", depth=0)
    scores = fit.scores([deep, near]) * BreadthFirst().scores([deep, near])
    fitting, unfit = levels_of(scores).tolist()
    assert fitting < unfit


anything_found = st.builds(
    Discovered,
    url=st.text(),
    via=st.sampled_from(list(Via)),
    depth=st.integers(-5, 10**6),
    hint=st.none() | st.floats(),
)


@pytest.mark.parametrize(
    "strategy",
    [BreadthFirst(), RandomOrder(), Fit(Context(fits=lambda url: len(url) % 2 == 0))],
    ids=lambda strategy: type(strategy).__name__,
)
@given(found=st.lists(anything_found))
def test_scores_are_above_0_and_not_above_1(strategy: Strategy, found: list[Discovered]) -> None:
    scores = strategy.scores(found)
    assert scores.shape == (len(found),)
    assert scores.dtype == np.float64
    assert bool(np.all((scores > 0) & (scores <= 1)))

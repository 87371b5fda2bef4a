"""Simulated crawls of small graphs whose outcome can be counted by hand, and laws that hold on any graph."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.partition.assignment import Assignment
from gossamer.partition.config import PartitionConfig
from gossamer.partition.decision import pick, predict
from gossamer.partition.links import SiteGraph
from gossamer.partition.measures import ALONE, Measures
from gossamer.partition.planning import plan
from gossamer.partition.seeds import key_path_seeds, seed_pages
from gossamer.partition.simulate import by_seed_rule, in_parts
from gossamer.partition.sizes import Sizes


def graph_of(links: dict[str, list[str]], home: str = "/") -> SiteGraph:
    """A site by its links; pages that only stand at their end need no line of their own."""
    names = list(dict.fromkeys([*links, *(target for targets in links.values() for target in targets)]))
    pairs = [(names.index(source), names.index(target)) for source, targets in links.items() for target in targets]
    sources, targets = np.array(pairs, np.int64).reshape(-1, 2).T
    return SiteGraph([f"https://site.test{name}" for name in names], sources, targets, names.index(home), ())


def star(directories: dict[str, int]) -> SiteGraph:
    """The home page links to the first page of each directory, and that to its others."""
    links: dict[str, list[str]] = {"/": [f"/{name}/0" for name in directories]}
    for name, count in directories.items():
        links[f"/{name}/0"] = [f"/{name}/{number}" for number in range(1, count)]
    return graph_of(links)


def test_pages_that_no_way_leads_to_are_left_out() -> None:
    graph = graph_of({"/": ["/a", "/b", "/a"], "/lost": ["/a", "/other"]})
    assert [url.removeprefix("https://site.test") for url in graph.urls] == ["/", "/a", "/b"]
    assert (graph.pages, graph.links, graph.in_degree.tolist(), graph.depth.tolist()) == (3, 2, [0, 1, 1], [0, 1, 1])


def test_links_that_stay_in_their_path_are_counted_page_by_page() -> None:
    graph = graph_of({"/": ["/a/1", "/x", "/y", "/z"], "/a/1": ["/a/2", "/"]})
    assert graph.same_path() == pytest.approx((3 / 4 + 1 / 2) / 2)
    assert graph.crossing(np.array([0, 1, 0, 0, 0, 0])) == pytest.approx(3 / 6)


def test_seeds_are_the_most_linked_pages_then_the_least_deep() -> None:
    graph = graph_of(
        {"/": ["/a/far", "/b/x"], "/b/x": ["/a/liked", "/a/near"], "/a/far": ["/a/liked"], "/a/near": ["/a/deep"]}
    )
    names = [url.removeprefix("https://site.test") for url in graph.urls]
    seeds = key_path_seeds(["site.test/a"], graph)["site.test/a"]
    assert [names[page] for page in seeds] == ["/a/liked", "/a/far"]
    parts = seed_pages(Assignment(2, {"/": (0,), "/a/": (1,)}), graph)
    assert [sorted(names[page] for page in pages) for pages in parts] == [["/", "/b/x"], ["/a/far", "/a/liked"]]


def test_by_the_seeds_rule_small_paths_are_fetched_by_everybody() -> None:
    # 45 + 45 pages in key paths; 10 in others, home included: both crawlers fetch those.
    graph = star({"a": 45, "b": 45, "c": 5, "d": 4})
    found = by_seed_rule(graph, 2)
    assert graph.pages == 100
    assert found == Measures(pytest.approx(10 / 110), 1.0, pytest.approx(100 / 55))


def test_by_the_seeds_rule_pages_behind_another_crawlers_pages_are_lost() -> None:
    chain = {"/": ["/a/0"], "/a/0": [f"/a/{n}" for n in range(1, 40)]}
    chain |= {f"/a/{n}": [f"/b/{n}"] for n in range(1, 40)}
    found = by_seed_rule(graph_of(chain), 2)
    # Of b only its two seeds are found: every other page of it hangs on a page of a.
    assert found.coverage == pytest.approx((1 + 40 + 2) / 80)
    assert found.total == 0.0
    ours = in_parts(graph_of(chain), plan(Sizes(graph_of(chain).urls), 2))
    assert (ours.measures.coverage, ours.measures.overlap) == (1.0, 0.0)


def test_a_site_of_one_directory_gains_nothing_by_the_seeds_rule() -> None:
    graph = star({"all": 400})
    assert by_seed_rule(graph, 3).acceleration < 1.02
    assert in_parts(graph, plan(Sizes(graph.urls), 3)).measures.acceleration > 2.9


def test_a_part_that_has_nothing_to_fetch_waits() -> None:
    # Part 1 holds the end of the chain: nothing of it is known before part 0 is done.
    names = ["/", *(f"/a/{n}" for n in range(10)), *(f"/b/{n}" for n in range(10))]
    graph = graph_of({here: [after] for here, after in pairwise(names)})
    run = in_parts(graph, Assignment(2, {"/": (0,), "/b/": (1,)}), seeded=False)
    assert (run.pages, run.steps, run.measures.acceleration) == ((11, 10), 21, 1.0)
    assert run.waiting == pytest.approx(10 / 21)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=150), st.integers(1, 5), st.booleans())
def test_in_parts_nothing_is_fetched_twice_and_nothing_is_lost(
    links: list[tuple[int, int]], parts: int, seeded: bool
) -> None:
    names = ["/", *(f"/{'abc'[n % 3]}/{n}" for n in range(1, 41))]
    sources, targets = np.array([(0, 1), *links], np.int64).T
    graph = SiteGraph([f"https://site.test{name}" for name in names], sources, targets, 0, ())
    run = in_parts(graph, plan(Sizes(graph.urls), parts), seeded)
    assert (run.measures.overlap, run.measures.coverage) == (0.0, 1.0)
    assert sum(run.pages) == graph.pages
    assert max(run.pages) <= run.steps <= graph.pages
    assert 1.0 <= run.measures.acceleration <= parts


def test_one_crawler_scores_alike_by_both_rules() -> None:
    graph = star({"a": 30, "b": 30})
    assert by_seed_rule(graph, 1) == in_parts(graph, plan(Sizes(graph.urls), 1)).measures == ALONE


def test_the_split_with_the_greatest_total_is_picked_or_none() -> None:
    good, better, lossy = Measures(0.0, 1.0, 1.9), Measures(0.0, 1.0, 2.8), Measures(0.0, 0.75, 3.9)
    assert pick([ALONE, good, better, lossy], 4) == 3
    assert pick([ALONE, good, better, lossy], 2) == 2
    assert pick([ALONE, lossy], 4) == 1
    assert pick([ALONE, Measures(0.5, 1.0, 1.2)], 4) == 1
    assert pick([ALONE, good, Measures(0.0, 1.0, 1.91)], 4) == 2


def test_a_capped_rate_caps_the_prediction() -> None:
    graph = star({"a": 300, "b": 300})
    free = predict(graph, Sizes(graph.urls), "paths", PartitionConfig(), 1.0)
    capped = predict(graph, Sizes(graph.urls), "paths", PartitionConfig(site_rate=2.0), 1.0)
    slow = predict(graph, Sizes(graph.urls), "paths", PartitionConfig(), 1.0, crawl_delay=5.0)
    assert [round(one.ours.acceleration) for one in free] == list(range(1, 11))
    assert max(one.ours.acceleration for one in capped) <= 2.0
    assert pick([one.ours for one in capped], 4) == 2
    assert pick([one.ours for one in slow], 4) == 1


def test_what_robots_txt_asks_for_is_for_all_parts_together() -> None:
    config = PartitionConfig()
    assert config.part_gap(4, 1.0) == 1.0
    assert config.part_gap(4, 1.0, crawl_delay=10.0) == 40.0
    assert config.part_gap(4, 1.0, crawl_delay=0.1) == 1.0
    assert PartitionConfig(site_rate=2.0).part_gap(4, 1.0) == 2.0
    assert PartitionConfig(site_rate=8.0).part_gap(4, 1.0) == 1.0


def test_no_site_is_split_by_default() -> None:
    assert not PartitionConfig(sites=("a.org",)).splits("a.org", 10**9)
    listed = PartitionConfig(mode="sites", sites=("a.org",))
    assert listed.splits("a.org", 1) and not listed.splits("b.org", 10**9)
    auto = PartitionConfig(mode="auto")
    assert auto.splits("b.org", 5000) and not auto.splits("b.org", 4999)

"""The vectorised walk finds what a plain walk finds, and tells what a cut would put out of reach."""

from __future__ import annotations

from collections import deque

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gossamer.scope.reachability import UNREACHED, Graph, Walk

PAGES = 12
LINKS = st.lists(st.tuples(st.integers(0, PAGES - 1), st.integers(0, PAGES - 1)), max_size=40)
SOME = st.sets(st.integers(0, PAGES - 1))


def graph_of(links: list[tuple[int, int]], pages: int = PAGES) -> Graph:
    return Graph(pages, np.array([a for a, _ in links], np.int64), np.array([b for _, b in links], np.int64))


def flags(places: set[int]) -> np.ndarray:
    found = np.zeros(PAGES, bool)
    found[sorted(places)] = True
    return found


def plain_walk(links: list[tuple[int, int]], roots: set[int], cut: set[int]) -> list[int]:
    distance = [UNREACHED] * PAGES
    queue = deque(sorted(roots - cut))
    for root in queue:
        distance[root] = 0
    while queue:
        page = queue.popleft()
        for source, target in links:
            if source == page and target not in cut and distance[target] == UNREACHED:
                distance[target] = distance[page] + 1
                queue.append(target)
    return distance


@given(LINKS, SOME, SOME)
def test_distances_are_those_of_a_plain_walk(links: list[tuple[int, int]], roots: set[int], cut: set[int]) -> None:
    found = graph_of(links).distances(np.array(sorted(roots), np.int64), flags(cut))
    assert found.tolist() == plain_walk(links, roots, cut)


@given(LINKS, SOME, SOME, SOME)
def test_a_cut_loses_exactly_the_useful_pages_that_no_way_leads_to_any_more(
    links: list[tuple[int, int]], roots: set[int], cut: set[int], useful: set[int]
) -> None:
    before = plain_walk(links, roots, set())
    reachable = {page for page in useful if before[page] != UNREACHED}
    after = plain_walk(links, roots, cut - reachable)
    reach = Walk(graph_of(links), np.array(sorted(roots), np.int64), flags(useful)).without(flags(cut))
    assert reach.useful == len(reachable)
    assert set(reach.lost) == {page for page in reachable if after[page] == UNREACHED}


@given(LINKS, SOME, SOME, SOME, SOME)
def test_fewer_links_never_make_a_cut_look_better(
    links: list[tuple[int, int]], roots: set[int], cut: set[int], useful: set[int], dropped: set[int]
) -> None:
    start = np.array(sorted(roots), np.int64)
    fewer = [link for place, link in enumerate(links) if place not in dropped]
    all_lost = set(Walk(graph_of(links), start, flags(useful)).without(flags(cut)).lost)
    before = plain_walk(fewer, roots, set())
    still = {page for page in all_lost if before[page] != UNREACHED}
    assert still <= set(Walk(graph_of(fewer), start, flags(useful)).without(flags(cut)).lost)


def test_the_only_archive_page_cannot_be_cut() -> None:
    links = [(0, 1), (1, 2), (1, 3), (0, 4)]
    walk = Walk(graph_of(links), np.array([0]), flags({2, 3}))
    assert walk.without(flags({4})).kept
    lost = walk.without(flags({1}))
    assert not lost.kept and lost.lost == (2, 3)


def test_a_longer_way_shows() -> None:
    links = [(0, 1), (1, 5), (0, 2), (2, 3), (3, 4), (4, 5)]
    reach = Walk(graph_of(links), np.array([0]), flags({5})).without(flags({1}))
    assert reach.kept and (reach.mean_before, reach.mean_after) == (2.0, 4.0)


def test_a_site_without_pages_has_nothing_to_lose() -> None:
    walk = Walk(graph_of([], 0), np.empty(0, np.int64), np.zeros(0, bool))
    assert walk.without(np.zeros(0, bool)).kept

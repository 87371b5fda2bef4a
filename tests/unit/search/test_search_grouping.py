"""At most two results of one site on a page, where others have pages that are nearly as good."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from searcher_kit import NOW, SmallIndex, near, page

from gossamer.index.document import IndexPage
from gossamer.model.site import owner_of, section_of
from gossamer.search.desk.acting import Rules
from gossamer.search.desk.reading import read_desk
from gossamer.search.grouping import GROUPS, NEARLY, Seen, arranged
from gossamer.search.limits import Span
from gossamer.search.results import Hit, Request
from gossamer.search.searcher import Searcher
from gossamer.testing import FakeClock


def rocket(host: str, number: int, weight: int = 3) -> IndexPage:
    """A page about rockets; a greater weight brings it further up."""
    filling = " ".join(f"filling{number}x{at}" for at in range(40 - weight))
    return page(f"http://{host}/{number}", f"{'rocket ' * weight}{filling}", f"Page {number} of {host}")


MANY = [rocket("big.example.org", number, 6) for number in range(15)] + [
    rocket(f"site{number}.test", one, 4) for number in range(8) for one in range(2)
]


def owners(hits: tuple[Hit, ...]) -> Counter[str]:
    return Counter(hit.group for hit in hits)


def test_a_page_has_two_results_of_a_site_at_most(tmp_path: Path) -> None:
    results = SmallIndex(tmp_path, *MANY).search("rocket")
    assert len(results.hits) == 10 and results.grouped
    assert owners(results.hits)["example.org"] == 2 and max(owners(results.hits).values()) == 2
    assert results.total == 31 and results.pages == 4


def test_hosts_of_one_registrable_domain_are_one_site(tmp_path: Path) -> None:
    pages = [rocket(f"{name}.bbc.co.uk", 1, 6) for name in "abcdef"]
    results = SmallIndex(tmp_path, *pages, *MANY[15:]).search("rocket")
    assert owners(results.hits)["bbc.co.uk"] == 2


def test_the_last_of_them_says_how_many_more_the_site_has_and_its_link_finds_them(tmp_path: Path) -> None:
    index = SmallIndex(tmp_path, *MANY)
    hits = index.search("rocket").hits
    more = [hit for hit in hits if hit.more_from]
    assert [(hit.group, hit.more_from.count) for hit in more if hit.more_from] == [("example.org", 13)]
    assert [hit.group for hit in hits].index("example.org") < hits.index(more[0])
    assert index.search("rocket", site="example.org").total == 13 + 2


def test_near_copies_are_one_result_in_that_number_too(tmp_path: Path) -> None:
    copies = near(9, *(rocket("big.example.org", number, 5) for number in range(100, 104)))
    index = SmallIndex(tmp_path, *MANY, *copies)
    (more,) = [hit.more_from for hit in index.search("rocket").hits if hit.more_from]
    assert more.count + 2 == index.search("rocket", site="example.org").total == 16


@pytest.mark.parametrize("size", [3, 10, 20, 30, 100])
@pytest.mark.parametrize("with_copies", [False, True])
def test_all_pages_together_show_every_result_once(tmp_path: Path, size: int, with_copies: bool) -> None:
    """The first pages are made from fewer hits than later ones."""
    pages = [rocket(f"host{number % 7}.test", number, 1 + number % 9) for number in range(140)]
    pages += [rocket("big.example.org", number, 5 + number % 4) for number in range(60)]
    if with_copies:
        pages = [*near(5, *pages[:9]), *pages[9:140], *near(6, *pages[140:150]), *pages[150:]]
    index = SmallIndex(tmp_path, *pages)
    first = index.search("rocket", size=size)
    shown = [
        hit.url for number in range(first.pages) for hit in index.search("rocket", size=size, page=number + 1).hits
    ]
    assert len(shown) == len(set(shown)) == first.total
    assert index.search("rocket", size=size, group=False).total == first.total
    assert first.grouped


@pytest.mark.parametrize(
    "more",
    [{"group": False}, {"sort": "date"}, {"similar": True}, {"site": "example.org"}, {"ranking": "bm25"}],
    ids=str,
)
def test_it_can_be_switched_off_and_is_off_where_it_makes_no_sense(tmp_path: Path, more: dict[str, object]) -> None:
    results = SmallIndex(tmp_path, *MANY).search("rocket", **more)
    assert not results.grouped and not any(hit.group or hit.more_from for hit in results.hits)


@pytest.mark.parametrize("query", ["rocket site:example.org", "rocket sort:date"])
def test_operators_switch_it_off(tmp_path: Path, query: str) -> None:
    assert not SmallIndex(tmp_path, *MANY).search(query).grouped


def test_the_setting_switches_it_off_or_allows_more(tmp_path: Path) -> None:
    assert not SmallIndex(tmp_path / "none", *MANY, group=0).search("rocket").grouped
    three = SmallIndex(tmp_path / "three", *MANY, group=3).search("rocket")
    assert owners(three.hits)["example.org"] == 3


def test_an_answer_of_few_sites_has_no_limit(tmp_path: Path) -> None:
    pages = [rocket(f"site{number}.test", one, 4) for number in range(GROUPS - 1) for one in range(9)]
    results = SmallIndex(tmp_path, *pages).search("rocket")
    assert not results.grouped


PARTS = [
    page(f"http://docs.test/{part}/{n}", f"{'rocket ' * 5}filling{part}{n}", f"Page {n} of {part}")
    for part in ("library", "tutorial", "reference", "faq", "howto", "news")
    for n in range(5)
]


def test_in_an_index_of_few_sites_their_parts_have_the_limit(tmp_path: Path) -> None:
    index = SmallIndex(tmp_path, *PARTS)
    results = index.search("rocket")
    assert results.grouped and max(owners(results.hits).values()) == 2
    more = next(hit.more_from for hit in results.hits if hit.more_from)
    assert more.site.startswith("docs.test/") and more.count == 3
    assert index.search(f"rocket site:{more.site}").total == 3 + 2
    shown = [hit.url for number in (1, 2, 3) for hit in index.search("rocket", page=number).hits]
    assert len(set(shown)) == 30


def test_pages_at_the_top_of_a_site_are_no_parts(tmp_path: Path) -> None:
    top = [page(f"http://docs.test/{n}.html", f"rocket rocket top{n}", f"Top {n}") for n in range(9)]
    assert not SmallIndex(tmp_path, *PARTS[:20], *top).search("rocket").grouped


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://a.test/", ""), ("https://a.test/docs", "a.test/docs"), ("https://a.test/docs/", "a.test/docs"),
        ("https://a.test/docs/x?y=1/2", "a.test/docs"), ("https://a.test:8080/docs/x", "a.test:8080/docs"),
        ("https://a.test/?q=a/b", ""),
    ],
)  # fmt: skip
def test_a_part_of_a_site_is_the_first_part_of_the_path(url: str, name: str) -> None:
    assert section_of(url) == name


@pytest.mark.parametrize(
    ("site", "name"),
    [
        ("www.example.co.uk", "example.co.uk"), ("www.example.org:8080", "example.org"), ("10.0.0.1:81", "10.0.0.1:81"),
        ("localhost:8000", "localhost:8000"), ("[::1]:80", "[::1]:80"), ("alice.github.io", "alice.github.io"),
    ],
)  # fmt: skip
def test_a_site_belongs_to_who_registered_it(site: str, name: str) -> None:
    assert owner_of(site) == name


def test_a_site_that_knows_it_best_keeps_its_place(tmp_path: Path) -> None:
    """Others only mention one of the words."""
    pages = [page(f"http://own.test/{n}", f"turbopump gimbal rocket {n}", f"Turbopump gimbal {n}") for n in range(12)]
    pages += [page(f"http://site{n}.test/", f"gimbal {' '.join(f'f{n}x{at}' for at in range(400))}") for n in range(9)]
    index = SmallIndex(tmp_path, *pages)
    hits = index.search("turbopump OR gimbal").hits
    assert {hit.site for hit in hits} == {"own.test"}


def test_a_page_that_is_put_first_stays_first(tmp_path: Path) -> None:
    class Desk:
        def current(self) -> Rules:
            bets = "".join(
                f'[[best_bet]]\nqueries = ["rocket"]\nurl = "http://big.example.org/{number}"\n' for number in (7, 8, 9)
            )
            return Rules(read_desk(bets, "test"), 1)

    index = SmallIndex(tmp_path, *MANY)
    hits = Searcher(index.folder, clock=FakeClock(NOW), desk=Desk()).search(Request(query="rocket")).hits
    assert [hit.recommended for hit in hits[:4]] == [True, True, True, False]
    assert owners(hits)["example.org"] == 3


def test_a_result_that_follows_one_of_its_site_is_marked(tmp_path: Path) -> None:
    hits = SmallIndex(tmp_path, *MANY).search("rocket").hits
    for before, hit in pairwise(hits):
        assert hit.follows == (before.group == hit.group)
    assert any(hit.follows for hit in hits)


lines = st.lists(st.tuples(st.integers(0, 6), st.floats(0.1, 20)), max_size=120)


@given(lines, st.integers(1, 30), st.integers(1, 3))
def test_any_line_is_shown_whole_and_once(line: list[tuple[int, float]], size: int, most: int) -> None:
    seen = [
        Seen(site, score, place)
        for place, (site, score) in enumerate(sorted(line, key=lambda one: -one[1]))
    ]  # fmt: skip
    pages = [arranged(seen, Span(first, size), most) for first in range(0, len(seen), size)]
    assert sorted(place for taken in pages for place in taken) == list(range(len(seen)))
    assert all(len(taken) == size for taken in pages[:-1])


def test_whoever_takes_a_place_scores_nearly_as_much() -> None:
    seen = [Seen(1, 10.0, place) for place in range(4)] + [Seen(2, 10.0 * NEARLY - 0.1, 4), Seen(3, 4.0, 5)]
    assert arranged(seen, Span(0, 4), 2) == [0, 1, 2, 3]
    seen[4] = Seen(2, 10.0 * NEARLY, 4)
    assert arranged(seen, Span(0, 3), 2) == [0, 1, 4]

"""Near copies are one result: in the list, in the total, on every page of results and in every facet."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from searcher_kit import SmallIndex, near, page

from gossamer.index.document import IndexPage
from gossamer.model.site import key64
from gossamer.search import counting
from gossamer.search.results import Results


@pytest.fixture
def index(tmp_path: Path) -> SmallIndex:
    """Two clusters of three over two sites and two years, and ten pages that are like no other."""
    stories: list[IndexPage] = []
    for number in (1, 2):
        sites = ("http://a.test", "http://a.test/print", "http://b.test")
        stories += near(number, *(
            page(f"{site}/{number}", "comet seen again", date=f"20{20 + place}-01-01", lang="en")
            for place, site in enumerate(sites)
        ))  # fmt: skip
    alone = [
        page(f"http://c.test/{n}", f"comet {n}", date="2020-05-05", lang="ru", page_type="forum") for n in range(10)
    ]
    return SmallIndex(tmp_path / "index", *stories, *alone)


def test_the_total_counts_each_cluster_once(index: SmallIndex) -> None:
    answer = index.search("comet", size=5)
    assert (answer.total, answer.pages, answer.estimated) == (12, 3, False)


def test_with_copies_shown_the_total_counts_pages(index: SmallIndex) -> None:
    assert index.search("comet", similar=True).total == 16


def test_a_facet_counts_what_choosing_it_gives(index: SmallIndex) -> None:
    answer = index.search("comet")
    for facet, name in ((answer.facets.sites, "site"), (answer.facets.languages, "lang")):
        assert facet
        for count in facet:
            assert index.search("comet", **{name: count.value}).total == count.count, count
    years = {count.value: count.count for count in answer.facets.years}
    assert years == {"2020": 12, "2021": 2, "2022": 2}


def test_a_site_filter_finds_the_copy_of_that_site(index: SmallIndex) -> None:
    assert {hit.url for hit in index.search("comet site:b.test").hits} == {"http://b.test/1", "http://b.test/2"}


def test_paging_shows_every_cluster_once(index: SmallIndex) -> None:
    shown = [hit.url for number in (1, 2, 3) for hit in index.search("comet", page=number, size=5).hits]
    assert len(shown) == 12
    assert sum("c.test" in url for url in shown) == 10


def test_the_representative_is_shown_and_the_others_lie_under_it(index: SmallIndex) -> None:
    index.leaders.known = {1: key64("http://b.test/1")}
    shown = {hit.url: hit.similar for hit in index.search("comet again").hits}
    assert shown["http://b.test/1"] == 2
    assert "http://a.test/1" not in shown


def test_where_the_representative_does_not_match_the_best_hit_is_shown(index: SmallIndex) -> None:
    index.leaders.known = {1: key64("http://b.test/1")}
    shown = {hit.url for hit in index.search("comet again site:a.test").hits}
    assert "http://a.test/1" in shown


def test_a_page_full_of_copies_is_filled_with_others(tmp_path: Path) -> None:
    """A hundred copies with the best scores do not leave the first page empty."""
    copies = near(1, *(page(f"/copy/{n}", "comet comet comet", "Comet") for n in range(100)))
    others = [page(f"/other/{n}", f"comet and {n} more words of another text") for n in range(12)]
    index = SmallIndex(tmp_path / "index", *copies, *others)
    answer = index.search("comet")
    assert len(answer.hits) == 10 and answer.total == 13 and answer.pages == 2


def test_many_results_are_counted_by_estimate_and_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "EXACT", 50)
    pages = [one for number in range(300) for one in near(number, page(f"/{number}/a", "x"), page(f"/{number}/b", "x"))]
    answer = SmallIndex(tmp_path / "index", *pages).search("x")
    assert answer.estimated and answer.total == pytest.approx(300, rel=0.05)


CLUSTERED = st.lists(st.tuples(st.integers(1, 6), st.sampled_from("ab"), st.booleans()), min_size=1, max_size=25)


@settings(max_examples=25)
@given(CLUSTERED)
def test_numbers_agree_with_what_paging_shows(
    tmp_path_factory: pytest.TempPathFactory, pages: list[tuple[int, str, bool]]
) -> None:
    seen: set[int] = set()
    made = []
    for number, (cluster, site, dated) in enumerate(pages):
        date = "2024-01-01" if dated else None
        made.append(IndexPage(
            url=f"http://{site}.test/{number}", text="comet", date=date, cluster=cluster, joined=cluster in seen
        ))  # fmt: skip
        seen.add(cluster)
    index = SmallIndex(tmp_path_factory.mktemp("index"), *made)

    def all_hits(**more: str) -> tuple[Results, int]:
        first = index.search("comet", size=3, **more)
        rest = [index.search("comet", size=3, page=number, **more) for number in range(2, first.pages + 1)]
        return first, sum(len(one.hits) for one in (first, *rest))

    first, shown = all_hits()
    assert first.total == shown == len(seen)
    for count in first.facets.sites:
        assert all_hits(site=count.value)[1] == count.count


def test_a_category_of_two_words_is_found_in_whatever_case(tmp_path: Path) -> None:
    index = SmallIndex(tmp_path / "index", page("/a", "comet", category="World news"), page("/b", "comet"))
    assert index.paths('comet category:"world NEWS"') == ["/a"]
    assert index.paths('comet -category:"World news"') == ["/b"]
    assert [count.value for count in index.search("comet").facets.categories] == ["world news"]


def test_the_type_of_page_filters_and_is_counted(tmp_path: Path) -> None:
    index = SmallIndex(
        tmp_path / "index", page("/a", "comet", page_type="forum"), page("/b", "comet", page_type="article")
    )
    assert index.paths("comet pagetype:forum") == index.paths("comet", page_type="forum") == ["/a"]
    assert {count.value for count in index.search("comet").facets.page_types} == {"forum", "article"}

"""Plans are even whatever a site looks like, keep directories together where they can, and are mended by few moves."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.partition.assignment import Assignment, drift
from gossamer.partition.planning import BUCKETS, plan, rebalanced, rule_for, shares
from gossamer.partition.sizes import Sizes


def pages(directory: str, count: int) -> list[str]:
    return [f"https://site.test{directory}{number}.html" for number in range(count)]


def loads(assignment: Assignment, urls: list[str]) -> list[int]:
    counts = Counter(map(assignment.part_of, urls))
    return [counts[part] for part in range(assignment.parts)]


SITES = {
    "middle-sized directories": [url for name in "abcdefgh" for url in pages(f"/{name}/", 100)],
    "one flat directory": pages("/articles/", 900),
    "everything in the root": pages("/", 900),
    "one directory with sub-directories": [url for name in range(30) for url in pages(f"/docs/{name}/", 30)],
    "a chain of directories": pages("/a/b/c/d/e/", 900),
    "a directory for each page": [f"https://site.test/title-{number}/" for number in range(900)],
    "one script": [f"https://site.test/index.php?id={number}" for number in range(900)],
}


@pytest.mark.parametrize("name", SITES)
@pytest.mark.parametrize("parts", range(1, 11))
def test_parts_are_even(name: str, parts: int) -> None:
    made = plan(Sizes(SITES[name]), parts)
    made.check()
    assert drift(loads(made, SITES[name])) <= 0.05


def test_directories_stay_whole_where_that_is_even() -> None:
    made = plan(Sizes(SITES["middle-sized directories"]), 4)
    for name in "abcdefgh":
        assert len({made.part_of(url) for url in pages(f"/{name}/", 100)}) == 1


def test_of_an_oversized_directory_the_sub_directories_are_dealt_out() -> None:
    made = plan(Sizes(SITES["one directory with sub-directories"]), 3)
    whole = [name for name in range(30) if len({made.part_of(url) for url in pages(f"/docs/{name}/", 30)}) == 1]
    assert len(whole) >= 25


def test_a_plan_has_no_line_for_each_small_directory() -> None:
    urls = SITES["a directory for each page"]
    assert len(plan(Sizes(urls), 4).table) == 1


def test_what_is_found_later_is_shared_by_all_parts() -> None:
    made = plan(Sizes(pages("/", 10)), 4)
    assert drift(loads(made, pages("/new/", 4000))) < 0.2


def test_a_site_that_is_hardly_known_is_cut_by_urls() -> None:
    assert (rule_for(0.3), rule_for(0.95)) == ("urls", "paths")
    made = plan(Sizes(pages("/docs/", 50)), 3, "urls")
    assert list(made.table) == ["/"] and len(made.table["/"]) == BUCKETS
    assert drift(loads(made, pages("/docs/", 3000))) < 0.1


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 300), min_size=1), st.integers(2, 6), st.data())
def test_mending_makes_parts_even_and_changes_nothing_else(
    before: dict[str, int], parts: int, data: st.DataObject
) -> None:
    made = plan(Sizes([url for name, count in before.items() for url in pages(f"/{name}/", count)]), parts)
    grown = {name: count + data.draw(st.integers(0, 400)) for name, count in before.items()}
    urls = [url for name, count in grown.items() for url in pages(f"/{name}/", count)]
    mended = rebalanced(made, Sizes(urls))
    mended.check()
    old, new = loads(made, urls), loads(mended, urls)
    assert max(new) <= max(old)
    # Buckets are the smallest pieces: no part is above its share by more than one of them.
    largest = max(Counter(map(mended.unit_of, urls)).values())
    assert max(new) <= max(1.01 * len(urls) / parts, len(urls) / parts + largest)
    if drift(old) <= 0.01:
        assert mended == made


def test_mending_moves_no_more_than_is_uneven() -> None:
    made = plan(Sizes(SITES["middle-sized directories"]), 4)
    grown = [*SITES["middle-sized directories"], *pages("/a/", 400)]
    before = loads(made, grown)
    mended = rebalanced(made, Sizes(grown))
    moved = sum(made.part_of(url) != mended.part_of(url) for url in grown)
    assert drift(loads(mended, grown)) <= 0.05
    assert moved <= 1.1 * (max(before) - len(grown) / 4)


def test_a_directory_that_nobody_knew_is_no_reason_to_mend() -> None:
    made = plan(Sizes(SITES["middle-sized directories"]), 4)
    assert drift(loads(made, [*SITES["middle-sized directories"], *pages("/new/", 2000)])) < 0.1


def test_shares_tell_what_each_part_holds() -> None:
    urls = [*pages("/a/", 100), *pages("/b/", 60), *pages("/c/", 40), *pages("/", 8)]
    held = shares(plan(Sizes(urls), 2), Sizes(urls))
    assert sum(share.urls for part in held for share in part) == len(urls)
    assert (held[0][0].directory, held[0][0].urls, held[0][0].buckets) == ("/a/", 100, 0)
    assert {(share.directory, share.buckets > 0) for share in held[1]} >= {("/b/", False), ("/c/", False)}
    assert sum(share.buckets for part in held for share in part) == BUCKETS

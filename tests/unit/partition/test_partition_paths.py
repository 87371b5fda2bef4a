"""The seed's rule: paths, key paths, dealing out, and the measures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.partition.measures import ALONE, Measures, measured
from gossamer.partition.paths import deal_out, key_paths, path_of


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://today.hit.edu.cn/articles/1/2.html", "today.hit.edu.cn/articles"),
        ("http://www.hit.edu.cn/index.html", "www.hit.edu.cn/"),
        ("http://www.hit.edu.cn", "www.hit.edu.cn/"),
        ("http://www.hit.edu.cn/", "www.hit.edu.cn/"),
        ("https://a.org/articles/", "a.org/articles"),
        ("https://a.org:8080/articles/?page=2", "a.org:8080/articles"),
        ("https://a.org/articles", "a.org/"),
        ("https://a.org/go?to=/articles/1", "a.org/"),
        ("https://a.org/?to=http://b.org/x/y", "a.org/"),
        ("https://a.org//x/y", "a.org/"),
    ],
)
def test_the_path_is_host_and_first_directory(url: str, path: str) -> None:
    assert path_of(url) == path


def test_key_paths_are_the_largest_that_hold_ninety_percent() -> None:
    assert key_paths({"h/a": 5, "h/": 60, "h/b": 25, "h/c": 10}) == ["h/", "h/b", "h/c"]
    assert key_paths({"h/": 90, "h/b": 10}) == ["h/"]
    assert key_paths({"h/b": 1, "h/a": 1}) == ["h/a", "h/b"]
    assert key_paths({}) == []


def test_each_key_path_goes_to_the_crawler_with_the_fewest_urls() -> None:
    assert deal_out([50, 30, 25, 20, 10], 2) == [0, 1, 1, 0, 1]
    assert deal_out([7, 7, 7], 3) == [0, 1, 2]
    assert deal_out([9], 3) == [0]


@given(st.lists(st.integers(1, 10**6), max_size=60).map(lambda sizes: sorted(sizes, reverse=True)), st.integers(1, 10))
def test_no_crawler_has_more_than_its_share_and_one_path(sizes: list[int], parts: int) -> None:
    owners = deal_out(sizes, parts)
    loads = [sum(size for size, owner in zip(sizes, owners, strict=True) if owner == part) for part in range(parts)]
    assert max(loads) <= sum(sizes) / parts + max(sizes, default=0)


def test_measures_are_those_of_the_seed() -> None:
    assert measured(downloads=110, distinct=99, pages=100, busiest=55) == Measures(0.1, 0.99, pytest.approx(100 / 55))
    assert ALONE.total == pytest.approx(0.45, abs=0.005)
    assert Measures(0.1, 1.0, 2.0).total == pytest.approx(4 * ALONE.total)
    assert Measures(0.8, 1.0, 2.0).total == pytest.approx(2 * ALONE.total)
    assert Measures(0.0, 0.79, 9.0).total == 0.0
    assert measured(0, 0, 0, 0) == ALONE

"""Each URL counts under one prefix, and sums of higher prefixes are those of what lies below."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.scope.shape import path_shape
from gossamer.scope.statistics import SEGMENTS, Counts, ancestors, depth_of, prefix_of, roll_up

PATHS = st.text("ab/?=&1-.", max_size=40).map(lambda text: "http://a.org/" + text)


@pytest.mark.parametrize(
    ("shape", "prefix"),
    [
        ("/", "/"),
        ("/about", "/"),
        ("/a/b", "/a/"),
        ("/news/<n>/<n>/title", "/news/<n>/<n>/"),
        ("/a/b/c/d/e/f", "/a/b/c/d/"),
        ("/?p", "/?p"),
        ("/list?page", "/?page"),
        ("/shop/shoes?page&sort", "/shop/?page&sort"),
        ("/forum/viewtopic.php?t", "/forum/viewtopic.php?t"),
        ("/a/b/c/d/e/view.php?t", "/a/b/c/d/?t"),
    ],
)
def test_a_url_counts_under_the_directory_of_its_shape(shape: str, prefix: str) -> None:
    assert prefix_of(shape) == prefix


def test_a_slash_at_the_end_makes_no_prefix_of_a_page() -> None:
    assert prefix_of("/<n>/<n>/title/") == prefix_of("/<n>/<n>/title") == "/<n>/<n>/"
    assert prefix_of("/<n>/<n>/title/index.html") == "/<n>/<n>/" and prefix_of("/index.html") == "/"


def test_a_title_makes_no_prefix_of_a_page() -> None:
    assert prefix_of("/news/all-that-is-known-so-far/<n>.html") == "/news/"
    assert prefix_of("/news/all-that-is-known-so-far/feed/") == "/news/"
    assert prefix_of("/big-tournament/<n>.html") == "/big-tournament/"
    assert (
        prefix_of("/%D0%B8%D1%81%D1%82%D0%BE%D1%80%D0%B8%D1%8F/<n>") == "/%D0%B8%D1%81%D1%82%D0%BE%D1%80%D0%B8%D1%8F/"
    )


def test_parameters_are_told_apart_from_each_other_and_from_none() -> None:
    assert len({prefix_of(shape) for shape in ("/a/b", "/a/b?x", "/a/b?y", "/a/b?x&y")}) == 4


@given(PATHS)
def test_a_prefix_is_short_and_lies_below_the_root(url: str) -> None:
    prefix = prefix_of(path_shape(url))
    above = list(ancestors(prefix))
    assert above[0] == prefix and above[-1] == "/"
    assert len(above) == len(set(above)) == depth_of(prefix) + 1 <= SEGMENTS + 2
    assert all(prefix.startswith(one) for one in above)


@given(st.lists(st.tuples(PATHS, st.booleans()), max_size=30))
def test_sums_hold_each_url_once_and_never_more_than_above(urls: list[tuple[str, bool]]) -> None:
    leaves = [(prefix_of(path_shape(url)), Counts(known=1, fit=int(fit))) for url, fit in urls]
    sums = roll_up(leaves)
    if urls:
        assert sums["/"] == Counts(known=len(urls), fit=sum(fit for _, fit in urls))
    for prefix, counts in sums.items():
        inside = [one for leaf, one in leaves if prefix in ancestors(leaf)]
        assert counts == sum(inside, Counts())
        assert all(counts.known <= sums[above].known for above in ancestors(prefix))


def test_small_prefixes_are_dropped_but_still_counted_above() -> None:
    sums = roll_up([("/a/", Counts(known=1)), ("/b/", Counts(known=5))], at_least=2)
    assert sums == {"/": Counts(known=6), "/b/": Counts(known=5)}


def test_what_is_not_visited_is_unfetched() -> None:
    assert Counts(known=7, visited=3).unfetched == 4

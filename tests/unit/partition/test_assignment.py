"""Which part a URL belongs to: total, stable, the same after a trip through JSON."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.partition.assignment import Assignment, drift, one_part
from gossamer.partition.planning import plan
from gossamer.partition.sizes import Sizes

names = st.sampled_from(["a", "b", "docs", "news", "2024", "x y", "страница", ""])
paths = st.builds(
    lambda parts, end, query: "/" + "/".join(parts) + end + query,
    st.lists(names, max_size=5),
    st.sampled_from(["", "/", "/index.html"]),
    st.sampled_from(["", "?q=1", "?to=/docs/a/", "?u=http://other.org/news/"]),
)
urls = paths.map(lambda path: "https://site.test" + path)


@given(st.lists(urls, max_size=200), st.integers(1, 10), urls, st.sampled_from(["paths", "urls"]))
def test_every_url_belongs_to_one_part_known_or_not(known: list[str], parts: int, other: str, rule: str) -> None:
    made = plan(Sizes(known), parts, rule)
    made.check()
    assert all(0 <= made.part_of(url) < parts for url in [*known, other])
    again = Assignment.from_json(made.to_json())
    assert again == made
    assert [again.part_of(url) for url in known] == [made.part_of(url) for url in known]


def test_the_deepest_directory_of_the_plan_decides() -> None:
    made = Assignment(3, {"/": (0,), "/docs/": (1,), "/docs/api/": (2,)})
    made.check()
    by_path = {
        "": 0,
        "/": 0,
        "/docs": 0,
        "/docs?x=/docs/": 0,
        "/docs/": 1,
        "/docs/a.html": 1,
        "/docs/api": 1,
        "/docs/apix/": 1,
        "/docs/?x=/docs/api/": 1,
        "/docs/api/": 2,
        "/docs/api/deep/er.html?y": 2,
        "/news/docs/api/": 0,
    }
    assert {path: made.part_of("https://a.org" + path) for path in by_path} == by_path
    assert made.part_of("http://a.org:8080/docs/api/x") == 2


def test_an_opened_directory_is_shared_by_its_parts() -> None:
    made = Assignment(4, {"/": (0, 1, 2, 3)})
    found = [made.part_of(f"https://a.org/new/{number}.html") for number in range(400)]
    assert all(60 < found.count(part) < 140 for part in range(4))
    assert found == [made.part_of(f"http://a.org/new/{number}.html") for number in range(400)]


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ('{"parts": 2, "table": {}}', "/"),
        ('{"parts": 0, "table": {"/": [0]}}', "0 parts"),
        ('{"parts": 2, "table": {"/": [2]}}', "of 2"),
        ('{"parts": 2, "table": {"/": []}}', "of 2"),
        ('{"parts": 2, "table": {"/": [0], "/a/b/": [1]}}', "/a/ is not"),
        ('{"parts": 2, "table": {"/": [0], "a": [1]}}', "not a directory"),
        ('{"parts": 2}', "table"),
        ("nonsense", "malformed"),
    ],
)
def test_a_damaged_plan_is_refused(text: str, phrase: str) -> None:
    with pytest.raises(ValueError, match=phrase):
        Assignment.from_json(text)


def test_a_site_that_is_not_split_has_one_part() -> None:
    assert one_part().part_of("https://a.org/any/thing?x") == 0


def test_drift_is_what_the_largest_part_has_too_much() -> None:
    assert drift([100, 100, 100]) == 0.0
    assert drift([150, 100, 50]) == pytest.approx(0.5)
    assert drift([10, 0]) == pytest.approx(1.0)
    assert drift([0, 0]) == 0.0

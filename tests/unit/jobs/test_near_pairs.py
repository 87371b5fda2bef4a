"""Pages that share a lookup key: what belongs together is found, whatever the order, and at bounded cost."""

from __future__ import annotations

from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st

from gossamer.jobs.near_pairs import WINDOW, Pairs, buckets


class FirstByte:
    """Near duplicates are those whose first bytes differ by at most one."""

    name = "first-byte"
    threshold = 1.0

    def fingerprint(self, text: str, title: str = "") -> bytes:
        return text.encode()

    def long_part(self, fingerprint: bytes) -> bytes:
        return fingerprint

    def keys(self, fingerprint: bytes) -> list[int]:
        return [0]

    def similarity(self, left: bytes, right: bytes) -> float:
        return float(abs(left[0] - right[0]) <= 1)


def groups(edges: list[tuple[int, int]], pages: list[int]) -> list[set[int]]:
    found = {page: {page} for page in pages}
    for one, other in edges:
        both = found[one] | found[other]
        for page in both:
            found[page] = both
    return sorted({id(group): group for group in found.values()}.values(), key=min)


pages = st.dictionaries(st.integers(0, 1000), st.binary(min_size=1, max_size=2), min_size=1, max_size=WINDOW)


@given(pages, st.randoms())
def test_pages_connected_by_likeness_are_joined_in_any_order(found: dict[int, bytes], chance: object) -> None:
    order = list(found.items())
    chance.shuffle(order)
    pairs = Pairs(FirstByte())
    pairs.add(order)
    every = [(a, b) for a in found for b in found if a != b and abs(found[a][0] - found[b][0]) <= 1]
    assert groups(pairs.edges, sorted(found)) == groups(every, sorted(found))
    assert len(pairs.edges) == len(found) - len(groups(every, sorted(found))), "no more pairs than it takes"


def test_a_thousand_equal_fingerprints_are_not_compared() -> None:
    pairs = Pairs(FirstByte())
    pairs.add((page, b"same") for page in range(1000))
    assert len(pairs.edges) == 999
    assert (pairs.compared, pairs.crowded) == (0, 0)


def test_a_crowded_key_is_looked_through_in_a_window_and_counted() -> None:
    class Never(FirstByte):
        def similarity(self, left: bytes, right: bytes) -> float:
            return 0.0

    pairs = Pairs(Never())
    pairs.add((page, page.to_bytes(2)) for page in range(1000))
    assert pairs.crowded == 1
    assert pairs.compared <= 1000 * WINDOW


def test_what_is_known_from_one_key_is_not_compared_for_the_next() -> None:
    pairs = Pairs(FirstByte())
    pairs.add([(1, b"a"), (2, b"b")])
    before = pairs.compared
    pairs.add([(1, b"a"), (2, b"b")])
    assert pairs.compared == before
    assert pairs.edges == [(1, 2)]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 100), st.binary(max_size=1))))
def test_buckets_hold_the_pages_of_each_key_that_has_several(rows: list[tuple[int, int, bytes]]) -> None:
    expected = defaultdict(list)
    for key, page, fingerprint in sorted(rows):
        expected[key].append((page, fingerprint))
    assert list(buckets(sorted(rows))) == [pages for _, pages in sorted(expected.items()) if len(pages) > 1]

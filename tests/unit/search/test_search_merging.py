"""Answers of several shards as one: merging parts gives what sorting the whole would give."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.search.counting import Counted, Joined, Sharing, total
from gossamer.search.limits import WINDOW, Span
from gossamer.search.shards.merging import MergedSpelling, completed, copies_of, merged, one_page
from gossamer.search.shards.values import Sighting, Spellings, Suggested

SCORES = st.integers(0, 400).map(lambda n: n / 8)
PARTS = st.lists(st.tuples(SCORES, st.integers(0, 16), st.integers(0, 12), st.integers(0, 3)), max_size=120)


def sightings(drawn: list[tuple[float, int, int, int]]) -> dict[int, list[Sighting]]:
    """Pages by shard, each shard's in order of its own."""
    parts: dict[int, list[Sighting]] = {}
    for key, (score, prior, cluster, shard) in enumerate(drawn):
        parts.setdefault(shard, []).append(Sighting(score, score + prior / 8, key, cluster))
    return {shard: sorted(part, key=lambda one: -one.order) for shard, part in parts.items()}


def ordered(found: list[Sighting]) -> list[Sighting]:
    return sorted(found, key=lambda one: (-one.order, one.key))


@given(PARTS)
def test_merging_shards_is_sorting_the_whole(drawn: list[tuple[float, int, int, int]]) -> None:
    parts = sightings(drawn)
    parts.setdefault(8, [])
    parts.setdefault(9, [])
    everything = [one for part in parts.values() for one in part]
    assert merged(list(parts.values()), "bm25", False) == ordered(everything)
    assert merged(list(parts.values()), "web", True) == ordered(everything)
    best, rest = ordered(everything)[:WINDOW], ordered(everything)[WINDOW:]
    found = merged(list(parts.values()), "web", False)
    assert found[:WINDOW] == sorted(best, key=lambda one: (-one.score, one.key))
    assert [one.key for one in found[WINDOW:]] == [one.key for one in rest]


@given(PARTS)
def test_how_pages_are_divided_changes_nothing(drawn: list[tuple[float, int, int, int]]) -> None:
    several = list(sightings(drawn).values())
    others = sightings([(score, prior, cluster, key % 3) for key, (score, prior, cluster, _) in enumerate(drawn)])
    for ranking in ("web", "bm25"):
        assert merged([*several, []], ranking, False) == merged([*others.values(), []], ranking, False)


@given(st.lists(st.tuples(SCORES, SCORES), max_size=80))
def test_the_hits_of_one_shard_stand_as_they_came(drawn: list[tuple[float, float]]) -> None:
    part = [Sighting(order, score, -key, key) for key, (order, score) in enumerate(drawn)]
    part.sort(key=lambda one: -one.order)
    assert merged([part], "bm25", False) == part


def test_the_last_digits_of_a_score_decide_nothing_between_shards() -> None:
    first, second = Sighting(1.00000001, 1.0, 7, 7), Sighting(1.0, 1.0, 3, 3)
    assert [one.key for one in merged([[first], [second]], "bm25", False)] == [3, 7]


@given(PARTS, st.integers(0, 40), st.integers(1, 20))
def test_pages_of_results_show_every_cluster_once(
    drawn: list[tuple[float, int, int, int]], first: int, size: int
) -> None:
    found = merged([*sightings(drawn).values(), []], "web", False)
    line = one_page(found, Span(first, size), lambda clusters: {}, True, 0)
    clusters = list(dict.fromkeys(one.cluster for one in found))
    by_key = {one.key: one.cluster for one in found}
    assert [by_key[one.key] for one in line.showings] == clusters[first : first + size]
    assert line.is_full == (len(line.showings) == size)
    for showing in line.showings:
        assert showing.similar == len(copies_of(found, showing.key))
    assert [one.key for one in one_page(found, Span(first, size), lambda clusters: {}, False, 0).showings] == [
        one.key for one in found[first : first + size]
    ]


def test_a_cluster_is_shown_by_its_representative_with_the_best_score() -> None:
    found = [Sighting(3.0, 3.0, 1, 5), Sighting(2.0, 2.0, 2, 6), Sighting(1.0, 1.0, 3, 5)]
    line = one_page(found, Span(0, 10), lambda clusters: dict.fromkeys(clusters, 3), True, 0)
    assert [(one.key, one.score, one.similar) for one in line.showings] == [(3, 3.0, 1), (2, 2.0, 0)]


def test_copies_in_different_shards_are_counted_once() -> None:
    counted = [
        Counted({"sites": {"a": 3}}, 2, 1, (Sharing("sites", "a", 2, (1, 2)),)),
        Counted({"sites": {"a": 1, "b": 4}}, 1, 1, (Sharing("sites", "a", 1, (1,)),)),
    ]
    tally = total(8, [Joined(1, (1,)), Joined(1, (2,))], counted, True)
    assert tally.total == 7 and not tally.estimated
    assert [(count.value, count.count) for count in tally.facets.sites] == [("b", 4), ("a", 3)]


def test_a_value_that_is_rare_in_each_shard_may_lead_in_all() -> None:
    counted = [Counted({"sites": {f"s{n}-{shard}": 5 for n in range(30)} | {"everywhere": 2}}) for shard in range(4)]
    assert total(500, [], counted, True).facets.sites[0].value == "everywhere"


def test_words_of_all_shards_complete_a_query() -> None:
    several = [
        Suggested((("spider", 3), ("spin", 2)), ((1.0, "Spinning"),)),
        Suggested((("spin", 2),), ((2.0, "Spin doctors"),)),
    ]
    assert completed("spi", several, 4) == ["Spin doctors", "Spinning", "spin", "spider"]


def test_spelling_adds_up_the_frequencies_of_neighbours() -> None:
    spelling = MergedSpelling([
        Spellings({"spider": 2, "spidre": 0}, {"spidre": ((1, "spider"),)}),
        Spellings({"spied": 3, "spider": 2}, {"spidre": ((2, "spied"), (1, "spider"))}),
    ])  # fmt: skip
    assert spelling.frequency("spider") == 4
    assert spelling.neighbours("spidre") == [(1, "spider"), (2, "spied")]
    assert spelling.neighbours("other") == []


@pytest.mark.parametrize("value", [Sighting(1.5, 2.5, -(2**63), 2**63 - 1)])
def test_keys_of_all_64_bits_travel(value: Sighting) -> None:
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(value), type=Sighting) == value

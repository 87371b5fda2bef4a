"""Whatever a graph is cut into, its components are those that a search from node to node finds."""

from __future__ import annotations

import itertools
import tempfile
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.database.database import Database
from gossamer.engine.contract import InlineEngine
from gossamer.jobs.components import connect, labels, write_edges
from gossamer.jobs.context import JobContext

INT64 = st.integers(-(2**63), 2**63 - 1)
edges = st.lists(st.tuples(st.integers(-6, 6) | INT64, st.integers(-6, 6)).filter(lambda one: one[0] != one[1]))


def by_search(pairs: list[tuple[int, int]]) -> dict[int, int]:
    """Node → smallest node of its component."""
    near: dict[int, set[int]] = {}
    for one, other in pairs:
        near.setdefault(one, set()).add(other)
        near.setdefault(other, set()).add(one)
    found: dict[int, int] = {}
    for start in sorted(near):
        todo = [start]
        while todo:
            node = todo.pop()
            if node not in found:
                found[node] = start
                todo += near[node]
    return found


def by_job(pairs: list[tuple[int, int]], parts: int, files: int = 2) -> dict[int, int]:
    with tempfile.TemporaryDirectory() as work:
        context = JobContext(InlineEngine(), cast(Database, None), "", work, parts)
        ends = np.array(pairs, np.int64).reshape(-1, 2)
        names = [f"edges/{number}" for number in range(files)]
        for number, name in enumerate(names):
            mine = ends[number::files]
            write_edges(context.place, name, mine[:, 0], mine[:, 1], parts)
        stars = connect(context, names, parts)
        return {node: label for part in range(parts) for node, label in labels(context.place, stars, part).items()}


@given(edges, st.sampled_from([1, 2, 5]))
@settings(max_examples=60)
def test_components_are_those_of_a_search(pairs: list[tuple[int, int]], parts: int) -> None:
    assert by_job(pairs, parts) == by_search(pairs)


@pytest.mark.parametrize("step", [1, 7919])
def test_a_long_chain_is_one_component(step: int) -> None:
    nodes = [place * step % 1009 for place in range(1000)]
    pairs = list(itertools.pairwise(nodes))
    assert by_job(pairs, 3) == dict.fromkeys(nodes, min(nodes))


def test_a_graph_without_edges_has_no_labels() -> None:
    assert by_job([], 2) == {}

"""Start pages of the parts of a split site, besides the home page: the most linked pages of every path."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gossamer.partition.assignment import Assignment
from gossamer.partition.links import Ints, SiteGraph

PER_PATH = 2


def best_of_each(groups: npt.NDArray[np.int64], graph: SiteGraph, count: int = PER_PATH) -> Ints:
    """The first pages of each group: those with most links to them, of equal ones the least deep, then the first."""
    order = np.lexsort((graph.depth, -graph.in_degree, groups))
    ordered = groups[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(ordered) else np.empty(0, np.int64)
    place = np.arange(len(order)) - np.repeat(first, np.diff(np.append(first, len(order))))
    chosen: Ints = order[place < count]
    return chosen


def seed_pages(assignment: Assignment, graph: SiteGraph) -> list[list[int]]:
    """Start pages of each part: the best two that it holds of each directory of the plan."""
    units = [assignment.unit_of(url) for url in graph.urls]
    parts = np.array([assignment.table[directory][bucket] for directory, bucket in units], np.int64)
    numbers = {directory: number for number, directory in enumerate(assignment.table)}
    groups = np.array([numbers[directory] for directory, _ in units], np.int64) * assignment.parts + parts
    chosen = best_of_each(groups, graph)
    return [chosen[parts[chosen] == part].tolist() for part in range(assignment.parts)]


def key_path_seeds(keys: Sequence[str], graph: SiteGraph) -> dict[str, list[int]]:
    """The two pages of each key path, by the rule of the papers."""
    chosen = best_of_each(graph.path_numbers, graph)
    found: dict[str, list[int]] = {path: [] for path in keys}
    for page in chosen.tolist():
        path = graph.path_names[graph.path_numbers[page]]
        if path in found:
            found[path].append(page)
    return found

"""Whether a site is worth splitting, and into how many parts: the split with the greatest total measure, or none."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gossamer.partition.config import PartitionConfig
from gossamer.partition.links import SiteGraph
from gossamer.partition.measures import ALONE, LEAST_COVERAGE, Measures
from gossamer.partition.planning import Rule, plan
from gossamer.partition.simulate import Run, by_seed_rule, in_parts
from gossamer.partition.sizes import Sizes

MOST_COMPARED = 10
"""Parts up to which predictions are made, as in the papers."""
WORTH = 1.05
"""How many times better a larger split must be: another part is another load on the server."""


class Prediction(msgspec.Struct, frozen=True):
    """The predicted gain of a split into so many parts, by both rules."""

    parts: int
    seed: Measures
    """By the rule of the papers."""
    ours: Measures
    """By our plan, at the rate that the settings and the site's robots.txt allow."""
    pages: tuple[int, ...]
    """Pages of each part of our plan."""
    waiting: float
    """Share of the time in which the largest of them has nothing to fetch."""


def predict(
    graph: SiteGraph, sizes: Sizes, rule: Rule, config: PartitionConfig, delay: float, crawl_delay: float = 0.0,
    most: int = MOST_COMPARED,
) -> list[Prediction]:  # fmt: skip
    """Predictions for 1 to `most` parts of a site with this graph, its known URLs and the delay of its requests."""
    ordinary = max(delay, crawl_delay)
    found = []
    for parts in range(1, most + 1):
        run = in_parts(graph, plan(sizes, parts, rule))
        gap = config.part_gap(parts, delay, crawl_delay)
        pace = ordinary / gap if gap else 1.0
        found.append(Prediction(parts, by_seed_rule(graph, parts), _paced(run, pace), run.pages, run.waiting))
    return found


def pick(measures: Sequence[Measures], most_parts: int) -> int:
    """The best number of parts, given the measures of 1, 2, … parts; 1: better not split."""
    best, chosen = ALONE, 1
    for parts, found in enumerate(measures[:most_parts], start=1):
        if found.coverage >= LEAST_COVERAGE and found.total > WORTH * best.total:
            best, chosen = found, parts
    return chosen


def _paced(run: Run, pace: float) -> Measures:
    """At a rate that is lower for each part."""
    return msgspec.structs.replace(run.measures, acceleration=run.measures.acceleration * pace)

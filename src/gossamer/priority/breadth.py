"""Breadth first: a page's level is its distance from the seeds.

With first-in-first-out inside a level this is an exact breadth-first order up to `DEEPEST`, whose
level holds everything deeper: half of the levels are left for what other factors tell apart. What a
feed announces is news and comes first; URLs from sitemaps wait near the seeds, the webmaster's
favourites before the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gossamer.model.records import Discovered, Via
from gossamer.priority.levels import OCTAVES_PER_LEVEL
from gossamer.priority.strategy import Floats

DEEPEST = 15


class BreadthFirst:
    """The default strategy."""

    def scores(self, found: Sequence[Discovered]) -> Floats:
        """2^(-0.75 · depth), so that the level is the depth."""
        steps = np.fromiter((_level(one) for one in found), np.float64, len(found))
        return np.exp2(-OCTAVES_PER_LEVEL * steps)


def _level(found: Discovered) -> int:
    if found.via is Via.FEED:
        return 0
    if found.hint is not None:
        return 1 + round(2 * (1 - _between_0_and_1(found.hint)))
    return min(max(found.depth, 0), DEEPEST)


def _between_0_and_1(hint: float) -> float:
    return min(max(0.0, hint), 1.0)  # in this order: max() of 0 and nan is 0

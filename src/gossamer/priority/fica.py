"""FICA (Zareh Bidoki, Yazdani, Ghodsnia, 2009): near pages first, where many links make a way long.

A step from a page with n links is log10(n) long: so unlikely is it that a surfer who follows links at random
takes just this one. A page is as far as the best way to it:

    d(page) = min over its parents of log10(links of the parent) + gamma · d(parent),  0 for seeds and other entries.

Gamma under 1 forgets what lies far behind, and so pages deep in a site have their chance.

The score is 10^(-d/2). With gamma = 1 its square is the chance that the surfer comes by the best way; the
root lets 16 levels, as many as a failed `fit` costs, reach to distance 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from gossamer.model.records import Discovered
from gossamer.priority.entries import entries
from gossamer.priority.strategy import Floats, Standing

GAMMA = 0.8
"""The best of 0.3 … 1 when crawls of a real graph of 300,000 pages were simulated; 0.5 … 0.9 differ little."""
FAR = 1000.0
"""The distance before a link is known; a number, because infinity is not at home in every database."""
_LAST = 20.0
"""Beyond this all distances have the last level."""


class Fica:
    """`cash` is the distance."""

    joins: Literal["sum", "min"] = "min"
    again = True

    def __init__(self, gamma: float = GAMMA) -> None:
        self._gamma = gamma

    def start(self, found: Sequence[Discovered], now: float) -> Standing:
        """Ways begin at entries; all else is far until a link leads there."""
        return Standing(np.where(entries(found), 0.0, FAR), np.zeros(len(found)), np.full(len(found), now))

    def give(self, pages: Standing, links: Floats, now: float) -> tuple[Floats, Standing]:
        """The distance by way of each page; it keeps its own, which may be less at the next visit."""
        return np.log10(links) + self._gamma * pages.cash, pages

    def gain(self, targets: Standing, gifts: Floats) -> Standing:
        """The shorter way."""
        return targets._replace(cash=np.minimum(targets.cash, gifts))

    def values(self, standings: Standing) -> Floats:
        """The nearer, the better."""
        return np.power(10.0, -np.clip(standings.cash, 0.0, _LAST) / 2)

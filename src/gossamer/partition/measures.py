"""How good a split is: overlap, coverage, acceleration, and one figure for all three."""

from __future__ import annotations

import math

import msgspec

LEAST_COVERAGE = 0.8
"""ε: a split that covers less is worse than none."""
FREE_OVERLAP = 0.2
"""δ: overlap up to this does not count."""


class Measures(msgspec.Struct, frozen=True):
    """Of one split."""

    overlap: float
    """Share of downloads in vain, because another crawler had the page."""
    coverage: float
    """Share of the site's pages that were downloaded."""
    acceleration: float
    """How many times as fast as one crawler."""

    @property
    def total(self) -> float:
        """One figure: acceleration counts most, coverage above the least, overlap if it is high."""
        gain = self.acceleration**2 * (self.coverage - LEAST_COVERAGE)
        return max(gain / math.sqrt(max(self.overlap, FREE_OVERLAP)), 0.0)


ALONE = Measures(0.0, 1.0, 1.0)
"""One crawler for the whole site."""


def measured(downloads: int, distinct: int, pages: int, busiest: float) -> Measures:
    """From counts: all downloads, different pages among them, pages of the site, and downloads of the busiest
    crawler, or the time it took in downloads."""
    overlap = (downloads - distinct) / downloads if downloads else 0.0
    coverage = distinct / pages if pages else 1.0
    return Measures(overlap, coverage, pages / busiest if busiest else 1.0)

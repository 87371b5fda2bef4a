"""Breadth first: a page's level is its distance from the seeds.

With first-in-first-out inside a level this is an exact breadth-first order up to
the last level, which holds everything deeper.
"""

from __future__ import annotations

from gossamer.model.records import LEVELS


def level_of(depth: int) -> int:
    """The level of a URL that many links away from a seed."""
    return min(max(depth, 0), LEVELS - 1)


def sitemap_level(priority: float) -> int:
    """The level of a URL from a sitemap: near the seeds, the webmaster's favourites first."""
    return 1 + round(2 * (1 - min(max(priority, 0.0), 1.0)))

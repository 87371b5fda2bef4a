"""Breadth first: a page's level is its distance from the seeds.

With first-in-first-out inside a level this is an exact breadth-first order up to
the last level, which holds everything deeper. URLs from sitemaps wait near the
seeds, the webmaster's favourites first.
"""

from __future__ import annotations

from collections.abc import Sequence

from gossamer.model.records import LEVELS, Via


class BreadthFirst:
    """The default strategy."""

    def levels(self, urls: Sequence[str], via: Via, depth: int, hints: Sequence[float] | None = None) -> Sequence[int]:
        """The depth, or the sitemap's priority."""
        if hints is not None:
            return [1 + round(2 * (1 - min(max(hint, 0.0), 1.0))) for hint in hints]
        return [min(max(depth, 0), LEVELS - 1)] * len(urls)

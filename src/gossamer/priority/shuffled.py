"""Random order: the baseline that every other strategy has to beat.

The level is a hash of the URL, so the same crawl has the same order each time.
"""

from __future__ import annotations

from collections.abc import Sequence

import xxhash

from gossamer.model.records import LEVELS, Via


class Shuffled:
    """A level by lot."""

    def levels(self, urls: Sequence[str], via: Via, depth: int, hints: Sequence[float] | None = None) -> Sequence[int]:
        """One level of all, each as likely as the others."""
        return [xxhash.xxh3_64_intdigest(url.encode()) % LEVELS for url in urls]

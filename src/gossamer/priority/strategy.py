"""What a strategy is: it says in which level a new URL waits.

Strategies are pure and work on a batch: the URLs that one page, sitemap or seed
list led to. Level 0 is fetched first; inside a level the order is first in, first out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gossamer.model.records import Via


class Strategy(Protocol):
    """Gives levels to new URLs."""

    def levels(self, urls: Sequence[str], via: Via, depth: int, hints: Sequence[float] | None = None) -> Sequence[int]:
        """One level of 0…31 for each URL; `hints` are the webmaster's priorities of 0…1, where he gave any."""
        ...

"""How far a search goes: the same for one index and for many."""

from __future__ import annotations

import msgspec

from gossamer.model.counts import counted
from gossamer.search.results import Request

DEPTH = 1_000
"""Results that can be paged through."""
WINDOW = 50
"""Best hits to which priors are added; what comes after them keeps its order."""
MAX_SIZE = 100
ENOUGH = 10
"""Results below which pages with only some of the words are shown, too."""
MAX_PREFIX = 100
"""Characters of a query being typed that are looked at."""


class Span(msgspec.Struct, frozen=True):
    """The results that a request wants to see."""

    first: int
    """From 0."""
    size: int

    @property
    def needed(self) -> int:
        """How many of the best results that takes."""
        return min(self.first + self.size, DEPTH)

    def notices(self, total: int) -> list[str]:
        """A sentence where it lies too deep."""
        if self.first < DEPTH or not total:
            return []
        if total <= DEPTH:
            return [f"There are only {counted(total, 'result')}."]
        return [f"Only the first {DEPTH:,} results are available. Add a word to narrow them down."]

    def pages(self, total: int) -> int:
        """Pages of results that can be asked for."""
        return -(-min(total, DEPTH) // self.size)


def span_of(request: Request) -> Span:
    """The results that a request wants to see."""
    size = min(max(request.size, 1), MAX_SIZE)
    return Span((max(request.page, 1) - 1) * size, size)


def depth_for(needed: int) -> int:
    """How many hits the index is asked for, so that priors can move them."""
    return WINDOW if needed <= WINDOW // 2 else DEPTH


def relaxed_notice(found: int) -> str:
    """What a reader is told where pages with a part of the words are shown, too."""
    if found:
        return "Few pages contain all words. Some of these pages contain only part of them."
    return "No page contains all words. These pages contain some of them."

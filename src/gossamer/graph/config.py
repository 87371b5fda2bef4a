"""The settings of `gossamer rank`."""

from __future__ import annotations

from typing import Literal

import msgspec

from gossamer.errors import UsageError


class RankConfig(msgspec.Struct, frozen=True):
    """Ranks of pages and sites by the links between them."""

    form: Literal["normalised", "paper"] = "normalised"
    """normalised: pages without links share their rank among all pages; paper: PR = (1 - d) + d · Σ PR/out as in the
    papers, where that rank is lost."""
    damping: float = 0.85
    """Share of its rank that a page passes on to the pages it links to."""
    tolerance: float = 1e-8
    """A ranking is done when the ranks, whose mean is 1, change by less than this on average in one iteration."""
    iterations: int = 500
    """A ranking stops after this many iterations, even if it is not done."""
    personalise: Literal["uniform", "seeds"] = "uniform"
    """Where somebody goes who does not follow a link: to any page, or to a seed of the crawl."""
    anchors: int = 10
    """How many link texts to keep for each page, the most frequent ones; 0: none."""
    every: float = 0.0
    """Seconds between two rankings while a crawl runs; 0: only `gossamer rank` ranks."""

    def check(self) -> None:
        """Raise a `UsageError` for what a type cannot rule out."""
        if not 0 <= self.damping < 1:
            raise UsageError(f"rank.damping is {self.damping}: it must be from 0 to less than 1")
        if not 0 < self.tolerance < 1:
            raise UsageError(f"rank.tolerance is {self.tolerance}: it must be more than 0 and less than 1")

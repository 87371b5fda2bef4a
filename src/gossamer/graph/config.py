"""The settings of `gossamer rank`."""

from __future__ import annotations

from typing import Literal

import msgspec

from gossamer.errors import UsageError


class RankConfig(msgspec.Struct, frozen=True):
    """Ranks of pages and sites by the links between them."""

    form: Literal["normalised", "seed"] = "normalised"
    """normalised: what pages without links have goes to all; seed: PR = (1 - d) + d · Σ PR/out, and it is lost."""
    damping: float = 0.85
    """Share of its rank that a page passes on to the pages it links to."""
    tolerance: float = 1e-8
    """Mean change of a rank (their mean is 1) in one iteration, below which ranks are done."""
    iterations: int = 500
    """Iterations after which ranks are taken as they are."""
    personalise: Literal["uniform", "seeds"] = "uniform"
    """Where a reader goes who follows no link: to any page, or to a seed of the crawl."""
    anchors: int = 10
    """Texts of links kept for each page, the most frequent ones; 0: none."""
    every: float = 0.0
    """Seconds between two rankings while a crawl runs; 0: only when `gossamer rank` is called."""

    def check(self) -> None:
        """Raise a `UsageError` for what a type cannot rule out."""
        if not 0 <= self.damping < 1:
            raise UsageError(f"rank.damping is {self.damping}: it must be from 0 to less than 1")
        if not 0 < self.tolerance < 1:
            raise UsageError(f"rank.tolerance is {self.tolerance}: it must be more than 0 and less than 1")

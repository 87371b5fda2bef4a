"""Settings of strategies."""

from __future__ import annotations

from typing import Literal

import msgspec


class PriorityConfig(msgspec.Struct, frozen=True):
    """Parameters of the strategies that `crawl.strategy` names."""

    fit: float = 1.0
    """Score of a URL that fits a document rule, or whose domain has no rules."""
    unfit: float = 2.0**-12
    """Score of a URL that fits none of the rules of its domain."""
    opic_window: float = 0.0
    """Seconds over which adaptive OPIC sums the cash of a page; 0: since the beginning."""
    ranks: str = ""
    """Ranks of an earlier crawl, for the strategy `earlier`: a file of lines with URL, tab and rank, or a data folder
    with the ranks of `gossamer rank`; empty: the data folder of this crawl."""
    unranked: Literal["parent", "random", "zero"] = "parent"
    """How `earlier` ranks pages without a rank. parent: the rank of their parent divided by its links; random: at
    random; zero: last."""
    model: str = ""
    """A QRank model that `gossamer qrank train` wrote; empty: the model that comes with Gossamer."""

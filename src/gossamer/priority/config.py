"""Settings of strategies."""

from __future__ import annotations

from typing import Literal

import msgspec


class PriorityConfig(msgspec.Struct, frozen=True):
    """How strategies weigh; which are used says `crawl.strategy`."""

    fit: float = 1.0
    """Score of a URL that fits a document rule, or whose domain has no rules."""
    unfit: float = 2.0**-12
    """Score of a URL that fits none of its domain's rules."""
    opic_window: float = 0.0
    """Seconds over which adaptive OPIC adds up what a page was given; 0: since the beginning."""
    ranks: str = ""
    """File with URLs and their ranks in an earlier crawl, for the strategy `earlier`: URL, tab, rank; or a data folder
    with the ranks of `gossamer rank`; empty: those of the crawl's own data folder."""
    unranked: Literal["parent", "random", "zero"] = "parent"
    """How `earlier` ranks pages that the file does not know: by their parent's rank over its links, by lot, or last."""
    model: str = ""
    """File of a QRank model made by `gossamer qrank train`; empty: the one that comes with Gossamer."""

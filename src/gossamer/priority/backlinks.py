"""Backlink count: the more links lead to a page, the earlier it is fetched.

Each link counts once, however often its page is visited. The score is the share of `PLENTY` links, so
the count moves a page by no more levels (13) than a failed `fit` does: in `fit * backlinks` useful pages
come first, and among them the ones with most links.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from gossamer.model.records import Discovered
from gossamer.priority.entries import entries
from gossamer.priority.strategy import Floats, Standing

PLENTY = 1024.0
"""As many links put a page on the first level."""
_UNLINKED = 0.5
"""What a page that nobody links to (a sitemap names it) is taken for: one level under a single link."""


class Backlinks:
    """`cash` is the number of links seen; `history` is 1 for entries, which need none to be first."""

    joins: Literal["sum", "min"] = "sum"
    again = False

    def start(self, found: Sequence[Discovered], now: float) -> Standing:
        """No links yet."""
        return Standing(np.zeros(len(found)), entries(found).astype(np.float64), np.full(len(found), now))

    def give(self, pages: Standing, links: Floats, now: float) -> tuple[Floats, Standing]:
        """One to each."""
        return np.ones_like(links), pages

    def gain(self, targets: Standing, gifts: Floats) -> Standing:
        """So many links more."""
        return targets._replace(cash=targets.cash + gifts)

    def values(self, standings: Standing) -> Floats:
        """The share of `PLENTY`."""
        counted = np.clip(standings.cash, _UNLINKED, PLENTY) / PLENTY
        return np.where(standings.history > 0, 1.0, counted)

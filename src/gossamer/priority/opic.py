"""OPIC, on-line page importance (Abiteboul, Preda, Cobena, 2003): importance flows while the crawl goes on.

Seeds and other entries start with 1 of cash, every other URL with `WELCOME`. A page that is fetched shares its cash
equally among its links, and its history notes the amount. The URL with most cash waiting goes first. Over
many visits a page's part of all histories tends to the share of time that a surfer who follows links at
random spends there.

The adaptive form follows a web that changes: only what came within the last `opic_window` seconds counts.
Each visit interpolates the window's sum from the last one; with C the cash, T the window and G the seconds
between the visits (before the first: since the URL was found)

    history ← history · (T − G) / T + C  where G < T,  C · T / G  otherwise.

A URL then ranks by the window's sum and the cash that waits. One that was never fetched has no
history: the two forms differ only in the order of pages that are visited again.

The paper has a virtual page that all pages link to and that links to all, so that no cash is stuck for ever.
Paying every URL is not for a table of a billion rows: here it pays each URL once, when it is found, and the
cash of a page without links is out of circulation. Without that payment all cash soon lies on fetched pages that
link to each other, and the URLs that wait, a millionth of it between them, can no longer be told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from gossamer.model.records import LEVELS, Discovered
from gossamer.priority.entries import entries
from gossamer.priority.levels import score_of_level
from gossamer.priority.strategy import Context, Floats, Standing

WELCOME = score_of_level(15.65)
"""What a URL brings that is no entry: so the mean cash of a URL is about this much, however large the crawl, and
scores keep their meaning. Just below the border of level 15, where a gift of a tenth of it is enough to rise."""
_NO_CASH = score_of_level(LEVELS)


class Opic:
    """`cash` waits to be shared, `history` is what was shared, `at` is when that was last noted."""

    joins: Literal["sum", "min"] = "sum"
    again = True

    def __init__(self, context: Context) -> None:
        self._window = context.config.opic_window

    def start(self, found: Sequence[Discovered], now: float) -> Standing:
        """Entries bring most."""
        return Standing(np.where(entries(found), 1.0, WELCOME), np.zeros(len(found)), np.full(len(found), now))

    def give(self, pages: Standing, links: Floats, now: float) -> tuple[Floats, Standing]:
        """All the cash in equal parts."""
        after = Standing(np.zeros_like(pages.cash), self._noted(pages, now), np.full_like(pages.at, now))
        return pages.cash / links, after

    def gain(self, targets: Standing, gifts: Floats) -> Standing:
        """More cash."""
        return targets._replace(cash=targets.cash + gifts)

    def values(self, standings: Standing) -> Floats:
        """The cash, in the adaptive form with the window's history."""
        worth = standings.cash + standings.history if self._window > 0 else standings.cash
        return np.clip(worth, _NO_CASH, 1.0)

    def _noted(self, pages: Standing, now: float) -> Floats:
        if self._window <= 0:
            return pages.history + pages.cash
        gap = np.maximum(now - pages.at, 0.0)
        inside = pages.history * (1 - gap / self._window) + pages.cash
        outside = pages.cash * self._window / np.maximum(gap, self._window)
        return np.where(gap < self._window, inside, outside)

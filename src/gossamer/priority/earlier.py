"""Ranks of an earlier crawl: what mattered then is fetched first now (S4.4).

The ranks are those that `gossamer rank` left in the data folder, or those of a file: they know the pages of the
last time. For the others there are three ways: by the links of the pages that lead to them (`parent`), by lot from the
known ranks (`random`), and after all known pages (`zero`). Two more, in `studies/priority.py`, know the true ranks.

Ranks may have any scale (PageRank sums to 1, or has a mean of 1). The score follows the logarithm of the rank,
since ranks are spread over many orders of magnitude: the highest rank has level 0, the lowest level `LOWEST`,
a page without a rank the level under it. That is as many levels as a failed `fit` costs, so `fit * earlier` has
the useful pages first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import UsageError
from gossamer.model.records import Discovered
from gossamer.model.site import key64
from gossamer.priority.chance import lots
from gossamer.priority.entries import entries
from gossamer.priority.levels import OCTAVES_PER_LEVEL, score_of_level
from gossamer.priority.strategy import Context, Floats, LinkStrategy, Standing, Strategy

LOWEST = 15
_UNRANKED = score_of_level(LOWEST + 1)


def earlier(context: Context) -> Strategy | LinkStrategy:
    """The strategy that the settings ask for."""
    if not context.ranks:
        raise UsageError(
            "the strategy `earlier` needs the ranks of an earlier crawl: run `gossamer rank`, or name a file in `ranks`"
        )
    if context.config.unranked == "parent":
        return EarlierOrParent(context.ranks)
    return Earlier(context.ranks, context.config.unranked)


class KeyedRanks(Mapping[int, float]):
    """Ranks in two arrays, as `gossamer rank` writes them: the keys ascending; they may be mapped files."""

    def __init__(self, keys: NDArray[np.int64], ranks: Floats) -> None:
        self.keys_, self.ranks = keys, ranks

    def of(self, keys: NDArray[np.int64]) -> Floats:
        """The rank of each key, 0 where there is none."""
        if not len(self.keys_):
            return np.zeros(len(keys))
        places = np.minimum(np.searchsorted(self.keys_, keys), len(self.keys_) - 1)
        return np.where(self.keys_[places] == keys, self.ranks[places], 0.0)

    def __getitem__(self, key: int) -> float:
        place = int(np.searchsorted(self.keys_, key))
        if place == len(self.keys_) or self.keys_[place] != key:
            raise KeyError(key)
        return float(self.ranks[place])

    def __iter__(self) -> Iterator[int]:
        return map(int, self.keys_)

    def __len__(self) -> int:
        return len(self.keys_)


class Earlier:
    """Known pages by their rank, the others by lot or last."""

    def __init__(self, ranks: Mapping[int, float], unranked: Literal["random", "zero"] = "zero") -> None:
        self._ranks = ranks
        self._known = _usable(ranks)
        self._scale = _Scale(self._known)
        self._by_lot = unranked == "random" and len(self._known) > 0

    def scores(self, found: Sequence[Discovered]) -> Floats:
        """By rank."""
        ranks = _looked_up(self._ranks, found)
        if self._by_lot:
            ranks = np.where(ranks > 0, ranks, self._known[(lots(found) * len(self._known)).astype(np.int64)])
        return self._scale.scores(ranks)


class EarlierOrParent:
    """Known pages by their rank, the others by what the pages that link to them have for each of their links.

    `cash` is the rank, known or estimated; `history` is 1 where it was known, and then links do not change it.
    """

    joins: Literal["sum", "min"] = "sum"
    again = False

    def __init__(self, ranks: Mapping[int, float]) -> None:
        self._ranks = ranks
        known = _usable(ranks)
        self._scale = _Scale(known)
        self._mean = float(known.mean()) if len(known) else 1.0

    def start(self, found: Sequence[Discovered], now: float) -> Standing:
        """The known rank, or none; an unknown entry, which may never have a parent, is taken for a page like any."""
        ranks = _looked_up(self._ranks, found)
        known = ranks > 0
        cash = np.where(known, ranks, np.where(entries(found), self._mean, 0.0))
        return Standing(cash, known.astype(np.float64), np.full(len(found), now))

    def give(self, pages: Standing, links: Floats, now: float) -> tuple[Floats, Standing]:
        """Rank over links; the page keeps its own."""
        return pages.cash / links, pages

    def gain(self, targets: Standing, gifts: Floats) -> Standing:
        """The estimates rise, the known ranks stay."""
        return targets._replace(cash=np.where(targets.history > 0, targets.cash, targets.cash + gifts))

    def values(self, standings: Standing) -> Floats:
        """By rank."""
        return self._scale.scores(standings.cash)


class _Scale:
    """From ranks to scores, by logarithm."""

    def __init__(self, known: Floats) -> None:
        self._lowest, self._highest = (float(known[0]), float(known[-1])) if len(known) else (1.0, 1.0)
        octaves = np.log2(self._highest) - np.log2(self._lowest)
        self._levels_per_octave = LOWEST / octaves if octaves > 0 else 0.0

    def scores(self, ranks: Floats) -> Floats:
        usable = np.clip(ranks, self._lowest, self._highest)
        levels = (np.log2(self._highest) - np.log2(usable)) * self._levels_per_octave
        return np.where(ranks > 0, np.exp2(-OCTAVES_PER_LEVEL * levels), _UNRANKED)


def _usable(ranks: Mapping[int, float]) -> Floats:
    """The positive ranks, lowest first."""
    values = ranks.ranks if isinstance(ranks, KeyedRanks) else np.fromiter(ranks.values(), np.float64, len(ranks))
    return np.sort(values[np.isfinite(values) & (values > 0)])


def _looked_up(ranks: Mapping[int, float], found: Sequence[Discovered]) -> Floats:
    """The rank of each URL, 0 where none is known."""
    if isinstance(ranks, KeyedRanks):
        looked_up = ranks.of(np.fromiter((key64(one.url) for one in found), np.int64, len(found)))
    else:
        looked_up = np.fromiter((ranks.get(key64(one.url), 0.0) for one in found), np.float64, len(found))
    return np.where(np.isfinite(looked_up), looked_up, 0.0)

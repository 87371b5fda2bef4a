"""The second look at the best hits: static priors, and copies put under the best of them."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Protocol

import msgspec
import numpy as np
import numpy.typing as npt
import tantivy

from gossamer.index import schema
from gossamer.model.site import key64
from gossamer.search.query import Query
from gossamer.search.ranking import RankingConfig, saturated
from gossamer.search.results import Request
from gossamer.search.view import View

_NEAR_BITS = 3
"""SimHash bits in which near copies differ at most."""
_NEAR_WORDS = 40
"""Words from which on a SimHash tells copies from pages that merely look alike."""
_DAY = 86_400.0
_NEWS = frozenset("news,latest,today,новости,сегодня,свежие,последние,新闻,新聞,最新,今天".split(","))


class Ranks(Protocol):
    """Link ranks of pages, where there are some."""

    def of(self, keys: Sequence[int]) -> Sequence[float]:
        """The rank of each page by key: 1 is the average, 0 is unknown."""
        ...


class NoRanks:
    """Before the first ranks are worked out."""

    def of(self, keys: Sequence[int]) -> Sequence[float]:
        """0 for every page."""
        return [0.0] * len(keys)


Candidate = tuple[float, tantivy.DocAddress]
"""A score and the page that has it, as the library gives them."""


def wants_news(query: Query, request: Request) -> bool:
    """Whether a query asks for fresh pages: by a time filter, or by its words."""
    return bool(request.since) or any(term.text.lower() in _NEWS for group in query.groups for term in group)


def priors(
    view: View, addresses: list[tantivy.DocAddress], config: RankingConfig, ranks: Ranks, news_at: float | None
) -> dict[str, list[float]]:
    """What each static signal adds to the score of each page, by name of the signal."""
    found = {
        "prior: link rank": [
            saturated(rank, config.rank_weight, config.rank_half)
            for rank in ranks.of(view.numbers(schema.KEY, addresses))
        ],
        # 1 for a home page, half for its children: S/(S+k) with S = 1/depth and k = 1.
        "prior: short address": [config.depth_weight / (1 + depth) for depth in view.numbers(schema.DEPTH, addresses)],
    }
    if news_at is not None:
        dates = view.searcher.fast_field_values(schema.DATE, addresses)
        found["prior: freshness"] = [_freshness(date, news_at, config) for date in dates]
    return found


def _freshness(date: float | None, now: float, config: RankingConfig) -> float:
    """S/(S+k) with S = 1/age and k = 1/half-age; nothing for a page without a date."""
    if date is None:
        return 0.0
    age = max(0.0, now - date) / _DAY
    return config.fresh_weight / (1 + age / config.fresh_half)


def add_priors(
    view: View, hits: Sequence[Candidate], config: RankingConfig, ranks: Ranks, news_at: float | None
) -> list[Candidate]:
    """The hits with their priors added, best first."""
    addresses = [address for _, address in hits]
    added = priors(view, addresses, config, ranks, news_at)
    scores = map(sum, zip((score for score, _ in hits), *added.values(), strict=True))
    return sorted(zip(scores, addresses, strict=True), key=itemgetter(0), reverse=True)


class Collapsed(msgspec.Struct, frozen=True):
    """Hits of one page of results, how many copies lie under each, and how many were put away on the way."""

    shown: list[Candidate]
    copies: list[int]
    removed: int


class _Fingerprints:
    """What tells whether pages are copies of each other: the same text, or nearly the same SimHash of enough words."""

    def __init__(self, view: View, addresses: list[tantivy.DocAddress]) -> None:
        self._texts = np.array(view.numbers(schema.TEXT_HASH, addresses), np.int64)
        self._sims = np.array(view.numbers(schema.SIMHASH, addresses), np.int64).view(np.uint64)
        self._long = np.array(view.numbers(schema.WORDS, addresses), np.int64) >= _NEAR_WORDS

    def copies(self, place: int) -> npt.NDArray[np.bool_]:
        """Which of the pages that come after one are copies of it."""
        same: npt.NDArray[np.bool_] = (self._texts == self._texts[place]) & (self._texts != 0)
        if self._sims[place] and self._long[place]:
            same |= (np.bitwise_count(self._sims ^ self._sims[place]) <= _NEAR_BITS) & self._long
        same[: place + 1] = False
        return same


def collapse(view: View, hits: Sequence[Candidate], first: int, size: int) -> Collapsed:
    """The hits `first` … `first + size` once copies are put under the best of them."""
    if not hits:
        return Collapsed([], [], 0)
    prints = _Fingerprints(view, [address for _, address in hits])
    left = np.ones(len(hits), bool)
    chosen: list[tuple[int, int]] = []
    for place in range(len(hits)):
        if left[place]:
            copies = prints.copies(place) & left
            left &= ~copies
            chosen.append((place, int(copies.sum())))
            if len(chosen) == first + size:
                break
    page = chosen[first:]
    removed = sum(copies for _, copies in chosen)
    return Collapsed([hits[place] for place, _ in page], [copies for _, copies in page], removed)


def copies_of(view: View, hits: Sequence[Candidate], url: str) -> list[Candidate]:
    """The hits that are collapsed under the hit with a URL."""
    keys = view.numbers(schema.KEY, [address for _, address in hits])
    if key64(url) not in keys:
        return []
    place = keys.index(key64(url))
    prints = _Fingerprints(view, [address for _, address in hits])
    return [hits[other] for other in np.flatnonzero(prints.copies(place)).tolist()]

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
_AMONG = 30
"""Best hits among which copies are looked for, at least."""
_DAY = 86_400.0
_NEWS = frozenset("news,latest,today,новости,сегодня,свежие,последние,新闻,新聞,最新,今天".split(","))


class Ranks(Protocol):
    """Link ranks of pages, where there are some."""

    def of(self, keys: Sequence[int]) -> Sequence[float]:
        """The rank of each page by key: 1 is the average, 0 is unknown."""
        ...


Candidate = tuple[float, tantivy.DocAddress]
"""A score and the page that has it, as the library gives them."""


def wants_news(query: Query, request: Request) -> bool:
    """Whether a query asks for fresh pages: by a time filter, or by its words."""
    return bool(request.since) or any(term.text.lower() in _NEWS for group in query.groups for term in group)


def priors(
    view: View, addresses: list[tantivy.DocAddress], config: RankingConfig, ranks: Ranks | None, news_at: float | None
) -> dict[str, list[float]]:
    """What each static signal adds to the score of each page, by name of the signal."""
    # All of it for a home page, half for its children: S/(S+k) with S = 1/depth and k = 1.
    short = [config.depth_weight / (1 + depth) for depth in view.numbers(schema.DEPTH, addresses)]
    found = {"prior: short address": short}
    if ranks is not None:
        known = ranks.of(view.numbers(schema.KEY, addresses))
        found["prior: link rank"] = [saturated(rank, config.rank_weight, config.rank_half) for rank in known]
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
    view: View, hits: Sequence[Candidate], config: RankingConfig, ranks: Ranks | None, news_at: float | None
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


def _copies(view: View, hits: Sequence[Candidate]) -> npt.NDArray[np.bool_]:
    """For each hit, which of those after it are copies of it: the same text, or nearly the same SimHash of enough
    words. One matrix, since a hundred small comparisons would take longer."""
    addresses = [address for _, address in hits]
    texts, signed, words = (
        np.array(view.numbers(field, addresses), np.int64) for field in (schema.TEXT_HASH, schema.SIMHASH, schema.WORDS)
    )
    sims = signed.view(np.uint64)
    telling = (words >= _NEAR_WORDS) & (sims != 0)
    same = (texts[:, None] == texts) & (texts != 0)
    same |= (np.bitwise_count(sims[:, None] ^ sims) <= _NEAR_BITS) & telling & telling[:, None]
    later: npt.NDArray[np.bool_] = np.triu(same, 1)
    return later


def collapse(view: View, hits: Sequence[Candidate], first: int, size: int) -> Collapsed:
    """The hits `first` … `first + size` once copies are put under the best of them."""
    hits = hits[: max(_AMONG, 2 * (first + size))]
    copies = _copies(view, hits)
    if not copies.any():
        shown = list(hits[first : first + size])
        return Collapsed(shown, [0] * len(shown), 0)
    left = np.ones(len(hits), bool)
    chosen: list[tuple[int, int]] = []
    for place in range(len(hits)):
        if left[place]:
            under = copies[place] & left
            left &= ~under
            chosen.append((place, int(under.sum())))
            if len(chosen) == first + size:
                break
    page = chosen[first:]
    removed = sum(number for _, number in chosen)
    return Collapsed([hits[place] for place, _ in page], [number for _, number in page], removed)


def copies_of(view: View, hits: Sequence[Candidate], url: str) -> list[Candidate]:
    """The hits that are collapsed under the hit with a URL."""
    keys = view.numbers(schema.KEY, [address for _, address in hits])
    if key64(url) not in keys:
        return []
    place = keys.index(key64(url))
    return [hits[other] for other in np.flatnonzero(_copies(view, hits)[place]).tolist()]

"""The second look at the best hits: static priors, and near copies put under one of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Protocol
from urllib.parse import urlsplit

import msgspec
import tantivy

from gossamer.index import schema
from gossamer.index.analysis import address_words, surface_words
from gossamer.model.page_types import LISTS
from gossamer.model.site import key64
from gossamer.search import grouping
from gossamer.search.limits import Span
from gossamer.search.matching import Needle, Phrase
from gossamer.search.query.building import Built, plain_words
from gossamer.search.query.language import Query
from gossamer.search.ranking import RankingConfig, saturated
from gossamer.search.results import Request
from gossamer.search.view import Name, View

_DAY = 86_400.0
_NEWS = frozenset("news,latest,today,новости,сегодня,свежие,последние,新闻,新聞,最新,今天".split(","))

_NAMED = 0.1
"""Share of its loss that a list bears if the query names it: a page with just that title comes first."""


class Ranks(Protocol):
    """Link ranks of pages, where there are some."""

    def of(self, keys: Sequence[int]) -> Sequence[float]:
        """The rank of each page by key: 1 is the average, 0 is unknown."""
        ...


class Leaders(Protocol):
    """The representatives of clusters of near copies, where somebody knows them."""

    def of(self, clusters: Sequence[int]) -> Mapping[int, int]:
        """Cluster → key of the page that represents it."""
        ...


Candidate = tuple[float, tantivy.DocAddress]
"""A score and the page that has it, as the library gives them."""


class Wish(msgspec.Struct, frozen=True):
    """What a query asks of pages beside that they have its words."""

    news_at: float | None = None
    """The time, if it asks for fresh pages."""
    words: frozenset[str] = frozenset()
    """Its words, without numbers."""
    rarity: float = 0.0
    """How much its words tell, all together; 0 if it asks for lists by their type."""


def wish_of(query: Query, request: Request, built: Built, now: float) -> Wish:
    """What a query wishes: fresh pages by a time filter or by its words, lists by their type."""
    wants_lists = not {request.page_type, *query.values("pagetype")}.isdisjoint(LISTS)
    rarity = sum(_told(needle) for needle in built.needles) if not wants_lists else 0.0
    return Wish(now if asks_for_news(query, request) else None, _named(" ".join(plain_words(query))), rarity)


def asks_for_news(query: Query, request: Request) -> bool:
    """Whether fresh pages are wished for."""
    return bool(request.since) or any(term.text.lower() in _NEWS for group in query.groups for term in group)


def _told(needle: Needle | Phrase) -> float:
    return needle.weight if isinstance(needle, Needle) else sum(word.weight for word in needle.words)


@lru_cache(5_000)
def _named(text: str) -> frozenset[str]:
    """The words of a name; a number beside it counts entries or pages."""
    return frozenset(word for word in surface_words(text) if not word.isdigit())


def priors(
    view: View, addresses: list[tantivy.DocAddress], config: RankingConfig, ranks: Ranks | None, wish: Wish
) -> dict[str, list[float]]:
    """What each static signal adds to the score of each page, by name of the signal."""
    # All of it for a home page, half for its children: S/(S+k) with S = 1/depth and k = 1.
    short = [config.depth_weight / (1 + depth) for depth in view.numbers(schema.DEPTH, addresses)]
    found = {"prior: short address": short}
    if ranks is not None:
        known = ranks.of(view.numbers(schema.KEY, addresses))
        found["prior: link rank"] = [saturated(rank, config.rank_weight, config.rank_half) for rank in known]
    if config.list_weight and wish.rarity and any(lists := view.numbers(schema.LISTED, addresses)):
        loss = -config.list_weight * wish.rarity
        found["prior: list of other pages"] = [
            loss * _blame(view.name(address), wish.words) if listed else 0.0
            for listed, address in zip(lists, addresses, strict=True)
        ]
    if wish.news_at is not None:
        dates = view.searcher.fast_field_values(schema.DATE, addresses)
        found["prior: freshness"] = [_freshness(date, wish.news_at, config) for date in dates]
    return found


def _blame(page: Name, words: frozenset[str]) -> float:
    """How much of its loss a list bears: little if it is what was asked for."""
    return _NAMED if _is_named(page, words) else 1.0


def _is_named(page: Name, words: frozenset[str]) -> bool:
    """Whether words are the name of a list: its title or the last part of its address; of a site, a part of either."""
    title, last = _named(page.title), _last_part(page.url)
    if last is None:
        return words <= title | frozenset(address_words(page.site))
    return words in (title, last)


@lru_cache(5_000)
def _last_part(url: str) -> frozenset[str] | None:
    """The words of the last part of an address; None of the address of a site."""
    path = urlsplit(url).path.rstrip("/")
    return frozenset(address_words(path.rpartition("/")[2])) if path else None


def _freshness(date: float | None, now: float, config: RankingConfig) -> float:
    """S/(S+k) with S = 1/age and k = 1/half-age; nothing for a page without a date."""
    if date is None:
        return 0.0
    age = max(0.0, now - date) / _DAY
    return config.fresh_weight / (1 + age / config.fresh_half)


def add_priors(
    view: View, hits: Sequence[Candidate], config: RankingConfig, ranks: Ranks | None, wish: Wish
) -> list[Candidate]:
    """The hits with their priors added, best first."""
    addresses = [address for _, address in hits]
    added = priors(view, addresses, config, ranks, wish)
    scores = map(sum, zip((score for score, _ in hits), *added.values(), strict=True))
    return sorted(zip(scores, addresses, strict=True), key=itemgetter(0), reverse=True)


class Collapsed(msgspec.Struct, frozen=True):
    """Hits of one page of results, and how many copies lie under each."""

    shown: list[Candidate]
    copies: list[int]
    is_full: bool = True
    """Whether the page has as many as were asked for."""
    field: str = ""
    """What they are grouped by; empty where groups have no limit."""
    groups: list[int] = []
    """The group of each."""


def one_page(
    view: View, hits: Sequence[Candidate], span: Span, leaders: Leaders | None, collapses: bool, most: int
) -> Collapsed:
    """The hits of a page of results: near copies under one of them if it `collapses`, at most so many of one group.

    A cluster stands where its best hit stands. Its representative is shown, where it is among the hits;
    else that best hit."""
    addresses = [address for _, address in hits]
    line = clustered(view.numbers(schema.CLUSTER, addresses) if collapses else range(len(hits)))
    field, groups = grouping.groups(lambda name: view.numbers(name, addresses)) if most else ("", ())
    if field:
        seen = [grouping.Seen(groups[places[0]], hits[places[0]][0], places[0]) for _, places in line]
        page = [line[place] for place in grouping.arranged(seen, span, most)]
    else:
        page = line[span.first : span.first + span.size]
    several = [number for number, places in page if len(places) > 1]
    named = leaders.of(several) if leaders is not None and several else {}
    shown = [_led(view, hits, places, named.get(number)) for number, places in page]
    of_page = [groups[places[0]] for _, places in page] if field else []
    return Collapsed(shown, [len(places) - 1 for _, places in page], len(page) == span.size, field, of_page)


def clustered(numbers: Iterable[int]) -> list[tuple[int, list[int]]]:
    """The clusters of hits, given the number of each hit's: number and places, in order of the best hit."""
    clusters: dict[int, list[int]] = {}
    for place, number in enumerate(numbers):
        clusters.setdefault(number, []).append(place)
    return list(clusters.items())


def _led(view: View, hits: Sequence[Candidate], places: Sequence[int], leader: int | None) -> Candidate:
    """The hit that speaks for a cluster, with the best score of all of them."""
    best = hits[places[0]]
    if leader is None or len(places) == 1:
        return best
    keys = view.numbers(schema.KEY, [hits[place][1] for place in places])
    return (best[0], hits[places[keys.index(leader)]][1]) if leader in keys else best


def copies_of(view: View, hits: Sequence[Candidate], url: str) -> list[Candidate]:
    """The hits that are collapsed under the hit with a URL."""
    addresses = [address for _, address in hits]
    keys = view.numbers(schema.KEY, addresses)
    if key64(url) not in keys:
        return []
    clusters = view.numbers(schema.CLUSTER, addresses)
    shown = keys.index(key64(url))
    return [hit for place, hit in enumerate(hits) if clusters[place] == clusters[shown] and place != shown]

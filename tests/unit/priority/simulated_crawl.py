"""A crawl of a graph in memory, which asks strategies the way the frontier does."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from random import Random

import numpy as np

from gossamer.model.records import Discovered, Via
from gossamer.priority.levels import levels_of
from gossamer.priority.product import Product
from gossamer.priority.strategy import Floats, LinkStrategy, Standing, Strategy

Graph = Mapping[str, Sequence[str]]


def by_level(scores: Floats) -> list[float]:
    """As the queue has it: 32 levels, first in, first out inside each."""
    return [float(level) for level in levels_of(scores)]


def by_score(scores: Floats) -> list[float]:
    """As a heap would have it: each score a level of its own."""
    return [-float(score) for score in scores]


class Crawl:
    """Fetches each page once, the best level first; a page whose score rises joins the end of its new level."""

    def __init__(
        self,
        graph: Graph,
        seeds: Sequence[str],
        strategy: Product | Strategy | LinkStrategy,
        place: Callable[[Floats], list[float]] = by_level,
    ) -> None:
        self.graph = graph
        self.order: list[str] = []
        self.standings: dict[str, tuple[float, float, float]] = {}
        self.depths: dict[str, int] = {}
        self._product = strategy if isinstance(strategy, Product) else alone(strategy)
        self._place = place
        self._static: dict[str, float] = {}
        self._fetched: set[str] = set()
        self._waiting: dict[str, float] = {}
        self._heap: list[tuple[float, int, str]] = []
        self._seq = 0
        self._enter([Discovered(url, Via.SEED) for url in seeds])
        self._queue(list(seeds))

    def run(self, pages: int | None = None) -> list[str]:
        """Fetch so many pages more, or all that can be found."""
        until = None if pages is None else len(self.order) + pages
        while self._heap and (until is None or len(self.order) < until):
            place, _, url = heapq.heappop(self._heap)
            if self._waiting.get(url) == place:
                del self._waiting[url]
                self.order.append(url)
                self._fetched.add(url)
                self.visit(url)
        return self.order

    def visit(self, url: str) -> None:
        """What a fetched page does to others, at its first visit or again."""
        links = [link for link in dict.fromkeys(self.graph.get(url, ())) if link != url]
        new = [link for link in links if link not in self.depths]
        self._enter([Discovered(link, Via.LINK, depth=self.depths[url] + 1, referrer=url) for link in new])
        strategy = self._product.links
        if strategy is None:
            self._queue(new)
        elif links:
            gifts, after = strategy.give(self.standing([url]), np.array([float(len(links))]), float(len(self.order)))
            self._keep([url], after)
            self._keep(links, strategy.gain(self.standing(links), np.repeat(gifts, len(links))))
            self._queue(links)

    def standing(self, urls: Sequence[str]) -> Standing:
        rows = np.array([self.standings[url] for url in urls])
        return Standing(rows[:, 0], rows[:, 1], rows[:, 2])

    def _enter(self, found: Sequence[Discovered]) -> None:
        if not found:
            return
        urls = [one.url for one in found]
        self.depths.update((one.url, one.depth) for one in found)
        self._static.update(zip(urls, self._product.scores(found).tolist(), strict=True))
        if self._product.links is not None:
            self._keep(urls, self._product.links.start(found, float(len(self.order))))

    def _keep(self, urls: Sequence[str], standing: Standing) -> None:
        self.standings.update(zip(urls, zip(*(part.tolist() for part in standing), strict=True), strict=True))

    def _queue(self, urls: Sequence[str]) -> None:
        urls = [url for url in urls if url not in self._fetched]
        if not urls:
            return
        scores = np.array([self._static[url] for url in urls])
        if self._product.links is not None:
            scores = scores * self._product.links.values(self.standing(urls))
        for url, place in zip(urls, self._place(scores), strict=True):
            if place < self._waiting.get(url, np.inf):
                self._waiting[url] = place
                heapq.heappush(self._heap, (place, self._seq, url))
                self._seq += 1


def alone(strategy: Strategy | LinkStrategy) -> Product:
    return Product([], strategy) if isinstance(strategy, LinkStrategy) else Product([strategy])


def scale_free(pages: int, links: int, seed: int) -> dict[str, list[str]]:
    """A web that grew: each page is linked from an older one, and links to popular pages most of the time."""
    dice = Random(seed)
    urls = [f"http://web.test/{number}" for number in range(pages)]
    graph: dict[str, list[str]] = {url: [] for url in urls}
    popular = [urls[0]]
    for number, url in enumerate(urls[1:], start=1):
        graph[urls[dice.randrange(number)]].append(url)
        for _ in range(dice.randint(1, links)):
            target = dice.choice(popular) if dice.random() < 0.8 else urls[dice.randrange(number)]
            graph[url].append(target)
            popular.append(target)
        popular.append(url)
    return {url: list(dict.fromkeys(target for target in targets if target != url)) for url, targets in graph.items()}


def page_ranks(graph: Graph, damping: float = 0.85, rounds: int = 60) -> dict[str, float]:
    """PageRank with a mean of 1; pages without links jump anywhere."""
    ranks = dict.fromkeys(graph, 1.0)
    for _ in range(rounds):
        stuck = sum(ranks[url] for url, links in graph.items() if not links) / len(graph)
        shares = dict.fromkeys(graph, stuck)
        for url, links in graph.items():
            for link in links:
                shares[link] += ranks[url] / len(links)
        ranks = {url: 1 - damping + damping * share for url, share in shares.items()}
    return ranks


def area(order: Sequence[str], ranks: Mapping[str, float]) -> float:
    """Mean over the crawl of the mean rank of the pages fetched so far (S4.7): early good pages count most."""
    fetched = np.array([ranks[url] for url in order])
    return float(np.mean(np.cumsum(fetched) / np.arange(1, len(fetched) + 1)))

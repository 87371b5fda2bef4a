"""What splits of a recorded site into 1 to 10 parts bring, by the objects that plan and predict in a live crawl.

Each site is measured twice. *Known*: planned on its whole graph, as a site that was crawled before. *Met*: planned on
what a fifth of its pages, breadth first, link to, and crawled from the home page to the end; nothing about the rest is
known when the plan is made, which is how a first crawl meets a site.

A site's graph is its pages and the links between them, a link to a redirect being one to where it ends. Pages that
only a feed or a sitemap names are left out, as the seed's study follows links alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from gossamer.lab.webs.web import NOWHERE, Ints, RecordedWeb
from gossamer.model.site import site_of
from gossamer.partition.config import PartitionConfig
from gossamer.partition.decision import MOST_COMPARED, Prediction, pick, predict
from gossamer.partition.links import SiteGraph
from gossamer.partition.measures import Measures
from gossamer.partition.paths import key_paths
from gossamer.partition.planning import Rule, plan, rule_for
from gossamer.partition.simulate import in_parts
from gossamer.partition.sizes import Sizes
from studies.partition.mended_crawl import Mended, crawl_mending

SHOWN = (2, 3, 4, 6, 10)
"""Parts for which curves are drawn and first crawls simulated."""
SEEN = 0.2
"""Share of a site's pages that were fetched when a first crawl is split."""
LEAST_PAGES = 50
"""Smaller sites are not worth the question."""
_DELAY = 1.0
_MOVES = 5
"""Redirects in a row that are followed."""


class SiteFacts(msgspec.Struct, frozen=True):
    """What a site looks like."""

    name: str
    pages: int
    links: int
    paths: int
    key_paths: int
    """Largest paths that hold 90 % of the pages."""
    same_path: float
    """Share of a page's links that stay in its own path."""

    @property
    def key_share(self) -> float:
        """Share of the paths that are key paths."""
        return self.key_paths / self.paths


class Split(msgspec.Struct, frozen=True):
    """A known site in so many parts, by three rules."""

    parts: int
    seed: Measures
    paths: Measures
    """Ours for a known site: along directories."""
    urls: Measures
    """Ours for an unknown one: by the hash of URLs."""
    paths_crossing: float
    """Share of links that lead from one part to another."""
    urls_crossing: float


class FirstCrawl(msgspec.Struct, frozen=True):
    """A site that was split when a fifth of it had been seen."""

    parts: int
    rule: Rule
    """What the live crawler would cut it by."""
    foretold: float
    """Acceleration that was predicted from what had been seen."""
    live: Measures
    paths: Measures
    mended: Mended
    """By paths, the plan mended on the way."""


class SiteSplits(msgspec.Struct, frozen=True):
    """All about one site."""

    facts: SiteFacts
    splits: list[Split]
    """For 1, 2, … parts."""
    first: list[FirstCrawl]
    """For `SHOWN` parts."""
    picked: int
    """Parts that the decision picks of up to ten."""
    picked_live: int
    """Of as many as the settings allow by default."""
    picked_by_seed: int
    """Of up to ten, by the seed's rule."""

    def split(self, parts: int) -> Split:
        """The split into so many parts."""
        return self.splits[parts - 1]


def site_graphs(web: RecordedWeb, least: int = LEAST_PAGES) -> Iterator[tuple[str, SiteGraph]]:
    """Name and graph of each site of a web that has so many pages; a site alone in its web has the web's name."""
    members: dict[str, list[int]] = {}
    for row in np.flatnonzero(web.pages).tolist():
        members.setdefault(site_of(web.urls[row]), []).append(row)
    ends, seeds = _ends(web), set(web.facts.seeds)
    for site, rows in members.items():
        if len(rows) >= least:
            graph = _graph(web, np.array(rows), ends, seeds)
            if graph.pages >= least:
                yield web.name if len(members) == 1 else site, graph


def _ends(web: RecordedWeb) -> Ints:
    """Where a link to each row ends after redirects."""
    ends = np.arange(len(web))
    for _ in range(_MOVES):
        ends = np.where(web.redirect[ends] == NOWHERE, ends, web.redirect[ends])
    return ends


def _graph(web: RecordedWeb, rows: Ints, ends: Ints, seeds: set[int]) -> SiteGraph:
    place = np.full(len(web), NOWHERE, np.int64)
    place[rows] = np.arange(len(rows))
    sources, targets = place[web.links.rows], place[ends[web.links.values]]
    inside = (sources != NOWHERE) & (targets != NOWHERE) & (sources != targets)
    begin = [int(place[end]) for end in ends[sorted(seeds)] if place[end] != NOWHERE] or [0]
    return SiteGraph([web.urls[row] for row in rows.tolist()], sources[inside], targets[inside], begin[0], begin[1:])


def measure(name: str, graph: SiteGraph) -> SiteSplits:
    """Split a site by all rules."""
    config, sizes = PartitionConfig(), Sizes(graph.urls)
    predictions = predict(graph, sizes, "paths", config, _DELAY)
    splits = [_split(graph, sizes, one) for one in predictions]
    ours, seed = [one.paths for one in splits], [one.seed for one in splits]
    return SiteSplits(
        facts=_facts(name, graph),
        splits=splits,
        first=_first_crawls(graph, config),
        picked=pick(ours, MOST_COMPARED),
        picked_live=pick(ours, config.most_parts),
        picked_by_seed=pick(seed, MOST_COMPARED),
    )


def _facts(name: str, graph: SiteGraph) -> SiteFacts:
    sizes = graph.path_sizes
    return SiteFacts(name, graph.pages, graph.links, len(sizes), len(key_paths(sizes)), graph.same_path())


def _split(graph: SiteGraph, sizes: Sizes, predicted: Prediction) -> Split:
    by_paths, by_urls = plan(sizes, predicted.parts, "paths"), plan(sizes, predicted.parts, "urls")
    return Split(
        parts=predicted.parts,
        seed=predicted.seed,
        paths=predicted.ours,
        urls=in_parts(graph, by_urls).measures,
        paths_crossing=graph.crossing(by_paths.parts_of(graph.urls)),
        urls_crossing=graph.crossing(by_urls.parts_of(graph.urls)),
    )


def _first_crawls(graph: SiteGraph, config: PartitionConfig) -> list[FirstCrawl]:
    seen = np.argsort(graph.depth, kind="stable")[: max(1, round(SEEN * graph.pages))]
    part, fetched = _part_seen(graph, seen)
    sizes, rule = Sizes(part.urls), rule_for(fetched)
    found = []
    for parts in SHOWN:
        live, by_paths = plan(sizes, parts, rule), plan(sizes, parts, "paths")
        # Nobody knows yet which pages are linked to most: a first crawl has no seeds but the home page.
        measured = in_parts(graph, live, seeded=False).measures
        found.append(
            FirstCrawl(
                parts=parts,
                rule=rule,
                foretold=in_parts(part, live).measures.acceleration,
                live=measured,
                paths=measured if rule == "paths" else in_parts(graph, by_paths, seeded=False).measures,
                mended=crawl_mending(graph, by_paths, config.drift),
            )
        )
    return found


def _part_seen(graph: SiteGraph, seen: Ints) -> tuple[SiteGraph, float]:
    """The graph of some pages and what they link to, and the share of it that was fetched."""
    links = np.isin(graph.sources, seen)
    known = np.unique(np.concatenate([seen, graph.roots, graph.targets[links]]))
    place = np.full(graph.pages, NOWHERE, np.int64)
    place[known] = np.arange(len(known))
    part = SiteGraph(
        [graph.urls[page] for page in known.tolist()],
        place[graph.sources[links]],
        place[graph.targets[links]],
        int(place[graph.home]),
        place[graph.roots].tolist(),
    )
    return part, len(seen) / len(known)

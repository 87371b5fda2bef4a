"""Plans the splitting of a stored site: reads its URLs and links once; `gossamer.partition` does the rest."""

from __future__ import annotations

from array import array
from typing import Literal

import msgspec
import numpy as np

from gossamer.data.stored_links import Ends, LinksOf
from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.frontier.views.site_urls import count_fetchable, fetchable_rows, fetchable_urls
from gossamer.frontier.views.sites import crawl_delay
from gossamer.model.records import Via
from gossamer.model.site import key64, site_of
from gossamer.partition.assignment import ROOT, Assignment, drift, site_path
from gossamer.partition.config import PartitionConfig
from gossamer.partition.decision import MOST_COMPARED, Prediction, pick, predict
from gossamer.partition.links import SiteGraph
from gossamer.partition.paths import key_paths
from gossamer.partition.planning import Rule, Share, plan, rebalanced, rule_for, shares
from gossamer.partition.seeds import seed_pages
from gossamer.partition.sizes import Sizes

MOST_LINKS = 20_000_000
"""Links held in memory; without the others a prediction is for a sparser site."""
_LED_TO = {Via.REDIRECT.value, Via.CANONICAL.value, Via.REFRESH.value}
_HANGS_ON_A_PAGE = _LED_TO | {Via.LINK.value}


class StoredSite(msgspec.Struct, frozen=True):
    """URLs and links of a site."""

    name: str
    graph: SiteGraph
    sizes: Sizes
    fetched: float
    """Share of its known URLs that were fetched."""
    crawl_delay: float
    """Crawl delay of its robots.txt in seconds."""


class PartPlan(msgspec.Struct, frozen=True):
    """One part."""

    urls: int
    holds: list[Share]
    """Its directories, largest first."""
    seeds: list[str]
    """Its start pages besides the home page: the two most linked pages in each of its directories."""


class SitePlan(msgspec.Struct, frozen=True):
    """The plan for a site, and the reasons for it."""

    site: str
    urls: int
    pages: int
    """URLs that stored links lead to: predictions are about them."""
    links: int
    fetched: float
    """Share of the URLs that were fetched."""
    paths: int
    key_paths: int
    """Paths that hold 90 % of the pages."""
    same_path: float
    """Share of a page's links that stay in its path."""
    crawl_delay: float
    cut_by: Rule
    predictions: list[Prediction]
    picked: int
    """The best number of parts; 1: better not split."""
    picked_by_seed: int
    """The same by the rule of the papers."""
    assignment: Assignment
    """The plan with the number of parts that was asked for, or picked."""
    parts: list[PartPlan]


def read_site(links_of: LinksOf, db: Database, site: str) -> StoredSite:
    """Read the URLs and links of a site; raises a `UsageError` if nothing is stored."""
    rows = _read_rows(db, site)
    if not rows.urls:
        raise nothing_stored(site)
    keys = np.array(rows.keys, np.int64)
    graph = links_of(db, site, keys, rows.segments, MOST_LINKS).graph(rows.leads, rows.first_found)
    counts = np.diff(graph.starts)
    linked = SiteGraph(rows.urls, np.repeat(np.arange(len(keys)), counts), graph.targets, rows.home, rows.roots)
    return StoredSite(
        name=site,
        graph=linked,
        sizes=Sizes(rows.urls),
        fetched=rows.fetched / len(keys),
        crawl_delay=crawl_delay(db, site),
    )


def nothing_stored(site: str) -> UsageError:
    """Why there can be no plan for a site, and what to do."""
    return UsageError(f"no page of {site} is stored: crawl it first, or fetch some of its pages with --sample 500")


def plan_site(
    site: StoredSite, config: PartitionConfig, delay: float, parts: int | None = None,
    cut_by: Literal["paths", "urls", "auto"] = "auto", most: int = MOST_COMPARED,
) -> SitePlan:  # fmt: skip
    """Predictions for 1 to `most` parts, and the plan with `parts`, or with the best number."""
    rule = rule_for(site.fetched) if cut_by == "auto" else cut_by
    graph, sizes = site.graph, site.sizes
    predictions = predict(graph, sizes, rule, config, delay, site.crawl_delay, most)
    picked = pick([one.ours for one in predictions], config.most_parts)
    assignment = plan(sizes, parts or picked, rule)
    return SitePlan(
        site=site.name,
        urls=len(sizes),
        pages=graph.pages,
        links=graph.links,
        fetched=site.fetched,
        paths=len(graph.path_sizes),
        key_paths=len(key_paths(graph.path_sizes)),
        same_path=graph.same_path(),
        crawl_delay=site.crawl_delay,
        cut_by=rule,
        predictions=predictions,
        picked=picked,
        picked_by_seed=pick([one.seed for one in predictions], config.most_parts),
        assignment=assignment,
        parts=_parts(assignment, site),
    )


def proposed(links_of: LinksOf, db: Database, site: str, config: PartitionConfig, delay: float) -> Assignment | None:
    """The plan that a crawl adopts for a site by itself; None if it is better not split. A site that you listed is
    split at once, before there is anything to predict from."""
    known = count_fetchable(db, site)
    if not config.splits(site, known) or config.most_parts == 1:
        return None
    if known < config.min_urls:
        return plan(Sizes(()), config.most_parts, "urls")
    found = plan_site(read_site(links_of, db, site), config, delay, most=config.most_parts)
    return found.assignment if found.picked > 1 else None


def mended(db: Database, site: str, assignment: Assignment, config: PartitionConfig) -> Assignment | None:
    """The plan rebalanced after a part has outgrown the others; None if it is balanced enough."""
    urls = fetchable_urls(db, site)
    counts = np.bincount(assignment.parts_of(urls), minlength=assignment.parts)
    if drift(counts.tolist()) <= config.drift:
        return None
    found = rebalanced(assignment, Sizes(urls))
    return None if found == assignment else found


class _Rows(msgspec.Struct):
    """A site's rows of the URL table."""

    keys: array[int] = msgspec.field(default_factory=lambda: array("q"))
    urls: list[str] = []
    fetched: int = 0
    home: int = 0
    roots: list[int] = []
    """Seeds, and URLs that sitemaps, feeds and other sites named."""
    segments: set[str] = set()
    leads: Ends = msgspec.field(default_factory=Ends)
    """Targets of redirects and canonical links."""
    first_found: Ends = msgspec.field(default_factory=Ends)
    """From each page to the URLs that were first found on it."""


def _read_rows(db: Database, site: str) -> _Rows:
    rows, site_id = _Rows(), key64(site)
    for key, url, _, via, found_site, found_key, outcome, target, _, _, segment in fetchable_rows(db, site):
        if segment is not None:
            rows.segments.add(segment)
        rows.fetched += outcome is not None
        if found_site != site_id or via not in _HANGS_ON_A_PAGE:
            rows.roots.append(len(rows.urls))
        else:
            (rows.leads if via in _LED_TO else rows.first_found).add(found_key, key)
        if target and site_of(target) == site:
            rows.leads.add(key, key64(target))
        rows.keys.append(key)
        rows.urls.append(url)
    rows.home = _home(rows.urls, rows.roots)
    return rows


def _home(urls: list[str], roots: list[int]) -> int:
    """The home page, or the nearest thing: where the crawl started."""
    found = [page for page, url in enumerate(urls) if site_path(url) == ROOT]
    return next(iter(found or roots), 0)


def _parts(assignment: Assignment, site: StoredSite) -> list[PartPlan]:
    held = shares(assignment, site.sizes)
    seeds = seed_pages(assignment, site.graph)
    urls = site.graph.urls
    return [
        PartPlan(sum(one.urls for one in shown), shown, [urls[page] for page in pages if page != site.graph.home])
        for shown, pages in zip(held, seeds, strict=True)
    ]

"""Splits large sites of a running crawl, and rebalances their parts."""

from __future__ import annotations

import logging

from gossamer.data.stored_links import LinksOf
from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.frontier import partitions
from gossamer.frontier.views.sites import sites_with
from gossamer.partition.assignment import Assignment
from gossamer.partition.config import PartitionConfig
from gossamer.settings import Settings
from gossamer.upkeep.partitioning import mended, proposed

log = logging.getLogger(__name__)


def split_sites(links_of: LinksOf, db: Database, settings: Settings, now: float) -> list[str]:
    """Adopt a plan for each site that is worth one and has none, and rebalance uneven ones; returns the sites with a
    new plan."""
    config = settings.partition
    if config.mode == "off":
        return []
    least = 0 if config.sites else config.min_urls
    waiting, split = partitions.waiting_sites(db), []
    for site, known in sites_with(db, least):
        if site in waiting or not config.splits(site, known):
            continue
        plan = _better_plan(links_of, db, site, config, settings.politeness.delay)
        if plan is not None:
            partitions.adopt(db, site, plan, now)
            log.info("split %s into %d parts", site, plan.parts)
            split.append(site)
    return split


def _better_plan(
    links_of: LinksOf, db: Database, site: str, config: PartitionConfig, delay: float
) -> Assignment | None:
    present = partitions.plan_of(db, site)
    try:
        if present is None:
            return proposed(links_of, db, site, config, delay)
        return mended(db, site, present, config)
    except UsageError:
        return None  # nothing of it is stored yet

"""How much of a crawl goes into looking again."""

from __future__ import annotations

from typing import Literal

import msgspec

HOUR, DAY = 3600.0, 86_400.0


class RevisitConfig(msgspec.Struct, frozen=True):
    """When pages are visited again."""

    policy: Literal["age", "freshness", "proportional", "uniform", "none"] = "age"
    """How visits are shared out: for the least age of the pages, for the greatest share of fresh ones, by rate of
    change, all alike; none: no page is visited again by itself."""
    estimator: Literal["gamma", "steps"] = "gamma"
    """How a page's rate of change is told: from all its visits and pages of its class, or by shorter and longer
    periods step by step."""
    every: float = 7 * DAY
    """Seconds between two visits to a page, on average over all pages: this is the budget of visits."""
    floor: float = HOUR
    """Seconds that lie between two visits to a page at least."""
    ceiling: float = 90 * DAY
    """Seconds after which every page is looked at again, however seldom it changes."""
    share: float = 0.5
    """Part of a site's requests that goes to pages seen before while new ones wait."""


class FeedConfig(msgspec.Struct, frozen=True):
    """Feeds, news sitemaps and pages that list news: polled by what they bring."""

    poll: bool = True
    """Whether feeds found on pages are read, and they, sitemaps and start pages are asked for news again and again."""
    per_site: int = 50
    """Feeds of a site that are polled; further ones are refused."""
    per_day: float = 288.0
    """Polls of a feed a day, on average over all feeds: this is the budget of polls. Feeds with little news use less
    of it."""
    floor: float = 240.0
    """Seconds between two polls of a feed at least; news are known within five minutes."""
    ceiling: float = 7 * DAY
    """Seconds after which every feed is asked again, however little news it has had."""
    hubs: bool = True
    """Whether start pages, and lists on which new links were found, are polled like feeds: for sites that have no
    feed. Where there is one that is faster, a start page brings nothing and is soon polled rarely."""

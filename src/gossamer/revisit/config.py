"""How much of a crawl goes into looking again."""

from __future__ import annotations

from typing import Literal

import msgspec

HOUR, DAY = 3600.0, 86_400.0


class RevisitConfig(msgspec.Struct, frozen=True):
    """When the crawl visits pages again."""

    policy: Literal["age", "freshness", "proportional", "uniform", "none"] = "age"
    """How to divide the visits among the pages. age: for the lowest age of the copies; freshness: for the largest
    share of fresh copies; proportional: by rate of change; uniform: equally; none: visit no page again."""
    estimator: Literal["gamma", "steps"] = "gamma"
    """How to estimate the rate of change of a page. gamma: from all its visits and from similar pages; steps: with
    periods that get shorter or longer step by step."""
    every: float = 7 * DAY
    """Seconds between two visits to a page, on average over all pages: this is the budget of visits."""
    floor: float = HOUR
    """Shortest time between two visits to a page, in seconds."""
    ceiling: float = 90 * DAY
    """Longest time between two visits to a page, in seconds, however rarely it changes."""
    share: float = 0.5
    """Share of the requests to a site that may go to known pages while new ones wait."""


class FeedConfig(msgspec.Struct, frozen=True):
    """Polling of sources: feeds, sitemaps and start pages, each as often as it tends to have news."""

    poll: bool = True
    """Whether to read feeds that pages link to, and to poll them, sitemaps and start pages."""
    per_site: int = 50
    """Most feeds to poll on a site; the crawl refuses more."""
    per_day: float = 288.0
    """Polls of a feed per day, on average over all feeds: this is the budget of polls. Feeds with little news use less
    of it."""
    floor: float = 240.0
    """Shortest time between two polls of a feed, in seconds; the crawl then finds news within five minutes."""
    ceiling: float = 7 * DAY
    """Longest time between two polls of a feed, in seconds, however little news it has."""
    hubs: bool = True
    """Whether to poll start pages, and lists with new links, like feeds: for sites without a feed. If a feed has the
    news earlier, the crawl soon polls the start page rarely."""

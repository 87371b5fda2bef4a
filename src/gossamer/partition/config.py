"""Whether sites are split, and how much load that may put on their servers."""

from __future__ import annotations

from typing import Literal

import msgspec


class PartitionConfig(msgspec.Struct, frozen=True):
    """Splitting of large sites into parts that the crawl fetches at the same time, each with its own politeness
    clock."""

    mode: Literal["off", "sites", "auto"] = "off"
    """off: split no site, because N parts send N times as many requests to one server; sites: split the sites of
    `sites`; auto: also split every site for which a plan predicts a gain."""
    sites: tuple[str, ...] = ()
    """Sites to split from their first page on: hosts, with the port if that is not the default one."""
    most_parts: int = 4
    """Most parts of a site."""
    min_urls: int = 5000
    """A crawl splits a site by itself only if it has at least this many URLs."""
    site_rate: float = 0.0
    """How many times the ordinary rate of the site all its parts together may reach; 0: as many times as there are
    parts."""
    drift: float = 0.25
    """How much larger than its fair share a part may grow before the crawl moves URLs to other parts."""

    def splits(self, site: str, urls: int) -> bool:
        """Whether to make a plan for a site of so many known URLs."""
        if self.mode == "off":
            return False
        return site in self.sites or (self.mode == "auto" and urls >= self.min_urls)

    def part_gap(self, parts: int, delay: float, crawl_delay: float = 0.0) -> float:
        """Seconds between two requests of one part of a site."""
        return part_gap(parts, delay, crawl_delay, self.site_rate)


def part_gap(parts: int, delay: float, crawl_delay: float, site_rate: float) -> float:
    """Seconds between two requests of one part of a site. A site's robots.txt speaks for the site, not for each part:
    its Crawl-delay bounds the rate of all parts together."""
    own = delay * max(1.0, parts / site_rate) if site_rate else delay
    return max(own, crawl_delay * parts)

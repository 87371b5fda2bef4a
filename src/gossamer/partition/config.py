"""Whether sites are split, and what that may cost their servers."""

from __future__ import annotations

from typing import Literal

import msgspec


class PartitionConfig(msgspec.Struct, frozen=True):
    """Large sites split into parts that are crawled at the same time, each with a polite clock of its own."""

    mode: Literal["off", "sites", "auto"] = "off"
    """off: never, because N parts ask one server N times as often; sites: those listed; auto: also every site for
    which a plan predicts a gain."""
    sites: tuple[str, ...] = ()
    """Sites that are split from their first page on: hosts, with the port where that is not the default one."""
    most_parts: int = 4
    """Parts of a site at most."""
    min_urls: int = 5000
    """URLs a site must have before it is split by itself."""
    site_rate: float = 0.0
    """Times the site's ordinary rate that all its parts together may reach; 0: as many times as there are parts."""
    drift: float = 0.25
    """How much larger than its fair share a part may grow before URLs are moved to other parts."""

    def splits(self, site: str, urls: int) -> bool:
        """Whether a site of so many known URLs is to be looked at."""
        if self.mode == "off":
            return False
        return site in self.sites or (self.mode == "auto" and urls >= self.min_urls)

    def part_gap(self, parts: int, delay: float, crawl_delay: float = 0.0) -> float:
        """Seconds between two requests of one part of a site."""
        return part_gap(parts, delay, crawl_delay, self.site_rate)


def part_gap(parts: int, delay: float, crawl_delay: float, site_rate: float) -> float:
    """Seconds between two requests of one part of a site.

    What a site's robots.txt asks for is asked for the site, not for each part: its Crawl-delay bounds the rate
    of all parts together.
    """
    own = delay * max(1.0, parts / site_rate) if site_rate else delay
    return max(own, crawl_delay * parts)

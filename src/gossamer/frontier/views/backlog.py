"""The sites, and the addresses they share, that take longest at their pace.

The number of waiting first visits is known URLs less visited ones, from counters kept with the rows; so this costs one
read of every site, however many URLs wait.
"""

from __future__ import annotations

import msgspec

from gossamer.database.database import Database
from gossamer.frontier.politeness import PolitenessConfig, SiteClock, for_part, gap
from gossamer.frontier.steering import controls

_WAITING = f"""SELECT s.name, s.address, s.crawl_delay, s.trouble, s.least_delay, s.not_before,
    COALESCE(x.parts, 1) AS parts, s.known - COALESCE(v.urls, 0) AS waiting FROM sites s
    LEFT JOIN (SELECT site_id, SUM(urls) AS urls FROM outcomes GROUP BY site_id) v ON v.site_id = s.id
    LEFT JOIN partitions x ON x.site_id = s.id
    WHERE s.known > COALESCE(v.urls, 0) AND {controls.READY}"""
_SLOWEST = f"""SELECT * FROM ({_WAITING}) w
    ORDER BY waiting * (CASE WHEN crawl_delay > ? AND crawl_delay > least_delay THEN crawl_delay
    WHEN least_delay > ? THEN least_delay ELSE ? END) / parts DESC, name LIMIT ?"""
_SHARED = f"""SELECT address, SUM(waiting) FROM ({_WAITING}) w WHERE address <> '' GROUP BY address
    HAVING COUNT(*) > 1 ORDER BY 2 DESC, 1 LIMIT 1"""


class Backlog(msgspec.Struct, frozen=True):
    """URLs that are fetched one after the other."""

    name: str
    """The site, or the address of several."""
    urls: int
    gap: float
    """Seconds between two of them."""
    ready_at: float = 0.0
    """When the first may be fetched."""

    def seconds(self, now: float) -> float:
        """How long it takes at least."""
        return max(self.ready_at - now, 0.0) + self.urls * self.gap


def slowest(db: Database, config: PolitenessConfig, limit: int = 3) -> list[Backlog]:
    """The sites that take longest at their pace, and the busiest address that several sites share."""
    found = []
    for name, _, crawl_delay, trouble, least_delay, not_before, parts, waiting in db.execute(
        _SLOWEST, (config.delay, config.delay, config.delay, limit)
    ):
        clock = SiteClock(crawl_delay, trouble, least_delay=least_delay)
        found.append(Backlog(name, waiting, gap(clock, for_part(config, parts)) / parts, not_before))
    found += [Backlog(address, int(urls), config.address_delay) for address, urls in db.execute(_SHARED)]
    return found

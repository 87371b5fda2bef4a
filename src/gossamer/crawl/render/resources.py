"""Caches what pages load: most pages of a site load the same scripts, and each request counts against its politeness
budget.

Scripts and styles are kept for an hour, data for a minute, and nothing that a server forbids to keep. Memory is bounded
overall and for each site, so that a site with many scripts does not drive out those of the others.
"""

from __future__ import annotations

from collections import OrderedDict

import msgspec

from gossamer.model.records import Response

_KEPT = {"script": 3_600.0, "stylesheet": 3_600.0, "xhr": 60.0, "fetch": 60.0}
"""Seconds, by type."""
_OVERHEAD = 500
"""Bytes that an entry costs above its body."""


class _Entry(msgspec.Struct):
    response: Response
    until: float
    size: int


class Resources:
    """The resources of sites; the least recently used are dropped first."""

    def __init__(self, most: int = 64 * 1024 * 1024, per_site: int = 16 * 1024 * 1024) -> None:
        self._most, self._per_site = most, per_site
        self._sites: OrderedDict[str, OrderedDict[str, _Entry]] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self.bytes = 0
        """Bytes of all resources."""

    def get(self, site: str, url: str, now: float) -> Response | None:
        """A resource that was loaded lately."""
        entries = self._sites.get(site)
        entry = entries.get(url) if entries is not None else None
        if entries is None or entry is None:
            return None
        if entry.until < now:
            self._forget(site, url)
            return None
        entries.move_to_end(url)
        self._sites.move_to_end(site)
        return entry.response

    def keep(self, site: str, url: str, kind: str, response: Response, now: float) -> None:
        """Keep a resource, if allowed and of a type that comes again."""
        seconds = _KEPT.get(kind, 0.0)
        size = len(response.body) + _OVERHEAD
        if not seconds or size > self._per_site // 2 or "no-store" in response.header("cache-control").lower():
            return
        self._forget(site, url)
        small = msgspec.structs.replace(response, wire_body=b"", request_headers=[])
        self._sites.setdefault(site, OrderedDict())[url] = _Entry(small, now + seconds, size)
        self._sites.move_to_end(site)
        self._sizes[site] = self._sizes.get(site, 0) + size
        self.bytes += size
        while self._sizes[site] > self._per_site:
            self._forget(site, next(iter(self._sites[site])))
        while self.bytes > self._most:
            oldest = next(iter(self._sites))
            self._forget(oldest, next(iter(self._sites[oldest])))

    def _forget(self, site: str, url: str) -> None:
        entries = self._sites.get(site)
        entry = entries.pop(url, None) if entries is not None else None
        if entry is None:
            return
        self.bytes -= entry.size
        self._sizes[site] -= entry.size
        if not entries:
            del self._sites[site], self._sizes[site]

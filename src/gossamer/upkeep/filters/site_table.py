"""Reads a site's rows of the URL table into columns, once, for filters."""

from __future__ import annotations

from array import array
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gossamer.data.stored_links import Ends, SiteLinks
from gossamer.database.database import Database
from gossamer.frontier.views.site_urls import fetchable_rows, url_of
from gossamer.model.outcome import COPIES, ERRORS, Outcome
from gossamer.model.records import Kind, Via
from gossamer.model.site import key64, site_of
from gossamer.scope import proposals
from gossamer.scope.automatic import FilterConfig, FilterKind, Fits
from gossamer.scope.parameters import Parameter, ParameterColumns
from gossamer.scope.proposals import Groups, SiteColumns
from gossamer.scope.statistics import Counts

_LED_TO = {Via.REDIRECT.value, Via.CANONICAL.value, Via.REFRESH.value}
"""Ways to find a URL that are not links of a page, but depend on it like one."""
_COMPLETE = 0.99
"""Share of visited URLs from which a site counts as seen completely."""
_HANGS_ON_A_PAGE = _LED_TO | {Via.LINK.value}


class SiteTable:
    """Counts of a site's URLs by group, and starts and steps of paths besides stored links."""

    def __init__(self, site: str, ruled: bool) -> None:
        self.site, self.ruled = site, ruled
        self._db: Database | None = None
        self._columns, self._parameters = SiteColumns(), ParameterColumns()
        self._roots: list[int] = []
        self._times = array("d")
        self.segments: set[str] = set()
        """Segments that hold its pages."""
        self.leads = Ends()
        """Targets of redirects and canonical links."""
        self.first_found = Ends()
        """From each page to the URLs that were first found on it."""

    def add(self, db: Database, fits: Fits) -> None:
        """Read all rows."""
        self._db = db
        site_id = key64(self.site)
        for row in fetchable_rows(db, self.site):
            key, url, kind, via, found_site, found_key, outcome, target, joined, fetched_at, segment = row
            if segment is not None:
                self.segments.add(segment)
            # robots.txt decides without a request: no path leads through such a URL.
            self._times.append(fetched_at or (1.0 if outcome else 0.0))
            flags = _flags(kind, outcome, joined) | (proposals.FIT if fits(url) else 0)
            if found_site != site_id or via not in _HANGS_ON_A_PAGE:
                self._roots.append(len(self._columns))
            else:
                (self.leads if via in _LED_TO else self.first_found).add(found_key, key)
            own_target = target if target and site_of(target) == self.site else ""
            if own_target:
                self.leads.add(key, key64(own_target))
            if outcome is not None:
                self._parameters.add(url, outcome == Outcome.DOCUMENT.value and not joined, own_target)
            self._columns.add(key, url, flags)

    @cached_property
    def keys(self) -> npt.NDArray[np.int64]:
        """The URLs' keys."""
        return self._columns.keys

    @cached_property
    def roots(self) -> npt.NDArray[np.int64]:
        """Starts of paths: seeds, and URLs that sitemaps, feeds and other sites named."""
        return np.array(self._roots, np.int64)

    @cached_property
    def groups(self) -> Groups:
        """The groups of URLs that filters would refuse."""
        return self._columns.groups()

    @cached_property
    def total(self) -> Counts:
        """Counts of the whole site."""
        return self._columns.total()

    @cached_property
    def useful(self) -> npt.NDArray[np.bool_]:
        """Which URLs are useful."""
        if self.ruled:
            return self._columns.has(proposals.FIT)
        return self._columns.has(proposals.DOCUMENT) & ~self._columns.has(proposals.NEAR)

    @cached_property
    def resource(self) -> npt.NDArray[np.bool_]:
        """Which URLs are sitemaps or feeds."""
        return self._columns.has(proposals.RESOURCE)

    @cached_property
    def _news_at(self) -> npt.NDArray[np.float64]:
        """The visit time of each page on which a useful URL was first found; else 0."""
        places = SiteLinks(self.keys, 0).places
        sources, targets = (
            places(np.array(keys, np.int64)) for keys in (self.first_found.sources, self.first_found.targets)
        )
        brought = sources[(sources >= 0) & self.useful[targets]]
        times = np.zeros(len(self.keys))
        times[brought] = np.array(self._times)[brought]
        return times

    def brought_news(self, group: int, since: float) -> bool:
        """Whether a page of a group, visited since then, led to a new useful URL."""
        return bool(self._news_at[self.groups.members(group)].max(initial=0.0) >= since)

    def dry(self, kind: FilterKind, pattern: str) -> int:
        """Visits to pages that a filter matches since the last one that led to a new useful URL."""
        group = self.groups.find(kind, pattern)
        if group is None:
            return 0
        members = self.groups.members(group)
        times = np.frombuffer(self._times, np.float64)[members]
        return int((times > self._news_at[members].max(initial=0.0)).sum())

    def seen_enough(self, kind: FilterKind, pattern: str, config: FilterConfig) -> bool:
        """Whether so many visits to a filter's pages were in vain that the others need none, though a path may lead
        through them. If the whole site was seen, the stored links tell everything."""
        if self.total.visited >= _COMPLETE * self.total.known:
            return True
        group = self.groups.find(kind, pattern)
        known = 0 if group is None else self.groups.counts_of(group).known
        return self.dry(kind, pattern) >= max(config.dry * known, config.known)

    def parameters(self) -> list[Parameter]:
        """Counts of query parameters."""
        own_text = self._columns.has(proposals.DOCUMENT) & ~self._columns.has(proposals.NEAR)
        return self._parameters.parameters(self.keys, own_text)

    def name_of(self, group: int) -> tuple[FilterKind, str]:
        """Kind and pattern of a group."""
        assert self._db is not None
        key = int(self.keys[self.groups.members(group)[0]])
        return proposals.name_of(int(self.groups.keys[group]), url_of(self._db, self.site, key))


def read_table(db: Database, site: str, fits: Fits) -> SiteTable:
    """Read the rows of a site."""
    table = SiteTable(site, fits(f"http://{site}/") is not None)
    table.add(db, fits)
    return table


def _flags(kind: str, outcome: str | None, joined: int | None) -> int:
    flags = 0 if kind == Kind.PAGE.value and outcome != Outcome.RESOURCE.value else proposals.RESOURCE
    if outcome is None:
        return flags
    flags |= proposals.VISITED
    if outcome == Outcome.DOCUMENT.value:
        return flags | proposals.DOCUMENT | (proposals.NEAR if joined else 0)
    if outcome in COPIES:
        return flags | proposals.DUPLICATE
    return flags | (proposals.FAILED if outcome in ERRORS else 0)

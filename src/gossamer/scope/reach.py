"""How far a crawl goes from its seeds, and by which ways: rules on how a URL was found, not on what it is.

A seed has the depth 0, a page that it links to 1, and so on along the shortest known way. A redirect, a canonical link
and a robots.txt are no steps. A page that a sitemap or feed names counts as one link from a seed: these lists are the
site's own table of contents, wherever they were found.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from gossamer.model.counts import counted
from gossamer.model.decision import Decision, allow, refuse
from gossamer.model.records import Kind, Via

DEPTH_RULE = "scope.depth"
SITEMAPS_RULE = "scope.sitemaps"

LISTED_DEPTH = 1
"""The depth of URLs that a sitemap or feed names."""
NO_SITEMAPS = "the crawl reads no sitemaps (scope.sitemaps)"

Sitemaps = Literal["yes", "no", "only"]


class Reach(msgspec.Struct, frozen=True):
    """The limit of depth, and the use of sitemaps."""

    depth: int | None = None
    """Links that may be followed from a seed; None: any number."""
    sitemaps: Sitemaps = "yes"

    def refusal(self, depth: int, via: Via = Via.LINK, kind: Kind = Kind.PAGE) -> Decision | None:
        """The refusal of a URL that was found in this way, or None."""
        if via is Via.SEED:
            return None
        if self.sitemaps == "only" and via is Via.LINK:
            what = "links" if kind is Kind.PAGE else f"{kind.value}s of pages"
            return refuse(SITEMAPS_RULE, f"the crawl follows sitemaps only, not {what} (scope.sitemaps)")
        if self.sitemaps == "no" and kind is Kind.SITEMAP:
            return refuse(SITEMAPS_RULE, NO_SITEMAPS)
        # A list is fetched for the URLs it names.
        return self.too_deep(depth if kind is Kind.PAGE else LISTED_DEPTH)

    def too_deep(self, depth: int) -> Decision | None:
        """The refusal of a URL at this depth, or None."""
        if self.depth is None or depth <= self.depth:
            return None
        return refuse(DEPTH_RULE, f"{links_away(depth)}, and the crawl follows at most {self.depth} (scope.depth)")

    def verdict(self, depth: int) -> Decision:
        """The verdict on a URL at this depth, for `explain`."""
        limit = "no limit" if self.depth is None else f"at most {self.depth}"
        return self.too_deep(depth) or allow(DEPTH_RULE, f"{links_away(depth)}; {limit} (scope.depth)")


def links_away(depth: int) -> str:
    """A depth for a person."""
    return "a seed, or a page that represents one" if depth == 0 else f"{counted(depth, 'link')} from a seed"

"""What guides a frontier: apart from its contract, because strategies need NumPy and the contract's values do not."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from gossamer.priority.breadth import BreadthFirst
from gossamer.priority.product import Product
from gossamer.revisit.config import FeedConfig, RevisitConfig
from gossamer.scope.reach import Reach
from gossamer.site.templates import SiteDocuments


class Guidance(msgspec.Struct, frozen=True):
    """What is fetched first, and when pages are fetched again."""

    strategy: Product = Product([BreadthFirst()], names=["breadth"])
    fits: Callable[[str], bool | None] = lambda _url: None
    """Whether a URL fits a document rule; None if its domain has no rules."""
    revisit: RevisitConfig = RevisitConfig()
    feeds: FeedConfig = FeedConfig()
    reach: Reach = Reach()
    """How far from the seeds the crawl goes."""
    documents: SiteDocuments = msgspec.field(default_factory=SiteDocuments)
    """How the URLs of documents look on sites without rules; the strategy asks it, too."""

"""Everything that is known about a URL, as `gossamer explain` and the console's URL page show it."""

from __future__ import annotations

import msgspec

from gossamer.frontier.views.inspect import UrlRecord
from gossamer.model.decision import Decision
from gossamer.operate.explain.order import Factor


class Explanation(msgspec.Struct):
    """The answer of `gossamer explain`."""

    url: str
    state: str
    """fetched, duplicate, redirect, failed, waiting, scheduled, refused, removed or unknown."""
    reason: str
    rules: list[Decision]
    """What every rule of the scope says now, in order."""
    robots: str
    record: UrlRecord | None
    waits_until: float | None = None
    """When the site may be asked again, if that is in the future."""
    ahead: int | None = None
    """URLs of the site that come first."""
    index: str = ""
    """Whether it can be searched."""
    document_rule: str = ""
    """The document rule that the URL fits, and by which pattern."""
    copies: str = ""
    """What pages of the URL's shape have brought, and what that does to its priority."""
    cluster: str = ""
    """Its near duplicates, and which page represents them."""
    maps_to: str = ""
    """The same page on the main site, where the URL's site is a mirror."""
    priority: list[Factor] = []
    """What its level is made of."""
    revisit: list[Factor] = []
    """What the time of its next visit is made of."""
    removal: str = ""
    """Why it was taken down, and what covers it; also where it was never seen."""
    rests: str = ""
    """What an operator said that keeps its site from being asked."""
    filters: list[str] = []
    """Automatic filters that match it, each with its state and evidence."""
    collapsed_under: str = ""
    """The page that results show in its place, of those with nearly the same text."""
    target_problem: str = ""
    """Where it leads to another page, why that one could not be fetched."""
    nofollow_on: list[str] = []
    """Of a URL that is in no table: pages that link to it in a way that is not followed."""
    found: bool = False
    verdict: str = ""
    """Whether it can be found, and if not, why not: one sentence. Only where the index was asked."""

"""The explanation of a URL, as `gossamer explain` and the console's URL page show it."""

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
    """The verdict of every scope rule now, in order."""
    robots: str
    record: UrlRecord | None
    waits_until: float | None = None
    """The time before which the site gets no request, if it is in the future."""
    ahead: int | None = None
    """Number of URLs of the site that come first."""
    index: str = ""
    """Whether readers can find it."""
    read_as: str = ""
    """What its parser read, if it is a document and no web page."""
    document_rule: str = ""
    """The document rule that the URL fits, and by which pattern."""
    known_site: str = ""
    """What is known of the URL's site, by which its pages are judged."""
    copies: str = ""
    """Counts of copies among pages of the URL's shape, and the effect on its priority."""
    cluster: str = ""
    """Its near-duplicates, and the page that represents them."""
    maps_to: str = ""
    """The same page on the main site, if the URL's site is a mirror."""
    priority: list[Factor] = []
    """The factors of its level."""
    revisit: list[Factor] = []
    """The factors of its next visit's time."""
    removal: str = ""
    """Why it was taken down, and the removal that covers it; also for a URL that was never seen."""
    rests: str = ""
    """A pause or limit of an operator that keeps the site from getting requests."""
    filters: list[str] = []
    """Automatic filters that match it, each with its state and evidence."""
    collapsed_under: str = ""
    """The page that results show in its place, because the texts are nearly the same."""
    target_problem: str = ""
    """If it leads to another page: why that one could not be fetched."""
    nofollow_on: list[str] = []
    """For a URL that is in no table: pages with links to it that are not followed."""
    fields: list[str] = []
    """Your own fields: the value of each, and where the page states it."""
    found: bool = False
    verdict: str = ""
    """Whether readers can find it, and if not, why: one sentence. Only if the index was searched."""

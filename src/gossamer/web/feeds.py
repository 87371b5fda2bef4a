"""The newest results of a query as Atom and RSS, written by `notify.feed`."""

from __future__ import annotations

import datetime

from gossamer.model.moments import instant
from gossamer.notify import feed
from gossamer.notify.feed import ATOM, EPOCH, Entry, Feed, xml_text
from gossamer.search.results import Hit, Results
from gossamer.web.views import safe_href

__all__ = ["ATOM", "atom", "rss", "when", "xml_text"]


def atom(results: Results, title: str, about: str, here: str, changed: float) -> bytes:
    """An Atom feed (RFC 4287).

    `about` is the address of the results page, `here` the feed's own, which is its id, too; `changed` is when the
    index last changed, seconds since 1970.
    """
    return feed.atom(_feed(results, title, about, here, changed))


def rss(results: Results, title: str, about: str, here: str, changed: float) -> bytes:
    """An RSS 2.0 feed of the same."""
    return feed.rss(_feed(results, title, about, here, changed))


def when(hit: Hit) -> datetime.datetime:
    """The time of a result: its date, or when it was fetched."""
    return feed.day(hit.date or "") or instant(hit.fetched_at) or EPOCH


def _feed(results: Results, title: str, about: str, here: str, changed: float) -> Feed:
    query = results.request.query
    entries = tuple(
        Entry(hit.url, hit.title.text, hit.excerpt.text, when(hit), feed.day(hit.date or ""))
        for hit in results.hits
        if safe_href(hit.url)
    )
    description = f"Newest results for {query}"
    if results.attempt is not None:
        description = results.attempt.sentence
    elif results.reason:
        description = results.reason
    return Feed(f"{query} – {title}", description, title, about, here, instant(changed) or EPOCH, entries)

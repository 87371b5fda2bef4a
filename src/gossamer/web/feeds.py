"""The newest results of a query as Atom and RSS: valid XML, ids that stay, nothing XML cannot hold."""

from __future__ import annotations

import datetime
import re
from email.utils import format_datetime
from xml.etree import ElementTree as ET

from gossamer.search.results import Hit, Results
from gossamer.web.views import instant, safe_href

ATOM = "http://www.w3.org/2005/Atom"
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?:T(\d\d):(\d\d)(?::(\d\d))?.*)?")
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def atom(results: Results, title: str, about: str, here: str, changed: float) -> bytes:
    """An Atom feed (RFC 4287).

    `about` is the address of the results page, `here` the feed's own, which is its id, too; `changed` is when the
    index last changed, seconds since 1970.
    """
    feed = ET.Element("feed", xmlns=ATOM)
    _add(feed, "title", _name(results, title))
    _add(feed, "id", here)
    _add(feed, "updated", _rfc3339(_latest(results, changed)))
    _add(_add(feed, "author"), "name", title)
    _add(feed, "link", rel="self", type="application/atom+xml", href=here)
    _add(feed, "link", rel="alternate", type="text/html", href=about)
    for hit in _linkable(results):
        entry = _add(feed, "entry")
        _add(entry, "title", hit.title.text or hit.url)
        _add(entry, "id", hit.url)
        _add(entry, "updated", _rfc3339(when(hit)))
        published = _day(hit.date or "")
        if published:
            _add(entry, "published", _rfc3339(published))
        _add(entry, "link", rel="alternate", href=hit.url)
        _add(entry, "summary", hit.excerpt.text, type="text")
    return _serialize(feed)


def rss(results: Results, title: str, about: str, here: str, changed: float) -> bytes:
    """An RSS 2.0 feed of the same."""
    feed = ET.Element("rss", {"version": "2.0", "xmlns:atom": ATOM})
    channel = ET.SubElement(feed, "channel")
    _add(channel, "title", _name(results, title))
    _add(channel, "link", about)
    _add(channel, "description", f"The newest pages found for {results.request.query}")
    _add(channel, "lastBuildDate", format_datetime(_latest(results, changed)))
    _add(channel, "atom:link", rel="self", type="application/rss+xml", href=here)
    for hit in _linkable(results):
        item = ET.SubElement(channel, "item")
        _add(item, "title", hit.title.text or hit.url)
        _add(item, "link", hit.url)
        _add(item, "guid", hit.url, isPermaLink="true")
        _add(item, "pubDate", format_datetime(when(hit)))
        _add(item, "description", hit.excerpt.text)
    return _serialize(feed)


def when(hit: Hit) -> datetime.datetime:
    """The time of a result: its date, or when it was fetched."""
    return _day(hit.date or "") or instant(hit.fetched_at) or _EPOCH


def _day(text: str) -> datetime.datetime | None:
    """An ISO date as a time; what is missing is the first of its kind, and a time without a zone counts as UTC."""
    match = _DATE.fullmatch(text)
    if not match:
        return None
    try:
        if match[4] and match[3]:
            at = datetime.datetime.fromisoformat(text)
            return at.astimezone(datetime.UTC) if at.tzinfo else at.replace(tzinfo=datetime.UTC)
        return datetime.datetime(int(match[1]), int(match[2] or 1), int(match[3] or 1), tzinfo=datetime.UTC)
    except (ValueError, OverflowError):
        return None


def _linkable(results: Results) -> list[Hit]:
    return [hit for hit in results.hits if safe_href(hit.url)]


def _latest(results: Results, changed: float) -> datetime.datetime:
    times = [when(hit) for hit in _linkable(results)]
    return max(times) if times else instant(changed) or _EPOCH


def _name(results: Results, title: str) -> str:
    return f"{results.request.query} – {title}"


def _add(parent: ET.Element, name: str, text: str = "", **attributes: str) -> ET.Element:
    element = ET.SubElement(parent, name, {key: xml_text(value) for key, value in attributes.items()})
    element.text = xml_text(text) or None
    return element


def xml_text(text: str) -> str:
    """Text without what XML cannot hold."""
    return _NOT_XML.sub("", text)


def _rfc3339(at: datetime.datetime) -> str:
    return at.astimezone(datetime.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _serialize(root: ET.Element) -> bytes:
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))

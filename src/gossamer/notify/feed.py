"""Pages as Atom and RSS: valid XML, ids that stay, nothing XML cannot hold.

One renderer for both kinds of feed that we have: the newest results of a query, and what an alert found.
"""

from __future__ import annotations

import datetime
import html
import re
from email.utils import format_datetime
from xml.etree import ElementTree as ET

import msgspec

ATOM = "http://www.w3.org/2005/Atom"
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?:T(\d\d):(\d\d)(?::(\d\d))?.*)?")


class Entry(msgspec.Struct, frozen=True):
    """A page in a feed."""

    url: str
    """http(s): whoever makes the entry has seen to that."""
    title: str
    summary: str
    updated: datetime.datetime
    published: datetime.datetime | None = None


class Feed(msgspec.Struct, frozen=True):
    """A feed, whichever way it is written."""

    title: str
    description: str
    author: str
    about: str
    """Address of the page for people."""
    here: str
    """The feed's own address, which is its id, too."""
    changed: datetime.datetime
    """When it changed, where there are no entries."""
    entries: tuple[Entry, ...]

    @property
    def latest(self) -> datetime.datetime:
        """The time of the newest entry."""
        return max((entry.updated for entry in self.entries), default=self.changed)


def atom(feed: Feed) -> bytes:
    """An Atom feed (RFC 4287)."""
    root = ET.Element("feed", xmlns=ATOM)
    _add(root, "title", feed.title)
    _add(root, "subtitle", feed.description)
    _add(root, "id", feed.here)
    _add(root, "updated", _rfc3339(feed.latest))
    _add(_add(root, "author"), "name", feed.author)
    _add(root, "link", rel="self", type="application/atom+xml", href=feed.here)
    _add(root, "link", rel="alternate", type="text/html", href=feed.about)
    for one in feed.entries:
        entry = _add(root, "entry")
        _add(entry, "title", one.title or one.url)
        _add(entry, "id", one.url)
        _add(entry, "updated", _rfc3339(one.updated))
        if one.published:
            _add(entry, "published", _rfc3339(one.published))
        _add(entry, "link", rel="alternate", href=one.url)
        _add(entry, "summary", one.summary, type="text")
    return _serialize(root)


def rss(feed: Feed) -> bytes:
    """An RSS 2.0 feed of the same. Its readers take descriptions for HTML, and many of them titles as well."""
    root = ET.Element("rss", {"version": "2.0", "xmlns:atom": ATOM})
    channel = ET.SubElement(root, "channel")
    _add(channel, "title", _title(feed.title))
    _add(channel, "link", feed.about)
    _add(channel, "description", html.escape(feed.description, quote=False))
    _add(channel, "lastBuildDate", format_datetime(feed.latest))
    _add(channel, "atom:link", rel="self", type="application/rss+xml", href=feed.here)
    for one in feed.entries:
        item = ET.SubElement(channel, "item")
        _add(item, "title", _title(one.title or one.url))
        _add(item, "link", one.url)
        _add(item, "guid", one.url, isPermaLink="true")
        _add(item, "pubDate", format_datetime(one.updated))
        _add(item, "description", html.escape(one.summary, quote=False))
    return _serialize(root)


def day(text: str) -> datetime.datetime | None:
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


def xml_text(text: str) -> str:
    """Text without what XML cannot hold."""
    return _NOT_XML.sub("", text)


def _title(text: str) -> str:
    """A title that begins no element where it is taken for HTML, and reads well where it is not."""
    return text.replace("<", "&lt;")


def _add(parent: ET.Element, name: str, text: str = "", **attributes: str) -> ET.Element:
    element = ET.SubElement(parent, name, {key: xml_text(value) for key, value in attributes.items()})
    element.text = xml_text(text) or None
    return element


def _rfc3339(at: datetime.datetime) -> str:
    return at.astimezone(datetime.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _serialize(root: ET.Element) -> bytes:
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True))

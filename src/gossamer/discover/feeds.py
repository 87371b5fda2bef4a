"""Feeds: what a site says is new (RSS 0.9x, 1.0 and 2.0, Atom, JSON Feed; each also packed with gzip).

A feed is a stranger's data, read within the bounds that `xml_entries` describes. It is written by
hand more often than a sitemap, so a broken one is read a second time and mended (`feed_xml`).
Names of HTML's entities (`&nbsp;`) are known although XML does not declare them.

Namespaces are not checked: an element counts by its name, and one with the entry's own prefix
before one of an extension (`title` before `itunes:title`).

Nothing here raises: what could be read counts, and `problem` says what went wrong. URLs are as
written; the caller resolves them against an entry's `base` and the feed's own URL.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from itertools import chain
from xml.parsers import expat

from gossamer.discover.feed_json import read_json
from gossamer.discover.feed_values import Feed as Feed
from gossamer.discover.feed_values import FeedEntry as FeedEntry
from gossamer.discover.feed_values import FeedLimits as FeedLimits
from gossamer.discover.feed_xml import FeedReader, Warned, mended, read_broken
from gossamer.discover.xml_entries import OwnDeclarations, Stop, UnknownEncoding, pieces
from gossamer.parse.charset import decode

_MOST_HUBS = 8
_HEAD = 4_096
_MISC = re.compile(r"\s{1,2000}|<\?.{0,500}?\?>|<!--.{0,2000}?-->|<!DOCTYPE\s[^<>\[]{0,500}>", re.S | re.I)
_XML_ROOT = re.compile(r"<(?:[\w-]{1,20}:)?(rss|rdf|feed|channel)\b([^<>]{0,3000})", re.I)
_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s{0,200}(?:<!doctype\s+html\b[^<>\[]{0,300}>\s{0,200})?<html\b", re.I)
_MARKUP = re.compile(r"<(?:!doctype\s+html|html|head|body|urlset|sitemapindex)\b", re.I)


def parse_feed(body: bytes, limits: FeedLimits | None = None) -> Feed:
    """Everything a feed says, up to the limits and what cannot be mended."""
    limits = limits or FeedLimits()
    feed = Feed()
    try:
        rest = pieces(body, limits.unpacked_bytes)
        first = next(rest, b"")
        if first.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{":
            read_json(_whole(first, rest, limits.mended_bytes), feed, limits.entries, _MOST_HUBS)
        elif first:
            _read_xml(body, first, rest, feed, limits)
        else:
            feed.problem = "empty"
    except Stop as stop:
        feed.problem = str(stop)
    except zlib.error as error:
        feed.problem = f"damaged gzip data: {error}"[:200]
    return feed


def _read_xml(body: bytes, first: bytes, rest: Iterator[bytes], feed: Feed, limits: FeedLimits) -> None:
    reader = FeedReader(feed, limits.entries, _MOST_HUBS)
    try:
        reader.read(first, rest)
    except expat.ExpatError as error:
        feed.problem = f"not well-formed XML: {error}"
        if reader.is_complete:
            return
    except (UnknownEncoding, Warned) as stop:
        feed.problem = str(stop)
    except OwnDeclarations:
        feed.problem = "declares entities or attributes, which are left out"
    finally:
        reader.finish()
    if feed.problem:
        _read_again(body, feed, limits)


def _read_again(body: bytes, feed: Feed, limits: FeedLimits) -> None:
    """From the start, mended; what the first reading found counts if it found more."""
    again = Feed(problem=feed.problem)
    reader = FeedReader(again, limits.entries, _MOST_HUBS)
    try:
        data = mended(_whole(b"", pieces(body, limits.unpacked_bytes), limits.mended_bytes))
        if data and not read_broken(data, reader):
            again.problem = ""
    except Stop as stop:
        again.problem = f"{feed.problem}; {stop}"
    reader.finish()
    if again.kind and len(again.entries) >= len(feed.entries):
        for name in feed.__struct_fields__:
            setattr(feed, name, getattr(again, name))


def _whole(first: bytes, rest: Iterator[bytes], limit: int) -> bytes:
    """All pieces as one, up to the limit or the end of what can be unpacked."""
    found = bytearray()
    try:
        for piece in chain((first,), rest):
            found += piece
            if len(found) > limit:
                break
    except (Stop, zlib.error):
        pass
    return bytes(found[:limit])


def looks_like_feed(body: bytes, content_type: str = "") -> bool:
    """Whether a body is a feed: by its start, since servers send pages as feeds and feeds as pages."""
    if _PAGE.match(body):  # nearly all bodies
        return False
    head = _whole(b"", pieces(body, 2 * _HEAD), _HEAD)
    text = decode(head).text.lstrip("\ufeff \t\r\n")
    if text[:1] == "{":
        return "jsonfeed.org/version" in text or "feed+json" in content_type.lower()
    at = 0
    while match := _MISC.match(text, at):
        at = match.end()
    root = _XML_ROOT.match(text, at)
    if root is None and "xml" in content_type.lower() and "xhtml" not in content_type.lower():
        # Warnings of a program before the feed, or declarations of its own.
        root = _XML_ROOT.search(text, at)
        if root is not None and _MARKUP.search(text, 0, root.start()):
            root = None
    return root is not None and _is_feed_root(root[1].lower(), root[2], text[root.end() :])


def _is_feed_root(name: str, attributes: str, after: str) -> bool:
    """Whether an element is a feed's root and not one of the same name of another format."""
    if name == "rss":
        return True
    if name == "feed":
        return "atom" in attributes.lower() or "xmlns" not in attributes or "<entry" in after
    if name == "rdf":
        return "purl.org/rss" in attributes or "rdf/simple" in attributes or "<item" in after
    return "<item" in after

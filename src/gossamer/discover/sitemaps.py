"""Sitemaps: the URLs a site names by itself (sitemaps.org 0.9).

Read are urlset, sitemapindex, plain text (one URL a line), and RSS 2.0, RSS 1.0 and Atom used as
sitemaps; each also packed with gzip. Namespaces are not checked, since many sites get them wrong. The
page in other languages (`xhtml:link` with `hreflang`) is named like the page itself.

How a stranger's XML is read at bounded cost is said in `xml_entries`; here reading stops at the
limits of the protocol (50,000 entries, 50 MB unpacked).

Nothing here raises: what was read before an error counts, and `problem` says what went wrong.
A sitemap may name URLs of other hosts: the scope decides about them like about links.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterator
from xml.parsers import expat

import msgspec

from gossamer.discover.dates import epoch as epoch
from gossamer.discover.xml_entries import MAX_GAP, TOO_FAR, EntryReader, Stop, local, looks_like_xml, pieces
from gossamer.model.counts import counted

_FREQUENCIES = frozenset({"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"})


class SitemapLimits(msgspec.Struct, frozen=True):
    """Where reading stops."""

    entries: int = 50_000
    """Entries, or sitemaps of an index, or different translations of entries; more are left out."""
    unpacked_bytes: int = 52_428_800
    """Bytes after unpacking; the rest is left out."""


class SitemapEntry(msgspec.Struct, frozen=True, gc=False):
    """One URL that the site names."""

    loc: str
    """As written, without surrounding space; neither resolved nor canonical."""
    lastmod: str = ""
    """As written."""
    lastmod_at: float | None = None
    """Seconds since 1970; None where `lastmod` is not a date. Without a zone it is UTC."""
    changefreq: str = ""
    """A word of the protocol, or empty."""
    priority: float = 0.5
    """0…1, relative to the site's other pages."""
    published_at: float | None = None
    """Of a news sitemap: when the article came out, seconds since 1970."""


class Sitemap(msgspec.Struct):
    """What a sitemap says."""

    entries: list[SitemapEntry] = []
    nested: list[str] = []
    """The sitemaps that an index names."""
    translations: dict[str, float] = {}
    """URLs of entries in other languages, as written, with the highest priority of these entries."""
    problem: str = ""
    """Why it is not complete, one sentence; empty where it is."""


def parse_sitemap(body: bytes, limits: SitemapLimits | None = None) -> Sitemap:
    """Everything a sitemap names, up to the limits and the first error."""
    limits = limits or SitemapLimits()
    sitemap = Sitemap()
    try:
        rest = pieces(body, limits.unpacked_bytes)
        first = next(rest, b"")
        read = _read_xml if looks_like_xml(first) else _read_text
        read(first, rest, _Collector(sitemap, limits.entries))
    except Stop as stop:
        sitemap.problem = str(stop)
    except expat.ExpatError as error:
        sitemap.problem = f"not well-formed XML: {error}"
    except zlib.error as error:
        sitemap.problem = f"damaged gzip data: {error}"[:200]
    return sitemap


class _Collector:
    """Takes what is found until it is too much."""

    def __init__(self, sitemap: Sitemap, limit: int) -> None:
        self._sitemap = sitemap
        self._room = self._limit = limit

    def take_place(self) -> None:
        """One more entry, whether it can be used or not."""
        if self._room <= 0:
            raise Stop("more entries than the limit, the rest is left out")
        self._room -= 1

    def entry(self, loc: str, lastmod: str = "", changefreq: str = "", priority: str = "", published: str = "") -> None:
        """One URL of the site."""
        self._sitemap.entries.append(
            SitemapEntry(
                loc,
                lastmod,
                epoch(lastmod) if lastmod else None,
                changefreq.lower() if changefreq.lower() in _FREQUENCIES else "",
                _priority(priority) if priority else 0.5,
                epoch(published) if published else None,
            )
        )

    def translations(self, locs: list[str], priority: str) -> None:
        """An entry in other languages; each of these often names all others again."""
        found, value = self._sitemap.translations, _priority(priority) if priority else 0.5
        for loc in locs:
            if loc in found:
                found[loc] = max(found[loc], value)
            elif len(found) < self._limit:
                found[loc] = value

    def nested(self, loc: str) -> None:
        """One sitemap of an index."""
        self._sitemap.nested.append(loc)


def _read_text(first: bytes, remaining: Iterator[bytes], collector: _Collector) -> None:
    rest = b""
    skipped = 0
    for piece in itertools.chain((first.removeprefix(b"\xef\xbb\xbf"),), remaining):
        *lines, rest = (rest + piece).replace(b"\r", b"\n").split(b"\n")
        if len(rest) > MAX_GAP:
            raise Stop(TOO_FAR)
        skipped += sum(not _text_line(line, collector) for line in lines)
    skipped += not _text_line(rest, collector)
    if skipped:
        raise Stop(f"{counted(skipped, 'line is not an http(s) URL', 'lines are not http(s) URLs')}")


def _text_line(line: bytes, collector: _Collector) -> bool:
    text = line.strip().decode("utf-8", "replace")
    if text[:8].lower().startswith(("http://", "https://")):
        collector.take_place()
        collector.entry(text)
        return True
    return not text


def _read_xml(first: bytes, rest: Iterator[bytes], collector: _Collector) -> None:
    _SitemapReader(collector).read(first, rest)


class _SitemapReader(EntryReader):
    """Gives each entry to the collector."""

    entry_names = frozenset({"url", "sitemap", "item", "entry"})
    deep_names = frozenset({"publication_date"})

    def __init__(self, collector: _Collector) -> None:
        super().__init__()
        self._collector = collector
        self._translations: list[str] = []

    def entry_started(self, name: str, attributes: dict[str, str]) -> None:
        self._translations = []

    def root(self, name: str, attributes: dict[str, str]) -> None:
        if local(name) not in _ROOTS:
            raise Stop(f"neither a sitemap nor a feed, but <{name[:40]}>")

    def field_started(self, name: str, attributes: dict[str, str]) -> None:
        if not attributes:
            self.collect()
            return
        name = local(name)
        if "hreflang" in attributes and attributes.get("href") and attributes.get("rel", "alternate") == "alternate":
            self._translations.append(attributes["href"].strip())
        if name == "link" and "href" in attributes:
            # Atom: the attribute is the link, whatever the element holds besides.
            self.text = [attributes["href"]] if attributes.get("rel", "alternate") == "alternate" else []
        elif name != "guid" or attributes.get("isPermaLink") != "false":
            self.collect()

    def entry_ended(self, name: str) -> None:
        self._collector.take_place()
        _READERS[local(name)](self.fields, self._collector)
        if self._translations and local(name) == "url":
            self._collector.translations(self._translations, self.fields.get("priority", ""))


def _read_url(fields: dict[str, str], collector: _Collector) -> None:
    if loc := fields.get("loc"):
        get = fields.get
        collector.entry(
            loc, get("lastmod", ""), get("changefreq", ""), get("priority", ""), get("publication_date", "")
        )


def _read_nested(fields: dict[str, str], collector: _Collector) -> None:
    if loc := fields.get("loc"):
        collector.nested(loc)


def _read_news(fields: dict[str, str], collector: _Collector) -> None:
    date = next((fields[name] for name in _DATES if name in fields), "")
    if loc := fields.get("link") or fields.get("guid"):
        collector.entry(loc, date)


_DATES = ("updated", "pubDate", "date", "published")
_ROOTS = frozenset({"urlset", "sitemapindex", "rss", "feed", "RDF"})
_READERS: dict[str, Callable[[dict[str, str], _Collector], None]] = {
    "url": _read_url,
    "sitemap": _read_nested,
    "item": _read_news,
    "entry": _read_news,
}


def _priority(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return 0.5
    return min(max(value, 0.0), 1.0) if value == value else 0.5

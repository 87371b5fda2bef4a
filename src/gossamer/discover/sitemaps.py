"""Sitemaps: the URLs a site names by itself (sitemaps.org 0.9).

Read are urlset, sitemapindex, plain text (one URL a line), and RSS 2.0, RSS 1.0 and Atom used as
sitemaps; each also packed with gzip. Namespaces are not checked, since many sites get them wrong.

A sitemap is a stranger's XML, so it costs bounded time and memory:
- it is read piece by piece, also while it is unpacked, and only the entry being read is kept;
- a document that brings its own declarations (entities, default attributes) is refused; an
  external DTD is not loaded, so nothing is expanded and nothing else is opened;
- reading stops at the limits of the protocol (50,000 entries, 50 MB unpacked) and where a
  megabyte goes by without an entry.
Expat reads it: as fast as lxml's iterparse here (6 µs an entry), and it forgets the names of
elements with the parser, while lxml keeps them for ever (120 MB from one hostile sitemap).
The hole that remains: a 40 MB sitemap of ever new element names still needs 0.2 GB while it is read.

Nothing here raises: what was read before an error counts, and `problem` says what went wrong.
A sitemap speaks for its own host only, unless robots.txt of another host names it; the caller
asks `is_own` about each entry.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from xml.parsers import expat

import msgspec

from gossamer.model.site import site_of

_PIECE = 65_536
_MAX_GAP = 1_048_576
"""Bytes without a finished entry; honest entries, with all their alternates, stay under a tenth of it."""
_TOO_FAR = "more than 1 MB without an entry, the rest is left out"
_MAX_DEPTH = 64
_FREQUENCIES = frozenset({"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"})


class SitemapLimits(msgspec.Struct, frozen=True):
    """Where reading stops."""

    entries: int = 50_000
    """Entries, or sitemaps of an index; more are left out."""
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


class Sitemap(msgspec.Struct):
    """What a sitemap says."""

    entries: list[SitemapEntry] = []
    nested: list[str] = []
    """The sitemaps that an index names."""
    problem: str = ""
    """Why it is not complete, one sentence; empty where it is."""


class _Stop(Exception):  # noqa: N818 - it is an event
    """Reading ends here; the message is the problem."""


def parse_sitemap(body: bytes, limits: SitemapLimits | None = None) -> Sitemap:
    """Everything a sitemap names, up to the limits and the first error."""
    limits = limits or SitemapLimits()
    sitemap = Sitemap()
    try:
        pieces = _pieces(body, limits.unpacked_bytes)
        first = next(pieces, b"")
        read = _read_xml if _looks_like_xml(first) else _read_text
        read(first, pieces, _Collector(sitemap, limits.entries))
    except _Stop as stop:
        sitemap.problem = str(stop)
    except expat.ExpatError as error:
        sitemap.problem = f"not well-formed XML: {error}"
    except zlib.error as error:
        sitemap.problem = f"damaged gzip data: {error}"[:200]
    return sitemap


def is_own(sitemap_url: str, entry_url: str) -> bool:
    """Whether a sitemap may speak for a URL: same host and port. Both are canonical URLs."""
    return site_of(sitemap_url) == site_of(entry_url)


class _Collector:
    """Takes what is found until it is too much."""

    def __init__(self, sitemap: Sitemap, limit: int) -> None:
        self._sitemap = sitemap
        self._room = limit

    def take_place(self) -> None:
        """One more entry, whether it can be used or not."""
        if self._room <= 0:
            raise _Stop("more entries than the limit, the rest is left out")
        self._room -= 1

    def entry(self, loc: str, lastmod: str = "", changefreq: str = "", priority: str = "") -> None:
        """One URL of the site."""
        self._sitemap.entries.append(
            SitemapEntry(
                loc,
                lastmod,
                epoch(lastmod) if lastmod else None,
                changefreq.lower() if changefreq.lower() in _FREQUENCIES else "",
                _priority(priority) if priority else 0.5,
            )
        )

    def nested(self, loc: str) -> None:
        """One sitemap of an index."""
        self._sitemap.nested.append(loc)


def _pieces(body: bytes, limit: int) -> Iterator[bytes]:
    """The body piece by piece, unpacked where it is gzip."""
    left = limit
    for piece in _unpack(body) if body[:2] == b"\x1f\x8b" else _cut(body):
        if len(piece) > left:
            yield piece[:left]
            raise _Stop(f"longer than {limit:,} bytes, the rest is left out")
        left -= len(piece)
        yield piece


def _cut(body: bytes) -> Iterator[bytes]:
    for start in range(0, len(body), _PIECE):
        yield body[start : start + _PIECE]


def _unpack(body: bytes) -> Iterator[bytes]:
    """Each member of a gzip file, never more than one piece in memory."""
    while body[:2] == b"\x1f\x8b":
        unpacker = zlib.decompressobj(wbits=31)
        while not unpacker.eof:
            piece = unpacker.decompress(body, _PIECE)
            if not piece and not unpacker.unconsumed_tail and not unpacker.eof:
                raise _Stop("the gzip data is cut off")
            body = unpacker.unconsumed_tail
            if piece:
                yield piece
        body = unpacker.unused_data


def _looks_like_xml(first: bytes) -> bool:
    if first[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return True
    return first.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<"


def _read_text(first: bytes, pieces: Iterator[bytes], collector: _Collector) -> None:
    rest = b""
    skipped = 0
    for piece in itertools.chain((first.removeprefix(b"\xef\xbb\xbf"),), pieces):
        *lines, rest = (rest + piece).replace(b"\r", b"\n").split(b"\n")
        if len(rest) > _MAX_GAP:
            raise _Stop(_TOO_FAR)
        skipped += sum(not _text_line(line, collector) for line in lines)
    skipped += not _text_line(rest, collector)
    if skipped:
        raise _Stop(f"{skipped} lines are not http(s) URLs")


def _text_line(line: bytes, collector: _Collector) -> bool:
    text = line.strip().decode("utf-8", "replace")
    if text[:8].lower().startswith(("http://", "https://")):
        collector.take_place()
        collector.entry(text)
        return True
    return not text


def _read_xml(first: bytes, pieces: Iterator[bytes], collector: _Collector) -> None:
    reader = _XmlReader(collector)
    reader.feed(first.lstrip() if first[:1].isspace() else first)
    for piece in pieces:
        reader.feed(piece)
    reader.close()


class _XmlReader:
    """Listens to the parser; keeps nothing but the fields of the entry being read."""

    def __init__(self, collector: _Collector) -> None:
        self._collector = collector
        self._fed = self._entry_at = 0
        self._depth = 0
        self._item_depth = 0
        self._fields: dict[str, str] = {}
        self._text: list[str] = []
        self._parser = parser = expat.ParserCreate(intern=None)
        parser.buffer_text = True
        parser.buffer_size = _PIECE
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = _refuse_declarations

    def feed(self, piece: bytes) -> None:
        """Takes the next bytes."""
        self._fed += len(piece)
        self._parser.Parse(piece, False)
        if self._fed - self._entry_at > _MAX_GAP:
            raise _Stop(_TOO_FAR)

    def close(self) -> None:
        """All bytes were fed."""
        self._parser.Parse(b"", True)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise _Stop(f"elements nested deeper than {_MAX_DEPTH}")
        if self._item_depth:
            if self._depth == self._item_depth + 1:
                self._start_field(name, attributes)
        elif self._depth == 1:
            if _local(name) not in _ROOTS:
                raise _Stop(f"neither a sitemap nor a feed, but <{name[:40]}>")
        elif _local(name) in _READERS:
            self._item_depth = self._depth
            self._fields = {}

    def _start_field(self, name: str, attributes: dict[str, str]) -> None:
        self._text = []
        self._parser.CharacterDataHandler = self._text.append
        if not attributes:
            return
        name = _local(name)
        if name == "link" and "href" in attributes:
            # Atom: the attribute is the link, whatever the element holds besides.
            self._parser.CharacterDataHandler = None
            self._text = [attributes["href"]] if attributes.get("rel", "alternate") == "alternate" else []
        elif name == "guid" and attributes.get("isPermaLink") == "false":
            self._parser.CharacterDataHandler = None

    def _end(self, name: str) -> None:
        if self._item_depth:
            if self._depth == self._item_depth + 1:
                self._parser.CharacterDataHandler = None
                if text := "".join(self._text).strip():
                    self._fields.setdefault(_local(name), text)
            elif self._depth == self._item_depth:
                self._item_depth = 0
                self._entry_at = self._fed
                self._collector.take_place()
                _READERS[_local(name)](self._fields, self._collector)
        self._depth -= 1


def _refuse_declarations(_name: str, _system: str | None, _public: str | None, internal: bool) -> None:
    if internal:
        raise _Stop("declares entities or attributes, which no sitemap needs")


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _read_url(fields: dict[str, str], collector: _Collector) -> None:
    if loc := fields.get("loc"):
        get = fields.get
        collector.entry(loc, get("lastmod", ""), get("changefreq", ""), get("priority", ""))


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


@lru_cache(maxsize=4_096)
def epoch(text: str) -> float | None:
    """A W3C date (a year, a month, a day, or with time) or a mail date, as seconds since 1970."""
    full = text + "-01-01"[len(text) - 4 :] if len(text) in (4, 7) else text
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            date = read(full)
            return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
        except (ValueError, TypeError, OverflowError, IndexError):
            continue
    return None

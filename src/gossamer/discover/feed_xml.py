"""RSS and Atom, entry by entry; broken ones are mended as far as that can be done.

A first reading takes the bytes as they are. Where it fails, a second one takes the text with its
encoding guessed, stray `&` escaped, and everything before the root cut off, so also whatever
the document declares. An entry that is still broken gives the fields that stand in it; reading
goes on with the next one.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from html.entities import html5
from urllib.parse import urljoin
from xml.parsers import expat

from gossamer.discover.feed_values import Feed, FeedEntry, plain_title, plausible, usable_ttl
from gossamer.discover.xml_entries import MAX_GAP, PIECE, TOO_FAR, EntryReader, Stop, local
from gossamer.parse.charset import decode

KINDS = {"rss": "rss", "rdf": "rss", "channel": "rss", "feed": "atom"}
"""The names of root elements, in lower case."""
_PERIODS = {"hourly": 3600, "daily": 86_400, "weekly": 604_800, "monthly": 2_592_000, "yearly": 31_536_000}
_ENTRY_FIELDS = frozenset(
    "title link guid id origlink pubdate date published issued created updated modified".split()
)  # fmt: skip
_FEED_FIELDS = frozenset({"title", "ttl", "updateperiod", "updatefrequency"})
_PUBLISHED = ("pubdate", "published", "issued", "date", "created")
_UPDATED = ("updated", "modified")
_MOST_REPAIRS = 200
_WARNINGS = frozenset({"b", "br", "p", "div", "font", "pre", "table"})
"""Elements with which a program's warning starts, in front of the feed."""

_ROOT = re.compile(r"<(?:[\w-]{1,20}:)?(?:rss|rdf|feed|channel)[\s>]", re.I)
_NEXT = re.compile(rb"<(?:[\w-]{1,20}:)?(?:item|entry)[\s>]")
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_AMPERSAND = re.compile(r"<!\[CDATA\[.*?(?:\]\]>|\Z)|&(#\d{1,7};|#[xX][0-9a-fA-F]{1,6};|[A-Za-z]\w{0,30};)?", re.S)
_LOOSE = re.compile(rb"<([\w:-]{2,40})(\s[^<>]{0,500})?>\s{0,50}(?:<!\[CDATA\[)?([^<>]{0,2000})")
_HREF = re.compile(r"""\bhref\s?=\s?["']([^"']{1,2000})""")


class Warned(Stop):
    """The text starts with a program's warning."""


class FeedReader(EntryReader):
    """Fills a feed."""

    entry_names = frozenset({"item", "entry"})

    def __init__(self, feed: Feed, most_entries: int, most_hubs: int) -> None:
        super().__init__(skip_entities=True)
        self._feed = feed
        self._room = most_entries
        self._most_hubs = most_hubs
        self._bases = [""]
        self._parents: list[str] = []
        self._prefix = ""
        self._foreign: dict[str, str] = {}
        self._type = ""
        self._period, self._frequency = "", 1.0

    def root(self, name: str, attributes: dict[str, str]) -> None:
        """The kind of feed; anything else ends the reading."""
        kind = KINDS.get(local(name).lower())
        if kind is None:
            raise (Warned if name.lower() in _WARNINGS else Stop)(f"not a feed, but <{name[:40]}>")
        self._feed.kind = kind
        self._bases = [attributes.get("xml:base", self._bases[0])]
        self._parents = [local(name).lower()]

    def opened(self, name: str, attributes: dict[str, str]) -> None:
        """The feed's own fields."""
        name = local(name).lower()
        self.parser.CharacterDataHandler = None
        if name == "link":
            self._relation(attributes)
        elif name in _FEED_FIELDS and self._parents[-1] in ("channel", "feed"):
            self.collect()
        elif name == "channel" and "xml:base" in attributes:
            self._bases = [urljoin(self._bases[0], attributes["xml:base"])]
        self._parents.append(name)

    def closed(self, name: str) -> None:
        """A field of the feed is complete."""
        self._parents.pop()
        text = self.collected()
        if not text:
            return
        match local(name).lower():
            case "title" if not self._feed.title:
                self._feed.title = plain_title(text)
            case "ttl":
                self._feed.ttl = usable_ttl(_number(text) * 60)
            case "updateperiod":
                self._period = text.lower()
            case "updatefrequency":
                self._frequency = _number(text)

    @property
    def kind(self) -> str:
        """Of the feed, as far as it is known."""
        return self._feed.kind

    def finish(self) -> None:
        """What can be said only when everything was read."""
        if self._feed.ttl is None and self._period in _PERIODS and self._frequency > 0:
            self._feed.ttl = usable_ttl(_PERIODS[self._period] / self._frequency)

    def _relation(self, attributes: dict[str, str]) -> None:
        relations, url = attributes.get("rel", "").lower().split(), attributes.get("href", "").strip()
        if not url:
            return
        if "hub" in relations and len(self._feed.hubs) < self._most_hubs and url not in self._feed.hubs:
            self._feed.hubs.append(url)
        if "self" in relations and not self._feed.self_url:
            self._feed.self_url = url

    # --- entries -----------------------------------------------------------------------------------

    def entry_started(self, name: str, attributes: dict[str, str]) -> None:
        """An empty entry."""
        self.parser.CharacterDataHandler = None
        self._prefix = name.rpartition(":")[0]
        self._foreign = {}
        self._type = ""
        del self._bases[1:]
        if attributes:
            if "xml:base" in attributes:
                self._bases.append(urljoin(self._bases[0], attributes["xml:base"]))
            if about := attributes.get("rdf:about"):
                self._foreign["about"] = about.strip()

    def field_started(self, name: str, attributes: dict[str, str]) -> None:
        """Collects the text of what is used; links may be attributes."""
        plain = local(name).lower()
        if plain == "link" and "href" in attributes:
            self._entry_link(attributes)
        elif plain == "guid" and attributes.get("isPermaLink", "").lower() == "false":
            self._foreign["opaque"] = "yes"
            self.collect()
        elif plain in _ENTRY_FIELDS:
            self.collect()

    def _entry_link(self, attributes: dict[str, str]) -> None:
        """Atom: the page itself before other forms of it."""
        if attributes.get("rel", "alternate").lower() != "alternate":
            return
        kind = attributes.get("type", "text/html").lower()
        if "link" in self.fields and not ("html" in kind and "html" not in self._type):
            return
        self._type = kind
        self.fields["link"] = attributes["href"].strip()
        if "xml:base" in attributes:
            del self._bases[2:]
            self._bases.append(urljoin(self._bases[-1], attributes["xml:base"]))

    def field_ended(self, name: str, text: str) -> None:
        """The first field of a name counts."""
        prefix, _, plain = name.rpartition(":")
        (self.fields if prefix == self._prefix else self._foreign).setdefault(plain.lower(), text)

    def entry_ended(self, name: str) -> None:
        """Adds the entry if it has a URL."""
        if self._room <= 0:
            raise Stop("more entries than the limit, the rest is left out")
        self._room -= 1
        if url := self._url():
            self._feed.entries.append(
                FeedEntry(
                    url,
                    plain_title(self._get("title")),
                    self._date(_PUBLISHED),
                    self._date(_UPDATED),
                    self._get("guid") or self._get("id") or self._foreign.get("about", ""),
                    self._bases[-1],
                )
            )

    def _get(self, name: str) -> str:
        return self.fields.get(name) or self._foreign.get(name, "")

    def _url(self) -> str:
        # FeedBurner's links count clicks and have died; it names the page besides.
        if url := self._get("origlink") or self._get("link"):
            return url
        for name in ("guid", "id", "about"):
            text = self._get(name)
            if text.startswith(("http://", "https://")) and not (name == "guid" and "opaque" in self._foreign):
                return text
        return ""

    def _date(self, names: tuple[str, ...]) -> float | None:
        for name in names:
            for found in (self.fields, self._foreign):
                if name in found and (moment := plausible(found[name])) is not None:
                    return moment
        return None

    def skipped(self, name: str, is_parameter: bool) -> None:
        """HTML's name of a character, or nothing."""
        if self.parser.CharacterDataHandler is not None:
            self.text.append(html5.get(f"{name};", ""))

    def give_up_entry(self, rest: bytes) -> None:
        """Ends a broken entry with what was read of it and what stands loosely in its rest."""
        for match in _LOOSE.finditer(rest):
            name = match[1].decode().rpartition(":")[2].lower()
            if name not in _ENTRY_FIELDS:
                continue
            attributes, text = (match[2] or b"").decode("utf-8", "replace"), match[3].decode("utf-8", "replace")
            if name == "link" and (href := _HREF.search(attributes)):
                text = href[1] if "rel=" not in attributes or "alternate" in attributes else ""
            text = html.unescape(text).strip()
            if text and not self._get(name) and not (name == "guid" and "false" in attributes):
                self.fields[name] = text
        self.entry_ended("")


def mended(data: bytes) -> bytes:
    """The text as UTF-8 from its root on, with what XML forbids escaped or left out; empty without a root."""
    text = decode(data).text
    root = _ROOT.search(text)
    if root is None:
        return b""
    return _AMPERSAND.sub(_escape, _FORBIDDEN.sub("", text[root.start() :])).encode()


def _escape(match: re.Match[str]) -> str:
    if match[0][0] == "<":
        return match[0]
    if match[1] is None:
        return "&amp;"
    if match[1][0] != "#":
        return match[0]
    character = html.unescape(match[0])
    return f"&#{ord(character)};" if character not in ("", "\ufffd") and not _FORBIDDEN.match(character) else ""


def read_broken(data: bytes, reader: FeedReader) -> int:
    """Reads mended XML; after an error it goes on with the next entry. The number of errors."""
    position, opening = 0, b""
    for errors in range(_MOST_REPAIRS):
        try:
            reader.restart()
            reader.read(opening, _from(data, position))
            return errors
        except expat.ExpatError:
            at = position + max(reader.parser.ErrorByteIndex - len(opening), 1)
        following = _NEXT.search(data, at)
        if reader.inside_entry:
            reader.give_up_entry(data[at : following.start() if following else len(data)][:MAX_GAP])
        if following is None:
            return errors + 1
        if following.start() - at > MAX_GAP:
            raise Stop(TOO_FAR)
        position, opening = following.start(), b"<feed>" if reader.kind == "atom" else b"<rss><channel>"
    raise Stop(f"more than {_MOST_REPAIRS} broken entries, the rest is left out")


def _from(data: bytes, start: int) -> Iterator[bytes]:
    for at in range(start, len(data), PIECE):
        yield data[at : at + PIECE]


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if 0 < value < 1e9 else 0.0

"""What a feed says, whatever its format."""

from __future__ import annotations

import html
import re

import msgspec

from gossamer.discover.dates import epoch

_EARLIEST = 631_152_000.0
"""1990, older than the web: what claims to be is a default or a mistake."""
_LONGEST_TITLE = 500
_LONGEST_TTL = 31_536_000.0
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,300}>")


class FeedLimits(msgspec.Struct, frozen=True):
    """Where reading stops."""

    entries: int = 10_000
    """Entries; more are left out."""
    unpacked_bytes: int = 52_428_800
    """Bytes after unpacking; the rest is left out."""
    mended_bytes: int = 10_485_760
    """Bytes of JSON, or of broken XML in its second reading, both of which are held whole; the rest is left out."""


class FeedEntry(msgspec.Struct, frozen=True, gc=False):
    """One piece of news."""

    url: str
    """As written, without surrounding space; neither resolved nor canonical."""
    title: str = ""
    """Without markup."""
    published_at: float | None = None
    """Seconds since 1970; None where the feed does not say it, or says nonsense. Without a zone it is UTC."""
    updated_at: float | None = None
    id: str = ""
    """What the feed calls it by; empty where it has no name but its URL."""
    base: str = ""
    """What `xml:base` says for its URL, itself perhaps relative; usually empty."""

    @property
    def dated(self) -> float | None:
        """When it came out, or else when it was last changed."""
        return self.updated_at if self.published_at is None else self.published_at


class Feed(msgspec.Struct):
    """What a feed says."""

    kind: str = ""
    """"rss", "atom" or "json"; empty for what is no feed."""
    title: str = ""
    entries: list[FeedEntry] = []
    hubs: list[str] = []
    """Hubs that push news (WebSub), as written."""
    self_url: str = ""
    """The feed's own name for itself, as written; a hub knows it by this."""
    ttl: float | None = None
    """Seconds for which the feed says it stays the same; None where it says nothing usable."""
    problem: str = ""
    """Why it is not complete, one sentence; empty where it is."""


def plausible(text: str) -> float | None:
    """The moment that a text names, if the web existed then."""
    moment = epoch(text) if text else None
    return moment if moment is not None and moment >= _EARLIEST else None


def plain_title(text: str) -> str:
    """A title without markup and doubled escapes, on one line."""
    text = text[: 4 * _LONGEST_TITLE]
    if "&" in text:
        text = html.unescape(text)
    if "<" in text:
        text = _TAG.sub("", text)
    return " ".join(text.split())[:_LONGEST_TITLE]


def usable_ttl(seconds: float) -> float | None:
    """A time to live that can be meant."""
    return min(seconds, _LONGEST_TTL) if seconds > 0 else None

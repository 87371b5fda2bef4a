"""What is told: one value, whichever way it goes.

A message is made once and kept until its channel has taken it, so each try says the same. Titles and excerpts come
from pages that strangers write: `one_line` takes out whatever could end a line or hide in it, before they come here.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

import msgspec

MOST_ITEMS = 100
"""Pages that one message names; what comes beyond is counted."""
_LONGEST_TITLE = 300
_LONGEST_EXCERPT = 600
_LONGEST_URL = 20_000
_SEPARATORS = re.compile("[\x00-\x20\x7f-\xa0\u2028\u2029]+")
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn"}
"""Categories of characters that show nothing, or turn around what stands beside them."""

Kind = Literal["hits", "alarm", "over", "test"]


class Item(msgspec.Struct, frozen=True):
    """A page that an alert found."""

    url: str
    title: str
    excerpt: str
    published: str
    """ISO 8601, as precise as it is known; empty where it is not."""
    at: float
    """When it was found, seconds since 1970."""


class Message(msgspec.Struct, frozen=True):
    """What is told to one channel."""

    kind: Kind
    title: str
    """One line."""
    text: str
    """A few sentences for a person."""
    items: tuple[Item, ...] = ()
    more: int = 0
    """Pages found beside them."""
    alert: str = ""
    """Name of the saved query, where it is one's."""


def one_line(text: str, longest: int = _LONGEST_TITLE) -> str:
    """A text without line ends, control characters and marks of direction, cut where it is long."""
    # A title may be a megabyte: what lies far behind the cut need not be looked at.
    spaced = _SEPARATORS.sub(" ", text[: 4 * longest])
    if not spaced.isprintable():
        spaced = "".join(char for char in spaced if char == " " or unicodedata.category(char) not in _UNSEEN)
    seen = spaced.strip()
    return seen if len(seen) <= longest else f"{seen[: longest - 1]}…"


def item(url: str, title: str, excerpt: str, published: str, at: float) -> Item:
    """A page as it is told: every text of it is one line."""
    return Item(
        one_line(url, _LONGEST_URL), one_line(title) or one_line(url), one_line(excerpt, _LONGEST_EXCERPT),
        one_line(published, 40), at,
    )  # fmt: skip

"""What is known of a page that others shall be like: values only, since a shard tells them to a front end."""

from __future__ import annotations

import msgspec

_NAMED = 6
"""Words that a sentence names."""
_LONGEST = 80
"""Characters of a title in a sentence."""
_MEANT = {"|": "%7C", '"': "%22", "(": "%28", ")": "%29"}
"""Characters that mean something in a query and may stand in a URL."""


class SaidWord(msgspec.Struct, frozen=True, array_like=True):
    """A word of the page."""

    stem: str
    """As the index has it in texts."""
    shown: str
    """As the page has it, lower case."""
    times: int
    titled: bool
    """Whether it is in the title."""


class Sample(msgspec.Struct, frozen=True):
    """A page, and the words of it that may tell it from others."""

    url: str
    title: str
    lang: str
    """Empty: unknown."""
    cluster: int
    """Number of its cluster of near copies."""
    words: tuple[SaidWord, ...]


class TellingWord(msgspec.Struct, frozen=True, array_like=True):
    """A word that pages like it should have."""

    stem: str
    shown: str
    weight: float
    """Against 1 for the word that tells most."""


class Likeness(msgspec.Struct, frozen=True):
    """What pages must share with a page to be like it."""

    name: str
    """Its title; its URL if it has none."""
    url: str = ""
    found: bool = True
    """Whether it is in the index."""
    lang: str = ""
    """The language that they must be in; empty: any."""
    cluster: int = 0
    words: tuple[TellingWord, ...] = ()
    """Those that tell most come first."""

    @property
    def sentence(self) -> str:
        """What a reader is told."""
        shared = [word.shown for word in self.words[:_NAMED]]
        *others, last = shared
        words = f"{', '.join(others)} and {last}" if others else last
        return f"These pages share words with “{self.name}”, such as {words}."

    @property
    def why_none(self) -> str:
        """Why no page is like it."""
        if not self.found:
            return f"The index has no page {self.name}, so no page can be like it."
        if not self.words:
            return f"“{self.name}” has no words that only some pages have, so no page can be like it."
        return f"No page is like “{self.name}”."


def name_of(title: str, url: str) -> str:
    """How sentences call a page; what cannot be seen must not turn a sentence around."""
    name = " ".join("".join(char if char.isprintable() else " " for char in title or url).split())
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1].rstrip()}…"


def as_value(url: str) -> str:
    """A URL as the value of `like:`."""
    return "".join(_MEANT.get(char, char) for char in url)


def as_url(value: str) -> str:
    """The URL that a value stands for, if it is not the value itself."""
    for char, written in _MEANT.items():
        value = value.replace(written, char)
    return value

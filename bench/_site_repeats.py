"""How much of the stored main texts repeats over the pages of a site.

A line repeats if it has a word and is on at least 5 % of the site's documents and on at least three; digits are folded,
so that "3 comments" and "12 comments" are one line. The share counts characters: a sidebar of two hundred months weighs
what it costs a reader.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import msgspec

SHARE = 0.05
PAGES = 3
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]")


class Repeats(msgspec.Struct, frozen=True):
    """What repeats in the texts of a site."""

    characters: float
    """Share of the characters of all texts that are in repeating lines."""
    pages: float
    """Share of the documents whose text has a repeating line."""
    lines: int
    """Different lines that repeat."""


def find_repeats(texts: Sequence[str]) -> Repeats:
    """Looks for lines that repeat over the texts of one site."""
    pages = [Counter(filter(None, map(_folded, text.split("\n")))) for text in texts]
    on = Counter(line for page in pages for line in page)
    least = max(PAGES, SHARE * len(texts))
    repeating = {line for line, count in on.items() if count >= least}
    characters = sum(len(line) * times for page in pages for line, times in page.items())
    repeated = sum(len(line) * page[line] for page in pages for line in page.keys() & repeating)
    touched = sum(not page.keys().isdisjoint(repeating) for page in pages)
    return Repeats(repeated / max(characters, 1), touched / max(len(texts), 1), len(repeating))


def _folded(line: str) -> str:
    """A line as it is compared; empty if it has no word."""
    line = " ".join(line.split())
    return _DIGITS.sub("0", line) if _WORD.search(line) else ""

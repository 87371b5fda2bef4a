"""The stretch of a page with many words and few tags, in linear time.

A page is a sequence of tokens, words and tags. The range (i, j) is sought that maximises
tags before i + words from i to j + tags after j. All tags are counted outside the range or
inside it, so that is the number of all tags plus words minus tags inside: a maximum
subarray, found in one pass with +1 for a word and -1 for a tag. No training, no vocabulary,
any language that puts spaces between words; but a page gets one range, comments in the
middle or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_TOKENS = re.compile(r"<(!--.*?--|[^>]*)>", re.DOTALL)
_INLINE = frozenset(
    "a abbr b bdi bdo big cite code em font i kbd mark q s samp small span strong sub sup tt u var".split()
)
_REFERENCES = (("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))


def best_range(weights: Iterable[int]) -> tuple[int, int]:
    """The range [i, j) with the greatest sum, the first and then the shortest such; (0, 0) where none is positive."""
    best = current = 0
    start = first = end = 0
    for index, weight in enumerate(weights):
        if current <= 0:
            current, start = 0, index
        current += weight
        if current > best:
            best, first, end = current, start, index + 1
    return first, end


def densest_text(markup: str) -> str:
    """The text of the best range of a serialised body, a line per block."""
    pieces = _TOKENS.split(markup)
    weights = []
    for number, piece in enumerate(pieces):
        if number % 2 == 0:
            weights.append(len(piece.split()))
        else:
            weights.append(0 if piece.startswith("!") else -1)
    first, end = best_range(weights)
    parts = []
    for number in range(first, end):
        piece = pieces[number]
        if number % 2 == 0:
            parts.append(piece)
        elif piece.split(None, 1)[:1] and piece.lstrip("/").split(None, 1)[0] not in _INLINE:
            parts.append("\n")
    text = "".join(parts)
    for reference, char in _REFERENCES:
        text = text.replace(reference, char)
    return text

"""What an element says about the text inside it.

An element is read once per set of names and remembered, since pages of a site share them:
its kind (block, link, line break, …), some facts as bits of one integer, and what its words
are worth. A word of a class, an id, a role or a label has a score learnt from annotated
pages: how much more, or less, main text than elsewhere on its page is found in elements
that carry it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

INLINE, LINK, BREAK, RULE, BLOCK = range(5)
"""Kinds of elements; from RULE on they end a block of text."""

_BLOCK_NAMES = """
    address article aside blockquote body button caption center dd details dialog dir div dl dt fieldset figcaption
    figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup html legend li main menu nav noscript ol option p pre
    section summary table tbody td tfoot th thead tr ul
"""
_FACT_NAMES = """
    article main section nav aside header footer form table td tr li ul ol dl dd p pre blockquote figure figcaption
    button details noscript div role=main role=navigation role=banner role=contentinfo role=complementary role=dialog
    role=search role=tabpanel role=list custom hidden itemprop itemscope
"""
FACTS = tuple(_FACT_NAMES.split())
"""What the bits of a tag mean."""
_BIT = {name: 1 << number for number, name in enumerate(FACTS)}
_HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NAME_CHARS = 400
"""Characters of an attribute that are looked at; an element with longer ones is not remembered."""
_TOKENS = 6
"""Names of a class that are looked at: what an element is comes first, how it is drawn comes later."""
_TOKEN_CHARS = 60
_REMEMBERED = 50_000

Names = tuple[str, str | None, str | None, str | None, str | None, str | None, bool, bool]
"""Element, class, id, role, itemprop, aria-label; whether it is hidden, whether it is an item of microdata."""


class Tag(msgspec.Struct, frozen=True, eq=False, gc=False):
    """What an element says."""

    kind: int
    name: str = ""
    bits: int = 0
    score: float = 0.0
    """Sum of the scores of its words."""
    low: float = 0.0
    """The lowest score of its words, 0 at most."""
    high: float = 0.0
    """The highest score of its words, 0 at least."""
    look: int = 0
    """Equal for elements of the same name and class."""


KINDS = {
    **dict.fromkeys(_BLOCK_NAMES.split(), BLOCK),
    "a": LINK,
    "br": BREAK,
    "hr": RULE,
}
"""Kinds of the elements that are not inline; those of a site's own making, with a hyphen, are mostly boxes."""
_WORTHLESS = (0.0, 0.0, 0.0)


class TagReader(dict[Names, Tag]):
    """The names of a block element → what they say; forgets everything when full."""

    def __init__(self, scores: Mapping[str, float]) -> None:
        super().__init__()
        self._scores = scores
        self._tokens: dict[str, tuple[float, float, float]] = {}

    def __missing__(self, names: Names) -> Tag:
        if len(self) >= _REMEMBERED or len(self._tokens) >= _REMEMBERED:
            self.clear()
            self._tokens.clear()
        tag = self._read(names)
        if sum([len(name) for name in names[:6] if name]) < _NAME_CHARS:
            self[names] = tag
        return tag

    def _read(self, names: Names) -> Tag:
        name = names[0]
        score = self._scores.get(f"<{name}>", 0.0)
        low, high = (score, 0.0) if score < 0 else (0.0, score)
        known = self._tokens
        for token in naming_tokens(names):
            worth = known.get(token) or self._weigh(token)
            if worth is not _WORTHLESS:
                score += worth[0]
                low = worth[1] if worth[1] < low else low
                high = worth[2] if worth[2] > high else high
        return Tag(BLOCK, name, _facts(names), score, low, high, hash(names[:2]))

    def _weigh(self, token: str) -> tuple[float, float, float]:
        get = self._scores.get
        found = [score for word in words_of(token) if (score := get(word))]
        worth = (sum(found), min(found), max(found)) if found else _WORTHLESS
        self._tokens[token] = worth
        return worth


def naming_tokens(names: Names) -> list[str]:
    """The first things between spaces in each of the attributes that name things."""
    tokens: list[str] = []
    for value in names[1:6]:
        if value:
            tokens += value[:_NAME_CHARS].split(None, _TOKENS)[:_TOKENS]
    return tokens


def words_of(token: str) -> list[str]:
    """The token itself, lower case, and the words it is made of."""
    token = token[:_TOKEN_CHARS]
    lower = token.lower()
    if lower != token:
        token = _HUMPS.sub("-", token).lower()
    words = token.replace("_", "-").split("-")
    return [lower] if len(words) == 1 else [lower, *dict.fromkeys(words)]


def _facts(names: Names) -> int:
    name, _, _, role, itemprop, _, hidden, item = names
    bits = _BIT.get(name, 0)
    if "-" in name:
        bits |= _BIT["custom"]
    if role:
        bits |= _BIT.get(f"role={role[:_NAME_CHARS]}", 0)
    if hidden:
        bits |= _BIT["hidden"]
    if itemprop is not None:
        bits |= _BIT["itemprop"]
    if item:
        bits |= _BIT["itemscope"]
    return bits

"""What a start tag says about the text inside it.

A tag is read once per spelling and remembered, since pages of a site share them: its
kind (block, link, line break, …), some facts as bits of one integer, and what its words
are worth. A word of a class, an id, a role or a label has a score learnt from annotated
pages: how much more, or less, main text than elsewhere on its page is found in elements
that carry it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

INLINE, LINK, LINK_END, BREAK, OPEN, CLOSE, RULE = range(7)
"""Kinds of tags; from OPEN on they end a block."""

_BLOCK_NAMES = """
    address article aside blockquote body button caption center dd details dialog dir div dl dt fieldset figcaption
    figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup html legend li main menu nav noscript ol option p pre
    section summary table tbody td tfoot th thead tr ul
"""
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_FACT_NAMES = """
    article main section nav aside header footer form table td tr li ul ol dl dd p pre blockquote figure figcaption
    button details noscript div role=main role=navigation role=banner role=contentinfo role=complementary role=dialog
    role=search role=tabpanel role=list custom hidden itemprop itemscope
"""
FACTS = tuple(_FACT_NAMES.split())
"""What the bits of a tag mean."""
_BIT = {name: 1 << number for number, name in enumerate(FACTS)}

_NAMING = (' class="', ' id="', ' role="', ' itemprop="', ' aria-label="')
"""Attributes whose words name things."""
_INVISIBLE = re.compile(r'\sstyle="[^"]*(?:display:\s*none|visibility:\s*hidden)')
_WORDS = re.compile(r"[a-z]{2,}")
_HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TAG_CHARS = 2_000
"""Characters of a tag that are looked at."""
_NAME_CHARS = 400
"""Characters of an attribute that are looked at."""
_TOKEN_CHARS = 60
_REMEMBERED_CHARS = 400
"""A longer tag is read anew each time: it would hardly come again, and would fill the memory."""
_REMEMBERED = 50_000


class Tag(msgspec.Struct, frozen=True, eq=False, gc=False):
    """What a tag says."""

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


_WORTHLESS = (0.0, 0.0, 0.0)
_PLAIN = Tag(INLINE)
_A_LINK = Tag(LINK, "a")
_CLOSING = Tag(CLOSE)
_KINDS = {"a": LINK, "br": BREAK, "hr": RULE}


class TagReader(dict[str, Tag]):
    """Tag as written, without its angle brackets → what it says; forgets everything when full."""

    def __init__(self, scores: Mapping[str, float]) -> None:
        super().__init__()
        self._scores = scores
        self._tokens: dict[str, tuple[float, float, float]] = {}
        self._frame()

    def _frame(self) -> None:
        self.clear()
        self._tokens.clear()
        self["/a"] = Tag(LINK_END)
        self.update((f"/{name}", _CLOSING) for name in _BLOCKS)

    def __missing__(self, written: str) -> Tag:
        if written.startswith("a "):  # nearly every address is new
            return _A_LINK
        if len(self) >= _REMEMBERED or len(self._tokens) >= _REMEMBERED:
            self._frame()
        tag = self._understand(written[:_TAG_CHARS])
        if len(written) < _REMEMBERED_CHARS:
            self[written] = tag
        return tag

    def _understand(self, written: str) -> Tag:
        space = written.find(" ")
        name = written if space < 0 else written[:space]
        if name[:1] in "/!?":
            return _CLOSING if name[:1] == "/" and "-" in name else _PLAIN
        if name in _BLOCKS or "-" in name:  # elements of a site's own making are mostly boxes
            return self._read(OPEN, name, written)
        kind = _KINDS.get(name, INLINE)
        return Tag(kind, name) if kind != INLINE else _PLAIN

    def _read(self, kind: int, name: str, written: str) -> Tag:
        score = self._scores.get(f"<{name}>", 0.0)
        low, high = (score, 0.0) if score < 0 else (0.0, score)
        if '="' in written:
            known = self._tokens
            for token in naming_tokens(written):
                worth = known.get(token) or self._weigh(token)
                if worth is not _WORTHLESS:
                    score += worth[0]
                    low = worth[1] if worth[1] < low else low
                    high = worth[2] if worth[2] > high else high
        look = hash((name, value_of(written, _NAMING[0])))
        return Tag(kind, name, _facts(name, written), score, low, high, look)

    def _weigh(self, token: str) -> tuple[float, float, float]:
        scores = self._scores
        found = [scores[word] for word in words_of(token) if word in scores]
        worth = (sum(found), min(found), max(found)) if found else _WORTHLESS
        self._tokens[token] = worth
        return worth


def naming_tokens(written: str) -> list[str]:
    """Everything between spaces in the attributes that name things."""
    tokens: list[str] = []
    for attribute in _NAMING:
        if attribute in written:
            tokens += value_of(written, attribute).split()
    return tokens


def words_of(token: str) -> list[str]:
    """The token itself, lower case, and the words it is made of."""
    token = token[:_TOKEN_CHARS]
    if token.islower() and token.isalpha():
        return [token]
    lower = token.lower()
    words = _WORDS.findall(lower if lower == token else _HUMPS.sub("-", token).lower())
    return list(dict.fromkeys([lower, *words]))


def value_of(written: str, attribute: str) -> str:
    """The value of an attribute, given as ` name="`; empty where it has none."""
    start = written.find(attribute)
    if start < 0:
        return ""
    start += len(attribute)
    return written[start : written.find('"', start)][:_NAME_CHARS]


def _facts(name: str, written: str) -> int:
    bits = _BIT.get(name, 0)
    if "-" in name:
        bits |= _BIT["custom"]
    if " role=" in written:
        bits |= _BIT.get(f"role={value_of(written, _NAMING[2])}", 0)
    if (
        ' aria-hidden="true"' in written
        or " hidden=" in written
        or (" style=" in written and _INVISIBLE.search(written))
    ):
        bits |= _BIT["hidden"]
    if " item" in written:
        bits |= _BIT["itemprop"] if " itemprop=" in written else 0
        bits |= _BIT["itemscope"] if " itemscope=" in written else 0
    return bits

"""What an element says about the text inside it.

An element is read once per set of names and remembered, since pages of a site share them:
some facts as bits of one integer, and what its words are worth. A word of a class, an id,
a role or a label has a score learnt from annotated pages: how much more, or less, main
text than elsewhere on its page is found in elements that carry it.

The pass over a tree only notes names; each set of names has a number, and what is known
of it is looked up for all elements of a page at once, in two arrays.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from threading import Lock

import msgspec
import numpy as np
import numpy.typing as npt
import xxhash

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
Look = tuple[str, str | None]
"""Element and class: all that counts of an element that holds no text."""


class Tag(msgspec.Struct, frozen=True, eq=False, gc=False):
    """What an element says."""

    name: str
    bits: int = 0
    score: float = 0.0
    """Sum of the scores of its words."""
    low: float = 0.0
    """The lowest score of its words, 0 at most."""
    high: float = 0.0
    """The highest score of its words, 0 at least."""
    look: int = 0
    """Equal for elements of the same name and class."""


class _Kinds(dict[str, int]):
    """Element → kind; those of a site's own making, with a hyphen, are mostly boxes."""

    def __missing__(self, name: str) -> int:
        return BLOCK if "-" in name else INLINE


_INLINE_NAMES = "abbr b cite code em font i img input label picture q s small source span strong sub sup time u"
KINDS = _Kinds(
    {
        **dict.fromkeys(_INLINE_NAMES.split(), INLINE),
        **dict.fromkeys(_BLOCK_NAMES.split(), BLOCK),
        "a": LINK,
        "br": BREAK,
        "hr": RULE,
    }
)
NAME_NUMBERS = {name: number for number, name in enumerate(_BLOCK_NAMES.split(), 1)}
"""Block elements → their columns in counts; 0 is for those of a site's own making."""
_WORTHLESS = (0.0, 0.0, 0.0)
SCORE, LOW, HIGH = range(3)
"""Rows of `Tags.scores`."""


class Tags(msgspec.Struct):
    """What the block elements of a page say."""

    known: list[Tag]
    numbers: npt.NDArray[np.int64]
    """Of each element, in `known`."""
    scores: npt.NDArray[np.float64]
    """Rows: SCORE, LOW, HIGH."""
    names: npt.NDArray[np.int64]
    """By `NAME_NUMBERS`."""
    bits: npt.NDArray[np.int64]
    looks: npt.NDArray[np.int64]

    def __iter__(self) -> Iterator[Tag]:
        return (self.known[number] for number in self.numbers.tolist())

    def __len__(self) -> int:
        return len(self.numbers)


class TagReader(dict[Names | Look, int]):
    """The names of a block element → a number, and what is known by number; forgets everything when full."""

    def __init__(self, word_scores: Mapping[str, float]) -> None:
        super().__init__()
        self._word_scores = word_scores
        self._lock = Lock()
        self._forget()

    def _forget(self) -> None:
        self.clear()
        self._tokens: dict[str, tuple[float, float, float]] = {}
        self._tags: list[Tag] = []
        self._scores, self._facts = array("d"), array("q")

    def read(self, names: Iterable[Names | Look]) -> Tags:
        """What the elements of a page say."""
        with self._lock:  # numbers are given one after the other, and hold until everything is forgotten
            if max(len(self._tags), len(self._tokens)) >= _REMEMBERED:
                self._forget()
            numbers = np.array(list(map(self.__getitem__, names)))
            scores = np.frombuffer(self._scores).reshape(-1, 3)[numbers]
            facts = np.frombuffer(self._facts, np.int64).reshape(-1, 3)[numbers]
            return Tags(self._tags, numbers, scores.T, *np.ascontiguousarray(facts.T))

    def __missing__(self, names: Names | Look) -> int:
        number = len(self._tags)
        tag = self._read(names) if len(names) > 2 else Tag(names[0], look=_look(names))
        self._tags.append(tag)
        self._scores.extend((tag.score, tag.low, tag.high))
        self._facts.extend((NAME_NUMBERS.get(tag.name, 0), tag.bits, tag.look))
        if len("".join(filter(None, names[:6]))) < _NAME_CHARS:
            self[names] = number
        return number

    def _read(self, names: Names) -> Tag:
        name = names[0]
        score = self._word_scores.get(f"<{name}>", 0.0)
        low, high = (score, 0.0) if score < 0 else (0.0, score)
        known = self._tokens
        for token in naming_tokens(names):
            worth = known.get(token) or self._weigh(token)
            if worth is not _WORTHLESS:
                score += worth[0]
                low = worth[1] if worth[1] < low else low
                high = worth[2] if worth[2] > high else high
        return Tag(name, _facts(names), score, low, high, _look(names))

    def _weigh(self, token: str) -> tuple[float, float, float]:
        get = self._word_scores.get
        found = [score for word in words_of(token) if (score := get(word))]
        worth = (sum(found), min(found), max(found)) if found else _WORTHLESS
        self._tokens[token] = worth
        return worth


def _look(names: Names | Look) -> int:
    """The same in every process and on every machine: what is learned of a site's elements is stored. Digits do not
    count: `post-17` and `post-18` are two posts of one kind."""
    data = f"{names[0]} {names[1] or ''}".encode("utf-8", "replace")[:_NAME_CHARS].translate(None, b"0123456789")
    return xxhash.xxh3_64_intdigest(data) >> 1


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
    elif token.isalnum():
        return [token]
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

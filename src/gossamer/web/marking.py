"""The words of a query in the stored text of a page.

The searcher marks excerpts with all it knows about languages. Here a whole text
is shown, so a simple rule does: the words as typed, in any case, at the start of
a word; Chinese and its neighbours, which do not part words, anywhere.

Python's engine would try every word at every place, and while it does no other thread runs. So the query is cut as the
searcher cuts it, words are cut to `MAX_LETTERS`, and their common beginnings are written once: one step through a text
tells for all words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from gossamer.search.query.language import MAX_CHARS
from gossamer.search.query.operators import BY_NAME
from gossamer.search.results import Marked

MAX_WORDS = 24
MAX_LETTERS = 40
"""Letters of a word that are compared; what begins so is marked."""
MAX_MARKS = 20_000
"""Places of one page that are marked: a page of two million characters may have a million, which nobody looks at."""
_UNPARTED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_WORD = re.compile(r"\w+")
_UNSEEN = "|".join(name for name, operator in BY_NAME.items() if operator.words_in != "title")
_FIELD = re.compile(rf"\b({_UNSEEN}):\S*", re.IGNORECASE)


def marker(query: str) -> Callable[[str], Marked]:
    """What marks the query's words in the lines of one page: the query is read once, there may be many thousand."""
    words = query_words(query)
    if not words:
        return Marked
    found = re.compile(_pattern(words), re.IGNORECASE).finditer
    left = iter(range(MAX_MARKS))
    return lambda text: Marked(text, tuple(match.span() for match, _ in zip(found(text), left, strict=False)))


def query_words(query: str) -> list[str]:
    """What was typed, without operators, excluded words and single letters."""
    plain = _FIELD.sub(" ", query[:MAX_CHARS])
    plain = re.sub(r'(^|\s)-("[^"]*"?|\S+)', " ", plain)
    found = dict.fromkeys(word[:MAX_LETTERS] for word in _WORD.findall(plain) if word != "OR")
    return [w for w in found if len(w) > 1 or _UNPARTED.match(w)][:MAX_WORDS]


def _pattern(words: Iterable[str]) -> str:
    # Case folding of the text is left to `re`; a mark must never change the length of the text.
    lower = dict.fromkeys(low if len(low := word.lower()) == len(word) else word for word in words)
    parted = [word for word in lower if not _UNPARTED.search(word)]
    unparted = [word for word in lower if _UNPARTED.search(word)]
    starts = [rf"\b{_any_of(parted)}\w*"] if parted else []
    return "|".join([*starts, _any_of(unparted)] if unparted else starts)


def _any_of(words: Iterable[str]) -> str:
    """An expression for the longest of some words that stands at a place: each beginning is written once."""
    endings: dict[str, list[str]] = {}
    for word in words:
        endings.setdefault(word[:1], []).append(word[1:])
    is_whole = endings.pop("", None) is not None
    ways = "|".join(re.escape(letter) + _any_of(rest) for letter, rest in endings.items())
    if not is_whole and len(endings) <= 1:
        return ways
    return f"(?:{ways}){'?' * is_whole}" if ways else ""

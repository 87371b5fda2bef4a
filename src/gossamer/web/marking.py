"""The words of a query in the stored text of a page.

The searcher marks excerpts with all it knows about languages. Here a whole text
is shown, so a simple rule does: the words as typed, in any case, at the start of
a word; Chinese and its neighbours, which do not part words, anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gossamer.search.results import Marked

MAX_WORDS = 24
_UNPARTED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_WORD = re.compile(r"\w+")
_FIELD = re.compile(r"\b(site|inurl|lang|filetype|pagetype|category|after|before):\S*", re.IGNORECASE)


def marker(query: str) -> Callable[[str], Marked]:
    """What marks the query's words in any text: the query is read once, since a page may have many thousand lines."""
    words = query_words(query)
    if not words:
        return Marked
    starts = "|".join(_pattern(word) for word in sorted(words, key=len, reverse=True))
    found = re.compile(starts, re.IGNORECASE).finditer
    return lambda text: Marked(text, tuple(match.span() for match in found(text)))


def query_words(query: str) -> list[str]:
    """What was typed, without operators, excluded words and single letters."""
    plain = _FIELD.sub(" ", query)
    plain = re.sub(r'(^|\s)-("[^"]*"?|\S+)', " ", plain)
    found = dict.fromkeys(word for word in _WORD.findall(plain) if word != "OR")
    return [w for w in found if len(w) > 1 or _UNPARTED.match(w)][:MAX_WORDS]


def _pattern(word: str) -> str:
    # Case folding of the pattern is left to `re`; a mark must never change the length of the text.
    return re.escape(word) if _UNPARTED.search(word) else rf"\b{re.escape(word)}\w*"

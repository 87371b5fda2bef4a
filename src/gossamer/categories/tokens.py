"""The words a page is judged by, of any language, cheaply.

Letters only, lower case. A Cyrillic word is stemmed as Russian and any other as English: a stemmer of the wrong
language merges fewer forms, but the same ones in training and in use. Writing without spaces gives pairs of
neighbouring characters, which need no dictionary. Only the beginning of a long page is read: it is what the page
is about, and it bounds the cost.
"""

from __future__ import annotations

import re

import Stemmer

MAX_CHARS = 20_000
"""Characters of a text that are read."""
TITLE_COUNTS = 3
"""A word of the title counts as if it stood in the text so often."""
_MAX_LETTERS = 40

_SPACELESS = (
    "\u2e80-\u2fdf\u3005\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d"
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0003134f"
)
_RUN = re.compile(f"[{_SPACELESS}]+")
_WORD = re.compile(r"[^\W\d_]{2,}")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_russian, _english = Stemmer.Stemmer("russian", 0), Stemmer.Stemmer("english", 0)


def page_words(title: str, text: str) -> list[str]:
    """The words of a page as they are written, those of its title several times."""
    return words(title[:MAX_CHARS]) * TITLE_COUNTS + words(text[:MAX_CHARS])


def words(text: str) -> list[str]:
    """Lower-case words, and pairs of characters of spaceless writing."""
    text = text.lower()
    if text.isascii():
        return _WORD.findall(text)
    runs = _RUN.findall(text)
    if not runs:
        return _WORD.findall(text)
    pairs = [run[at : at + 2] for run in runs for at in range(len(run) - 1)]
    return pairs + _WORD.findall(_RUN.sub(" ", text))


def stem(word: str) -> str:
    """What a word is counted as."""
    word = word[:_MAX_LETTERS]
    if word.isascii():
        found: str = _english.stemWord(word)
    elif _CYRILLIC.match(word):
        found = _russian.stemWord(word.replace("ё", "е"))
    else:
        found = word if _RUN.match(word) else _english.stemWord(word)
    return found or word

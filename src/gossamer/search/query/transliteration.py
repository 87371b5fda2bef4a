"""Cyrillic words typed in Latin letters: privet is привет, and whoever types so has no other keyboard.

People spell by ear, so most letters can be read in several ways (`y` is й, ы or и; `h` is х, in Ukrainian г), and the
soft sign is left out. Each way has a cost; `readings` tries the cheapest combinations first. Whether one of them is a
word is for the vocabulary to say.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from itertools import islice

LONGEST = 24
"""Letters of a word that is read."""
MOST = 60
"""Readings of one word and language."""
_LONGEST_KEY = 4

_Ways = Mapping[str, tuple[str, ...]]

_COMMON: _Ways = {
    "a": ("а",), "b": ("б",), "v": ("в",), "w": ("в", "ш"), "d": ("д",), "z": ("з",), "k": ("к",), "l": ("л",),
    "m": ("м",), "n": ("н",), "o": ("о",), "p": ("п",), "r": ("р",), "s": ("с",), "t": ("т",), "u": ("у",),
    "f": ("ф",), "q": ("к",), "ph": ("ф",), "ck": ("к",), "c": ("ц", "к", "с"), "x": ("кс", "х"), "'": ("ь", ""),
    "zh": ("ж",), "kh": ("х",), "ts": ("ц", "тс"), "tz": ("ц",), "ch": ("ч",), "sh": ("ш", "щ"),
    "sch": ("щ", "сч"), "shch": ("щ",), "yu": ("ю",), "ju": ("ю",), "iu": ("ю",), "ya": ("я", "ья"), "ja": ("я",),
    "ia": ("ия", "я"),
}  # fmt: skip
_RUSSIAN: _Ways = {
    **_COMMON, "g": ("г",), "h": ("х",), "e": ("е", "э"), "i": ("и", "й"), "y": ("ы", "й", "и"), "j": ("й", "ж", "дж"),
    "yo": ("е", "ье"), "jo": ("е",), "io": ("е", "ио"), "ye": ("е", "ье", "ъе", "ые"), "je": ("е", "ье"),
    "yy": ("ый",), "iy": ("ий",), "ij": ("ий",), "yj": ("ый",), "ii": ("ии", "ий"),
}  # fmt: skip
_UKRAINIAN: _Ways = {
    **_COMMON, "g": ("г", "ґ"), "h": ("г", "х"), "e": ("е",), "i": ("і", "ї"), "y": ("и", "й"), "j": ("й", "ж"),
    "ye": ("є",), "je": ("є",), "ie": ("є", "іє"), "yi": ("ї",), "ji": ("ї",), "yo": ("йо", "ьо"), "yy": ("ий",),
}  # fmt: skip
_SOFT = frozenset("дзлнрстцчшщ")
"""Letters after which a soft sign may have been left out."""


def readings(word: str) -> list[str]:
    """What a word in Latin letters may be in Russian and Ukrainian, lower case, the likeliest first; `ё` is `е`, as in
    the index. Nothing where it is no such word."""
    letters = word.lower().replace("’", "'")
    if not 2 <= len(letters) <= LONGEST or not letters.isascii() or not letters.replace("'", "").isalpha():
        return []
    found = [reading for ways in (_RUSSIAN, _UKRAINIAN) for reading in islice(_read(letters, ways), MOST)]
    return list(dict.fromkeys(found))


def _read(word: str, ways: _Ways) -> Iterator[str]:
    """The readings in order of their cost."""
    heap: list[tuple[int, int, str]] = [(0, 0, "")]
    from_here = [tuple(_next(word, at, ways)) for at in range(len(word))]
    while heap:
        cost, at, read = heapq.heappop(heap)
        if -at == len(word):
            yield read
            continue
        for more, end, letters in from_here[-at]:
            heapq.heappush(heap, (cost + more, -end, read + letters))


def _next(word: str, at: int, ways: _Ways) -> Iterator[tuple[int, int, str]]:
    """What the next letters may be read as: its cost, where they end, and the reading."""
    for size in range(1, _LONGEST_KEY + 1):
        # Letters that are usually read together cost more when they are read one by one.
        apart = 2 * any(word[at : at + more] in ways for more in range(size + 1, _LONGEST_KEY + 1))
        for extra, letters in enumerate(ways.get(word[at : at + size], ()) if at + size <= len(word) else ()):
            yield extra + apart, at + size, letters
            if letters[-1:] in _SOFT and word[at + size : at + size + 1] not in tuple("aeiouy'"):
                yield extra + apart + 1, at + size, letters + "ь"

"""Terms of writing without spaces: all pairs of neighbouring characters, and words where something knows them.

Pairs alone would rank poorly, words alone would miss a word inside a longer one. Han is cut by a dictionary that is
always there; Japanese, Korean and Thai by the extras of `index/extras.py`, if the index was built with them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise

from gossamer.index import extras
from gossamer.index.spelling import BY_WRITING, HAN_RUN, KANA, PAIRED_RUN

Piece = tuple[str, str]
"""What stands in the text, and the word that it is a form of; that is empty where it tells nothing (a particle)."""


def terms(text: str, japanese: bool, using: Collection[str]) -> list[str]:
    """Pairs and words of all that a text has in such writing. `japanese`: whether Han is read as Japanese."""
    found: list[str] = []
    for run in PAIRED_RUN.findall(text):
        if len(run) == 1:
            found.append(run)
            continue
        found += map("".join, pairwise(run))
        found += words(run, japanese, using)
    return found


def words(run: str, japanese: bool, using: Collection[str]) -> list[str]:
    """The words that the index has of a run beside its pairs."""
    if not using and not HAN_RUN.search(run):
        return []
    return [word for shown, word in pieces(run, japanese, using) if _is_term(shown, word)]


def pieces(run: str, japanese: bool, using: Collection[str]) -> list[Piece]:
    """A run cut into words, in order; single characters where nothing knows words."""
    return [piece for part in BY_WRITING.finditer(run) for piece in _cut(part[0], part.lastgroup, japanese, using)]


def _cut(part: str, writing: str | None, japanese: bool, using: Collection[str]) -> Iterator[Piece] | list[Piece]:
    if writing == "thai":
        return extras.thai(part) if "thai" in using else zip(part, part, strict=True)
    if writing == "korean":
        return extras.korean(part) if "korean" in using else zip(part, part, strict=True)
    if "japanese" in using and (japanese or KANA.search(part)):
        return extras.japanese(part)
    import rjieba  # its dictionary takes a tenth of a second to load: only Chinese text pays for it

    return ((word, word) for word in rjieba.cut(part))


def _is_term(shown: str, word: str) -> bool:
    """Whether a word adds something to the pairs: single characters are words in Han only."""
    if len(word) == 2 and word == shown:
        return False
    return len(word) > 1 or HAN_RUN.fullmatch(word) is not None

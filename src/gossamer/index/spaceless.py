"""Terms of writing without spaces: pairs of neighbours, and words where something knows them.

Pairs alone would rank poorly, words alone would miss a word inside a longer one. Neighbours are characters in Han, kana
and Hangul, and syllables in Thai, Lao, Khmer and Burmese, whose letters say as little alone as ours. Han is cut into
words by a dictionary that is always there; Japanese and Korean by the extras of `index/extras.py`, if the index was
built with them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

from gossamer.index import extras
from gossamer.index.spelling import BY_WRITING, HAN_RUN, KANA, PAIRED_RUN, SYLLABLE

Piece = tuple[str, str]
"""What stands in the text, and the word that it is a form of; that is empty where it tells nothing (a particle)."""


def terms(text: str, japanese: bool, using: Collection[str]) -> list[str]:
    """Pairs and words of all that a text has in such writing. `japanese`: whether Han is read as Japanese."""
    found: list[str] = []
    for run in PAIRED_RUN.findall(text):
        for part, thai in parts(run):
            if thai:
                syllables = SYLLABLE.findall(part)
                found += pairs(syllables)
                if len(syllables) > 1:
                    found += syllables  # 40 % more terms; a word of one syllable is found by nothing else
            else:
                found += pairs(part)
                if len(part) > 1:
                    found += _words(part, japanese, using)
    return found


def parts(run: str) -> list[tuple[str, bool]]:
    """A run cut where writing in syllables begins or ends, and whether a part is such."""
    found: list[tuple[str, bool]] = []
    for match in BY_WRITING.finditer(run):
        thai = match.lastgroup == "thai"
        if found and found[-1][1] is thai:
            found[-1] = found[-1][0] + match[0], thai
        else:
            found.append((match[0], thai))
    return found


def pairs(neighbours: Sequence[str]) -> list[str]:
    """Each two neighbours; one that is alone."""
    return ["".join(two) for two in pairwise(neighbours)] or list(neighbours)


def pieces(part: str, japanese: bool, using: Collection[str]) -> list[Piece]:
    """A part cut into words, in order; single characters where nothing knows words."""
    return [piece for one in BY_WRITING.finditer(part) for piece in _cut(one[0], one.lastgroup, japanese, using)]


def _words(part: str, japanese: bool, using: Collection[str]) -> list[str]:
    """The words that the index has of a part beside its pairs."""
    if not using and not HAN_RUN.search(part):
        return []
    return [word for shown, word in pieces(part, japanese, using) if _is_term(shown, word)]


def _cut(part: str, writing: str | None, japanese: bool, using: Collection[str]) -> Iterable[Piece]:
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

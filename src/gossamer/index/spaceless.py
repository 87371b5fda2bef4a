"""Terms of writing without spaces: pairs of neighbours, and words where something knows them.

Neighbours are characters in Han, kana and Hangul, and syllables in Thai, Lao, Khmer and Burmese, whose letters say as
little alone as ours. Words make exact what pairs make certain: a pair is found inside any word, and across two. Han is
cut into words by a dictionary that is always there; Japanese and Korean by the extras of `index/extras.py`, if the
index was built with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from itertools import pairwise

from gossamer.index import extras
from gossamer.index.spelling import BY_WRITING, HAN_RUN, KANA, PAIRED_RUN, syllables

Piece = tuple[str, str]
"""What stands in the text, and the word that it is a form of; that is empty where it tells nothing (a particle)."""
_THAI = re.compile("[\u0e00-\u17ff]")
Cutter = Callable[[str], list[Piece]]


def terms(text: str, japanese: bool, using: Collection[str]) -> list[str]:
    """Pairs and words of all that a text has in such writing. `japanese`: whether Han is read as Japanese."""
    found: list[str] = []
    syllabic = _THAI.search(text) is not None
    for run in PAIRED_RUN.findall(text):
        for part, thai in parts(run) if syllabic else ((run, False),):
            if thai:
                one_by_one = syllables(part)
                found += pairs(one_by_one)
                if len(one_by_one) > 1:
                    found += one_by_one  # a word of one syllable is found by nothing else
            elif len(part) > 1:
                found += map("".join, pairwise(part))
                if using or HAN_RUN.search(part):
                    found += _words(part, japanese, using)
            else:
                found.append(part)
    return found


def parts(run: str) -> list[tuple[str, bool]]:
    """A run cut where writing in syllables begins or ends, and whether a part is such."""
    if not _THAI.search(run):
        return [(run, False)]
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


def cuts(part: str, japanese: bool, using: Collection[str]) -> Iterator[tuple[str, Cutter | None]]:
    """A part by writing, and what cuts each piece of it into words; None where nothing knows them."""
    for match in BY_WRITING.finditer(part):
        if match.lastgroup == "korean":
            yield match[0], extras.korean if "korean" in using else None
        elif japanese or KANA.search(match[0]):
            yield match[0], extras.japanese if "japanese" in using else None
        else:
            yield match[0], chinese


def chinese(part: str) -> list[Piece]:
    """Words of Chinese; all of them tell something."""
    return [(word, word) for word in _dictionary()(part)]


@cache
def _dictionary() -> Callable[[str], list[str]]:
    import rjieba  # its dictionary takes a tenth of a second to load: only Chinese text pays for it

    cut: Callable[[str], list[str]] = rjieba.cut
    return cut


def is_term(shown: str, word: str) -> bool:
    """Whether a word adds something to the pairs: single characters are words in Han only."""
    if len(word) == 2 and word == shown:
        return False
    return len(word) > 1 or HAN_RUN.fullmatch(word) is not None


def _words(part: str, japanese: bool, using: Collection[str]) -> list[str]:
    """The words that the index has of a part beside its pairs."""
    if not japanese and HAN_RUN.fullmatch(part):
        return [word for word in _dictionary()(part) if len(word) != 2]
    found: list[str] = []
    for piece, cutter in cuts(part, japanese, using):
        if cutter is not None:
            found += [word for shown, word in cutter(piece) if is_term(shown, word)]
    return found

"""In how many texts of a collection each word occurs: what three of the methods judge words by.

Words stand for themselves by their hashes, so a collection of any language is two arrays of numbers.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np
import numpy.typing as npt

from gossamer.dedup.near.runs import Numbers, distinct
from gossamer.dedup.words import word_hashes

Floats = npt.NDArray[np.float64]
_COMMON, _RARE = 0.3, 0.8
"""Words are of middle rarity between these two shares of the greatest IDF there can be: at 1,000 texts those in 4 to
126 of them. Frequent words are in every text, the rarest are misspellings, numbers and dates."""
_PENDING = 4_000_000
"""Words gathered before they are counted."""


class Statistics(msgspec.Struct, frozen=True, eq=False):
    """Document frequencies of a collection."""

    texts: int
    words: Numbers
    """Hashes of all words, ascending."""
    counts: npt.NDArray[np.int64]
    """For each word, the number of texts it occurs in."""

    def idf(self, words: Numbers) -> Floats:
        """The inverse document frequency of words; those that never occurred count as the rarest."""
        found: Floats = np.log((self.texts + 1) / np.maximum(_looked_up(self, words), 1))
        return found

    def lexicon(self) -> Numbers:
        """The words of middle rarity, ascending."""
        rarity = self.idf(self.words) / max(np.log(self.texts + 1), 1e-9)
        chosen: Numbers = self.words[(rarity >= _COMMON) & (rarity <= _RARE)]
        return chosen


def gather(texts: Iterable[str]) -> Statistics:
    """Count a collection, text by text."""
    number, pending, size = 0, [_NO_WORDS], 0
    counted: tuple[Numbers, npt.NDArray[np.int64]] = _NO_WORDS, np.zeros(0, np.int64)
    for text in texts:
        words = distinct(np.frombuffer(word_hashes(text), "<u8"))
        number, size = number + 1, size + len(words)
        pending.append(words)
        if size > _PENDING:
            counted, pending, size = _add(counted, pending), [], 0
    return Statistics(number, *_add(counted, pending))


def contained(words: Numbers, sorted_set: Numbers) -> npt.NDArray[np.bool_]:
    """For each word whether it is in an ascending set."""
    if not len(sorted_set):
        return np.zeros(len(words), bool)
    places = np.minimum(np.searchsorted(sorted_set, words), len(sorted_set) - 1)
    found: npt.NDArray[np.bool_] = sorted_set[places] == words
    return found


_NO_WORDS: Numbers = np.zeros(0, np.uint64)


def _looked_up(statistics: Statistics, words: Numbers) -> npt.NDArray[np.int64]:
    known = contained(words, statistics.words)
    counts = np.zeros(len(words), np.int64)
    counts[known] = statistics.counts[np.searchsorted(statistics.words, words[known])]
    return counts


def _add(
    counted: tuple[Numbers, npt.NDArray[np.int64]], pending: list[Numbers]
) -> tuple[Numbers, npt.NDArray[np.int64]]:
    """What is counted, and one more for each word of each pending text."""
    new, times = np.unique(np.concatenate(pending or [_NO_WORDS]), return_counts=True)
    words, places = np.unique(np.concatenate((counted[0], new)), return_inverse=True)
    counts = np.bincount(places, np.concatenate((counted[1], times)), len(words))
    return words, counts.astype(np.int64)

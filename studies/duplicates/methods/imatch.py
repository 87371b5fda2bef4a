"""I-Match: one hash of the words that matter (Chowdhury, Frieder, Grossman, McCabe 2002).

The words of a text that are neither frequent nor very rare in the collection, in no order, hashed together. Texts are
the same when the hashes are. Fast and small, but one word more or less makes another text: with several hundred words
of the lexicon on a page, only changes that miss all of them go unnoticed.
"""

from __future__ import annotations

import numpy as np
from xxhash import xxh3_128_digest

from gossamer.dedup.near.contract import MIN_WORDS
from gossamer.dedup.near.runs import Numbers, distinct
from gossamer.dedup.words import word_hashes
from studies.duplicates.methods.statistics import Statistics, contained

MIN_LEXICON_WORDS = 10
"""Words of the lexicon a text must have; with fewer, texts about other things are the same too."""


class IMatch:
    """One signature per text."""

    name = "imatch"
    threshold = 1.0
    unlike = 0.0

    def __init__(self, statistics: Statistics) -> None:
        self._lexicon = statistics.lexicon()

    def fingerprint(self, text: str, title: str = "") -> bytes:
        """16 bytes."""
        words = lexicon_words(text, self._lexicon)
        return xxh3_128_digest(words.astype("<u8").tobytes()) if len(words) else b""

    def long_part(self, fingerprint: bytes) -> bytes:
        """All of it."""
        return fingerprint

    def keys(self, fingerprint: bytes) -> list[int]:
        """One key."""
        return [int.from_bytes(fingerprint[:8], "little", signed=True)] if fingerprint else []

    def similarity(self, left: bytes, right: bytes) -> float:
        """1 or 0."""
        return float(bool(left) and left == right)


def lexicon_words(text: str, lexicon: Numbers) -> Numbers:
    """The different words of a text that are in a lexicon, ascending; none where there are too few."""
    hashes = np.frombuffer(word_hashes(text), "<u8")
    words = distinct(hashes)
    found: Numbers = words[contained(words, lexicon)]
    return found if len(hashes) >= MIN_WORDS and len(found) >= MIN_LEXICON_WORDS else found[:0]

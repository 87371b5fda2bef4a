"""I-Match with many lexicons (Kołcz, Chowdhury, Alspector 2004): a changed word matters only to those that have it.

Besides the whole lexicon there are 127 of which each lacks a third of its words at random. Texts are the same when
five signatures agree. A signature survives *k* changed words with probability 3^−k, so that 14 of 127 remain at two
changed words, five at three, and hardly one at five: better than one lexicon, still far from a tenth of a page.

Which lexicons have a word is read off its hash: 128 draws, one byte each, of a hash of the hash. A signature is the sum
of the hashes of its words, since sums of all lexicons at once are one product of matrices.
"""

from __future__ import annotations

from struct import unpack

import numpy as np
import numpy.typing as npt

from gossamer.dedup.near.runs import Numbers
from studies.duplicates.methods.imatch import lexicon_words
from studies.duplicates.methods.statistics import Statistics

LEXICONS = 128
DROPPED = 85 / 256
"""Share of the words each lexicon but the first lacks."""
ENOUGH = 5
"""Signatures that must agree."""
_LANES = np.arange(1, LEXICONS // 8 + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)


class IMatchLexicons:
    """128 signatures per text."""

    name = "imatch-lexicons"
    threshold = ENOUGH / LEXICONS
    unlike = 0.0

    def __init__(self, statistics: Statistics) -> None:
        self._lexicon = statistics.lexicon()

    def fingerprint(self, text: str, title: str = "") -> bytes:
        """8 bytes per lexicon."""
        words = lexicon_words(text, self._lexicon)
        return signatures(words).astype("<u8").tobytes() if len(words) else b""

    def long_part(self, fingerprint: bytes) -> bytes:
        """All of it."""
        return fingerprint

    def keys(self, fingerprint: bytes) -> list[int]:
        """The different signatures."""
        return list(dict.fromkeys(unpack(f"<{len(fingerprint) // 8}q", fingerprint)))

    def similarity(self, left: bytes, right: bytes) -> float:
        """The share of signatures that agree."""
        if not left or not right:
            return 0.0
        return float(np.mean(np.frombuffer(left, "<u8") == np.frombuffer(right, "<u8")))


def signatures(words: Numbers) -> Numbers:
    """For each lexicon, the sum of the words it has."""
    mixed = words ^ (words >> _HALF)
    mixed *= _MIX
    found: Numbers = mixed @ membership(words).astype(np.uint64)
    return found


def membership(words: Numbers) -> npt.NDArray[np.bool_]:
    """For each word (row) and lexicon (column) whether it has the word; the first has all."""
    lanes = words[:, None] ^ _LANES
    lanes *= _MIX
    lanes ^= lanes >> _HALF
    lanes *= _MIX
    draws = lanes.astype("<u8").view(np.uint8)
    has: npt.NDArray[np.bool_] = draws >= round(DROPPED * 256)
    has[:, 0] = True
    return has

"""Top-K: a text is known by its most telling words.

The K words with the greatest TF·IDF, in no order, hashed together. Texts are the same when the hashes are. More
forgiving than I-Match, since most words of a page are not among its K; but a word that is written once more or less
often moves the border between the K-th and the next.
"""

from __future__ import annotations

import numpy as np
from xxhash import xxh3_128_digest

from gossamer.dedup.near.contract import MIN_WORDS
from gossamer.dedup.words import word_hashes
from studies.duplicates.methods.statistics import Statistics

K = 20


class TopK:
    """One signature per text."""

    name = "topk"
    threshold = 1.0
    unlike = 0.0

    def __init__(self, statistics: Statistics) -> None:
        self._statistics = statistics

    def fingerprint(self, text: str, title: str = "") -> bytes:
        """16 bytes."""
        hashes = np.frombuffer(word_hashes(text), "<u8")
        if len(hashes) < MIN_WORDS:
            return b""
        words, times = np.unique(hashes, return_counts=True)
        weights = times * self._statistics.idf(words)
        chosen = np.lexsort((words, -weights))[:K]  # words of equal weight by their hashes: any order, always the same
        return xxh3_128_digest(np.sort(words[chosen]).astype("<u8").tobytes())

    def long_part(self, fingerprint: bytes) -> bytes:
        """All of it."""
        return fingerprint

    def keys(self, fingerprint: bytes) -> list[int]:
        """One key."""
        return [int.from_bytes(fingerprint[:8], "little", signed=True)] if fingerprint else []

    def similarity(self, left: bytes, right: bytes) -> float:
        """1 or 0."""
        return float(bool(left) and left == right)

"""All four-word runs of a text, and their true Jaccard overlap: what the other methods estimate.

The fingerprint is the set itself, 8 bytes a run: for measuring, and for small collections.

The keys are those of min-hash. Keys that miss nothing exist (the smallest tenth of the runs: sets that overlap by .9
share one of them), but they are many, and pages of one site share some for certain: on the documentation of Boost
every page was a candidate for every other.
"""

from __future__ import annotations

from struct import unpack

import numpy as np

from gossamer.dedup.near.contract import OVERLAP
from gossamer.dedup.near.minhash import BANDS, band_keys, smallest
from gossamer.dedup.near.runs import Numbers, distinct, runs


class Shingles:
    """The set of four-word runs."""

    name = "shingles"
    threshold = OVERLAP
    unlike = 0.0

    def fingerprint(self, text: str, title: str = "") -> bytes:
        """8 bytes for each different run, ascending."""
        return runs(text).astype("<u8").tobytes()

    def long_part(self, fingerprint: bytes) -> bytes:
        """All of it."""
        return fingerprint

    def keys(self, fingerprint: bytes) -> list[int]:
        """Six keys."""
        if not fingerprint:
            return []
        return list(unpack(f"<{BANDS}q", band_keys(smallest(np.frombuffer(fingerprint, "<u8")))))

    def similarity(self, left: bytes, right: bytes) -> float:
        """The Jaccard overlap."""
        return jaccard(np.frombuffer(left, "<u8"), np.frombuffer(right, "<u8"))


def jaccard(left: Numbers, right: Numbers) -> float:
    """The share of common numbers in all numbers of two ascending sets."""
    if not len(left) or not len(right):
        return 0.0
    together = len(distinct(np.concatenate((left, right))))
    return (len(left) + len(right) - together) / together

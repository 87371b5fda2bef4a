"""Super-shingles: runs of the smallest values of permutations (Broder 2000).

84 permutations in six groups of 14; each group hashed is a super-shingle. Texts are the same when two of six agree.
A group agrees with probability *J*^14, so nearly always at *J* = .99, in half of the cases at .95 and in a quarter at
.9: very few false candidates, at the price of missing most pairs just above .9.
"""

from __future__ import annotations

from struct import unpack
from typing import Final

import numpy as np

from gossamer.dedup.near.minhash import multipliers, smallest
from gossamer.dedup.near.runs import Numbers, runs

GROUPS: Final = 6
ROWS: Final = 14
ENOUGH: Final = 2
"""Super-shingles that must agree."""
_MULTIPLIERS = multipliers(GROUPS * ROWS)
_MIX = _MULTIPLIERS[:ROWS] * np.uint64(0x9E3779B97F4A7C15)


class SuperShingles:
    """Six super-shingles."""

    name = "supershingles"
    threshold: float = (ENOUGH / GROUPS) ** (1 / ROWS)
    unlike = 0.0

    def fingerprint(self, text: str, title: str = "") -> bytes:
        """8 bytes per super-shingle."""
        found = runs(text)
        if not len(found):
            return b""
        least = smallest(found, _MULTIPLIERS).reshape(GROUPS, ROWS)
        groups: Numbers = (least ^ (least >> np.uint64(29))) @ _MIX
        return groups.astype("<u8").tobytes()

    def long_part(self, fingerprint: bytes) -> bytes:
        """All of it."""
        return fingerprint

    def keys(self, fingerprint: bytes) -> list[int]:
        """The super-shingles."""
        return list(unpack(f"<{len(fingerprint) // 8}q", fingerprint))

    def similarity(self, left: bytes, right: bytes) -> float:
        """The Jaccard overlap at which so many super-shingles agree on the average."""
        agreeing = sum(left[place : place + 8] == right[place : place + 8] for place in range(0, len(left), 8))
        return float((agreeing / GROUPS) ** (1 / ROWS)) if right else 0.0

"""Five ways to estimate an overlap from 256 bytes: why the fingerprints of `minhash` carry an odd sketch.

See docs/decisions/0009-near-duplicates.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from random import Random

import numpy as np

from gossamer.dedup.near.minhash import multipliers, odd_sketch, smallest
from gossamer.dedup.near.runs import Numbers, runs
from studies.duplicates.altered_pages import altered
from studies.duplicates.methods.shingles import jaccard

ESTIMATES = (
    "64 smallest values of 32 bits",
    "256 smallest values of 8 bits",
    "2,048 smallest values of 1 bit",
    "bottom 64 of 32 bits",
    "odd sketch of 2,048 bits",
)
_FROM, _TO = 0.85, 0.95
"""Overlaps on which the estimates are tried: around the one that decides."""
_CHANGED = (0.006, 0.02)
"""Shares of replaced words that lead there."""


def standard_errors(pages: Sequence[list[str]], seed: int) -> dict[str, float]:
    """Of each estimate, on pages against copies with a few words replaced; empty where no copy came out as needed."""
    dice = Random(f"{seed} estimates")
    errors: dict[str, list[float]] = defaultdict(list)
    for place, words in enumerate(pages):
        left = runs(" ".join(words))
        right = runs(" ".join(altered(words, pages[place - 1], "replaced", dice.uniform(*_CHANGED), dice)))
        truth = jaccard(left, right)
        if _FROM <= truth <= _TO:
            for name, estimate in zip(ESTIMATES, estimates(left, right), strict=True):
                errors[name].append(estimate - truth)
    return {name: float(np.sqrt(np.mean(np.square(values)))) for name, values in errors.items()}


def estimates(left: Numbers, right: Numbers) -> list[float]:
    """The overlap of two sets of runs by each of `ESTIMATES`."""
    a, b = (smallest(one, multipliers(2048)) >> np.uint64(16) for one in (left, right))
    few = np.mean(a[:64] == b[:64])
    byte = (np.mean(a[:256] & 255 == b[:256] & 255) - 1 / 256) / (1 - 1 / 256)
    bit = 2 * np.mean(a & 1 == b & 1) - 1
    least = np.union1d(left, right)[:64]
    bottom = np.mean(np.isin(least, left) & np.isin(least, right))
    ones = (int.from_bytes(odd_sketch(left)) ^ int.from_bytes(odd_sketch(right))).bit_count()
    different = -1024 * np.log(1 - ones / 1024)
    both = len(left) + len(right)
    return [float(value) for value in (few, byte, bit, bottom, (both - different) / (both + different))]

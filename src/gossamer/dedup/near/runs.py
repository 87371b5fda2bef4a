"""Runs of four words ("shingles") as sets of 64-bit numbers: the common ground of four of the methods."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.compiled import twin
from gossamer.dedup.near.contract import MIN_WORDS
from gossamer.dedup.passing import undated
from gossamer.dedup.words import word_hashes

Numbers = npt.NDArray[np.uint64]
LENGTH = 4
"""Words in a run."""
_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93], np.uint64)
"""One odd number per place in the run, so that the same words in another order are another run."""
_MIX = np.uint64(0xFF51AFD7ED558CCD)
_HALF = np.uint64(32)
_COMPILED = twin("words")


def runs(text: str) -> Numbers:
    """The different runs of four words of a text, ascending; empty where it is too short to compare. Few dates on
    lines of their own do not count: of a post of 50 words they are a tenth."""
    found = np.frombuffer(word_hashes(undated(text)), "<u8")
    return distinct(hash_runs(found)) if len(found) >= MIN_WORDS else found[:0]


def hash_runs(words: Numbers, length: int = LENGTH) -> Numbers:
    """A 64-bit hash of each run of so many in a row of word hashes, four at most."""
    last = max(len(words) - length + 1, 0)
    if _COMPILED is not None and length == LENGTH:
        _COMPILED.hash_runs(words, _FACTORS, int(_MIX), hashes := np.empty(last, np.uint64))
        return hashes
    mixed: Numbers = words[:last] * _FACTORS[0]
    for place in range(1, length):
        mixed += words[place : place + last] * _FACTORS[place]
    mixed ^= mixed >> _HALF  # a sum of products knows too little in its low bits
    mixed *= _MIX
    mixed ^= mixed >> _HALF
    return mixed


def distinct(numbers: Numbers) -> Numbers:
    """The numbers without repetition, ascending."""
    if len(numbers) < 2:
        return numbers
    ordered: Numbers = np.sort(numbers)
    first = np.empty(len(ordered), bool)
    first[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]

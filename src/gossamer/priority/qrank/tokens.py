"""The terms of URLs: runs of letters and digits, each with a hash by which it is looked up.

The hash of a run is a difference of two running sums, so that no term is ever cut out: with
S(i) = Σ c_k·r^k over the characters before i, the hash of [i, j) is (S(j) - S(i))·r^-i modulo 2^64,
which does not depend on where the run stands. Capitals count as small letters.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from gossamer.priority.qrank.batch import Bytes, Places

Hashes = NDArray[np.uint64]

_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 2**64)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_SHIFT = np.uint64(32)
FOREIGN = 0xC0
"""Bytes from here on stand for a character beyond ASCII, which counts as a letter."""

_LETTER = np.zeros(256, np.uint64)
"""What a character adds to a hash; 0 for what is no part of a term."""
for _char in b"abcdefghijklmnopqrstuvwxyz0123456789":
    _LETTER[_char] = _LETTER[ord(chr(_char).upper())] = _char
_LETTER[FOREIGN:] = np.arange(FOREIGN, 256)
IN_TERM = _LETTER > 0


class Tokens:
    """Where the terms of a text begin and end, and their hashes."""

    def __init__(self, chars: Bytes, borders: Places) -> None:
        """No term goes over a border."""
        inside = IN_TERM[chars]
        borders = borders[(borders > 0) & (borders < len(chars))]
        joined = inside[1:] & inside[:-1]
        joined[borders - 1] = False
        begins, ends = inside.copy(), inside.copy()
        begins[1:] &= ~joined
        ends[:-1] &= ~joined
        self.starts: Places = np.flatnonzero(begins)
        self.ends: Places = np.flatnonzero(ends) + 1
        self._before = np.zeros(len(chars) + 1, np.int32)
        np.cumsum(begins, out=self._before[1:])
        self._sums = _running_sums(chars)
        self._unshift = _powers(_INVERSE, _rounded(len(chars)))[self.starts]

    def hashes(self) -> Hashes:
        """The hash of each term."""
        hashes: Hashes = (self._sums[self.ends] - self._sums[self.starts]) * self._unshift
        return mixed(hashes)

    def beginnings(self, which: Places, letters: int) -> Hashes:
        """The hash of the first letters of some terms, which have as many."""
        starts = self.starts[which]
        hashes: Hashes = (self._sums[starts + letters] - self._sums[starts]) * self._unshift[which]
        return mixed(hashes)

    def before(self, places: Places) -> Places:
        """How many terms begin before each place."""
        return self._before[places].astype(np.int64)


def hash_of(word: str) -> int:
    """The hash of one word of ASCII letters and digits, as `Tokens` would give it."""
    total = sum(int(_LETTER[ord(char)]) * pow(_BASE, place, 2**64) for place, char in enumerate(word))
    return int(mixed(np.array([total % 2**64], np.uint64))[0])


def mixed(hashes: Hashes) -> Hashes:
    """Hashes whose upper bits depend on all bits."""
    hashes = (hashes ^ (hashes >> _SHIFT)) * _MIX
    return hashes ^ (hashes >> _SHIFT)


def _running_sums(chars: Bytes) -> Hashes:
    sums = np.zeros(len(chars) + 1, np.uint64)
    np.cumsum(_LETTER[chars] * _powers(_BASE, _rounded(len(chars)))[: len(chars)], out=sums[1:])
    return sums


def _rounded(size: int) -> int:
    """A power of two that is large enough: few different tables are asked for."""
    return 1 << max(size, 1 << 16).bit_length()


@cache
def _powers(base: int, size: int) -> Hashes:
    powers = np.empty(size, np.uint64)
    powers[0] = 1
    powers[1:] = np.uint64(base)
    return np.cumprod(powers, dtype=np.uint64)

"""Min-hash with banding, and an odd sketch for the last word. The method used while crawling.

A permutation of all 64-bit numbers has its smallest value on a text's set of four-word runs; two texts have the same
smallest value with a probability that equals their Jaccard overlap *J*. A hundred permutations estimate *J*
(±.03 at .9); eight of them hashed together make a key, which two texts share with probability *J*^8. Of six keys,
near duplicates (*J* ≥ .9) share at least one with probability 1 − (1 − .9^8)^6 = .966 or more, unrelated texts none.

±.03 is too much to tell .88 from .92. So the fingerprint also holds an odd sketch (Mitzenmacher, Pagh, Pham 2014):
every run flips one of 2,048 bits. In the XOR of two sketches the common runs cancel, and its number of ones tells how
many runs are *not* common: for ordinary pages to within one or two runs, at .9 to ±.003. Where texts are long and
differ much it is full, and says only that; there the permutations speak.

The fingerprint: number of runs (4 bytes), six keys (48), one byte of each of 100 smallest values (100), the odd
sketch (256): 408 bytes. Behind it stands what is kept of a short text (`dedup.near.posts`), which is all of the
fingerprint where there are too few words for runs of four.
"""

from __future__ import annotations

from math import log
from struct import unpack_from

import numpy as np
from xxhash import xxh3_64_intdigest

from gossamer.compiled import twin
from gossamer.dedup.near.contract import OVERLAP, UNLIKE
from gossamer.dedup.near.posts import Post, are_one, are_two, overlap_of, post_keys, post_of, post_print
from gossamer.dedup.near.runs import Numbers, runs

PERMUTATIONS = 100
BANDS = 6
ROWS = 8
"""Permutations per key."""
SKETCH_BITS = 2048
_FULL = SKETCH_BITS * 9 // 20
"""Ones in the XOR of two sketches from which on it is full. Half of all bits are the most there can be."""
_CHUNK = 2048
"""Runs permuted at a time, so that the products stay in the processor's cache."""


def multipliers(number: int) -> Numbers:
    """Odd numbers: multiplying by one permutes the 64-bit numbers. Never change them: fingerprints are kept."""
    return np.array([xxh3_64_intdigest(b"permutation %d" % n) | 1 for n in range(number)], np.uint64)


_MULTIPLIERS = multipliers(PERMUTATIONS)
_MIX = _MULTIPLIERS[:ROWS] * np.uint64(0x9E3779B97F4A7C15)
_COMPILED = twin("words")
_COUNT, _BYTES = slice(0, 4), slice(4 + 8 * BANDS, 4 + 8 * BANDS + PERMUTATIONS)
_SKETCH = slice(_BYTES.stop, _BYTES.stop + SKETCH_BITS // 8)
_LENGTH = _SKETCH.stop
"""Bytes of a fingerprint without a post; longer than a post of too few words for runs of four."""


class MinHash:
    """Six keys of eight permutations each; judged by an odd sketch."""

    name = "minhash"
    threshold = OVERLAP
    unlike = UNLIKE

    def fingerprint(self, text: str, title: str = "") -> bytes:
        """Number of runs, keys, a byte of each smallest value, odd sketch; then the post, if it is one with a title."""
        found, post = runs(text), post_print(title, text) if title else b""
        if not len(found):
            return post
        least = smallest(found)
        parts = (len(found).to_bytes(4, "little"), band_keys(least), _one_byte_each(least), odd_sketch(found), post)
        return b"".join(parts)

    def long_part(self, fingerprint: bytes) -> bytes:
        """Without the post."""
        return fingerprint[:_LENGTH] if len(fingerprint) >= _LENGTH else b""

    def keys(self, fingerprint: bytes) -> list[int]:
        """Six keys of the runs, and those of the post."""
        long = self.long_part(fingerprint)
        return [*(unpack_from(f"<{BANDS}q", long, 4) if long else ()), *post_keys(fingerprint[len(long) :])]

    def similarity(self, left: bytes, right: bytes) -> float:
        """The Jaccard overlap of the runs of four words, by the sketch, or by the permutations where that is full. Of
        posts that are the same or are two whatever they share, a number on that side of the threshold."""
        long = self.long_part(left), self.long_part(right)
        overlap = _overlap(*long) if all(long) else 0.0
        posts = left[len(long[0]) :], right[len(long[1]) :]
        return _among_posts(overlap, *map(post_of, posts)) if all(posts) else overlap


def _among_posts(overlap: float, left: Post, right: Post) -> float:
    if are_two(left, right):
        return min(overlap, OVERLAP - 0.01)
    if are_one(left, right):
        return max(overlap, OVERLAP + (1 - OVERLAP) * overlap_of(left, right))
    return overlap


def _overlap(left: bytes, right: bytes) -> float:
    ones = (int.from_bytes(left[_SKETCH]) ^ int.from_bytes(right[_SKETCH])).bit_count()
    both = int.from_bytes(left[_COUNT], "little") + int.from_bytes(right[_COUNT], "little")
    different = _elements(min(ones, _FULL))
    overlap = max(0.0, (both - different) / (both + different))
    # a full sketch says "at least so many differ"
    return overlap if ones < _FULL else min(overlap, _share_of_minima(left[_BYTES], right[_BYTES]))


def smallest(numbers: Numbers, permutations: Numbers = _MULTIPLIERS) -> Numbers:
    """The smallest value of each permutation on a set of numbers."""
    if _COMPILED is not None:
        _COMPILED.smallest(numbers, permutations, found := np.empty(len(permutations), np.uint64))
        return found
    parts = (numbers[start : start + _CHUNK] for start in range(0, len(numbers), _CHUNK))
    least: list[Numbers] = [np.multiply.outer(permutations, part).min(axis=1) for part in parts]
    return least[0] if len(least) == 1 else np.array(least).min(axis=0)


def odd_sketch(numbers: Numbers) -> bytes:
    """One bit per place: whether an odd number of the (different) numbers falls on it."""
    if _COMPILED is not None:
        sketch: bytes = _COMPILED.odd_sketch(numbers)
        return sketch
    places = (numbers & np.uint64(SKETCH_BITS - 1)).astype(np.int64)
    return np.packbits(np.bincount(places, minlength=SKETCH_BITS).astype(np.uint8) & 1).tobytes()


def _elements(ones: int) -> int:
    """How many flips of random bits most likely left so many ones: an odd number if they are odd."""
    likely = -SKETCH_BITS / 2 * log(1 - 2 * ones / SKETCH_BITS)
    return ones + 2 * round((likely - ones) / 2)


def band_keys(least: Numbers) -> bytes:
    """A key of 8 bytes from each eight smallest values, one band after the other."""
    rows = least[: BANDS * ROWS].reshape(BANDS, ROWS)
    keys: Numbers = (rows ^ (rows >> np.uint64(29))) @ _MIX
    return (keys ^ (keys >> np.uint64(32))).astype("<u8").tobytes()


def _one_byte_each(least: Numbers) -> bytes:
    # not the lowest: those of a product depend on few bits of the run
    return (least >> np.uint64(16)).astype(np.uint8).tobytes()


def _share_of_minima(left: bytes, right: bytes) -> float:
    """The share of equal smallest values, less the 1 in 256 whose bytes are equal by chance."""
    equal = sum(map(int.__eq__, left, right)) / PERMUTATIONS
    return max(0.0, (equal - 1 / 256) / (1 - 1 / 256))

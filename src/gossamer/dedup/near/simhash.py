"""SimHash as a method for near duplicates: 64 bits, of which few differ between texts that differ little (Charikar).

A bit differs with probability θ/π, θ being the angle between the texts as vectors; from the bits that differ follow
cosine and overlap. At an overlap of .9 seven bits differ on the average, give or take 2.5, so a text just above the
border is as often called different as same.

Keys are block tables (Manku, Jain, Das Sarma 2007): the bits in six blocks, each three of them a key. Texts that
differ in three bits or fewer have three blocks without a difference, and share one of the twenty keys for certain.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from math import cos, pi

from gossamer.dedup.near.contract import MIN_WORDS, UNLIKE
from gossamer.dedup.passing import undated
from gossamer.dedup.simhash import simhash_of
from gossamer.dedup.words import word_hashes

_BOUNDS = (0, 11, 22, 33, 43, 54, 64)
_BLOCKS = [(1 << last) - (1 << first) for first, last in pairwise(_BOUNDS)]
_MASKS = [sum(blocks) for blocks in combinations(_BLOCKS, 3)]
_NUMBER = 0x9E3779B97F4A7C15
"""Odd; with its multiples the tables are kept apart."""


class SimHash:
    """64 bits per text, by three-word runs."""

    name = "simhash"
    threshold = 0.9
    unlike = UNLIKE

    def fingerprint(self, text: str, title: str = "") -> bytes:
        """8 bytes."""
        hashes = word_hashes(undated(text))
        return simhash_of(hashes).to_bytes(8, "little", signed=True) if len(hashes) >= 8 * MIN_WORDS else b""

    def long_part(self, fingerprint: bytes) -> bytes:
        """All of it."""
        return fingerprint

    def keys(self, fingerprint: bytes) -> list[int]:
        """Twenty keys of three blocks each."""
        bits = int.from_bytes(fingerprint, "little")
        return [_signed((bits & mask) + table * _NUMBER) for table, mask in enumerate(_MASKS)] if fingerprint else []

    def similarity(self, left: bytes, right: bytes) -> float:
        """The Jaccard overlap at which so many bits differ on the average, for texts of equal length."""
        if not left or not right:
            return 0.0
        differing = (int.from_bytes(left) ^ int.from_bytes(right)).bit_count()
        cosine = max(0.0, cos(pi * differing / 64))
        return cosine / (2 - cosine)


def _signed(number: int) -> int:
    number &= 0xFFFF_FFFF_FFFF_FFFF
    return number - (1 << 64) if number >> 63 else number

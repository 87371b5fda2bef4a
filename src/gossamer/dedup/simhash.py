"""SimHash: 64 bits that differ little where texts differ little.

Every run of three words is hashed; bit *b* of the result is the majority of bit
*b* over all runs. Writing without spaces (Chinese, Japanese, Thai) is cut into
characters instead of words.

Done with whole-text integers, because a loop over words times 64 bits costs
milliseconds in Python: the hashes of all words stand side by side in one long
integer, 64 bits each. Shifting it by one and two words and a few bits and
XOR-ing gives the hashes of all three-word runs at once; counting the ones in each
of the 64 columns is 64 calls of `int.bit_count`. The hash of a word is kept in a
table, since languages have few words.
"""

from __future__ import annotations

from gossamer.dedup.words import hash_word, tokens

_TABLE_SIZE = 200_000
"""Words remembered; about 30 MB at most."""
_LONGEST = 64
"""Characters of a word that is remembered."""


class _Hashes(dict[str, bytes]):
    """word → its 8-byte hash; forgets everything when full."""

    def __missing__(self, word: str) -> bytes:
        if len(self) >= _TABLE_SIZE:
            self.clear()
        digest = hash_word(word)
        if len(word) <= _LONGEST:
            self[word] = digest
        return digest


_HASHES = _Hashes()


def simhash(text: str) -> int:
    """The SimHash of a text as a signed 64-bit integer; 0 for a text without words."""
    return simhash_of(b"".join(map(_HASHES.__getitem__, tokens(text))))


def simhash_of(hashes: bytes) -> int:
    """The SimHash of words by their hashes, 8 bytes each; 0 where there are none."""
    if not hashes:
        return 0
    value = _majority(_three_word_runs(hashes))
    return value - (1 << 64) if value >= 1 << 63 else value


def _three_word_runs(hashes: bytes) -> bytes:
    """The hashes of all runs of three words; of the whole text where it has fewer."""
    lanes = int.from_bytes(hashes, "big")
    # 13 and 29 extra bits, so that the same three words in another order hash differently
    mixed = lanes ^ (lanes >> (64 + 13)) ^ (lanes >> (128 + 29))
    runs = mixed.to_bytes(len(hashes), "big")
    return runs[24:] or runs  # the first lanes lack neighbours


def _majority(hashes: bytes) -> int:
    """The 64 bits of which each is the majority of that bit over all hashes."""
    size = len(hashes) // 8
    lowest = int.from_bytes(b"\x01" * size, "big")
    masks = [lowest << bit for bit in range(7, -1, -1)]
    result = 0
    for place in range(8):
        column = int.from_bytes(hashes[place::8], "big")
        for mask in masks:
            result = result << 1 | (2 * (column & mask).bit_count() > size)
    return result

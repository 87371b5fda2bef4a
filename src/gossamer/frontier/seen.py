"""A bounded memory of keys, so that most links cost a memory access and no query.

A table of 64-bit slots in which a key has one possible place, its low bits: a newer key replaces an older one with the
same place. A key that is found is surely known; one that is not found may have been replaced, and is looked up in the
database. Python sets would take more memory for an eighth of the keys, and no less time.

A crawl with a limit of depth must hear of shorter ways to known URLs: there a key is stored with its known depth, in
the
bits above those of its place (`sighting`), and counts as seen at that depth or deeper.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Sequence

_DEPTH_BIT = 48
_DEEPEST = (1 << 15) - 1
_KEY_BITS = (1 << _DEPTH_BIT) - 1


def sighting(key: int, depth: int) -> int:
    """The stored form of a key that is known at this depth; at depth 0, which is all depths, the key itself."""
    return key ^ (min(depth, _DEEPEST) << _DEPTH_BIT)


class SeenCache:
    """Keys of URLs that are surely in the table. One thread writes, others may read at any time."""

    def __init__(self, bits: int = 23) -> None:
        self._bits = bits
        self._mask = (1 << bits) - 1
        self.clear()

    def clear(self) -> None:
        """Forget everything: rows may have left the table."""
        # Fresh anonymous memory is all zeros and takes no room before it is written to.
        self._slots = memoryview(mmap.mmap(-1, 8 << self._bits)).cast("q")
        self._slots[0] = 1  # the place of key 0, which must not be found before it is put there

    def __contains__(self, key: int) -> bool:
        return self._slots[key & self._mask] == key

    def unknown(self, keys: bytes, depth: int) -> list[tuple[int, int]]:
        """Position and key of those that are not surely known at this depth or a smaller one; `keys`: 8 bytes each."""
        import numpy as np  # a worker has it; whoever only looks at a crawl goes without

        asked = np.frombuffer(keys, "<i8")
        at = np.frombuffer(self._slots, np.int64)[asked & self._mask] ^ asked
        depths = at >> _DEPTH_BIT
        found = np.flatnonzero((at & _KEY_BITS != 0) | (depths < 0) | (depths > depth))
        return list(zip(found.tolist(), asked[found].tolist(), strict=True))

    def knows(self, key: int, depth: int) -> bool:
        """Whether the key is surely known at this depth or a smaller one."""
        at = self._slots[key & self._mask] ^ key
        return not at & _KEY_BITS and 0 <= at >> _DEPTH_BIT <= depth

    def missing(self, keys: Sequence[int]) -> list[int]:
        """Positions of the keys that are not surely known."""
        slots, mask = self._slots, self._mask
        return [place for place, key in enumerate(keys) if slots[key & mask] != key]

    def update(self, keys: Iterable[int]) -> None:
        """Remember keys, or sightings of them, whose rows are committed."""
        slots, mask = self._slots, self._mask
        for key in keys:
            slots[key & mask] = key

    def discard(self, keys: Iterable[int]) -> None:
        """Forget keys whose rows are to be looked up again."""
        for key in keys:
            if self.knows(key, _DEEPEST):
                self._slots[key & self._mask] = ~key  # another key's place is not here

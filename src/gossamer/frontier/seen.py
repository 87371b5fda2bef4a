"""A bounded memory of keys, so that most links cost a set lookup and no query."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet


class SeenCache:
    """Keys of URLs that are surely in the table; forgets the older half when full.

    A key takes about 80 bytes, so a million of them 80 MB. One thread writes; others
    may ask at any time, because each step leaves both halves whole.
    """

    def __init__(self, capacity: int = 1_000_000) -> None:
        self._half = max(1, capacity // 2)
        self._young: set[int] = set()
        self._old: set[int] = set()

    def __contains__(self, key: int) -> bool:
        return key in self._young or key in self._old

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def update(self, keys: Iterable[int]) -> None:
        """Remember keys whose rows are committed."""
        self._young.update(keys)
        if len(self._young) >= self._half:
            self._old, self._young = self._young, set()

    def halves(self) -> tuple[AbstractSet[int], AbstractSet[int]]:
        """Both parts, for loops that ask thousands of times."""
        return self._young, self._old

    def discard(self, keys: Iterable[int]) -> None:
        """Forget keys whose rows are to be looked at again."""
        self._young.difference_update(keys)
        self._old.difference_update(keys)

    def clear(self) -> None:
        """Forget everything: rows may have left the table."""
        self._young, self._old = set(), set()

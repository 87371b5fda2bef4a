"""Which of the pages that share a lookup key are near-duplicates.

Pages with equal fingerprints are one for this purpose; the others are compared pair by pair, unless they are known to
belong together already. A key that very many different fingerprints share says little (pages of one template): there
each
is compared with the `WINDOW` before it only, in the order of the pages' keys, so that the work grows with the pages and
not with their square. The result does not depend on who looks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gossamer.dedup.near.contract import NearMethod

WINDOW = 64
"""Earlier fingerprints that one is compared with."""

Edge = tuple[int, int]


class Forest:
    """Which pages belong together, as far as is known."""

    def __init__(self) -> None:
        self._above: dict[int, int] = {}

    def root(self, page: int) -> int:
        """The representative of all pages that belong together with a page."""
        above = self._above
        root = page
        while (higher := above.get(root, root)) != root:
            root = higher
        while page != root:  # shortens the path for the next lookup
            above[page], page = root, above.get(page, root)
        return root

    def join(self, one: int, other: int) -> bool:
        """Join the two; returns whether that is news."""
        one, other = self.root(one), self.root(other)
        if one == other:
            return False
        self._above[max(one, other)] = min(one, other)
        return True


class Pairs:
    """Compares pages, key after key; finds just enough pairs to connect all that belong together."""

    def __init__(self, method: NearMethod) -> None:
        self._method = method
        self._forest = Forest()
        self.edges: list[Edge] = []
        self.compared = 0
        """Pairs of fingerprints compared."""
        self.crowded = 0
        """Lookup keys with more fingerprints than are all compared."""

    def add(self, pages: Iterable[tuple[int, bytes]]) -> None:
        """Compare the pages (key and fingerprint) that share a lookup key."""
        prints: dict[bytes, int] = {}
        for page, fingerprint in sorted(set(pages)):
            first = prints.setdefault(fingerprint, page)
            if first != page:
                self._join(first, page)
        if len(prints) > WINDOW + 1:
            self.crowded += 1
        seen = sorted((page, fingerprint) for fingerprint, page in prints.items())
        for place, (page, fingerprint) in enumerate(seen):
            for other, its in seen[max(0, place - WINDOW) : place]:
                if self._forest.root(page) != self._forest.root(other):
                    self.compared += 1
                    if self._method.similarity(fingerprint, its) >= self._method.threshold:
                        self._join(other, page)

    def _join(self, one: int, other: int) -> None:
        if self._forest.join(one, other):
            self.edges.append((one, other))


def buckets(rows: Iterable[tuple[int, int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    """Pages by lookup key, given rows of lookup key, page and fingerprint in the order of the lookup key; those that
    are alone with theirs are left out."""
    bucket: list[tuple[int, bytes]] = []
    last: int | None = None
    for near_key, page, fingerprint in rows:
        if near_key != last:
            if len(bucket) > 1:
                yield bucket
            bucket, last = [], near_key
        bucket.append((page, fingerprint))
    if len(bucket) > 1:
        yield bucket

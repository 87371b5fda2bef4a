"""Finds the vectors that are nearest to one: exactly among those that may be.

Of a large folder, first only the signs of the numbers are compared, a bit each: 17 MB for 350,000 vectors of 384
numbers, in some milliseconds. The best of those, many more than are wanted, are compared exactly. A small folder is
compared exactly at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import CorruptError
from gossamer.index.vectors import parts
from gossamer.index.vectors.parts import Floats, Keys, Rows
from gossamer.index.vectors.store import Manifest, VectorFolder, newest

_FEW = 20_000
"""Vectors that are compared exactly at once."""
_MANY = 8_000
"""Vectors that are compared exactly after a look at the signs; at least, and `_TIMES` as many as are wanted."""
_TIMES = 10
_TRIES = 5
"""How often a folder is read again whose files were joined meanwhile."""


class VectorView:
    """The vectors that count, at one moment; safe to share between threads."""

    def __init__(self, manifest: Manifest, files: Sequence[Rows]) -> None:
        self.model, self.size = manifest.name, manifest.size
        self._files = [one for one in files if len(one)]
        starts = np.cumsum([0, *map(len, self._files)])
        self._starts = starts.astype(np.intp)
        everything = _concatenated([one.keys for one in self._files], np.dtype(np.int64))
        live = newest(everything)
        by_key = np.argsort(everything[live], kind="stable")
        self._rows = live[by_key]
        """Place of each live row among those of all files, in the order of the keys."""
        self._keys = everything[self._rows]
        self._signs: NDArray[np.uint64] | None = None
        """Word by word, of all live rows each: NumPy is fast along long lines."""
        if len(self._keys) > _FEW:
            self._signs = np.ascontiguousarray(np.concatenate([one.signs for one in self._files])[self._rows].T)

    def __len__(self) -> int:
        return len(self._keys)

    def nearest(self, vector: Floats, count: int, among: Keys | None = None) -> tuple[Keys, Floats]:
        """The pages nearest to a vector, of all or of some, and how near they are; the nearest first."""
        live = np.arange(len(self._keys)) if among is None else self._places(among)[0]
        if self._signs is not None and len(live) > _FEW:
            live = self._promising(vector, live, max(_MANY, _TIMES * count))
        products = self._products(vector, live)
        if len(live) > count:
            best = np.argpartition(products, -count)[-count:] if count else np.zeros(0, np.intp)
            live, products = live[best], products[best]
        order = np.lexsort((self._keys[live], -products))
        return self._keys[live[order]], products[order]

    def alike(self, vector: Floats, keys: Sequence[int]) -> Floats:
        """How near some pages are to a vector; not a number for those without one."""
        wanted = np.array(keys, np.int64)
        found = np.full(len(wanted), np.nan, np.float32)
        places, known = self._places(wanted)
        found[known] = self._products(vector, places)
        return found

    def _places(self, keys: Keys) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Where the vectors of pages are, and which of the pages have one."""
        if not len(self._keys):
            return np.zeros(0, np.intp), np.zeros(len(keys), np.bool_)
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        known = self._keys[places] == keys
        return places[known], known

    def _promising(self, vector: Floats, live: NDArray[np.intp], count: int) -> NDArray[np.intp]:
        """Those whose signs differ least from the vector's; at least so many."""
        assert self._signs is not None
        differing = np.zeros(len(live), np.uint16)
        for signs, wanted in zip(self._signs, parts.signs_of(vector[None])[0], strict=True):
            differing += np.bitwise_count((signs if len(live) == len(self._keys) else signs[live]) ^ wanted)
        most = int(np.searchsorted(np.cumsum(np.bincount(differing)), count))
        return live[differing <= most]

    def _products(self, vector: Floats, live: NDArray[np.intp]) -> Floats:
        rows = self._rows[live]
        file_of = np.searchsorted(self._starts, rows, side="right") - 1
        found = np.empty(len(rows), np.float32)
        for number, one in enumerate(self._files):
            mine = np.flatnonzero(file_of == number)
            if len(mine):
                found[mine] = one.products(vector, rows[mine] - self._starts[number])
        return found


class VectorViews:
    """The present vectors of an index, whoever writes them."""

    def __init__(self, folder: VectorFolder) -> None:
        self.folder = folder
        self._lock = Lock()
        self._view: VectorView | None = None
        self._seen = (-1, -1)
        self._files: dict[str, Rows] = {}

    def current(self) -> VectorView:
        """The newest state."""
        if self._view is not None and self.folder.stamp() == self._seen:
            return self._view
        with self._lock:
            seen = self.folder.stamp()
            if self._view is None or seen != self._seen:
                self._view, self._seen = self._read(), seen
            return self._view

    def _read(self) -> VectorView:
        for _ in range(_TRIES - 1):
            manifest = self.folder.read()
            try:
                return self._opened(manifest)
            except CorruptError:
                if self.folder.read() == manifest:
                    raise
        return self._opened(self.folder.read())

    def _opened(self, manifest: Manifest) -> VectorView:
        known = self._files
        files = {name: known[name] if name in known else parts.read(self.folder.part(name)) for name in manifest.parts}
        self._files = files
        return VectorView(manifest, list(files.values()))


def _concatenated(arrays: Sequence[Keys], kind: np.dtype[np.int64]) -> Keys:
    return np.concatenate(arrays) if arrays else np.zeros(0, kind)

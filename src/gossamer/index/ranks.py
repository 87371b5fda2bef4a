"""Link ranks of found pages, read from the files that `gossamer rank` writes, without indexing anything again.

The arrays are mapped into memory, so a search touches a few pages of the file. `ranks/current` is read at most once a
second, and a new generation is used from the next search on. Ranks only add to scores: if they cannot be read, the
search
continues with the ones it has, and logs it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, Protocol

from gossamer.errors import GossamerError

if TYPE_CHECKING:  # NumPy: a crawl without ranks is searched without it
    import numpy as np
    from numpy.typing import NDArray

log = logging.getLogger(__name__)

CURRENT = "ranks/current"


class Files(Protocol):
    """The methods of a `store.place.Place` that are used."""

    def size(self, name: str) -> int | None:
        """Bytes of a file; None if there is none."""
        ...

    def get(self, name: str) -> bytes:
        """A whole file."""
        ...

    def path(self, name: str) -> Path:
        """A local file with that content."""
        ...


class _Loaded(NamedTuple):
    generation: str
    keys: NDArray[np.int64]
    ranks: NDArray[np.float64]


class StoredRanks:
    """The ranks of a place, always the newest; safe to share between threads."""

    def __init__(self, place: Files, every: float = 1.0, now: Callable[[], float] = time.monotonic) -> None:
        """`every`: seconds between two checks for a new generation."""
        self._place, self._every, self._now = place, every, now
        self._loaded: _Loaded | None = None
        self._next = -1e300
        self._lock = Lock()

    @property
    def generation(self) -> str:
        """The name of the present ranks; empty if there are none."""
        loaded = self._current()
        return loaded.generation if loaded else ""

    def recent(self) -> str | None:
        """The same without a look at files; None if it is time for one."""
        if self._now() >= self._next:
            return None
        return self._loaded.generation if self._loaded else ""

    def of(self, keys: Sequence[int]) -> Sequence[float]:
        """The rank of each page by key: 1 is the average, 0 is unknown."""
        loaded = self._current()
        if loaded is None or not len(loaded.keys):
            return [0.0] * len(keys)
        import numpy as np

        _, known, ranks = loaded
        wanted = np.asarray(keys, np.int64)
        places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        found: list[float] = np.where(known[places] == wanted, ranks[places], 0.0).tolist()
        return found

    def _current(self) -> _Loaded | None:
        if self._now() >= self._next and self._lock.acquire(blocking=False):
            try:
                self._look()
            except (GossamerError, OSError, ValueError, EOFError) as error:
                log.warning("cannot read new link ranks, searches continue with the old ones: %s", error)
            finally:
                self._next = self._now() + self._every
                self._lock.release()
        return self._loaded

    def _look(self) -> None:
        if not self._place.size(CURRENT):
            self._loaded = None
            return
        generation = self._place.get(CURRENT).decode().strip()
        if self._loaded is None or generation != self._loaded.generation:
            import numpy as np

            arrays = [
                np.load(self._place.path(f"ranks/{generation}/{name}.npy"), mmap_mode="r", allow_pickle=False)
                for name in ("keys", "ranks")
            ]
            if len(arrays[0]) != len(arrays[1]):
                raise ValueError(f"ranks/{generation} has {len(arrays[0])} keys and {len(arrays[1])} ranks")
            self._loaded = _Loaded(generation, *arrays)

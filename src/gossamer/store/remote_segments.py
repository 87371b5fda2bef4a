"""Segments at a place that is no folder here, such as an object store.

Each file is uploaded when it is finished, `pages` last, and the local file becomes the copy for this machine. Whole
tables
are fetched and kept for a while, single responses are read by their range. A segment is a folder of three names there
as
well, so other tools read it as they read local ones.

A process that dies between the uploads leaves names that the database does not know: orphans like any other.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Callable, Iterator
from pathlib import Path

from gossamer.errors import StorageError
from gossamer.store import durable, layout
from gossamer.store.file_cache import touched
from gossamer.store.place import CACHE_BYTES, LocalPlace, Place, PlaceMissing, default_cache, open_place
from gossamer.store.segment_folder import LocalSegments, Segments, free_bytes_of, named_segments, remove_folder

_KNOWN_COPIES = 4096
"""Files whose copy a process remembers, without asking the store."""


def open_segments(url: str, cache: Path | None = None, cache_bytes: int = CACHE_BYTES) -> Segments:
    """The segments at a path or an address; remote ones are built, and kept as copies, in `cache`."""
    place = open_place(url, cache, cache_bytes)
    if isinstance(place, LocalPlace):
        return LocalSegments(place.root)
    return RemoteSegments(place, cache, cache_bytes)


class RemoteSegments:
    """Segments at a place that is not a folder here, built and read by copies on this machine."""

    def __init__(self, place: Place, cache: Path | None, cache_bytes: int = CACHE_BYTES) -> None:
        self._place, self._cache, self._cache_bytes = place, cache, cache_bytes
        self._building = (cache or default_cache()) / layout.BUILDING
        self._copies: dict[str, Path] = {}

    def __reduce__(self) -> tuple[Callable[..., Segments], tuple[str, Path | None, int]]:
        """Another process opens the place itself, with its own credentials and connections."""
        return open_segments, (self.url, self._cache, self._cache_bytes)

    @property
    def url(self) -> str:
        """The place's address."""
        return self._place.url

    def __str__(self) -> str:
        return self.url

    def create(self) -> None:
        """Check that the store can be used."""
        with durable.storing(self._building):
            self._building.mkdir(parents=True, exist_ok=True)
        probe = getattr(self._place, "probe", None)
        if probe is not None:
            probe()

    def ids(self) -> list[str]:
        """The first parts of all names; a segment that is half uploaded is one of them."""
        found = {name.partition("/")[0] for name in self._place.names()}
        return sorted(name for name in found if layout.worker_of(name) is not None)

    def unfinished(self) -> list[str]:
        """Of this machine: the others build at home."""
        return named_segments(self._building)

    def file(self, segment_id: str, name: str) -> Path:
        """A copy. Files of segments do not change, so a known one is used without a request."""
        remote = f"{segment_id}/{name}"
        known = self._copies.get(remote)
        if known is not None and touched(known):
            return known
        if len(self._copies) >= _KNOWN_COPIES:
            self._copies.clear()
        with _missing_file():
            copy = self._place.path(remote)
        self._copies[remote] = copy
        return copy

    def read_range(self, segment_id: str, name: str, start: int, length: int) -> bytes:
        """One request."""
        with _missing_file():
            return self._place.get_range(f"{segment_id}/{name}", start, length)

    def size(self, segment_id: str, name: str) -> int | None:
        """One request."""
        return self._place.size(f"{segment_id}/{name}")

    def free_bytes(self) -> int:
        """Room on the disk where segments are built."""
        return free_bytes_of(self._building)

    def build(self, segment_id: str) -> Path:
        """A folder on this machine."""
        if self.size(segment_id, layout.PAGES) is not None:
            raise FileExistsError(errno.EEXIST, "segment exists", segment_id)
        folder = self._building / segment_id
        folder.mkdir(parents=True)
        return folder

    def finish(self, segment_id: str, name: str) -> None:
        """Upload the file; the local one becomes the copy."""
        path = self._building / segment_id / name
        self._place.upload(f"{segment_id}/{name}", path, keep=True)
        path.unlink()
        self._copies.pop(f"{segment_id}/{name}", None)

    def publish(self, segment_id: str) -> None:
        """Upload the rest, `pages` last."""
        folder = self._building / segment_id
        for name in layout.FILES:
            if (folder / name).exists():
                self.finish(segment_id, name)
        folder.rmdir()

    def take_back(self, segment_id: str) -> Path:
        """A new folder for the files that will replace uploaded ones; those stay until then."""
        folder = self._building / segment_id
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def discard(self, segment_id: str) -> bool:
        """Delete uploaded files, as far as the store can be reached."""
        is_gone = self.discard_unfinished(segment_id)
        for name in layout.FILES:
            self._copies.pop(f"{segment_id}/{name}", None)
        try:
            self._place.delete(self._place.names(f"{segment_id}/"))
        except StorageError:
            return False
        return is_gone

    def discard_unfinished(self, segment_id: str) -> bool:
        """Removes the folder in which it was built."""
        return remove_folder(self._building / segment_id)


@contextlib.contextmanager
def _missing_file() -> Iterator[None]:
    try:
        yield
    except PlaceMissing as error:
        raise durable.missing(str(error)) from error

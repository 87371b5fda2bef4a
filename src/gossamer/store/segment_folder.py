"""The segments of a crawl, for all who write and read them.

A segment is built in a local folder, file by file, and then published:

    folder = segments.build(segment_id)       write responses and links into it
    segments.finish(segment_id, name)         this file is complete, and may go to its place
    segments.publish(segment_id)              all of it is safe, and others see it

`LocalSegments` is a folder of this machine or one that all machines have mounted: published by a rename. For
`RemoteSegments` see there. The large files are finished before the frontier's transaction, so it waits for one small
file
only, wherever that goes.

Only segments that the database knows count, so nobody reads one that is half uploaded.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol, TypeVar

from gossamer.store import durable, layout
from gossamer.store.durable import SegmentMissingError

T = TypeVar("T")

_TRIES = 3
"""How often to open a file whose copy was deleted at that moment."""


class Segments(Protocol):
    """All segments of a crawl."""

    @property
    def url(self) -> str:
        """What `open_segments` takes, on any machine."""
        ...

    def create(self) -> None:
        """Make the folder, or check that the store can be used; a `StorageError` says why not."""
        ...

    def ids(self) -> list[str]:
        """The published segments, in order; also those that do not count."""
        ...

    def unfinished(self) -> list[str]:
        """Segments that are being built, as far as this machine sees them, in order."""
        ...

    def file(self, segment_id: str, name: str) -> Path:
        """A local file with the content; raises `SegmentMissingError`, here or when it is opened, if it is gone."""
        ...

    def read_range(self, segment_id: str, name: str, start: int, length: int) -> bytes:
        """A piece of a file, without fetching the rest."""
        ...

    def size(self, segment_id: str, name: str) -> int | None:
        """Bytes of a file; None if there is none."""
        ...

    def free_bytes(self) -> int:
        """Room for building."""
        ...

    def build(self, segment_id: str) -> Path:
        """An empty local folder for a new segment; raises `FileExistsError` if there is such a segment."""
        ...

    def finish(self, segment_id: str, name: str) -> None:
        """A file of a segment that is being built will not change any more: it is safe on return."""
        ...

    def publish(self, segment_id: str) -> None:
        """All files are there: others may see the segment, and it is safe on return."""
        ...

    def take_back(self, segment_id: str) -> Path:
        """Build a published segment that does not count yet again: returns a folder for the files that change."""
        ...

    def discard(self, segment_id: str) -> bool:
        """Remove a segment, published or not; True if nothing of it is left."""
        ...

    def discard_unfinished(self, segment_id: str) -> bool:
        """Remove a segment that is being built, but not one that is published under that name."""
        ...


class LocalSegments:
    """Segments in a folder, of this machine or shared by all."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def url(self) -> str:
        """The folder's path."""
        return str(self.root.absolute())

    def __str__(self) -> str:
        return str(self.root)

    def create(self) -> None:
        """Make the folder."""
        with durable.storing(self.root):
            self.root.mkdir(parents=True, exist_ok=True)

    def ids(self) -> list[str]:
        """The folders that have a segment's name."""
        return named_segments(self.root)

    def unfinished(self) -> list[str]:
        """Of all machines, if the folder is shared."""
        return named_segments(self.root / layout.BUILDING)

    def file(self, segment_id: str, name: str) -> Path:
        """The file itself."""
        return self.root / segment_id / name

    def read_range(self, segment_id: str, name: str, start: int, length: int) -> bytes:
        """A piece of the file."""
        path = self.file(segment_id, name)
        with durable.reading(path), path.open("rb") as file:
            file.seek(start)
            return file.read(length)

    def size(self, segment_id: str, name: str) -> int | None:
        """Bytes of the file."""
        try:
            return self.file(segment_id, name).stat().st_size
        except FileNotFoundError:
            return None

    def free_bytes(self) -> int:
        """Room on the folder's disk."""
        return free_bytes_of(self.root)

    def build(self, segment_id: str) -> Path:
        """A folder beside the published ones."""
        return durable.start_building(self.root, segment_id)

    def finish(self, segment_id: str, name: str) -> None:
        """Waits for the disk."""
        durable.sync_file(self.root / layout.BUILDING / segment_id / name)

    def publish(self, segment_id: str) -> None:
        """Renames the folder and waits for the disk."""
        durable.publish(self.root, segment_id)

    def take_back(self, segment_id: str) -> Path:
        """Renames it back."""
        return durable.take_back(self.root, segment_id)

    def discard(self, segment_id: str) -> bool:
        """Out of sight at once, then piece by piece."""
        return durable.discard(self.root, segment_id)

    def discard_unfinished(self, segment_id: str) -> bool:
        """Removes the folder in which it was built."""
        return remove_folder(self.root / layout.BUILDING / segment_id)


def delete_segments(segments: Segments, ids: Iterable[str]) -> list[str]:
    """Removes segments that no longer count, such as merged ones; returns those that are gone."""
    return [segment_id for segment_id in ids if segments.discard(segment_id)]


def segment_bytes(segments: Segments, segment_id: str) -> int:
    """Bytes of a segment's files; 0 if it is gone."""
    return sum(segments.size(segment_id, name) or 0 for name in layout.FILES)


def opened(segments: Segments, segment_id: str, name: str, open_file: Callable[[Path], T]) -> T:
    """Open a file of a segment; a copy that is deleted before that is fetched again."""
    for _ in range(_TRIES - 1):
        with contextlib.suppress(SegmentMissingError):
            return open_file(segments.file(segment_id, name))
    return open_file(segments.file(segment_id, name))


def named_segments(folder: Path) -> list[str]:
    """The folders in a folder that have a segment's name, in order."""
    if not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir() if layout.worker_of(path.name) is not None and path.is_dir())


def remove_folder(folder: Path) -> bool:
    """Remove a folder with all in it; whether it is gone."""
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def free_bytes_of(folder: Path) -> int:
    """Free space on the disk of a folder, which need not exist yet."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    return shutil.disk_usage(there).free

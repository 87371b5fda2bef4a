"""The folder of vectors: which files count, and the one who writes them.

    index/vectors/vectors.json      which model, which files count, which segments of the index are read
    index/vectors/….vectors         vectors, in files that never change (`parts.py`)
    index/vectors/model-…/          the model, made ready to be opened

The folder stands beside the generations of the index: a page whose text did not change keeps its vector when the
index is rebuilt. `vectors.json` is replaced by one rename, which is a commit: files that it does not name do not count
and are deleted by the next writer. So a kill at any moment loses at most the vectors since the last commit.

A page may have rows in several files: the one in the last file counts. Small files of like size are joined, which
leaves out the others; each row is written again about once for every eightfold growth. Rows of pages that left are
removed from the files, not only hidden.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from uuid import uuid4

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.errors import CorruptError
from gossamer.index.commits import storing, sync_folder
from gossamer.index.vectors import parts
from gossamer.index.vectors.parts import Floats, Keys, Rows

log = logging.getLogger(__name__)

FOLDER = "vectors"
_MANIFEST = "vectors.json"
_ENDING = ".vectors"
_FORMAT = 1
_FAN = 8
"""Files of like size that are joined."""


class Manifest(msgspec.Struct, frozen=True):
    """`vectors.json`."""

    format: int = _FORMAT
    name: str = ""
    """Of the model."""
    size: int = 0
    parts: tuple[str, ...] = ()
    """Names of the files that count, the oldest first."""
    read: tuple[str, ...] = ()
    """Segments of the index of which every page was looked at."""


class VectorFolder:
    """The paths of the vectors of an index."""

    def __init__(self, index: Path) -> None:
        self.root = index / FOLDER
        self.manifest = self.root / _MANIFEST

    def read(self) -> Manifest:
        """What counts; nothing if there is nothing that this version can read."""
        try:
            found = msgspec.json.decode(self.manifest.read_bytes(), type=Manifest)
        except FileNotFoundError:
            return Manifest()
        except (OSError, msgspec.MsgspecError) as error:
            raise CorruptError(
                f"{self.manifest} cannot be read: delete {self.root} and run `gossamer index --vectors`"
            ) from error
        return found if found.format == _FORMAT else Manifest()

    def part(self, name: str) -> Path:
        """A file of vectors."""
        return self.root / f"{name}{_ENDING}"

    def stamp(self) -> tuple[int, int]:
        """What changes with every commit."""
        try:
            stat = self.manifest.stat()
        except OSError:
            return (0, 0)
        return (stat.st_ino, stat.st_mtime_ns)


class VectorStore:
    """The one writer of a folder of vectors: whoever holds the lock of the indexer."""

    def __init__(self, index: Path, model: str, size: int) -> None:
        """Vectors of another model are given up, since they cannot be compared; damaged ones as well. Then no segment
        counts as read, so that the pages get new ones."""
        self.folder = VectorFolder(index)
        self._parts: dict[str, Rows] = {}
        self._published: Manifest | None = None
        """What is on the disk."""
        self._manifest = self._opened(model, size)
        self._new: list[Rows] = []
        self._hashes: dict[int, int] = {}
        for rows in self._parts.values():
            self._hashes.update(zip(rows.keys.tolist(), rows.hashes.tolist(), strict=True))
        if self._published is not None:
            self._publish(self._manifest.parts, self._manifest.read)
        self._collect_garbage()

    @property
    def read(self) -> frozenset[str]:
        """Segments of the index of which every page was looked at."""
        return frozenset(self._manifest.read)

    @property
    def waiting(self) -> int:
        """Vectors that a kill would lose."""
        return sum(map(len, self._new))

    def __len__(self) -> int:
        return len(self._hashes)

    def keys(self) -> list[int]:
        """The pages that have a vector."""
        return list(self._hashes)

    def hash_of(self, key: int) -> int | None:
        """The hash of the text that a page's vector was made from; None if it has none."""
        return self._hashes.get(key)

    def add(self, keys: Sequence[int], hashes: Sequence[int], vectors: Floats) -> None:
        """Vectors of pages, new or instead of the old ones; they count from the next commit on."""
        self._new.append(parts.made(np.array(keys, np.int64), np.array(hashes, np.uint64), vectors))
        self._hashes.update(zip(keys, hashes, strict=True))

    def commit(self, read: Collection[str]) -> None:
        """Make everything count, and note which segments are read."""
        names = [*self._manifest.parts]
        if self._new:
            names.append(self._write(parts.joined(self._new)))
            self._new = []
        while (group := _alike([len(self._parts[name]) for name in names])) is not None:
            group_names = names[group]
            names[group] = [self._write(self._live(group_names, names))]
        self._publish(names, read)

    def drop(self, keys: Collection[int]) -> None:
        """Remove pages that left, from the files as well."""
        gone = [key for key in keys if self._hashes.pop(key, None) is not None]
        if not gone:
            return
        unwanted = np.array(gone, np.int64)
        self._new = [one.taken(np.flatnonzero(~np.isin(one.keys, unwanted))) for one in self._new]
        names = []
        for name in self._manifest.parts:
            rows = self._parts[name]
            kept = ~np.isin(rows.keys, unwanted)
            if kept.all():
                names.append(name)
            elif kept.any():
                names.append(self._write(rows.taken(np.flatnonzero(kept))))
        self._publish(names, self.read)

    def _opened(self, model: str, size: int) -> Manifest:
        with storing(self.folder.root):
            self.folder.root.mkdir(parents=True, exist_ok=True)
        try:
            found = self.folder.read()
        except CorruptError as error:
            log.error("%s", error)
            found = Manifest()
        if (found.name, found.size) != (model, size):
            with storing(self.folder.root):  # before its files go
                self.folder.manifest.unlink(missing_ok=True)
                sync_folder(self.folder.root)
            return Manifest(name=model, size=size)
        self._published = found
        for name in found.parts:
            try:
                self._parts[name] = parts.read(self.folder.part(name))
            except CorruptError as error:
                log.error("%s", error)
                found = msgspec.structs.replace(found, read=())
        return msgspec.structs.replace(found, parts=tuple(self._parts))

    def _write(self, rows: Rows) -> str:
        name = uuid4().hex[:16]  # never used again: searches remember files by their names
        path = self.folder.part(name)
        parts.write(path, rows)
        self._parts[name] = parts.read(path)
        return name

    def _live(self, names: Sequence[str], order: Sequence[str]) -> Rows:
        """The rows of some files that neighbour each other, without those that a later file replaces."""
        later = order[order.index(names[-1]) + 1 :]
        rows = parts.joined([self._parts[name] for name in names])
        kept = newest(rows.keys)
        if later:
            replaced = np.concatenate([self._parts[name].keys for name in later])
            kept = kept[~np.isin(rows.keys[kept], replaced)]
        return rows.taken(kept)

    def _publish(self, names: Sequence[str], read: Collection[str]) -> None:
        found = msgspec.structs.replace(self._manifest, parts=tuple(names), read=tuple(sorted(read)))
        if found == self._published:
            return
        root = self.folder.root
        with storing(root):
            temporary = root / f"{_MANIFEST}.new"
            with temporary.open("wb") as file:
                file.write(msgspec.json.encode(found))
                file.flush()
                os.fsync(file.fileno())
            sync_folder(root)  # the names of the parts first
            temporary.replace(self.folder.manifest)
            sync_folder(root)
        self._manifest = self._published = found
        self._collect_garbage()

    def _collect_garbage(self) -> None:
        """Delete files that do not count; searches that have them open keep them."""
        wanted = set(self._manifest.parts)
        self._parts = {name: rows for name, rows in self._parts.items() if name in wanted}
        with storing(self.folder.root):
            for path in self.folder.root.glob(f"*{_ENDING}"):
                if path.name.removesuffix(_ENDING) not in wanted:
                    path.unlink(missing_ok=True)


def erase(index: Path, keys: Collection[int]) -> None:
    """Remove pages that have to leave at once, whatever model their vectors are of; only for who holds the lock."""
    folder = VectorFolder(index)
    found = folder.read()
    if keys and found.parts:
        VectorStore(index, found.name, found.size).drop(keys)


def newest(keys: Keys) -> NDArray[np.intp]:
    """The last row of each key, in order."""
    _, last = np.unique(keys[::-1], return_index=True)
    return np.sort(len(keys) - 1 - last)


def _alike(sizes: Sequence[int]) -> slice | None:
    """The last files that are to be joined: eight neighbours of which no later one is of a larger class."""
    classes = [max(size, 1).bit_length() // 3 for size in sizes]
    start = len(classes)
    while start and classes[start - 1] <= max(classes[start:], default=classes[-1]):
        start -= 1
        if len(classes) - start >= _FAN:
            return slice(start, len(classes))
    return None

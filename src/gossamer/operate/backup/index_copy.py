"""A copy of an index that is being written: the commit that counts now, by links first, so the indexer may go on."""

from __future__ import annotations

import contextlib
import fcntl
import shutil
from collections.abc import Iterator
from pathlib import Path

from gossamer.database.snapshots import copy_file as copy_sqlite
from gossamer.errors import StorageError
from gossamer.index import commits
from gossamer.index.folder import IndexFolder
from gossamer.store import durable

_LINKS = ".backup"
_TRIES = 3
"""How often it is begun anew, where a merge replaced files in between."""


def copy_index(root: Path, target_root: Path) -> None:
    """Copy the current generation of an index to a new folder; nothing where there is none yet."""
    source, target = IndexFolder(root), IndexFolder(target_root)
    generation = source.current()
    if generation is None:
        return
    own = root / _LINKS
    with _alone(root):
        shutil.rmtree(own, ignore_errors=True)  # of a copy that was killed
        try:
            _copy(source, generation, target, own)
        finally:
            shutil.rmtree(own, ignore_errors=True)


@contextlib.contextmanager
def _alone(root: Path) -> Iterator[None]:
    """One copy at a time; the kernel frees the lock, however the process ends."""
    with durable.storing(root), (root / f"{_LINKS}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _copy(source: IndexFolder, generation: str, target: IndexFolder, own: Path) -> None:
    _link(source.tantivy(generation), own)
    with durable.storing(target.root):
        target.tantivy(generation).parent.mkdir(parents=True)
    # Texts of links may be newer than the pages: they are read again with them.
    if source.anchors(generation).exists():
        copy_sqlite(source.anchors(generation), target.anchors(generation))
    with durable.storing(target.root):
        shutil.copytree(own, target.tantivy(generation))
        target.pointer.write_text(generation + "\n")


def _link(source: Path, target: Path) -> None:
    """A second home for the files of the commit that counts, on the same disk."""
    for attempt in range(_TRIES):
        try:
            commit = commits.read(source)
            commits.copy(commit, commit.segments, source, target)
            return
        except StorageError:
            shutil.rmtree(target, ignore_errors=True)
            if attempt == _TRIES - 1:
                raise

"""Copies an index that is being written. It links the files of the last commit first, so the indexer need not wait."""

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
"""How often the copy starts over because a merge replaced files."""


def copy_index(root: Path, target_root: Path) -> None:
    """Copy the current generation of an index to a new folder; copies nothing if there is no index yet."""
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
    """One copy at a time; the kernel frees the lock even if the process is killed."""
    with durable.storing(root), (root / f"{_LINKS}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _copy(source: IndexFolder, generation: str, target: IndexFolder, own: Path) -> None:
    _link(source.tantivy(generation), own)
    with durable.storing(target.root):
        target.tantivy(generation).parent.mkdir(parents=True)
    # Link texts may be newer than the pages: they are read again together with the pages.
    if source.anchors(generation).exists():
        copy_sqlite(source.anchors(generation), target.anchors(generation))
    with durable.storing(target.root):
        shutil.copytree(own, target.tantivy(generation))
        target.pointer.write_text(generation + "\n")


def _link(source: Path, target: Path) -> None:
    """Hard links to the files of the last commit."""
    for attempt in range(_TRIES):
        try:
            commit = commits.read(source)
            commits.copy(commit, commit.segments, source, target)
            return
        except StorageError:
            shutil.rmtree(target, ignore_errors=True)
            if attempt == _TRIES - 1:
                raise

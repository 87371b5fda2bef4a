"""Restores a data folder from a backup: checks files while it copies them, and puts the folder in place by one rename.

Leases of the backup's time are void: its workers are dead and count as having sent a request just now, so no site gets
a request too early. Logins end. The crawl keeps its name and the times at which visits are due.
"""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

from gossamer.clock import Clock
from gossamer.data.folder import DataFolder
from gossamer.data.opening import mark_segments, open_frontier
from gossamer.data.storage import write_storage
from gossamer.database.snapshots import fill_database
from gossamer.errors import CorruptError, UsageError
from gossamer.frontier.views.vitals import workers
from gossamer.model.counts import counted, noun
from gossamer.operate.backup import files as files
from gossamer.operate.backup.files import Item, Manifest
from gossamer.settings import load
from gossamer.store import durable
from gossamer.store.config import StorageConfig
from gossamer.store.segment_folder import Segments
from gossamer.tables import holds, logins

_UNFINISHED = ".restoring"
"""Suffix of a folder that is not complete yet."""


def restore(place: Path, root: Path, clock: Clock, database: str = "", segments: str = "") -> Manifest:
    """Make a data folder from a backup. `database` and `segments` may place those outside the folder."""
    manifest = files.read_manifest(place)
    storage = StorageConfig(database, segments)
    storage.check()
    root = root.resolve()
    _check_empty(root)
    building = root.with_name(root.name + _UNFINISHED)
    shutil.rmtree(building, ignore_errors=True)
    with durable.storing(building):
        building.mkdir(parents=True, mode=0o700)
    try:
        _Restore(place, manifest, building, storage, clock).run()
        with durable.storing(root):
            if root.exists():
                root.rmdir()
            building.rename(root)
            durable.sync_folder(root.parent)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise
    return manifest


def _check_empty(root: Path) -> None:
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise UsageError(f"{root} is not empty: restore into a new folder and move it into place afterwards")
    if root.is_mount():
        raise UsageError(f"{root} is a mount point: restore into a folder on it, such as {root / 'crawl'}")


class _Restore:
    """One restore, into a folder with a temporary name."""

    def __init__(self, place: Path, manifest: Manifest, root: Path, storage: StorageConfig, clock: Clock) -> None:
        self._place, self._manifest, self._root = place, manifest, root
        self._storage, self._clock = storage, clock
        self._folder = DataFolder(root, storage)

    def run(self) -> None:
        """Restore."""
        self._copy_moment()
        self._copy_segments()
        write_storage(self._root, self._storage)  # always: the settings of the backup may name the original's database
        if self._folder.is_shared:
            own = self._root / files.DATABASE
            fill_database(self._folder.database, own)
            own.unlink()
        self._free()
        self._clear_journal()

    def _copy_moment(self) -> None:
        start = f"{files.SNAPSHOTS}/{self._manifest.snapshot}/"
        for item in self._manifest.items:
            if item.path.startswith(start):
                target = self._root / item.path.removeprefix(start)
                with durable.storing(target):
                    target.parent.mkdir(parents=True, exist_ok=True)
                self._check(item, self._copy(item, target))
                with durable.storing(target):
                    durable.sync_file(target)

    def _copy(self, item: Item, target: Path) -> str:
        try:
            return files.copy_file(self._place / item.path, target)
        except FileNotFoundError as error:
            raise CorruptError(f"{self._place / item.path} is missing. Use another backup") from error

    def _check(self, item: Item, digest: str) -> None:
        if digest != item.sha256:
            raise CorruptError(
                f"{self._place / item.path} is damaged: it has changed since the backup. Use another backup"
            )

    def _copy_segments(self) -> None:
        source, target = files.stored_segments(self._place), self._folder.segments
        target.create()
        there = set(target.ids())
        if others := there - set(self._manifest.segments):
            # No database row would name them, so the crawl would delete them.
            raise UsageError(
                f"{target.url} holds {counted(others, 'segment')} that "
                f"{noun(len(others), 'is')} not part of this backup: choose an empty place for them"
            )
        items: dict[str, dict[str, Item]] = {}
        for item in self._manifest.items:
            if item.path.startswith(f"{files.SEGMENTS}/"):
                _, segment_id, name = item.path.split("/")
                items.setdefault(segment_id, {})[name] = item
        for segment_id in self._manifest.segments:
            if segment_id in there:  # left by an interrupted restore to a remote store, or the original's own
                self._check_there(target, segment_id, items[segment_id])
                continue
            sums = files.copy_segment(source, target, segment_id)
            for name, item in items[segment_id].items():
                if sums.get(name) != item.sha256:
                    target.discard(segment_id)
                    self._check(item, sums.get(name, ""))

    def _check_there(self, target: Segments, segment_id: str, items: dict[str, Item]) -> None:
        """A segment that is already there stays and must equal the backup's: it may be somebody's only copy."""
        for name, item in items.items():
            size = target.size(segment_id, name)
            if size != item.bytes or files.checksum(target.file(segment_id, name)) != item.sha256:
                raise UsageError(
                    f"{target.url} holds a segment {segment_id} with other content: choose an empty place for them"
                )

    def _free(self) -> None:
        """End all leases: no worker of the original works on the copy."""
        settings, now = load(self._root), self._clock.now()
        with closing(self._folder.open_database()) as database:
            mark_segments(self._folder, database)
            holds.forget_all(database)
            logins.forget_all(database)
        frontier = open_frontier(self._folder, settings)
        try:
            for worker, _ in workers(frontier.db):
                frontier.retire(worker, now)
        finally:
            frontier.db.close()

    def _clear_journal(self) -> None:
        """Closing the database has written its journal back; remove the empty files and this run's locks."""
        shutil.rmtree(self._root / "run", ignore_errors=True)

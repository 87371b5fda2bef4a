"""A data folder from a backup: checked while it is copied, in place by one rename.

What was somebody's at the time of the backup is nobody's now: workers are dead and count as having asked their sites
just now, so no site is asked sooner than it would have been. Logins are over. The crawl keeps its name, and all times
at which something is due.
"""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import msgspec

from gossamer.clock import Clock
from gossamer.data.folder import DataFolder
from gossamer.data.opening import mark_segments, open_frontier
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
"""Ends the name of a folder that is not whole yet."""


def restore(place: Path, root: Path, clock: Clock, database: str = "", segments: str = "") -> Manifest:
    """Make a data folder from a backup; `database` and `segments` say where those go, if not into the folder."""
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
        raise UsageError(f"{root} is not empty: restore into a new folder, and move it where it belongs afterwards")
    if root.is_mount():
        raise UsageError(f"{root} is where a disk is mounted: restore into a folder on it, such as {root / 'crawl'}")


class _Restore:
    """One run, into a folder that has another name until it is whole."""

    def __init__(self, place: Path, manifest: Manifest, root: Path, storage: StorageConfig, clock: Clock) -> None:
        self._place, self._manifest, self._root = place, manifest, root
        self._storage, self._clock = storage, clock
        self._folder = DataFolder(root, storage)

    def run(self) -> None:
        """All of it."""
        self._copy_moment()
        self._copy_segments()
        with durable.storing(self._root):
            # Always written: the settings of the backup may name the database it came from.
            path = self._root / "storage.json"
            path.touch(0o600)
            path.write_bytes(msgspec.json.encode(self._storage))
        if self._folder.is_shared:
            own = self._root / files.DATABASE
            fill_database(self._folder.database, own)
            own.unlink()
        self._free()
        self._clear_journal()

    def _copy_moment(self) -> None:
        """Database, settings, models, index."""
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
            raise CorruptError(f"{self._place / item.path} is missing: use another backup") from error

    def _check(self, item: Item, digest: str) -> None:
        if digest != item.sha256:
            raise CorruptError(
                f"{self._place / item.path} is damaged: its content is not what was backed up; use another backup"
            )

    def _copy_segments(self) -> None:
        source, target = files.stored_segments(self._place), self._folder.segments
        target.create()
        there = set(target.ids())
        if others := there - set(self._manifest.segments):
            # Nobody's in the restored database, so the crawl would delete them.
            raise UsageError(
                f"{target.url} holds {counted(others, 'segment')} that "
                f"{noun(len(others), 'is')} not of this backup: name an empty place for them"
            )
        items: dict[str, dict[str, Item]] = {}
        for item in self._manifest.items:
            if item.path.startswith(f"{files.SEGMENTS}/"):
                _, segment_id, name = item.path.split("/")
                items.setdefault(segment_id, {})[name] = item
        for segment_id in self._manifest.segments:
            if segment_id in there:  # a restore to a store elsewhere that was interrupted, or the original's own
                self._check_there(target, segment_id, items[segment_id])
                continue
            sums = files.copy_segment(source, target, segment_id)
            for name, item in items[segment_id].items():
                if sums.get(name) != item.sha256:
                    target.discard(segment_id)
                    self._check(item, sums.get(name, ""))

    def _check_there(self, target: Segments, segment_id: str, items: dict[str, Item]) -> None:
        """What is there already stays, and must be what the backup has: it may be somebody's only copy."""
        for name, item in items.items():
            size = target.size(segment_id, name)
            if size != item.bytes or files.checksum(target.file(segment_id, name)) != item.sha256:
                raise UsageError(
                    f"{target.url} holds a segment {segment_id} with another content: name an empty place for them"
                )

    def _free(self) -> None:
        """Nobody is at work on the copy, whoever was on the original."""
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
        """Closing a database writes its journal back; what is left is empty, and locks of this run are nobody's."""
        shutil.rmtree(self._root / "run", ignore_errors=True)

"""Makes a backup of a data folder that is in use.

The order makes it consistent. First a hold (`frontier.holds`): from then on no segment that the database names is
merged away. Then the index, if wanted: it may be older than the database, never newer. Then the database, as of one
moment. Then the segments that this copy names and the place does not have. The manifest comes last.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from gossamer.clock import Clock
from gossamer.data.folder import DataFolder
from gossamer.data.holding import held
from gossamer.database import meta
from gossamer.database.database import read_database
from gossamer.database.snapshots import check_file, copy_database
from gossamer.errors import BusyError, CorruptError, GossamerError, OperationError, UsageError
from gossamer.frontier.views.inspect import segment_ids
from gossamer.model.counts import counted
from gossamer.operate.backup import files as files
from gossamer.operate.backup.files import Item, Manifest
from gossamer.operate.backup.index_copy import copy_index
from gossamer.settings import FILE_NAME
from gossamer.store import durable, layout
from gossamer.store.durable import SegmentMissingError
from gossamer.store.segment_folder import LocalSegments

log = logging.getLogger(__name__)

_TRIES = 3
"""How often the backup starts over because it lost its hold."""
_LOCK = "backup.lock"


class Copied(msgspec.Struct, frozen=True):
    """What a backup did."""

    manifest: Manifest
    new_segments: int
    new_bytes: int


class _HoldLostError(Exception):
    """The backup stood still for so long that segments were merged: the copied files may not fit together."""


def back_up(folder: DataFolder, place: Path, clock: Clock, index: bool = False, link: bool = False) -> Copied:
    """Make a backup at a place, or update the one that is there."""
    _check_place(folder, place)
    with durable.storing(place):
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _only_one(place):
        _check_whose(folder, place)
        for _ in range(_TRIES):
            with contextlib.suppress(_HoldLostError):
                return _Backup(folder, place, clock, link).run(index)
        raise OperationError(
            "the backup was interrupted for too long, several times: run it again when the machine is less busy"
        )


def verify(place: Path) -> Manifest:
    """Read all files that a backup names; a `CorruptError` names the ones that are missing or have changed."""
    manifest = files.read_manifest(place)
    found = files.problems(place, manifest.items)
    database = place / files.SNAPSHOTS / manifest.snapshot / files.DATABASE
    if not found and (damage := check_file(database)):
        found.append(f"{database} is damaged: {damage}")
    if found:
        more = f" (and {counted(len(found) - 1, 'file')} more)" if len(found) > 1 else ""
        raise CorruptError(f"{found[0]}{more}: run `gossamer backup` with a new place, or use another backup")
    return manifest


class _Backup:
    def __init__(self, folder: DataFolder, place: Path, clock: Clock, link: bool) -> None:
        self._folder, self._place, self._clock, self._link = folder, place, clock, link
        self._earlier = self._known_items()
        stamp = datetime.fromtimestamp(clock.now(), UTC).strftime("%Y%m%dT%H%M%S")
        self._snapshot = place / files.SNAPSHOTS / f"{stamp}-{secrets.token_hex(3)}"
        self._new_segments = self._new_bytes = self._steps = 0

    def run(self, index: bool) -> Copied:
        """Make the backup."""
        self._clear_unfinished()
        try:
            with held(self._folder, self._clock, self._progress) as is_held:
                with durable.storing(self._snapshot):
                    self._snapshot.parent.mkdir(exist_ok=True)
                    self._snapshot.mkdir(mode=0o700)  # it holds passwords, and the folder may have existed before
                if index:
                    copy_index(self._folder.index, self._snapshot / files.INDEX)
                manifest = self._copy_all()
                if not is_held():
                    raise _HoldLostError
                files.write_manifest(self._place, manifest)
        except BaseException:
            shutil.rmtree(self._snapshot, ignore_errors=True)
            raise
        self._clear_unnamed(manifest)
        return Copied(manifest, self._new_segments, self._new_bytes)

    def _step(self) -> None:
        self._steps += 1

    def _progress(self) -> tuple[int, int]:
        """SQLite and the index copy report no progress, so watch their files grow."""
        return self._steps, files.size_of(self._snapshot)

    def _copy_all(self) -> Manifest:
        made_at = self._clock.now()
        copy_database(self._folder.database, self._snapshot / files.DATABASE)
        self._copy_small_files()
        crawl, schema, wanted = _named(self._snapshot / files.DATABASE)
        items, missing = self._copy_segments(wanted)
        moment = [path for path in sorted(self._snapshot.rglob("*")) if path.is_file()]
        for path in moment:
            with durable.storing(path):
                durable.sync_file(path)
        items += [files.item_of(self._place, path, self._step) for path in moment]
        there = tuple(one for one in wanted if one not in missing)
        return Manifest(files.VERSION, made_at, crawl, schema, self._snapshot.name, there, tuple(items), tuple(missing))

    def _copy_small_files(self) -> None:
        for path in (self._folder.root / FILE_NAME, *sorted(self._folder.root.glob("*.model"))):
            if path.is_file():
                files.copy_file(path, self._snapshot / path.name, self._step)

    def _copy_segments(self, wanted: list[str]) -> tuple[list[Item], list[str]]:
        source, target = self._folder.segments, files.stored_segments(self._place)
        with durable.storing(target.root):
            target.create()
        there = set(target.ids())
        items: list[Item] = []
        missing: list[str] = []
        for segment_id in wanted:
            self._step()
            try:
                items += self._kept(target, segment_id) if segment_id in there else self._added(target, segment_id)
            except SegmentMissingError as error:
                log.warning("segment %s of %s is not in the backup: %s", segment_id, source.url, error)
                missing.append(segment_id)
        return items, missing

    def _added(self, target: LocalSegments, segment_id: str) -> list[Item]:
        sums = files.copy_segment(self._folder.segments, target, segment_id, self._link, self._step)
        items = [self._item(target.file(segment_id, name), digest) for name, digest in sums.items()]
        self._new_segments += 1
        self._new_bytes += sum(item.bytes for item in items)
        return items

    def _kept(self, target: LocalSegments, segment_id: str) -> list[Item]:
        """Whether the place has a segment already.

        It is read unless the last finished backup lists it, and copied again if it is damaged: a remnant must not
        count."""
        named = self._earlier.get(segment_id)
        if named is None:
            found = sorted((target.root / segment_id).iterdir())
            return [files.item_of(self._place, path, self._step) for path in found]
        if all(self._is_whole(item) for item in named):
            return named
        log.warning("segment %s at %s is damaged and will be copied again", segment_id, self._place)
        if self._folder.segments.size(segment_id, layout.PAGES) is not None:
            target.discard(segment_id)
        return self._added(target, segment_id)

    def _is_whole(self, item: Item) -> bool:
        path = self._place / item.path
        return path.is_file() and path.stat().st_size == item.bytes

    def _item(self, path: Path, digest: str) -> Item:
        return Item(self._name(path), path.stat().st_size, digest)

    def _name(self, path: Path) -> str:
        return path.relative_to(self._place).as_posix()

    def _known_items(self) -> dict[str, list[Item]]:
        """The files of each segment in the last finished backup at this place."""
        try:
            items = files.read_manifest(self._place).items
        except GossamerError:
            return {}
        found: dict[str, list[Item]] = {}
        for item in items:
            if item.path.startswith(f"{files.SEGMENTS}/"):
                found.setdefault(item.path.split("/")[1], []).append(item)
        return found

    def _clear_unfinished(self) -> None:
        target = files.stored_segments(self._place)
        for segment_id in target.unfinished():
            target.discard_unfinished(segment_id)

    def _clear_unnamed(self, manifest: Manifest) -> None:
        """Delete files that only earlier or killed backups needed."""
        target = files.stored_segments(self._place)
        for segment_id in set(target.ids()) - set(manifest.segments):
            target.discard(segment_id)
        for path in (self._place / files.SNAPSHOTS).iterdir():
            if path.name != manifest.snapshot:
                shutil.rmtree(path, ignore_errors=True)


def _named(database: Path) -> tuple[str, int, list[str]]:
    """The crawl, version and segments that a copied database names."""
    with closing(read_database(database)) as db:
        return meta.crawl_id(db), int(meta.noted(db, meta.SCHEMA) or 0), sorted(segment_ids(db))


def _check_place(folder: DataFolder, place: Path) -> None:
    """A backup must not overwrite the data folder or foreign files."""
    there, root = place.absolute().resolve(), folder.root.absolute().resolve()
    if there == root or root in there.parents:
        raise UsageError(f"{place} is inside the data folder: choose a place on another disk")
    if (place / FILE_NAME).exists() or (place / "frontier.db").exists():
        raise UsageError(f"{place} is a data folder: choose another place for the backup")
    if not place.exists():
        return
    if not place.is_dir():
        raise UsageError(f"{place} is a file: choose a folder for the backup")
    if any(place.iterdir()) and not (place / _LOCK).exists() and not (place / files.MANIFEST).exists():
        raise UsageError(f"{place} holds other files: choose an empty folder, or one with an earlier backup")


def _check_whose(folder: DataFolder, place: Path) -> None:
    """A backup deletes files that its manifest does not name, so it would delete another crawl's backup."""
    try:
        theirs = files.read_manifest(place).crawl
    except GossamerError:  # there is no backup, or an unusable one
        return
    with closing(folder.read()) as db:
        own = meta.crawl_id(db)
    if theirs != own:
        raise UsageError(f"{place} holds the backup of another crawl ({theirs}): choose another place")


@contextlib.contextmanager
def _only_one(place: Path) -> Iterator[None]:
    with durable.storing(place):
        descriptor = os.open(place / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BusyError(f"another backup to {place} is running: wait until it ends") from error
        yield
    finally:
        os.close(descriptor)

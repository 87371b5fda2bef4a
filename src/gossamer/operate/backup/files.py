"""The files of a backup: how they are named, copied and checked.

    manifest.json             lists all files with sizes and checksums: written last, by one rename
    snapshots/<time>/         database, settings and models of one moment; the index if you asked for it
    segments/<id>/            the downloads; a segment never changes, so backups to one place share them

A file that no manifest names does not count. So an earlier backup stays complete until the next one is, and a place
without a manifest is not a backup.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO

import msgspec

from gossamer.errors import CorruptError, StorageError, UsageError
from gossamer.store import durable, layout
from gossamer.store.segment_folder import LocalSegments, Segments

MANIFEST = "manifest.json"
SNAPSHOTS = "snapshots"
SEGMENTS = "segments"
DATABASE = "frontier.db"
INDEX = "index"
VERSION = 1

_PIECE = 1 << 20

Step = Callable[[], None]
"""Called after each piece that was read or copied, as a sign of life."""


def _no_step() -> None:
    return


class Item(msgspec.Struct, frozen=True):
    """A file of a backup."""

    path: str
    """Relative to the backup's folder."""
    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True):
    """All files of a backup."""

    version: int
    made_at: float
    crawl: str
    """The crawl that was backed up."""
    schema: int
    """The schema version of its database."""
    snapshot: str
    """The folder with the files of one moment, under `snapshots`."""
    segments: tuple[str, ...]
    items: tuple[Item, ...]
    missing: tuple[str, ...] = ()
    """Segments that the database named but that were missing when the backup was made."""

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(item.bytes for item in self.items)


def read_manifest(place: Path) -> Manifest:
    """The manifest of a finished backup."""
    try:
        found = msgspec.json.decode((place / MANIFEST).read_bytes(), type=Manifest)
    except FileNotFoundError as error:
        raise UsageError(
            f"{place} is not a finished backup: it has no {MANIFEST}. Run `gossamer backup {place}` and let it finish"
        ) from error
    except (OSError, msgspec.DecodeError) as error:
        raise CorruptError(f"{place / MANIFEST} cannot be read ({error}). Use another backup") from error
    if found.version != VERSION:
        raise UsageError(
            f"{place} was made by another version of Gossamer ({found.version}): restore it with that version"
        )
    for name in (*(item.path for item in found.items), *found.segments, found.snapshot):
        # A backup may come from a stranger: it must not name files outside its folder.
        if not _is_inside(name) or (name in (*found.segments, found.snapshot) and "/" in name):
            raise CorruptError(
                f"{place / MANIFEST} names {name!r}, which is not a file of a backup. Use another backup"
            )
    return found


def _is_inside(path: str) -> bool:
    parts = path.split("/")
    return bool(path) and not any(part in ("", ".", "..") for part in parts) and "\0" not in path


def write_manifest(place: Path, manifest: Manifest) -> None:
    """Write the manifest, which makes the backup count."""
    path = place / MANIFEST
    with durable.storing(path):
        temporary = path.with_suffix(".new")
        temporary.write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))
        durable.sync_file(temporary)
        temporary.replace(path)
        durable.sync_folder(place)


def checksum(path: Path, step: Step = _no_step) -> str:
    """SHA-256."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
            step()
    return digest.hexdigest()


def item_of(place: Path, path: Path, step: Step = _no_step) -> Item:
    """Read a file to its end and describe it."""
    with durable.reading(path):
        return Item(path.relative_to(place).as_posix(), path.stat().st_size, checksum(path, step))


def size_of(folder: Path) -> int:
    """Bytes in a folder that is being written; 0 if it does not exist yet."""
    size = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # renamed or removed just now
                size += Path(root, name).stat().st_size
    return size


def copy_file(source: Path, target: Path, step: Step = _no_step) -> str:
    """Copy a file and return its checksum."""
    digest = hashlib.sha256()
    with source.open("rb") as old, durable.storing(target), target.open("xb") as new:
        while piece := _read(old, source):
            digest.update(piece)
            new.write(piece)
            step()
    return digest.hexdigest()


def _read(file: BinaryIO, path: Path) -> bytes:
    try:
        return file.read(_PIECE)
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}: check the disk and run the backup again") from error


def copy_segment(
    source: Segments, target: Segments, segment_id: str, link: bool = False, step: Step = _no_step
) -> dict[str, str]:
    """Copy or link a segment that the target does not have, and return the checksum of each file.

    Raises a `SegmentMissingError` if the segment is gone, and leaves nothing half done."""
    found: dict[str, str] = {}
    target.discard_unfinished(segment_id)
    with durable.storing(str(target)):
        folder = target.build(segment_id)
    try:
        for name in layout.FILES:
            if source.size(segment_id, name) is None:
                continue
            found[name] = _copy_or_link(source, segment_id, name, folder / name, link, step)
            with durable.storing(folder / name):
                target.finish(segment_id, name)
        if layout.PAGES not in found:
            raise durable.missing(f"segment {segment_id} of {source.url} is missing")
        with durable.storing(folder):
            target.publish(segment_id)
    except BaseException:
        target.discard_unfinished(segment_id)
        raise
    return found


def _copy_or_link(source: Segments, segment_id: str, name: str, target: Path, link: bool, step: Step) -> str:
    path = source.file(segment_id, name)
    try:
        if link:
            try:
                os.link(path, target)
                return checksum(target, step)
            except FileNotFoundError:
                raise
            except OSError:  # another file system, or one without hard links
                target.unlink(missing_ok=True)
        return copy_file(path, target, step)
    except FileNotFoundError as error:
        raise durable.missing(f"{path} is missing") from error


def problems(place: Path, items: Iterable[Item]) -> list[str]:
    """Files of a backup that are missing or have changed, a sentence each."""
    found = []
    for item in items:
        path = place / item.path
        try:
            if path.stat().st_size != item.bytes:
                found.append(f"{path} has {path.stat().st_size} bytes instead of {item.bytes}")
            elif checksum(path) != item.sha256:
                found.append(f"{path} has changed since the backup")
        except FileNotFoundError:
            found.append(f"{path} is missing")
        except OSError as error:
            found.append(f"{path} cannot be read: {error.strerror}")
    return found


def stored_segments(place: Path) -> LocalSegments:
    """The segments of the backups at a place."""
    return LocalSegments(place / SEGMENTS)

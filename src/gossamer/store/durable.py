"""Files that are either whole and on the disk, or do not count.

A segment is built under `segments/.building/<id>/`, which no pattern such as
`segments/*/pages.parquet` matches, and then renamed to `segments/<id>/`. A folder
rename is atomic, so a running reader sees all files of a segment or none. A power
cut may still leave a renamed folder with files that never reached the disk; it is
harmless because the transaction that makes the segment count comes after the last
`fsync`: such a folder is an orphan, and recovery deletes it.

The rename comes *before* the fsyncs: the file system then writes files, folder and
rename in one journal commit instead of two, and the caller holds the database's
write lock while it waits.

Errors of the disk leave here as `StorageError` (cannot write) or `CorruptError`
(what was written is no longer there or no longer right), with what to do.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gossamer.errors import CorruptError, StorageError
from gossamer.store.layout import BUILDING

_ADVICE = {
    errno.ENOSPC: "the disk is full; free some space and start again",
    errno.EDQUOT: "the disk quota is used up; free some space and start again",
    errno.EFBIG: "the file would be larger than the system allows; raise the file size limit and start again",
    errno.EROFS: "the file system is read-only; mount it writable and start again",
    errno.EACCES: "permission denied; give this user write access to the folder",
    errno.EPERM: "permission denied; give this user write access to the folder",
    errno.EMFILE: "too many open files; raise the limit (ulimit -n) and start again",
    errno.ENOTEMPTY: "the segment already exists; choose another id",
    errno.EEXIST: "the segment already exists; choose another id",
    errno.ENOTDIR: "there is a file where a folder should be; move it away and start again",
}

_WAY_OUT = "restore it from a backup, or delete its folder and fetch the pages again: `gossamer recrawl --segment NAME`"


class SegmentMissingError(CorruptError):
    """A file of a segment is missing: lost, or merged into another segment meanwhile."""


def corrupt(path: Path | str, problem: object) -> CorruptError:
    """The error for a damaged file."""
    detail = " ".join(str(problem).split())[:200]
    return CorruptError(f"{path} is damaged ({detail}): {_WAY_OUT}")


def missing(what: str) -> SegmentMissingError:
    """The error for a missing file; `what` says so."""
    return SegmentMissingError(f"{what}: {_WAY_OUT}")


@contextmanager
def storing(path: Path | str) -> Iterator[None]:
    """Turn a failed write below `path` into a `StorageError`."""
    try:
        yield
    except OSError as error:
        fallback = f"{error.strerror or error}; check the disk and start again"
        advice = _ADVICE.get(error.errno or 0, fallback)
        raise StorageError(f"cannot write {path}: {advice} (nothing committed is lost)") from error


@contextmanager
def reading(path: Path | str) -> Iterator[None]:
    """Turn any error that a damaged file causes into a `CorruptError`."""
    try:
        yield
    except FileNotFoundError as error:
        raise missing(f"{path} is missing") from error
    except PermissionError as error:
        raise StorageError(f"cannot read {path}: permission denied; give this user read access") from error
    # pyarrow reports damage as any of these: footers are decoded before they are checked
    except (OSError, ValueError, TypeError, KeyError, IndexError, NotImplementedError, MemoryError) as error:
        raise corrupt(path, error) from error


def start_building(root: Path, segment_id: str) -> Path:
    """A new empty folder to build a segment in."""
    if not root.is_dir():
        root.mkdir(parents=True, exist_ok=True)
        sync_folder(root.parent)
    if (root / segment_id).exists():  # an error later on would remove it
        raise FileExistsError(errno.EEXIST, "segment exists", str(root / segment_id))
    folder = root / BUILDING / segment_id
    folder.parent.mkdir(exist_ok=True)
    folder.mkdir()
    return folder


def publish(root: Path, segment_id: str) -> Path:
    """Put a built segment in place; on return it survives a power cut."""
    final = root / segment_id
    (root / BUILDING / segment_id).rename(final)
    for path in final.iterdir():
        sync_file(path)
    sync_folder(final)
    sync_folder(root)
    return final


def take_back(root: Path, segment_id: str) -> Path:
    """Turn a published segment into one that is being built, out of sight at once."""
    building = root / BUILDING / segment_id
    (root / segment_id).rename(building)
    return building


def discard(root: Path, segment_id: str) -> bool:
    """Remove a segment, built or half built; True if nothing of it is left."""
    building, final = root / BUILDING / segment_id, root / segment_id
    shutil.rmtree(building, ignore_errors=True)
    try:
        final.rename(building)  # out of sight at once, then piece by piece
    except OSError:  # never published; or the disk refuses, and removing it in place is all we can try
        shutil.rmtree(final, ignore_errors=True)
    shutil.rmtree(building, ignore_errors=True)
    return not final.exists() and not building.exists()


def write_new(path: Path, data: bytes | memoryview) -> int:
    """Writes a file that must not exist yet; returns its size."""
    with path.open("xb") as file:
        return file.write(data)


def replace_file(path: Path, data: bytes) -> None:
    """Writes a file that only its owner reads; others see the old one or the new one, also after a power cut."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        partial.touch(0o600)
        partial.write_bytes(data)
        sync_file(partial)
        partial.replace(path)
        sync_folder(path.parent)
    finally:
        partial.unlink(missing_ok=True)


def sync_file(path: Path) -> None:
    """Waits until a file's bytes and length are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fdatasync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Waits until a folder's list of names is on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

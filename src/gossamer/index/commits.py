"""A commit of the index: which segments count, and up to which change of the crawl.

Tantivy writes and merges segments; this module decides which of them count. A commit is `meta.json`, replaced by one
atomic
rename: the list of segments with their deletions, and as its payload the position in the crawl. So a commit and its
position cannot come apart, no matter which process is killed. (The library's Python interface has no commit payload and
no
choice of merge policy; `docs/decisions/0006-index-commits.md` says why that led here.)

Searches in any process open the same file with the plain library.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import tantivy

from gossamer.errors import CorruptError, OperationError, StorageError
from gossamer.index import extras, schema
from gossamer.index.shards import WHOLE, Cut
from gossamer.model.fields import CustomFields

META = "meta.json"
_LOCK = ".tantivy-meta.lock"
"""Tantivy's own: held while a process reads `meta.json` and opens its files."""
_SYSTEM_ERROR = re.compile(r"([^'\":]+) \(os error \d+\)")
"""The library's words for a refusal of the operating system: a full disk, too many open files."""


class IndexVersionError(OperationError):
    """The index was made by another version of Gossamer."""


class IndexCutError(OperationError):
    """The index holds another part of the documents than it should."""


class Payload(msgspec.Struct, frozen=True):
    """Our part of a commit."""

    version: int = schema.VERSION
    position: int = 0
    """Last change of the frontier database that is in the index."""
    committed_at: float = 0.0
    crawl: str = ""
    """The crawl that it is an index of."""
    shard: int = 1
    shards: int = 1
    """The part of the documents that it holds."""
    extras: tuple[str, ...] = ()
    """The analysers of `index/extras.py` that all its words go through."""
    fields: CustomFields = ()
    """The operator's own fields, with their slots (`index/custom.py`)."""
    slots: int = 0
    """How many slots were given so far."""

    @property
    def cut(self) -> Cut:
        """The part of the documents that the index holds."""
        return Cut(self.shard, self.shards)


class Deletes(msgspec.Struct, frozen=True):
    """The deletions of a segment that count."""

    num_deleted_docs: int
    opstamp: int


class Segment(msgspec.Struct, frozen=True):
    """A segment of the index as `meta.json` names it."""

    segment_id: str
    max_doc: int
    deletes: Deletes | None = None

    @property
    def alive(self) -> int:
        """Documents that are not deleted."""
        return self.max_doc - (self.deletes.num_deleted_docs if self.deletes else 0)

    def files(self, folder: Path) -> list[Path]:
        """Its files that count: the newest deletions only."""
        stem = self.segment_id.replace("-", "")
        names = [path for path in folder.glob(f"{stem}.*") if path.suffix not in (".del", ".temp")]
        if self.deletes:
            names.append(folder / f"{stem}.{self.deletes.opstamp}.del")
        return names


class _Meta(msgspec.Struct, frozen=True):
    """`meta.json`, in the library's words."""

    index_settings: dict[str, Any]
    segments: tuple[Segment, ...]
    schema: list[Any]
    opstamp: int
    payload: str | None = None


class Commit(msgspec.Struct, frozen=True):
    """The content of `meta.json`."""

    segments: tuple[Segment, ...]
    opstamp: int
    payload: Payload
    settings: dict[str, Any]
    fields: list[Any]
    """The schema as the library wrote it."""


def create(folder: Path, crawl: str = "", cut: Cut = WHOLE, using: Sequence[str] | None = None) -> None:
    """An empty index of a crawl, or of a part of its documents; `using`: analysers, if not all that are installed."""
    using = extras.installed() if using is None else using
    with storing(folder):
        folder.mkdir(parents=True)
        tantivy.Index(schema.build(), str(folder))
        empty = _parse(folder, (folder / META).read_bytes(), check=False)
        payload = Payload(crawl=crawl, shard=cut.shard, shards=cut.shards, extras=tuple(using))
        write(folder, msgspec.structs.replace(empty, payload=payload))


def read(folder: Path) -> Commit:
    """The present commit; raises `CorruptError` or `IndexVersionError` if there is none to trust."""
    try:
        data = (folder / META).read_bytes()
    except OSError as error:
        raise _corrupt(folder, f"{META} cannot be read ({error.strerror})") from error
    return _parse(folder, data, check=True)


def read_library(folder: Path) -> tuple[Segment, ...]:
    """The segments of an index that the library alone has made."""
    return _parse(folder, (folder / META).read_bytes(), check=False).segments


def check_cut(folder: Path, payload: Payload, cut: Cut) -> None:
    """Raise an `IndexCutError` if an index holds another part of the documents than wanted."""
    if payload.cut == cut:
        return
    wanted = "" if cut.is_whole else f" --shard {cut}"
    held = "without --shard" if payload.cut.is_whole else f"with --shard {payload.cut}"
    raise IndexCutError(
        f"the index in {folder.parent.parent} holds {payload.cut.named}, not {cut.named}: use it {held}, "
        f"or run `gossamer index --rebuild{wanted}`"
    )


def _parse(folder: Path, data: bytes, check: bool) -> Commit:
    try:
        meta = msgspec.json.decode(data, type=_Meta)
        payload = msgspec.json.decode(meta.payload or "{}", type=Payload, strict=False)
    except (ValueError, RecursionError) as error:  # msgspec's are ValueErrors
        raise _corrupt(folder, f"{META} is not readable") from error
    if check and payload.version != schema.VERSION:
        raise IndexVersionError(
            f"the index in {folder.parent} was made by another version of Gossamer "
            f"(format {payload.version}, this one has {schema.VERSION}): run `gossamer index` to rebuild it"
        )
    return Commit(meta.segments, meta.opstamp, payload, meta.index_settings, meta.schema)


def write(folder: Path, commit: Commit) -> None:
    """Make a commit count: everything before the rename is invisible, everything after it durable."""
    payload = msgspec.json.encode(commit.payload).decode()
    meta = _Meta(commit.settings, commit.segments, commit.fields, commit.opstamp, payload)
    with storing(folder):
        temporary = folder / f"{META}.new"
        with temporary.open("wb") as file:
            file.write(msgspec.json.encode(meta))
            file.flush()
            os.fsync(file.fileno())
        sync_folder(folder)  # the segments' names first
        temporary.replace(folder / META)
        sync_folder(folder)


def link(segments: Sequence[Segment], source: Path, target: Path) -> None:
    """Hard-link segments into another folder; their files are immutable, so a link is a copy."""
    with storing(target):
        for segment in segments:
            for path in segment.files(source):
                place = target / path.name
                try:
                    os.link(path, place)
                except FileExistsError:
                    # From a commit that was never finished, or the same file.
                    if not path.samefile(place):
                        place.unlink()
                        os.link(path, place)


def copy(commit: Commit, segments: Sequence[Segment], source: Path, target: Path) -> None:
    """A new index folder with some segments of another."""
    with storing(target):
        target.mkdir()
    link(segments, source, target)
    write(target, Commit(tuple(segments), commit.opstamp, commit.payload, commit.settings, commit.fields))


def collect_garbage(folder: Path, commit: Commit) -> None:
    """Delete files that do not count any more; processes that have them open keep them."""
    wanted = {path.name for segment in commit.segments for path in segment.files(folder)}
    with storing(folder), keeping_files(folder):
        for path in folder.iterdir():
            if path.name not in wanted and not path.name.startswith((".", META)):
                path.unlink(missing_ok=True)


@contextmanager
def keeping_files(folder: Path) -> Iterator[None]:
    """Meanwhile nobody else deletes files of an index, or opens it."""
    with (folder / _LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def stand_in(folder: Path) -> TemporaryDirectory[str] | None:
    """A folder of links to the files of an index that cannot be written; None if it can be. Opening an index takes a
    lock in its folder, and a read-only disk has no place for one."""
    if os.access(folder, os.W_OK):
        return None
    made = TemporaryDirectory(prefix="gossamer-index-", ignore_cleanup_errors=True)
    for path in folder.iterdir():
        if path.name != _LOCK:
            Path(made.name, path.name).symlink_to(path.absolute())
    return made


def sync_folder(folder: Path) -> None:
    """After this, files created, renamed or deleted in a folder survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def storing(folder: Path) -> Iterator[None]:
    """Turn errors of the operating system while an index is written into an error for a person."""
    try:
        yield
    except OSError as error:
        raise _refused(folder, error.strerror or str(error)) from error


def _refused(folder: Path, why: str) -> StorageError:
    return StorageError(
        f"cannot write the index in {folder}: {why}: fix that and start again; nothing committed is lost"
    )


def _corrupt(folder: Path, what: str) -> CorruptError:
    return CorruptError(f"the index in {folder.parent} is damaged: {what}: run `gossamer index --rebuild`")


@contextmanager
def checking(folder: Path) -> Iterator[None]:
    """Turn the library's errors about a damaged index into an error for a person."""
    try:
        yield
    except (ValueError, OSError) as error:
        said = " ".join(str(error).split())
        refused = _SYSTEM_ERROR.search(said)
        if refused:
            raise _refused(folder, refused[1].strip()) from error
        raise _corrupt(folder, said[:300]) from error
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # the library's own, not an Exception
            raise _corrupt(folder, "its files contradict each other") from error
        raise

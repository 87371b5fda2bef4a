"""Places for files that several machines use: a folder that all of them see, or an object store.

Names are relative, with `/`; parts that begin with a dot are hidden from `names`. A file is whole or not there: writers
never show a part of it. When a write returns, the file is on the disk, or the store has acknowledged it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from gossamer.errors import StorageError, UsageError
from gossamer.store.durable import storing, sync_folder
from gossamer.store.file_cache import FileCache

_TRIES = 20
"""How often a folder is made again that another process removes as soon as it is there."""


class PlaceMissing(StorageError):  # noqa: N818 - what is missing, not what went wrong
    """There is no file of that name."""


class Place(Protocol):
    """A folder, wherever it is."""

    @property
    def url(self) -> str:
        """What `open_place` takes, on any machine."""
        ...

    def put(self, name: str, data: bytes | memoryview) -> None:
        """Write a file, in place of one that may be there."""
        ...

    def create(self, name: str, data: bytes | memoryview) -> bool:
        """Write a file unless there is one of that name; returns whether it was written."""
        ...

    def upload(self, name: str, source: Path, keep: bool = False) -> None:
        """Write a file with the content of a local one; `keep`: that one never changes."""
        ...

    def get(self, name: str) -> bytes:
        """A whole file; raises `PlaceMissing` if there is none."""
        ...

    def get_range(self, name: str, start: int, length: int) -> bytes:
        """A piece of a file, shorter if the file ends before, empty behind its end."""
        ...

    def path(self, name: str) -> Path:
        """A local file with that content: the file itself, or a copy that is kept for a while."""
        ...

    def size(self, name: str) -> int | None:
        """Bytes of a file; None if there is none."""
        ...

    def names(self, prefix: str = "") -> Iterator[str]:
        """The names with this prefix, in order."""
        ...

    def delete(self, names: Iterable[str]) -> None:
        """Remove files; missing ones are no error."""
        ...


CACHE_BYTES = 4 << 30
"""Default size of the cache of remote files on a machine."""


def open_place(url: str, cache: Path | None = None, cache_bytes: int = CACHE_BYTES) -> Place:
    """The place of a URL: a path, or `s3://bucket/prefix`; `cache` is where copies of remote files are kept."""
    scheme, separator, _ = url.partition("://")
    if not separator:
        return LocalPlace(Path(url))
    if scheme == "file":
        return LocalPlace(Path(url.removeprefix("file://")))
    if scheme == "s3":
        return _open_object_place(url, cache or default_cache(), cache_bytes, os.getpid())
    raise UsageError(f"{url}: a place must be a folder or s3://bucket/prefix")


def default_cache() -> Path:
    """Where this user keeps copies, on a machine that has no data folder."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(home) if home.startswith("/") else Path.home() / ".cache") / "gossamer"


@lru_cache(maxsize=32)
def _open_object_place(url: str, cache: Path, cache_bytes: int, _process: int) -> Place:
    """One for a process, because it holds connections; a forked one must not use those of its parent."""
    try:
        from gossamer.store.object_place import ObjectPlace
    except ImportError as error:
        raise UsageError(f"{url}: object stores need an extra: pip install 'gossamer[s3]'") from error
    return ObjectPlace(url, FileCache(cache / "copies", cache_bytes))


def check_name(name: str) -> None:
    """Names stay below their place."""
    if not name or name.startswith("/") or ".." in name.split("/"):
        raise ValueError(f"not a name in a place: {name!r}")


def is_hidden(name: str) -> bool:
    """Whether a part begins with a dot: incomplete, or not for others."""
    return name.startswith(".") or "/." in name


class LocalPlace:
    """A folder of this machine, or one mounted on all of them."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def url(self) -> str:
        """The folder's path."""
        return str(self.root.absolute())

    def put(self, name: str, data: bytes | memoryview) -> None:
        """Write beside it, sync, rename."""
        with self._writing(name) as (temporary, final):
            _write(temporary, data)
            temporary.replace(final)

    def create(self, name: str, data: bytes | memoryview) -> bool:
        """A hard link fails if the name is taken, on every file system that has them."""
        with self._writing(name) as (temporary, final):
            _write(temporary, data)
            try:
                os.link(temporary, final)
            except FileExistsError:
                return False
        return True

    def upload(self, name: str, source: Path, keep: bool = False) -> None:
        """A copy, so that the source may go."""
        with self._writing(name) as (temporary, final):
            with source.open("rb") as origin, temporary.open("wb") as file:
                shutil.copyfileobj(origin, file, 1 << 20)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(final)

    def get(self, name: str) -> bytes:
        """A whole file."""
        with self._reading(name) as path:
            return path.read_bytes()

    def get_range(self, name: str, start: int, length: int) -> bytes:
        """A piece of a file."""
        with self._reading(name) as path, path.open("rb") as file:
            file.seek(start)
            return file.read(max(0, length))

    def path(self, name: str) -> Path:
        """The file itself."""
        with self._reading(name) as path:
            _size(path)
        return path

    def size(self, name: str) -> int | None:
        """Bytes of a file."""
        try:
            with self._reading(name) as path:
                return _size(path)
        except PlaceMissing:
            return None

    def names(self, prefix: str = "") -> Iterator[str]:
        """Walks the folder of the prefix."""
        found = []
        for folder, folders, files in os.walk(self.root / prefix.rpartition("/")[0]):
            folders[:] = [name for name in folders if not is_hidden(name)]
            for file in files:
                name = Path(folder, file).relative_to(self.root).as_posix()
                if name.startswith(prefix) and not is_hidden(name):
                    found.append(name)
        yield from sorted(found)

    def delete(self, names: Iterable[str]) -> None:
        """Remove files, and folders that are empty then."""
        for name in names:
            check_name(name)
            path = self.root / name
            with storing(path), contextlib.suppress(FileNotFoundError, NotADirectoryError):
                path.unlink()
            for folder in itertools.takewhile(lambda one: one != self.root, path.parents):
                try:
                    folder.rmdir()
                except OSError:
                    break

    @contextlib.contextmanager
    def _reading(self, name: str) -> Iterator[Path]:
        check_name(name)
        path = self.root / name
        try:
            yield path
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            raise PlaceMissing(f"{path} is missing") from None
        except OSError as error:
            raise StorageError(f"cannot read {path}: {error.strerror}; check the disk and its permissions") from error

    @contextlib.contextmanager
    def _writing(self, name: str) -> Iterator[tuple[Path, Path]]:
        """A temporary file beside the final one; on return the folder's list of names is on the disk."""
        check_name(name)
        final = self.root / name
        temporary = final.with_name(f".{secrets.token_hex(8)}")
        with storing(final):
            _make_folder_for(temporary)
            try:
                yield temporary, final
            finally:
                temporary.unlink(missing_ok=True)
            sync_folder(final.parent)


def _make_folder_for(temporary: Path) -> None:
    """Make the file with its folder in a loop: a process that deletes the last file in it removes the folder."""
    for _ in range(_TRIES):
        temporary.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.touch(exist_ok=False)
            return
        except FileNotFoundError:
            continue
    temporary.touch(exist_ok=False)


def _size(path: Path) -> int:
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise IsADirectoryError
    return found.st_size


def _write(path: Path, data: bytes | memoryview) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())

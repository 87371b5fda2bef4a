"""Where files lie that several machines use: a folder that all of them see, or an object store.

Names are relative, with `/`. A file is whole or not there: writers never show a part of it. What is written is on
the disk, or acknowledged by the store, when the call returns.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from gossamer.errors import StorageError, UsageError
from gossamer.store.durable import storing, sync_folder


class PlaceMissing(StorageError):  # noqa: N818 - what is missing, not what went wrong
    """There is no file of that name."""


class Place(Protocol):
    """A folder, wherever it is."""

    @property
    def url(self) -> str:
        """What `open_place` takes, on any machine."""
        ...

    def put(self, name: str, data: bytes | memoryview) -> None:
        """Write a file, in the place of one that may be there."""
        ...

    def create(self, name: str, data: bytes | memoryview) -> bool:
        """Write a file unless there is one of that name; whether it was written."""
        ...

    def upload(self, name: str, source: Path) -> None:
        """Write a file with the content of a local one."""
        ...

    def get(self, name: str) -> bytes:
        """A whole file; `PlaceMissing` where there is none."""
        ...

    def get_range(self, name: str, start: int, length: int) -> bytes:
        """A piece of a file."""
        ...

    def path(self, name: str) -> Path:
        """A local file with that content: the file itself, or a copy that is kept for a while."""
        ...

    def size(self, name: str) -> int | None:
        """Bytes of a file; None where there is none."""
        ...

    def names(self, prefix: str = "") -> Iterator[str]:
        """The names that begin so, in order."""
        ...

    def delete(self, names: Iterable[str]) -> None:
        """Remove files; those that are not there are no error."""
        ...


def open_place(url: str, cache: Path | None = None) -> Place:
    """The place a URL names: a path, or `s3://bucket/prefix`; `cache` is where copies of remote files are kept."""
    scheme, separator, _ = url.partition("://")
    if not separator:
        return LocalPlace(Path(url))
    if scheme == "file":
        return LocalPlace(Path(url.removeprefix("file://")))
    raise UsageError(f"{url}: a place is a folder or s3://bucket/prefix")


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
        with self._replacing(name) as temporary, temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def create(self, name: str, data: bytes | memoryview) -> bool:
        """A hard link fails where the name is taken, on every file system that has them."""
        final = self._final(name)
        temporary = final.with_name(f".{final.name}.{secrets.token_hex(8)}")
        with storing(final):
            try:
                with temporary.open("xb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.link(temporary, final)
            except FileExistsError:
                return False
            finally:
                temporary.unlink(missing_ok=True)
            sync_folder(final.parent)
        return True

    def upload(self, name: str, source: Path) -> None:
        """A copy, so that the source may go."""
        with self._replacing(name) as temporary, source.open("rb") as origin, temporary.open("xb") as file:
            shutil.copyfileobj(origin, file, 1 << 20)
            file.flush()
            os.fsync(file.fileno())

    def get(self, name: str) -> bytes:
        """A whole file."""
        return self._existing(name).read_bytes()

    def get_range(self, name: str, start: int, length: int) -> bytes:
        """A piece of a file."""
        with self._existing(name).open("rb") as file:
            file.seek(start)
            return file.read(length)

    def path(self, name: str) -> Path:
        """The file itself."""
        return self._existing(name)

    def size(self, name: str) -> int | None:
        """Bytes of a file."""
        try:
            return (self.root / name).stat().st_size
        except FileNotFoundError:
            return None

    def names(self, prefix: str = "") -> Iterator[str]:
        """Walks the folder; what begins with a dot is not whole yet."""
        found = []
        for path in self.root.rglob("*") if self.root.is_dir() else ():
            name = path.relative_to(self.root).as_posix()
            if name.startswith(prefix) and not path.name.startswith(".") and path.is_file():
                found.append(name)
        yield from sorted(found)

    def delete(self, names: Iterable[str]) -> None:
        """Remove files, and folders that are empty then."""
        for name in names:
            path = self.root / name
            path.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                if path.parent != self.root:
                    path.parent.rmdir()

    def _final(self, name: str) -> Path:
        if name.startswith("/") or ".." in name.split("/"):
            raise ValueError(f"not a name in a place: {name!r}")
        final = self.root / name
        with storing(final):
            final.parent.mkdir(parents=True, exist_ok=True)
        return final

    def _existing(self, name: str) -> Path:
        path = self.root / name
        if not path.is_file():
            raise PlaceMissing(f"{path} is missing")
        return path

    @contextlib.contextmanager
    def _replacing(self, name: str) -> Iterator[Path]:
        final = self._final(name)
        temporary = final.with_name(f".{final.name}.{secrets.token_hex(8)}")
        with storing(final):
            try:
                yield temporary
                temporary.replace(final)
            finally:
                temporary.unlink(missing_ok=True)
            sync_folder(final.parent)

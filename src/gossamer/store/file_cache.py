"""Copies of remote files on this machine; the least recently used are deleted first.

All processes of a machine share the folder. A copy appears whole, by a rename, and its modification time is its last
use.
Before a file comes in, the least recently used ones make room. Listing a folder full of small files takes a while, so a
process does it once for every sixteenth of the limit that it adds: alone it never exceeds the limit, each further
process
may exceed it by a sixteenth. A file larger than the limit is kept until others come. A process that has a copy open can
still read it after it was deleted.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock
from typing import BinaryIO
from urllib.parse import quote

from gossamer.store.durable import storing, sync_file

_LONGEST = 180
"""Bytes of a file name that are taken as they are; file systems stop at 255."""
_ABANDONED = 3600 * 10**9
"""Nanoseconds after which an incomplete file was surely left by a process that died."""
_PARTS = 16
"""Into how many parts the limit is cut: see the head of this file."""


class FileCache:
    """A folder of copies, bounded in bytes."""

    def __init__(self, root: Path, limit: int) -> None:
        self.root, self.limit = root, limit
        self._room = 0
        """Bytes that may come in before the folder is listed again."""
        self._lock = Lock()

    def find(self, name: str, version: str) -> Path | None:
        """The copy of a version of a file, marked as used; None if there is none."""
        path = self._path(name, version)
        return path if touched(path) else None

    def add(self, name: str, version: str, size: int, write: Callable[[BinaryIO], None]) -> Path:
        """Make a copy of a file; `write` fills it."""
        path = self._path(name, version)
        with storing(path), self._coming(size) as temporary:
            with temporary.open("xb") as file:
                write(file)
                file.flush()
                os.fdatasync(file.fileno())  # a copy must not be empty after a power cut, and trusted
            temporary.replace(path)
        return path

    def adopt(self, name: str, version: str, source: Path) -> None:
        """Keep a local file that will not change any more; without a copy of its bytes, or not at all."""
        with contextlib.suppress(OSError), self._coming(source.stat().st_size) as temporary:
            sync_file(source)
            os.link(source, temporary)
            os.utime(temporary)
            temporary.replace(self._path(name, version))

    def bytes(self) -> int:
        """Bytes of all copies."""
        return sum(size for _, size, _ in self._copies())

    @contextlib.contextmanager
    def _coming(self, size: int) -> Iterator[Path]:
        self.root.mkdir(parents=True, exist_ok=True)
        with self._lock:
            self._room -= size
            if self._room < 0:
                self._make_room(size)
        temporary = self.root / f".{secrets.token_hex(8)}"
        try:
            yield temporary
        finally:
            temporary.unlink(missing_ok=True)

    def _make_room(self, size: int) -> None:
        copies = sorted(self._copies(), key=lambda one: one[2])
        self._room = self.limit // _PARTS
        too_much = sum(one[1] for one in copies) + size + self._room - self.limit
        for path, freed, used in copies:
            if too_much <= 0:
                return
            if not path.name.startswith(".") or copies[-1][2] - used > _ABANDONED:
                path.unlink(missing_ok=True)
                too_much -= freed

    def _copies(self) -> list[tuple[Path, int, int]]:
        found = []
        with contextlib.suppress(FileNotFoundError), os.scandir(self.root) as entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):
                    stat = entry.stat()
                    found.append((Path(entry.path), stat.st_size, stat.st_mtime_ns))
        return found

    def _path(self, name: str, version: str) -> Path:
        digest = hashlib.blake2b(version.encode(), digest_size=6).hexdigest()
        return self.root / f"{digest}-{_flat(name)}"


def touched(path: Path) -> bool:
    """Mark a copy as used now; false where it is gone."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


def _flat(name: str) -> str:
    flat = quote(name, safe="/").replace("/", "+")
    if len(flat) <= _LONGEST:
        return flat
    digest = hashlib.blake2b(name.encode(), digest_size=16).hexdigest()
    return f"{digest}+{flat[-_LONGEST // 2 :]}"

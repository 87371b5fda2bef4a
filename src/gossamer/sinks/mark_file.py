"""Marks in a file, for sinks that cannot keep one themselves; and who may write there."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import msgspec

from gossamer.errors import BusyError, StorageError
from gossamer.sinks.contract import Mark
from gossamer.store.durable import replace_file


class MarkFile:
    """A mark on the disk. Whoever holds it is the only one: the kernel takes the lock back when its process dies."""

    def __init__(self, path: Path, target: str) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StorageError(f"cannot write {path.parent}: {error.strerror}: check its folder") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            raise BusyError(f"another process is already syncing {target}: stop it first") from error

    def read(self) -> Mark | None:
        """The mark; None if there is none yet."""
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=Mark)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError) as error:
            raise StorageError(f"cannot read {self.path}: {error}: delete it to start over") from error

    def write(self, mark: Mark) -> None:
        """Keep a mark in place of the one before."""
        try:
            replace_file(self.path, msgspec.json.encode(mark) + b"\n")
        except OSError as error:
            raise StorageError(f"cannot write {self.path}: {error.strerror}: make room for it") from error

    def close(self) -> None:
        """Let others in."""
        os.close(self._lock)

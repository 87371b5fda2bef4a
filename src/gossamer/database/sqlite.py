"""The frontier database in SQLite, the embedded default.

WAL mode: readers never wait, writers take turns. `synchronous=FULL` makes a commit survive a power cut, which costs one
sync per batch. With a large auto-checkpoint, hot pages are written back once per some thousand changes and not once per
batch.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from gossamer.database.database import Database, Row
from gossamer.errors import CorruptError, DatabaseError, StorageError

_OUTLAST = 120_000
"""Milliseconds that a crawl waits for a writer: one that gives way on a busy machine may get a hundredth of it."""


class SqliteDatabase(Database):
    """A connection to a database file."""

    clustered = "WITHOUT ROWID"

    def __init__(self, path: Path, wait: float = 30.0, readonly: bool = False, cache_mb: int = 64) -> None:
        super().__init__(str(path))
        self.path = path
        self._connection = _connect(path, wait, readonly, cache_mb)

    # Dozens of statements make a page: a context manager around each would cost as much as some of them.

    def execute(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Run one statement and return its rows."""
        try:
            return self._connection.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise translate(error, self.path) from error

    def change(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Run one statement and return the number of rows it changed."""
        try:
            return self._connection.execute(sql, values).rowcount
        except sqlite3.Error as error:
            raise translate(error, self.path) from error

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for many rows."""
        try:
            self._connection.executemany(sql, rows)
        except sqlite3.Error as error:
            raise translate(error, self.path) from error

    def iterate(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """Rows one by one, for results that do not fit in memory."""
        with _translated(self.path):
            yield from self._connection.execute(sql, values)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """A writing transaction: all or nothing."""
        with _translated(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            with _translated(self.path):
                self._connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything read inside is of one moment."""
        self.execute("BEGIN")
        try:
            yield
        finally:
            self.execute("ROLLBACK")

    def is_empty(self) -> bool:
        """Whether there are no tables yet."""
        return not self.execute("SELECT 1 FROM sqlite_master LIMIT 1")

    def outlast(self) -> None:
        """Wait for minutes before an error, not for as long as a person would."""
        self.execute(f"PRAGMA busy_timeout = {_OUTLAST}")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _connect(path: Path, wait: float, readonly: bool, cache_mb: int) -> sqlite3.Connection:
    with _translated(path):
        connection = sqlite3.connect(
            f"file:{_uri_path(path)}?mode={_mode(path) if readonly else 'rwc'}",
            uri=True, timeout=wait, isolation_level=None, check_same_thread=False, cached_statements=512,
        )  # fmt: skip
        try:
            connection.execute("PRAGMA journal_mode = WAL" if not readonly else "PRAGMA query_only = ON")
            for setting in ("synchronous = FULL", "wal_autocheckpoint = 8000", "temp_store = MEMORY"):
                connection.execute(f"PRAGMA {setting}")
            connection.execute(f"PRAGMA cache_size = -{cache_mb * 1024}")
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def _mode(path: Path) -> str:
    """On a read-only disk SQLite cannot make the files it shares with writers, and there are none."""
    frozen = not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists()
    return "ro&immutable=1" if frozen else "ro"


def _uri_path(path: Path) -> str:
    return str(path.absolute()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")


@contextlib.contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise translate(error, path) from error


def translate(error: sqlite3.Error, path: Path) -> Exception:
    """An SQLite error, for a person."""
    text = str(error)
    if "locked" in text or "busy" in text:
        return DatabaseError(f"another program has locked {path}: end it, or wait and try again")
    if "disk is full" in text or "disk I/O" in text:
        return StorageError(f"{path}: {text}: free some space and start again; nothing committed was lost")
    if "readonly" in text or "unable to open" in text:
        return StorageError(f"{path} cannot be opened for writing: check its permissions and the disk")
    if isinstance(error, sqlite3.DatabaseError) and ("malformed" in text or "not a database" in text):
        return CorruptError(
            f"{path} is damaged ({text}): restore a backup, or move it away and crawl again; "
            "the segments beside it stay readable"
        )
    if "no such table" in text:
        return DatabaseError(f"{path} is not a Gossamer database: use another --data folder")
    return DatabaseError(f"{path}: {text}")

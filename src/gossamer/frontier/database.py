"""One way to talk to the frontier database.

The rest of the frontier writes plain SQL with `?` for values and gets tuples
back. What differs between databases is here: how a writing transaction begins,
what "locked" looks like, how a table is kept in key order. SQLite is the
embedded default; every connection belongs to one thread.

SQLite in WAL mode: readers never wait, writers take turns. `synchronous=FULL`
makes a commit survive a power cut, which costs one sync per batch. A large
auto-checkpoint lets hot pages be written back once per some thousand changes
and not once per batch.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from gossamer.errors import CorruptError, DatabaseError, StorageError, UsageError
from gossamer.frontier import schema

Row = tuple[Any, ...]


class Database:
    """A connection to the frontier database in SQLite."""

    lock_rows = ""
    """Appended to a SELECT that claims rows; PostgreSQL's is FOR UPDATE SKIP LOCKED."""

    def __init__(self, path: Path, wait: float = 30.0, readonly: bool = False, cache_mb: int = 64) -> None:
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

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def open_database(path: Path, wait: float = 30.0, cache_mb: int = 64) -> Database:
    """Open the database for writing; creates it where there is none."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{path.parent} cannot be made ({error.strerror}): name another --data folder") from error
    database = Database(path, wait, cache_mb=cache_mb)
    return _checked(database, _migrate)


def read_database(path: Path, wait: float = 5.0) -> Database:
    """Open an existing database for reading only."""
    require_crawl(path)
    database = Database(path, wait, readonly=True)
    return _checked(database, _check_version)


def require_crawl(path: Path) -> None:
    """There must be a database already."""
    if not path.exists():
        raise UsageError(f"no crawl in {path.parent}: start one with `gossamer crawl SEED --data {path.parent}`")


def _checked(database: Database, check: Callable[[Database], None]) -> Database:
    """The database, or no open connection where the check fails."""
    try:
        check(database)
    except BaseException:
        database.close()
        raise
    return database


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


def _migrate(database: Database) -> None:
    if not database.execute("SELECT 1 FROM sqlite_master LIMIT 1"):
        with database.transaction():
            if not database.execute("SELECT 1 FROM sqlite_master LIMIT 1"):
                for statement in schema.statements("WITHOUT ROWID"):
                    database.execute(statement)
                database.execute("INSERT INTO meta VALUES ('schema', ?)", (str(schema.VERSION),))
                database.execute("INSERT INTO meta VALUES ('change', '0')")
    if _version(database) in schema.UPGRADES:
        with database.transaction():
            version = _version(database)
            for statement in schema.upgrade(version, "WITHOUT ROWID") if version in schema.UPGRADES else ():
                database.execute(statement)
    _check_version(database)
    if not database.execute("SELECT 1 FROM meta WHERE key = 'crawl'"):
        name = secrets.token_hex(8)  # tells an index of this crawl from one of another that lay here before
        database.execute("INSERT INTO meta VALUES ('crawl', ?) ON CONFLICT DO NOTHING", (name,))


def _version(database: Database) -> int:
    """The schema version of a database; 0 where it tells none."""
    found = database.execute("SELECT value FROM meta WHERE key = 'schema'")
    return int(found[0][0]) if found and found[0][0].isdigit() else 0


def _check_version(database: Database) -> None:
    version = _version(database)
    if version == schema.VERSION:
        return
    way_out = "use the version that wrote it, or crawl into a new --data folder"
    if version in schema.UPGRADES:
        way_out = "`gossamer crawl` or `gossamer index` bring it up to date"
    raise DatabaseError(
        f"{database.path} has schema {version or 'none'}, this Gossamer reads {schema.VERSION}: {way_out}"
    )


@contextlib.contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise translate(error, path) from error


def translate(error: sqlite3.Error, path: Path) -> Exception:
    """What an SQLite error means to a person."""
    text = str(error)
    if "locked" in text or "busy" in text:
        return DatabaseError(f"{path} is locked by another program: end it, or wait and try again")
    if "disk is full" in text or "disk I/O" in text:
        return StorageError(f"{path}: {text}: free some space and start again; nothing committed was lost")
    if "readonly" in text or "unable to open" in text:
        return StorageError(f"{path} cannot be opened for writing: check its permissions and the disk")
    if isinstance(error, sqlite3.DatabaseError) and ("malformed" in text or "not a database" in text):
        return CorruptError(
            f"{path} is damaged ({text}): restore a copy, or move it away and crawl anew; "
            "the segments beside it stay readable"
        )
    if "no such table" in text:
        return DatabaseError(f"{path} is not a Gossamer database: name another --data folder")
    return DatabaseError(f"{path}: {text}")

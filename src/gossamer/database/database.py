"""The one interface to the frontier database.

The rest of the frontier writes plain SQL with `?` for values and gets tuples back. The differences between databases
are
here: how a writing transaction begins, what "locked" looks like, how a table is kept in key order. `sqlite` is the
embedded default; `postgres` is for many machines. Every connection belongs to one thread.

Writing transactions take turns, on both: what one reads is still true when it writes, whatever the others do.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, TypeVar

from gossamer.database import schema
from gossamer.database.lists import chunks, marks
from gossamer.errors import DatabaseError, StorageError, UsageError
from gossamer.privacy import keep_private

Row = tuple[Any, ...]
Where = Path | str
"""The file of an SQLite database, or the URL of a PostgreSQL one."""

T = TypeVar("T")

_PATIENCE = 600.0
"""Seconds for which writers wait for a server that is away."""


class DatabaseLost(DatabaseError):  # noqa: N818 - an event, as LeaseLost is
    """The connection broke: nothing of the transaction counts, and you may try it again."""


class Database(ABC):
    """A connection to the frontier database."""

    lock_rows = ""
    """Appended to a SELECT that claims rows of the table it calls `p`."""
    clustered = ""
    """The dialect's word for a table kept in key order."""
    text = "TEXT"
    """The dialect's word for text compared byte by byte."""

    def __init__(self, where: str) -> None:
        self.where = where
        """Its name in messages."""

    @abstractmethod
    def execute(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Run one statement and return its rows."""

    @abstractmethod
    def change(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Run one statement and return the number of rows it changed."""

    @abstractmethod
    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for many rows."""

    def each(self, sql: str, rows: Sequence[Sequence[Any]]) -> list[list[Row]]:
        """The answers to one query with many values, in their order."""
        return [self.execute(sql, values) for values in rows]

    def find(self, columns: str, table: str, keys: tuple[str, str], wanted: Sequence[tuple[int, Any]]) -> list[Row]:
        """The rows of a table with any of these pairs of keys, in any order."""
        groups: dict[int, list[Any]] = {}
        for first, second in wanted:
            groups.setdefault(first, []).append(second)
        found = []
        for first, seconds in sorted(groups.items()):
            for chunk in chunks(sorted(seconds)):
                sql = f"SELECT {columns} FROM {table} WHERE {keys[0]} = ? AND {keys[1]} IN ({marks(chunk)})"
                found += self.execute(sql, (first, *chunk))
        return found

    @abstractmethod
    def iterate(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """Rows one by one, for results that do not fit in memory."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """A writing transaction: all or nothing, and no other at the same time."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[None]:
        """Everything read inside is of one moment, while others write."""

    @abstractmethod
    def is_empty(self) -> bool:
        """Whether there are no tables yet."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""

    def outlast(self) -> None:
        """Wait for minutes, not seconds: processes of a crawl give way to others, so a writer may stand still for a
        while. A server's clients do so from the beginning."""
        return

    def hurry(self) -> None:
        """From another thread: waits for a server that is away end within seconds."""
        return

    def only_one(self, role: str) -> bool:
        """Become the only process in a role for as long as the connection lasts; on one machine, locks of the data
        folder do it."""
        return True

    def patiently(self, call: Callable[[], T]) -> T:
        """A call's result; if connections can break, it is repeated on a new one. It must be one transaction, or change
        nothing."""
        return call()

    def clock_ahead(self, now: Callable[[], float]) -> float:
        """Seconds that this machine's clock is ahead of the database's; 0 if they are the same machine."""
        return 0.0


def is_server(where: Where) -> bool:
    """Whether it is a URL of a database server, and not a file."""
    return isinstance(where, str)


def identity(where: Where) -> int:
    """Changes when another file is in the database's place; constant for a server."""
    return where.stat().st_ino if isinstance(where, Path) else 0


def open_database(where: Where, wait: float = 30.0, cache_mb: int = 64) -> Database:
    """Open the database for writing; creates it if there is none."""
    database = _connect(where, wait, readonly=False, cache_mb=cache_mb)
    return _checked(database, _migrate)


def read_database(where: Where, wait: float = 5.0) -> Database:
    """Open an existing database for reading only."""
    require_crawl(where)
    database = _connect(where, wait, readonly=True, cache_mb=64)
    return _checked(database, _check_crawl)


def require_crawl(where: Where) -> None:
    """Raise a `UsageError` if there is no database."""
    if isinstance(where, Path) and not where.exists():
        raise UsageError(f"no crawl in {where.parent}: start one with `gossamer crawl SEED --data {where.parent}`")


def _connect(where: Where, wait: float, readonly: bool, cache_mb: int) -> Database:
    if isinstance(where, str):
        try:
            from gossamer.database.postgres import PostgresDatabase
        except ImportError as error:
            raise UsageError("PostgreSQL needs the extra: pip install 'gossamer[postgres]'") from error
        return PostgresDatabase(where, readonly, patience=wait if readonly else _PATIENCE)
    from gossamer.database.sqlite import SqliteDatabase

    if not readonly:
        try:
            where.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            advice = "use another --data folder"
            raise StorageError(f"cannot create {where.parent} ({error.strerror}): {advice}") from error
        with suppress(OSError):  # SQLite's own error says better why it cannot be written
            if not where.exists():
                where.touch(0o600)
        keep_private(where.parent)
    return SqliteDatabase(where, wait, readonly, cache_mb)


def _checked(database: Database, check: Callable[[Database], None]) -> Database:
    """The database; closes it if the check fails."""
    try:
        check(database)
    except BaseException:
        database.close()
        raise
    return database


def _migrate(database: Database) -> None:
    if database.is_empty():
        with database.transaction():
            if database.is_empty():
                for statement in schema.statements(database.clustered, database.text):
                    database.execute(statement)
                database.execute("INSERT INTO meta VALUES ('schema', ?)", (str(schema.VERSION),))
                database.execute("INSERT INTO meta VALUES ('change', '0')")
                # Tells an index of this crawl from one of another that was here before.
                database.execute("INSERT INTO meta VALUES ('crawl', ?)", (secrets.token_hex(8),))
    if _version(database) in schema.UPGRADES:
        with database.transaction():
            version = _version(database)
            if version in schema.UPGRADES:
                _refuse_while_working(database)
                for statement in schema.upgrade(version, database.clustered, database.text):
                    database.execute(statement)
    _check_version(database)
    if not database.execute("SELECT 1 FROM meta WHERE key = 'crawl'"):
        with database.transaction():
            name = secrets.token_hex(8)
            database.execute("INSERT INTO meta VALUES ('crawl', ?) ON CONFLICT DO NOTHING", (name,))


def _check_crawl(database: Database) -> None:
    if database.lock_rows and database.is_empty():
        raise UsageError(f"no crawl in {database.where} yet: start one with `gossamer crawl SEED --database URL`")
    _check_version(database)


def _refuse_while_working(database: Database) -> None:
    """Workers of the older version would continue with tables they do not know."""
    if not database.lock_rows:  # one machine: its locks show which workers run
        return
    now = "EXTRACT(EPOCH FROM CLOCK_TIMESTAMP())"
    names = [row[0] for row in database.execute(f"SELECT id FROM workers WHERE expires_at > {now} ORDER BY id")]
    if names:
        raise DatabaseError(
            f"{database.where} has an older schema and workers of that version are running ({', '.join(names[:3])}): "
            "stop them on all machines, then start this version"
        )


def _version(database: Database) -> int:
    """The schema version of a database; 0 if it has none."""
    found = database.execute("SELECT value FROM meta WHERE key = 'schema'")
    return int(found[0][0]) if found and found[0][0].isdigit() else 0


def _check_version(database: Database) -> None:
    version = _version(database)
    if version == schema.VERSION:
        return
    way_out = "use the version that wrote it, or crawl into a new --data folder"
    if version in schema.UPGRADES:
        way_out = "run `gossamer crawl` or `gossamer index` to upgrade it"
    raise DatabaseError(
        f"{database.where} has schema {version or 'none'}, this Gossamer reads {schema.VERSION}: {way_out}"
    )

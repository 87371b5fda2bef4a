"""A whole frontier database as one SQLite file, of one moment, while others write; and back.

From SQLite it is a copy of the file's pages. From PostgreSQL all tables are read in one snapshot into a file with the
same tables, so a backup of either can be restored as either.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

from gossamer.database import schema
from gossamer.database.database import Database, Row, Where, open_database, read_database
from gossamer.database.sqlite import translate
from gossamer.errors import UsageError

_ROWS = 5000
"""Rows read at a time."""


def table_names() -> list[str]:
    """All tables of the frontier."""
    return re.findall(r"CREATE TABLE (\w+)", schema.TABLES)


def copy_database(where: Where, target: Path) -> None:
    """Write the database, as it is at one moment, to a new file."""
    if isinstance(where, Path):
        copy_file(where, target)
        return
    source, copy = read_database(where), open_database(target)
    try:
        with source.snapshot(), copy.transaction():
            _copy_tables(source, copy, columns_of=copy)
    finally:
        copy.close()
        source.close()
    copy_file(target, compact := target.with_suffix(".new"))  # one file, without a journal beside it
    compact.replace(target)


def copy_file(source: Path, target: Path) -> None:
    """Copy an SQLite database that may be written meanwhile; the copy is one file, of one moment, on the disk."""
    for path in (target, *_beside(target)):
        path.unlink(missing_ok=True)
    old_uri, new_uri = f"{source.absolute().as_uri()}?mode=ro", target.absolute().as_uri()
    with _told(target), _connected(old_uri) as old, _connected(new_uri) as new:
        old.backup(new)
        # Only a restore reads the copy: no journal beside it.
        new.execute("PRAGMA journal_mode = DELETE")
    for path in _beside(target):
        path.unlink(missing_ok=True)


def check_file(path: Path) -> str:
    """Damage of an SQLite file; empty for none."""
    try:
        with _connected(f"{path.absolute().as_uri()}?mode=ro&immutable=1") as connection:
            found = connection.execute("PRAGMA quick_check").fetchone()[0]
    except sqlite3.Error as error:
        return str(error)
    return "" if found == "ok" else str(found)


def fill_database(target: Where, source: Path) -> None:
    """Write a file's tables into a database that holds no crawl yet: all of them or nothing."""
    old, new = open_database(source), open_database(target)
    try:
        if any(new.execute(f"SELECT 1 FROM {table} LIMIT 1") for table in ("seeds", "sites", "segments")):
            raise UsageError(f"{new.where} already holds a crawl: use another database, or drop its tables first")
        with new.transaction():
            _copy_tables(old, new, columns_of=old)
    finally:
        new.close()
        old.close()


def _copy_tables(source: Database, target: Database, columns_of: Database) -> None:
    for table in table_names():
        names = [row[1] for row in columns_of.execute(f"PRAGMA table_info({table})")]
        columns = ", ".join(names)
        target.execute(f"DELETE FROM {table}")
        insert = f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(names))})"
        rows = source.iterate(f"SELECT {columns} FROM {table}")
        while batch := [_storable(row) for row in islice(rows, _ROWS)]:
            target.many(insert, batch)


def _storable(row: Row) -> Row:
    """PostgreSQL keeps no NUL in a text."""
    return tuple(value.replace("\0", "\ufffd") if isinstance(value, str) and "\0" in value else value for value in row)


def _beside(path: Path) -> list[Path]:
    return [path.with_name(path.name + suffix) for suffix in ("-wal", "-shm", "-journal")]


@contextlib.contextmanager
def _connected(uri: str) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(uri, uri=True, timeout=30.0)) as connection:
        yield connection


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise translate(error, path) from error

"""The frontier database on a PostgreSQL server, for many machines.

Writing transactions take turns by an advisory lock, as SQLite's do by its file lock, so the same code is right on both.
Reading and signs of life never wait for a turn.

Connections break. A transaction whose connection broke before its COMMIT never happened and is repeated on a new
connection (`patiently`). If it broke *during* the COMMIT, nobody here knows: we ask the server by the transaction's
number what happened, so that no batch is lost and none is reported twice. A backend that the server still believes
alive
would keep its turn: we end it by name when we come back, and the server ends it by itself after `_SILENCE` seconds if
we
do not. If a client freezes in the middle of a statement, the server would wait for the rest for ever: processes that
wait for their turn end it (`_end_silent`). If we wait for an answer that cannot come any more, another thread breaks
the
connection (`postgres_watch`).
"""

from __future__ import annotations

import contextlib
import logging
import random
import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, LiteralString, TypeVar

import psycopg
from psycopg import errors
from psycopg.adapt import Dumper, Loader
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.numeric import Int8Dumper

from gossamer.database.database import Database, DatabaseLost, Row
from gossamer.database.postgres_watch import Watch
from gossamer.errors import DatabaseError, StorageError, UsageError

log = logging.getLogger(__name__)
T = TypeVar("T")

_SILENCE = 30
"""Seconds without a word after which the server drops a connection that is in a transaction."""
_SESSION = {
    "idle_in_transaction_session_timeout": f"{_SILENCE}s",
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": f"{_SILENCE}s",
    # A commit is on the disk when it is acknowledged, whatever the server's default.
    "synchronous_commit": "on",
    # Statements are small and alike: JIT and parallel plans cost more than they save.
    "jit": "off",
}
_CLIENT = {
    "connect_timeout": 5, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3,
    "tcp_user_timeout": 1000 * _SILENCE,
}  # fmt: skip
_TURN = "hashtextextended(current_schema(), 7)"
_BEGIN = f"""BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL lock_timeout = '{_SILENCE}s';
SELECT pg_advisory_xact_lock({_TURN});
SET LOCAL lock_timeout = DEFAULT;
SELECT txid_current()"""
_HOLDER = f"""FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND database = (SELECT oid FROM pg_database
WHERE datname = current_database()) AND (classid::bigint << 32 | objid::bigint) = {_TURN}"""
_WHO_WRITES = f"SELECT pid, xact_start::text {_HOLDER}"
_END_SILENT = f"""SELECT pg_terminate_backend(pid) {_HOLDER}
AND wait_event_type = 'Client' AND state_change < CLOCK_TIMESTAMP() - interval '{_SILENCE}s'"""
_NOW = "SELECT EXTRACT(EPOCH FROM CLOCK_TIMESTAMP())::double precision"
_FIRST_TRY = 10.0
"""Seconds for which the first connection is tried."""
_LINGERING = 3.0
"""Seconds after which the server has surely noticed that a process of ours was killed."""
_LONGEST_PAUSE = 5.0
"""Most seconds between two attempts."""
_HURRY = 5.0
"""Seconds that a process that is to stop waits for a server."""
_MEASURED = 5
_COPIED = 10
"""Rows from which a COPY is worth its overhead."""
_FETCHED = 5000
"""Rows on their way at a time."""
_PLAIN_INSERT = re.compile(r"INSERT INTO (\w+) \(([\w, ]+)\) VALUES \((?:\?, )*\?\)")
_ARRAYS: dict[type, str] = {int: "bigint", str: "text", float: "double precision"}
_LOST: tuple[type[psycopg.Error], ...] = (
    errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow, errors.IdleInTransactionSessionTimeout,
    errors.SerializationFailure, errors.DeadlockDetected, errors.ReadOnlySqlTransaction, errors.TooManyConnections,
    errors.ConnectionFailure, errors.ConnectionDoesNotExist, errors.ConnectionException,
)  # fmt: skip
"""Errors that pass with time."""


class _NumberOfBool(Dumper):
    """Booleans are numbers in our tables, as in SQLite."""

    oid = psycopg.adapters.types["int8"].oid

    def dump(self, obj: bool) -> bytes:
        """0 or 1."""
        return b"1" if obj else b"0"


class _PlainNumber(Loader):
    """Sums come as `numeric`: whole ones become ints, as in SQLite."""

    def load(self, data: bytes | bytearray | memoryview) -> int | float:
        """An int, or a float where it has a fraction."""
        text = bytes(data)
        return int(text) if text.lstrip(b"-").isdigit() else float(text)


class PostgresDatabase(Database):
    """A connection to a database server, made again when it breaks."""

    lock_rows = " FOR UPDATE OF p SKIP LOCKED"
    text = 'TEXT COLLATE "C"'

    def __init__(self, url: str, readonly: bool = False, patience: float = 600.0) -> None:
        """`patience`: seconds to wait for a lost server."""
        self._parameters = _parameters(url)
        super().__init__(_shown(self._parameters))
        self._readonly = readonly
        self._patience = patience
        self._name = ""
        self._in_transaction = False
        self._roles: list[str] = []
        self._hurried = False
        self._watch = Watch(self, self.where, self._parameters)
        self._connection = self._first_connection()

    def execute(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Run one statement and return its rows; a query is repeated if the connection broke."""
        if sql.startswith("SELECT") and not self._in_transaction:
            return self.patiently(lambda: self._execute(sql, values).fetchall())
        cursor = self._execute(sql, values)
        return cursor.fetchall() if cursor.description is not None else []

    def change(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Run one statement and return the number of rows it changed."""
        return self._execute(sql, values).rowcount

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for many rows: plain insertions by COPY, everything else sent in one go."""
        rows = rows if isinstance(rows, list) else list(rows)
        if not rows:
            return
        try:
            with self._watch, self._connection.cursor() as cursor:
                copy = _copying(sql) if len(rows) >= _COPIED else None
                if copy is None:
                    cursor.executemany(_translated(sql), rows)
                    return
                with cursor.copy(copy) as stream:
                    for row in rows:
                        stream.write_row(row)
        except psycopg.Error as error:
            raise self._translate(error) from error

    def each(self, sql: str, rows: Sequence[Sequence[Any]]) -> list[list[Row]]:
        """All queries in one: a round trip each would take longer than the answers."""
        found: list[list[Row]] = [[] for _ in rows]
        if rows:
            columns = [list(column) for column in zip(*rows, strict=True)]
            for place, *row in self.execute(_all_at_once(sql, _types(rows[0])), columns):
                found[place - 1].append(tuple(row))
        return found

    def find(self, columns: str, table: str, keys: tuple[str, str], wanted: Sequence[tuple[int, Any]]) -> list[Row]:
        """The rows of a table with any of these pairs of keys."""
        if not wanted:
            return []
        first, second = _types(wanted[0])
        sql = (
            f"SELECT {columns} FROM {table} JOIN unnest(?::{first}[], ?::{second}[]) wanted(one, other) "
            f"ON {keys[0]} = one AND {keys[1]} = other"
        )
        return self.execute(sql, [list(column) for column in zip(*wanted, strict=True)])

    def iterate(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """Rows one by one, some thousand on their way."""
        try:
            cursor = self._connection.cursor(f"rows_{secrets.token_hex(4)}", withhold=not self._in_transaction)
            try:
                with self._watch:
                    cursor.execute(_translated(sql), values)
                while True:
                    with self._watch:  # but not while the caller uses the rows
                        rows = cursor.fetchmany(_FETCHED)
                    yield from rows
                    if len(rows) < _FETCHED:
                        break
            finally:
                with self._watch:
                    cursor.close()
        except psycopg.Error as error:
            raise self._translate(error) from error

    def _execute(self, sql: str, values: Sequence[Any]) -> psycopg.Cursor[Row]:
        try:
            with self._watch:
                return self._connection.execute(_translated(sql), values or None)
        except psycopg.Error as error:
            raise self._translate(error) from error

    def _command(self, sql: LiteralString) -> psycopg.Cursor[Row]:
        with self._watch:
            return self._connection.execute(sql, prepare=False)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """A writing transaction, when it is this one's turn."""
        number = self._begin()
        try:
            yield
        except BaseException:
            self._in_transaction = False
            with contextlib.suppress(psycopg.Error):
                self._command("ROLLBACK")
            raise
        self._in_transaction = False
        try:
            self._command("COMMIT")
        except psycopg.Error as error:
            lost = self._translate(error)
            if not isinstance(lost, DatabaseLost) or not self._was_committed(number):
                raise lost from error

    def _begin(self) -> int:
        writer: list[Row] = []
        try:
            while True:
                try:
                    cursor = self._command(_BEGIN)
                    break
                except errors.LockNotAvailable:
                    before, writer = writer, self._end_silent()
                    if self._hurried and writer and writer == before:
                        raise DatabaseError(
                            f"{self.where}: another process has been writing for {_SILENCE} s, and this one is to "
                            "stop: nothing committed is lost"
                        ) from None
            while cursor.nextset():
                pass
            row = cursor.fetchone()
            assert row is not None
            self._in_transaction = True
            return int(row[0])
        except psycopg.Error as error:
            raise self._translate(error) from error

    def _end_silent(self) -> list[Row]:
        """End the process that has the turn and leaves the server waiting for the rest of a statement: it is frozen.
        When it wakes up, its connection is broken. Returns who has the turn now, with its transaction."""
        self._command("ROLLBACK")
        if self._command(_END_SILENT).rowcount:
            log.warning("%s: a process froze for %d s while it was writing; the others continue", self.where, _SILENCE)
            return []
        return self._command(_WHO_WRITES).fetchall()

    def _was_committed(self, number: int) -> bool:
        """Whether a transaction whose COMMIT was not answered was committed."""
        self._reconnect()
        started = time.monotonic()
        while True:
            status = self.execute("SELECT txid_status(?)", (number,))[0][0]
            if status != "in progress":
                return bool(status == "committed")
            if self._has_waited(started):
                # Not a lost connection: a repetition now might do it twice.
                raise DatabaseError(
                    f"{self.where} did not end a transaction within {self._limit():.0f} s: the next start will show "
                    "whether it was committed; nothing is lost"
                )
            time.sleep(0.1)

    def patiently(self, call: Callable[[], T]) -> T:
        """A call's result, on a new connection if the old one broke meanwhile."""
        if self._in_transaction:
            return call()
        started, pause = time.monotonic(), 0.0
        while True:
            try:
                return call()
            except DatabaseLost as lost:
                log.warning("%s", lost)
                if self._has_waited(started):
                    raise DatabaseError(
                        f"{self.where} could not be reached for {self._limit():.0f} s: nothing committed is lost; "
                        "start again when it is back"
                    ) from lost
                # A server that takes connections and does not work gets ever fewer questions.
                self._sleep(pause)
                pause = min(2 * pause + 0.1, _LONGEST_PAUSE)
                self._reconnect()

    def hurry(self) -> None:
        """Give up within seconds what waits for the server."""
        self._hurried = True
        self._watch.hurry(_HURRY)

    def _sleep(self, seconds: float) -> None:
        """In short pieces: a signal handler may tell us to hurry, and may take no lock."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, 0.2))
            if self._hurried:
                return

    def _has_waited(self, since: float) -> bool:
        """Whether the server was waited for long enough."""
        return time.monotonic() - since > self._limit()

    def _limit(self) -> float:
        return min(_HURRY, self._patience) if self._hurried else self._patience

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything read inside is of one moment; a broken connection ends it."""
        self.change("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        self._in_transaction = True
        try:
            yield
        finally:
            self._in_transaction = False
            with contextlib.suppress(psycopg.Error):
                self._command("ROLLBACK")

    def only_one(self, role: str) -> bool:
        """Whether no other process has the role; it is taken again with each new connection."""
        sql = "SELECT pg_try_advisory_lock(hashtextextended(current_schema() || ?, 8))"
        deadline = time.monotonic() + _LINGERING
        while not self.execute(sql, (role,))[0][0]:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.1)
        self._roles.append(role)
        return True

    def is_empty(self) -> bool:
        """Whether there are no tables yet."""
        sql = "SELECT 1 FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = 'meta'"
        return not self.execute(sql)

    def clock_ahead(self, now: Callable[[], float]) -> float:
        """Seconds that this machine's clock is ahead of the server's."""
        for _ in range(_MEASURED):
            before = now()
            server = float(self.execute(_NOW)[0][0])
            after = now()
            if after - before < 1.0:  # else the connection was made anew, or the machine slept
                break
        return (before + after) / 2 - server

    def close(self) -> None:
        """Close the connection."""
        self._watch.close()
        self._connection.close()

    def _first_connection(self) -> psycopg.Connection[Row]:
        deadline = time.monotonic() + min(_FIRST_TRY, self._patience)
        while True:
            try:
                return self._connect()
            except psycopg.OperationalError as error:
                if time.monotonic() > deadline or not _may_pass(error):
                    raise _no_connection(self.where, error) from error
                time.sleep(0.5)

    def _reconnect(self) -> None:
        """A new connection, tried for as long as patience lasts, ever more slowly; frees what the old one held."""
        old, self._in_transaction = self._name, False
        with contextlib.suppress(psycopg.Error):
            self._connection.close()
        started, pause = time.monotonic(), 0.1
        while True:
            try:
                self._connection = self._connect()
                with self._watch:
                    self._connection.execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s", (old,)
                    )
                break
            except psycopg.Error as error:
                if self._has_waited(started):
                    raise _no_connection(self.where, error) from error
                log.warning("cannot reach %s (%s): trying again", self.where, _one_line(error))
                self._sleep(pause * random.uniform(0.5, 1.0))
                pause = min(2 * pause, _LONGEST_PAUSE)
        roles, self._roles = self._roles, []
        for role in roles:
            if not self.only_one(role):
                raise DatabaseError(f"{self.where}: another machine took over meanwhile (role: {role})")

    def _connect(self) -> psycopg.Connection[Row]:
        self._name = f"gossamer-{secrets.token_hex(6)}"
        connection = psycopg.connect(
            **{**self._parameters, "application_name": self._name}, autocommit=True, prepare_threshold=3,
        )  # fmt: skip
        self._watch.over(connection, self._name)
        connection.prepared_max = 1000
        connection.adapters.register_dumper(int, Int8Dumper)
        connection.adapters.register_dumper(bool, _NumberOfBool)
        connection.adapters.register_loader("numeric", _PlainNumber)
        if self._readonly:
            with self._watch:
                connection.execute("SET default_transaction_read_only = on")
        return connection

    def _translate(self, error: psycopg.Error) -> Exception:
        """An error of the server, for a person."""
        if isinstance(error, _LOST) or self._connection.closed or self._connection.broken:
            return DatabaseLost(f"{self.where}: the connection was lost ({_one_line(error)})")
        if isinstance(error, errors.DiskFull | errors.OutOfMemory):
            return StorageError(
                f"{self.where}: {_one_line(error)}: give the server more space; nothing committed is lost"
            )
        if isinstance(error, errors.UndefinedTable | errors.UndefinedColumn):
            return DatabaseError(f"{self.where} is not a Gossamer database ({_one_line(error)}): use another one")
        if isinstance(error, errors.InsufficientPrivilege):
            return DatabaseError(
                f"{self.where}: {_one_line(error)}: give this user the right to create and write tables"
            )
        return DatabaseError(f"{self.where}: {_one_line(error)}")


@lru_cache(maxsize=2048)
def _translated(sql: str) -> LiteralString:
    return sql.replace("%", "%%").replace("?", "%s")


@lru_cache(maxsize=256)
def _copying(sql: str) -> LiteralString | None:
    """The COPY equivalent of a plain INSERT; None if the statement is more than that."""
    match = _PLAIN_INSERT.fullmatch(" ".join(sql.split()))
    return f"COPY {match[1]} ({match[2]}) FROM STDIN" if match else None


@lru_cache(maxsize=256)
def _all_at_once(sql: str, types: tuple[str, ...]) -> str:
    """One query about all rows of some arrays, with the place of the row before each answer."""
    names = [f"v{place}" for place in range(len(types))]
    pieces = sql.split("?")
    question = "".join(piece + name for piece, name in zip(pieces, [*names, ""], strict=True))
    arrays = ", ".join(f"?::{type_}[]" for type_ in types)
    values = f"unnest({arrays}) WITH ORDINALITY AS rows({', '.join(names)}, place)"
    return f"SELECT place, answer.* FROM {values} CROSS JOIN LATERAL ({question}) answer ORDER BY place"


def _types(row: Sequence[Any]) -> tuple[str, ...]:
    return tuple(_ARRAYS[type(value)] for value in row)


def _parameters(url: str) -> dict[str, Any]:
    try:
        given = conninfo_to_dict(url)
    except psycopg.Error as error:
        raise UsageError(f"not the URL of a database ({_one_line(error)}): postgresql://user@host/name") from error
    ours = " ".join(f"-c {name}={value}" for name, value in _SESSION.items())
    return {**_CLIENT, **given, "options": f"{ours} {given.get('options') or ''}".strip()}


def _shown(parameters: dict[str, Any]) -> str:
    """The URL without its password."""
    user, host, port = (parameters.get(name) for name in ("user", "host", "port"))
    place = f"{user}@" if user else ""
    return f"postgresql://{place}{host or 'localhost'}{f':{port}' if port else ''}/{parameters.get('dbname') or ''}"


def _may_pass(error: psycopg.Error) -> bool:
    """Whether trying again helps: not with a wrong password, name or host."""
    text = str(error)
    for_good = ("authentication", "does not exist", "role ", "pg_hba", "translate host name", "resolve host")
    return not any(word in text for word in for_good)


def _no_connection(where: str, error: psycopg.Error) -> DatabaseError:
    return DatabaseError(f"cannot reach {where} ({_one_line(error)}): check the URL, and that the server is up")


def _one_line(error: psycopg.Error) -> str:
    return " ".join(str(error).split())[:200]

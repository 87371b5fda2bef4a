"""The two databases of `scale.py`: where the crawl keeps its frontier, and what the server says about its own work."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

import psycopg

from _postgres import PostgresServer, has_postgres
from _scale_processes import parent_of, tree_cpu
from gossamer.database.database import Where, read_database


class Sqlite:
    """A file in the data folder."""

    name = "SQLite"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def room(self, data: Path) -> Where:
        """An empty database for a crawl."""
        return data / "frontier.db"

    def cpu(self) -> float:
        """CPU seconds of a server so far: there is none, the workers do its work."""
        return 0.0

    def work(self) -> dict[str, float]:
        """What a server counts."""
        return {}


class Postgres:
    """A server on loopback for the length of the benchmark, with its defaults: each commit is synced."""

    name = "PostgreSQL"

    def __init__(self) -> None:
        if not has_postgres():
            raise SystemExit("no PostgreSQL server found: apt-get install postgresql, or --databases sqlite")

    def __enter__(self) -> Self:
        self._server = PostgresServer(durable=True)
        self._control = psycopg.connect(self._server.url("postgres"), autocommit=True)
        self._pid = parent_of(self._control.info.backend_pid)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._control.close()
        self._server.stop()

    def room(self, data: Path) -> Where:
        """An empty database for a crawl."""
        return self._server.database()

    def cpu(self) -> float:
        """CPU seconds of all its processes so far."""
        return tree_cpu(self._pid)

    def work(self) -> dict[str, float]:
        """Transactions, rows and bytes of its log so far."""
        sql = """SELECT xact_commit + xact_rollback, tup_fetched + tup_returned,
            tup_inserted + tup_updated + tup_deleted, (SELECT wal_bytes / 1000.0 FROM pg_stat_wal)::float
            FROM pg_stat_database WHERE datname = 'postgres'"""
        row = self._control.execute(sql).fetchone()
        assert row is not None
        return dict(zip(("transactions", "rows read", "rows changed", "KB of its log"), row, strict=True))


Kind = Sqlite | Postgres
KINDS: dict[str, type[Kind]] = {"sqlite": Sqlite, "postgresql": Postgres}


def sites_by_worker(where: Where) -> list[int]:
    """How many sites each worker holds at this moment, most first."""
    database = read_database(where)
    try:
        sql = "SELECT COUNT(*) FROM parts WHERE owner IS NOT NULL GROUP BY owner"
        return sorted((row[0] for row in database.execute(sql)), reverse=True)
    finally:
        database.close()

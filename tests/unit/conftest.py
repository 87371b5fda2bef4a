"""Databases for tests of tables: each runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.database.database import Database, open_database
from kit.postgres import PostgresServer


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One server for all tests of a process; each test has a database of its own there."""
    server = PostgresServer()
    yield server
    server.stop()


@pytest.fixture(params=["sqlite", "postgres"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty frontier database of either kind."""
    sqlite = request.param == "sqlite"
    where = tmp_path / "frontier.db" if sqlite else request.getfixturevalue("postgres_server").database()
    database = open_database(where)
    if sqlite:
        database.execute("PRAGMA synchronous = OFF")
    yield database
    database.close()

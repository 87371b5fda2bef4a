"""A server that serves pages asks a database that does not answer: it neither waits nor uses all connections up."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from gossamer.data import connection
from gossamer.data.connection import SharedConnection
from gossamer.database.database import Database, open_database
from gossamer.errors import BusyError
from kit.postgres import PostgresServer


@pytest.fixture
def url() -> Iterator[str]:
    server = PostgresServer()
    try:
        made = server.database()
        open_database(made).close()
        yield made
    finally:
        server.stop()


def ask(shared: SharedConnection) -> object:
    def question(db: Database) -> object:
        return db.execute("SELECT COUNT(*) FROM sites")[0][0]

    return shared.ask(question)


def test_few_questions_are_left_to_a_table_that_is_locked(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_ANSWER", 60.0)
    shared = SharedConnection(url)
    assert ask(shared) == 0
    with psycopg.connect(url) as other:
        other.execute("LOCK TABLE sites")
        monkeypatch.setattr(connection, "_ANSWER", 0.3)
        for _ in range(10):
            with pytest.raises(BusyError, match="does not answer"):
                ask(shared)
        sql = "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name LIKE 'gossamer-%'"
        [(connections,)] = other.execute(sql).fetchall()
        assert 1 <= connections <= connection._UNANSWERED
        left = [thread for thread, _ in shared._left]
    for thread in left:
        thread.join(60)
    monkeypatch.setattr(connection, "_ANSWER", 60.0)
    assert ask(shared) == 0


def test_questions_that_are_never_answered_are_given_up(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or a server whose connections died unheard would never ask again."""
    shared = SharedConnection(url)
    with psycopg.connect(url) as other:
        other.execute("LOCK TABLE sites")
        monkeypatch.setattr(connection, "_ANSWER", 0.3)
        for _ in range(10):
            with pytest.raises(BusyError):
                ask(shared)
        monkeypatch.setattr(connection, "_GIVEN_UP", 0.0)
        monkeypatch.setattr(connection, "_ANSWER", 60.0)
        assert shared.ask(lambda db: db.execute("SELECT 1")) == [(1,)]

"""A table of PostgreSQL, `gossamer_pages`. The mark is in a table beside it and is written in the same transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg

from gossamer.api.changes import Change
from gossamer.errors import BusyError, UsageError
from gossamer.sinks.contract import Mark, SinkError

_TEXTS = ("title", "text", "markdown", "language", "date", "updated", "author", "description", "type", "category",
          "site", "site_name", "image", "canonical", "media_type", "text_hash")  # fmt: skip
_OTHERS = ("headings", "status", "depth", "fetched_at", "change")
_COLUMNS = ("url", *_TEXTS, *_OTHERS)
_TABLES: tuple[LiteralString, ...] = (
    "CREATE TABLE IF NOT EXISTS gossamer_pages (url text PRIMARY KEY, title text, text text, markdown text, "
    "language text, date text, updated text, author text, description text, type text, category text, site text, "
    "site_name text, image text, canonical text, media_type text, text_hash text, headings text[], status integer, "
    "depth integer, fetched_at timestamptz, change bigint)",
    "CREATE TABLE IF NOT EXISTS gossamer_sync (one boolean PRIMARY KEY DEFAULT true CHECK (one), "
    "crawl text NOT NULL DEFAULT '', position text NOT NULL DEFAULT '')",
    "INSERT INTO gossamer_sync DEFAULT VALUES ON CONFLICT DO NOTHING",
)
_PUT: LiteralString = (
    "INSERT INTO gossamer_pages (url, title, text, markdown, language, date, updated, author, description, type, "
    "category, site, site_name, image, canonical, media_type, text_hash, headings, status, depth, fetched_at, change) "
    "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) "
    "ON CONFLICT (url) DO UPDATE SET (title, text, markdown, language, date, updated, author, description, type, "
    "category, site, site_name, image, canonical, media_type, text_hash, headings, status, depth, fetched_at, change) "
    "= ROW (excluded.title, excluded.text, excluded.markdown, excluded.language, excluded.date, excluded.updated, "
    "excluded.author, excluded.description, excluded.type, excluded.category, excluded.site, excluded.site_name, "
    "excluded.image, excluded.canonical, excluded.media_type, excluded.text_hash, excluded.headings, excluded.status, "
    "excluded.depth, excluded.fetched_at, excluded.change)"
)
_MARK: LiteralString = "SELECT crawl, position FROM gossamer_sync FOR UPDATE"


class PostgresTable:
    """The sink."""

    at_once = 50
    to_start_over = "drop the tables gossamer_pages and gossamer_sync"

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._connection: psycopg.Connection[Any] | None = None
        self._mark: Mark | None = None

    def mark(self) -> Mark | None:
        """How far it is; makes the tables."""
        with self._transaction() as connection:
            for table in _TABLES:
                connection.execute(table)
            self._mark = _marked(connection)
        return self._mark

    def take(self, changes: Sequence[Change], mark: Mark) -> None:
        """Insert, update and delete rows; all of it and the mark, or nothing."""
        came = [_row(change) for change in changes if change.page is not None]
        left = [(_text(change.url),) for change in changes if change.page is None]
        with self._transaction() as connection, connection.cursor() as cursor:
            now = _marked(connection)
            if now == mark:
                # The connection broke during the commit of the try before, and the server had it.
                self._mark = mark
                return
            if now != self._mark:
                raise BusyError("another process syncs this database, too: stop it, then run this again")
            cursor.executemany(_PUT, came)
            cursor.executemany("DELETE FROM gossamer_pages WHERE url = %s", left)
            cursor.execute("UPDATE gossamer_sync SET crawl = %s, position = %s", (mark.crawl, mark.position))
        self._mark = mark

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[psycopg.Connection[Any]]:
        try:
            if self._connection is None or self._connection.closed:
                self._connection = psycopg.connect(self._dsn, connect_timeout=10)
            with self._connection.transaction():
                yield self._connection
        except psycopg.ProgrammingError as error:
            raise UsageError(f"the database refuses: {_said(error)}") from error
        except psycopg.Error as error:
            raise SinkError(f"the database did not take the pages: {_said(error)}") from error


def _marked(connection: psycopg.Connection[Any]) -> Mark | None:
    row = connection.execute(_MARK).fetchone()
    return Mark(*row) if row and row[1] else None


def _row(change: Change) -> tuple[Any, ...]:
    assert change.page is not None
    known = {**change.page.as_dict(markdown=True), "change": change.number}
    known["headings"] = [_text(heading) for heading in known["headings"]]
    return tuple(_text(known[name]) if isinstance(known[name], str) else known[name] for name in _COLUMNS)


def _text(text: str) -> str:
    """A text without NUL, which PostgreSQL cannot hold."""
    return text.replace("\x00", "")


def _said(error: psycopg.Error) -> str:
    return " ".join(str(error).split())[:300]

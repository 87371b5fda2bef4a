"""The data folder: where everything of a crawl lies, and who may use it.

    gossamer.toml    settings
    frontier.db      the frontier database (SQLite)
    segments/        what was downloaded
    index/           what is searched
    categories.model the classifier of `gossamer categories train`, where there is one
    qrank.model      the model of `gossamer qrank train`, where there is one
    run/             locks: one for `crawl`, one for the indexer, one per worker

A lock is a `flock`, so the kernel frees it when its process dies, however it dies:
that is how a dead worker on this machine is told from a slow one.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from gossamer.crawl.guidance import guidance_of
from gossamer.dedup.near.registry import DEFAULT, near_method
from gossamer.errors import BusyError, ClockError, StorageError
from gossamer.frontier.database import Database, open_database, read_database
from gossamer.frontier.rulebook import load_rules
from gossamer.frontier.sql import SqlFrontier
from gossamer.scope.shape import path_shape
from gossamer.settings import Settings
from gossamer.store.durable import delete_orphans

_CLOCK_SLACK = 120.0


class DataFolder:
    """Paths and locks of one data folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.database = root / "frontier.db"
        self.segments = root / "segments"
        self.index = root / "index"
        self.categories = root / "categories.model"
        self._run = root / "run"

    def create(self) -> None:
        """Make the folder where there is none."""
        try:
            self.segments.mkdir(parents=True, exist_ok=True)
            self._run.mkdir(exist_ok=True)
        except OSError as error:
            raise StorageError(f"cannot create {self.root}: {error.strerror}: choose another --data folder") from error

    def open_frontier(self, settings: Settings) -> SqlFrontier:
        """The frontier, for writing."""
        database = open_database(self.database)
        # Without a method nothing has a fingerprint, and the default is never asked.
        near = near_method(DEFAULT if settings.dedup.near == "none" else settings.dedup.near)
        guidance = guidance_of(settings, load_rules(database))
        return SqlFrontier(
            database, settings.budget, settings.politeness, path_shape, near, settings.dedup.mirrors, guidance
        )

    def read(self) -> Database:
        """The frontier database, for reading."""
        return read_database(self.database)

    def last_options(self) -> dict[str, dict[str, Any]]:
        """What the last crawl changed in the settings by its options."""
        database = self.read()
        try:
            rows = database.execute("SELECT value FROM meta WHERE key = 'options'")
        finally:
            database.close()
        return dict(msgspec.json.decode(rows[0][0])) if rows else {}

    def free_mebibytes(self) -> int:
        """Free space on the folder's disk."""
        return shutil.disk_usage(self.root).free // (1024 * 1024)

    @contextlib.contextmanager
    def crawl_lock(self) -> Iterator[None]:
        """At most one `gossamer crawl` per folder."""
        with self._lock("crawl") as locked:
            if not locked:
                raise BusyError(
                    f"another `gossamer crawl` is running on {self.root}: "
                    "add seeds to it with `gossamer inject`, or use another --data folder"
                )
            yield

    @contextlib.contextmanager
    def index_lock(self, wait: bool = False) -> Iterator[None]:
        """At most one indexer per folder; one that waits takes over when the other ends."""
        self.create()
        with self._lock("index", wait) as locked:
            if not locked:
                raise BusyError(f"an indexer is at work on {self.root} already: the index follows the crawl by itself")
            yield

    @contextlib.contextmanager
    def worker_lock(self, worker: str) -> Iterator[None]:
        """Held by a worker for as long as it lives."""
        self.create()
        with self._lock(worker) as locked:
            if not locked:
                raise BusyError(f"a worker called {worker} is running on {self.root} already")
            yield
        (self._run / f"{worker}.lock").unlink(missing_ok=True)

    def is_alive(self, worker: str) -> bool:
        """Whether a worker of this machine still holds its lock."""
        if not (self._run / f"{worker}.lock").exists():
            return False
        with self._lock(worker) as locked:
            return not locked

    @contextlib.contextmanager
    def _lock(self, name: str, wait: bool = False) -> Iterator[bool]:
        try:
            descriptor = os.open(self._run / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise StorageError(f"cannot write in {self._run}: {error.strerror}: check its permissions") from error
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
                return
            yield True
        finally:
            os.close(descriptor)

    def recover(self, frontier: SqlFrontier, now: float) -> list[str]:
        """Free what dead workers held and delete their unfinished segments; says what was done."""
        done = []
        workers = [row[0] for row in frontier.db.execute("SELECT id FROM workers ORDER BY id")]
        alive = {worker for worker in workers if self.is_alive(worker)}
        for worker in workers:
            if worker not in alive:
                frontier.retire(worker, now)
                (self._run / f"{worker}.lock").unlink(missing_ok=True)
                done.append(f"took the sites of dead worker {worker} back")
        known = {row[0] for row in frontier.db.execute("SELECT id FROM segments WHERE merged_into IS NULL")}
        done += [f"deleted unfinished segment {path.name}" for path in delete_orphans(self.segments, known, alive)]
        return done


def note_options(frontier: SqlFrontier, options: dict[str, dict[str, Any]]) -> None:
    """Remember what a crawl changes in the settings, for the verbs that speak of it."""
    frontier.db.execute(
        "INSERT INTO meta VALUES ('options', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (msgspec.json.encode(options).decode(),),
    )


def check_clock(frontier: SqlFrontier, now: float, accept: bool) -> None:
    """Refuse to go on while the system clock is behind what was written already."""
    rows = frontier.db.execute("SELECT value FROM meta WHERE key = 'last_seen'")
    last = float(rows[0][0]) if rows else 0.0
    behind = last - now
    if behind > _CLOCK_SLACK and not accept:
        raise ClockError(
            f"the system clock is {behind:.0f} s behind the last crawl here: set it right, "
            "or pass --accept-clock to go on from the present time"
        )
    with frontier.db.transaction():
        if behind > _CLOCK_SLACK:
            _turn_back(frontier.db, behind)
        frontier.db.execute(
            "INSERT INTO meta VALUES ('last_seen', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (repr(now),),
        )


def _turn_back(db: Database, seconds: float) -> None:
    """What was to wait, waits as long as it was meant to, by the present clock."""
    for table, column in (
        ("sites", "not_before"),
        ("addresses", "not_before"),
        ("parts", "ready_at"),
        ("schedule", "due_at"),
        ("revisits", "due_at"),
        ("urls", "due_at"),
        ("urls", "checked_at"),
        ("subscriptions", "asked_at"),
        ("subscriptions", "expires_at"),
    ):
        db.execute(f"UPDATE {table} SET {column} = {column} - ? WHERE {column} > 0", (seconds,))

"""The data folder: where everything of a crawl lies, and who may use it.

    gossamer.toml    settings
    storage.json     where database and segments lie, where the command line said so
    frontier.db      the frontier database (SQLite), unless `storage.database` names a server
    segments/        what was downloaded, unless `storage.segments` names another place
    cache/           copies of segments that lie far away, and those that are being built
    index/           what is searched
    categories.model the classifier of `gossamer categories train`, where there is one
    qrank.model      the model of `gossamer qrank train`, where there is one
    run/             locks: one for `crawl`, one for `run`, one for the indexer, one per worker; when what is done
                     every so often was done last

A lock is a `flock`, so the kernel frees it when its process dies, however it dies:
that is how a dead worker on this machine is told from a slow one.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import socket
import time
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from gossamer.data.guidance import guidance_of
from gossamer.database import meta
from gossamer.database.database import Database, Where, is_server, open_database, read_database
from gossamer.dedup.near.registry import DEFAULT, near_method
from gossamer.errors import BusyError, ClockError, StorageError, UsageError
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.views.inspect import segment_ids
from gossamer.frontier.views.segments import has_segments
from gossamer.frontier.views.vitals import workers
from gossamer.privacy import keep_private
from gossamer.scope.shape import path_shape
from gossamer.settings import OWN_SECTIONS, Settings
from gossamer.settings import load as load_settings
from gossamer.store.config import StorageConfig
from gossamer.store.durable import storing
from gossamer.store.orphans import delete_orphans, survey
from gossamer.store.place import PlaceMissing, open_place
from gossamer.store.remote_segments import open_segments
from gossamer.store.segment_folder import Segments
from gossamer.tables.clock_back import latest_written, turn_back
from gossamer.tables.rulebook import load_rules

_CLOCK_SLACK = 120.0
_ORPHAN_AGE = 6 * 3600.0
"""Seconds for which a segment that no worker claims is left alone where other machines may be writing it: whoever
merges segments is no worker, merging takes minutes, and clocks are wrong by an hour at times."""
_LOOKS = 20
"""How often a lock is tried that somebody may only be looking at."""
THINNER = "thin"
"""Who writes segments anew without superseded visits: in their names, and of its lock."""
MERGER = "merge"
"""Who merges large segments, likewise."""
_HELPERS = (THINNER, MERGER)
_STORAGE = "storage.json"
_MARK = "gossamer-crawl.id"
"""Beside the segments of a crawl that several machines share: whose they are."""


class DataFolder:
    """Paths and locks of one data folder."""

    def __init__(self, root: Path, storage: StorageConfig | None = None) -> None:
        """`storage`: where database and segments lie; default: where the folder says."""
        self.root = root
        self.storage = storage or storage_of(root)
        self.database: Where = self.storage.database or root / "frontier.db"
        self.index = root / "index"
        self.categories = root / "categories.model"
        self._run = root / "run"

    @cached_property
    def segments(self) -> Segments:
        """What was downloaded, wherever it lies; a store is not asked before it is used."""
        place = self.storage.segments
        folder = place if "://" in place else str(self.root / (place or "segments"))
        return open_segments(folder, self.root / "cache", self.storage.cache * 1024 * 1024)

    def create(self) -> None:
        """Make the folder where there is none, and see whether segments can be written."""
        self._create_run()
        self.segments.create()

    def _create_run(self) -> None:
        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._run.mkdir(exist_ok=True)
        except OSError as error:
            raise StorageError(f"cannot create {self.root}: {error.strerror}: choose another --data folder") from error
        keep_private(self.root)

    @property
    def is_shared(self) -> bool:
        """Whether other machines work on the same crawl."""
        return is_server(self.database)

    def has_crawl(self) -> bool:
        """Whether there is a database; one on a server is asked only when it is used."""
        return not isinstance(self.database, Path) or self.database.exists()

    def open_database(self) -> Database:
        """The frontier database, for writing."""
        return open_database(self.database)

    def open_frontier(self, settings: Settings, founding: bool = False) -> SqlFrontier:
        """The frontier, for writing; `founding`: by whoever says where the segments lie while there are none yet."""
        database = self.open_database()
        if self.is_shared or self.storage.segments:
            self._check_segments(database, founding)
        # Without a method nothing has a fingerprint, and the default is never asked.
        near = near_method(DEFAULT if settings.dedup.near == "none" else settings.dedup.near)
        guidance = guidance_of(settings, load_rules(database))
        return SqlFrontier(
            database, settings.budget, settings.polite, path_shape, near, settings.dedup.mirrors, guidance,
            self.machine(),
        )  # fmt: skip

    def _check_segments(self, database: Database, founding: bool) -> None:
        """Database and segments must be of the same crawl: two crawls in one place would delete each other's files."""
        crawl = meta.crawl_id(database)
        place = open_place(self.segments.url, self.root / "cache")
        started = self.is_shared and meta.noted(database, meta.SETTINGS)
        if not has_segments(database) and (founding or not started) and place.create(_MARK, crawl.encode()):
            return
        try:
            found = place.get(_MARK).decode("ascii", "replace")
        except PlaceMissing:
            found = ""
        if found != crawl:
            whose = f"those of another crawl ({found})" if found else "not those of this crawl"
            raise UsageError(
                f"the segments at {place.url} are {whose}, the database {database.where} is of {crawl}: "
                "all machines need the same storage.database and storage.segments"
            )

    def mark_segments(self, database: Database) -> None:
        """Note beside segments that several may use whose they are: those of the crawl in this database."""
        if self.is_shared or self.storage.segments:
            open_place(self.segments.url, self.root / "cache").create(_MARK, meta.crawl_id(database).encode())

    def machine(self) -> str:
        """A name for this folder on this machine, the same as long as the folder is; a copy of the folder on another
        machine has another one."""
        if not self.is_shared:
            return ""
        self._create_run()
        path, token = self._run / "machine", secrets.token_hex(4)
        if not path.exists():
            made = path.with_name(f"machine.{token}")
            made.write_text(token)
            try:
                os.link(made, path)
            except FileExistsError:
                pass
            except OSError:  # a file system without hard links
                made.replace(path)
            made.unlink(missing_ok=True)
        return f"{socket.gethostname()}-{path.read_text()}"

    def helper(self, role: str) -> str:
        """A name for who writes segments anew in a role (`THINNER`, `MERGER`); on each machine another one."""
        token = self.machine().rpartition("-")[2]
        return f"{role}-{token}" if token else role

    def read(self) -> Database:
        """The frontier database, for reading."""
        return read_database(self.database)

    def last_options(self) -> dict[str, dict[str, Any]]:
        """What the last crawl changed in the settings by its options."""
        database = self.read()
        try:
            return options_of(database)
        finally:
            database.close()

    def crawl_settings(self) -> Settings | None:
        """The settings that the machine which started the crawl wrote down for all of them."""
        database = self.read()
        try:
            noted = meta.noted(database, meta.SETTINGS)
        finally:
            database.close()
        try:
            return msgspec.json.decode(noted, type=Settings) if noted else None
        except msgspec.DecodeError as error:
            raise UsageError(f"the crawl was started by another version ({error}): use that one here too") from error

    def free_mebibytes(self) -> int:
        """Free space on the folder's disk, or on that of the segments where it is less."""
        return min(shutil.disk_usage(self.root).free, self.segments.free_bytes()) // (1024 * 1024)

    @contextlib.contextmanager
    def crawl_lock(self) -> Iterator[None]:
        """At most one `gossamer crawl` per folder."""
        with self._lock("crawl") as locked:
            if not locked:
                raise BusyError(
                    f"another `gossamer crawl` is running on {self.root}: add seeds to it with "
                    f"`gossamer inject URL --data {self.root}`, end it first, or use another --data folder"
                )
            yield

    def is_crawled(self) -> bool:
        """Whether a `gossamer crawl` is at work here, as far as one may look: not on a disk that cannot be written."""
        try:
            return self._is_locked("crawl")
        except StorageError:
            return False

    @contextlib.contextmanager
    def run_lock(self) -> Iterator[None]:
        """At most one `gossamer run` per folder."""
        with self._alone("run", f"another `gossamer run` is running on {self.root}: end that one first"):
            yield

    def is_run(self) -> bool:
        """Whether a `gossamer run` is at work here."""
        return self._is_locked("run")

    @contextlib.contextmanager
    def index_lock(self) -> Iterator[None]:
        """At most one indexer per folder."""
        with self._alone(
            "index", f"an indexer is at work on {self.root} already: the index follows the crawl by itself"
        ):
            yield

    @contextlib.contextmanager
    def rank_lock(self) -> Iterator[None]:
        """At most one ranking per folder: each deletes what those before it left."""
        with self._alone("rank", f"the pages of {self.root} are being ranked already: try again when that is done"):
            yield

    @contextlib.contextmanager
    def thinning_lock(self) -> Iterator[None]:
        """Held while segments are thinned out: what is written and does not count yet is no orphan then."""
        with self._alone(THINNER, f"old visits of {self.root} are being thinned out already"):
            yield

    @contextlib.contextmanager
    def merging_lock(self) -> Iterator[None]:
        """Held while large segments are merged, likewise."""
        with self._alone(MERGER, f"large segments of {self.root} are being merged already"):
            yield

    @contextlib.contextmanager
    def forgetting_lock(self) -> Iterator[None]:
        """At most one forgets old changes."""
        with self._alone("forget", f"old changes of {self.root} are being forgotten already"):
            yield

    @contextlib.contextmanager
    def sender_lock(self) -> Iterator[bool]:
        """Whether this is the only one of this folder that sends messages and raises alarms, for as long as it is."""
        self._create_run()
        with self._lock("sender") as locked:
            yield locked

    @contextlib.contextmanager
    def worker_lock(self, worker: str) -> Iterator[None]:
        """Held by a worker for as long as it lives."""
        self.create()
        with self._lock(worker) as locked:
            if not locked:
                raise BusyError(f"a worker called {worker} is running on {self.root} already")
            yield
        (self._run / f"{worker}.lock").unlink(missing_ok=True)

    def noted(self, name: str) -> str | None:
        """What somebody noted for whoever runs here later."""
        try:
            return (self._run / name).read_text()
        except (OSError, ValueError):
            return None

    def note(self, name: str, text: str) -> None:
        """Note it; where that cannot be kept, work is only done too often."""
        with contextlib.suppress(OSError, StorageError):
            self._create_run()
            (self._run / name).write_text(text)

    def is_alive(self, worker: str) -> bool:
        """Whether a worker of this machine still holds its lock."""
        return self._is_locked(worker)

    @contextlib.contextmanager
    def _alone(self, name: str, busy: str) -> Iterator[None]:
        self._create_run()
        for _ in range(_LOOKS):  # whoever looks (`_is_locked`) has the lock for an instant
            with self._lock(name) as locked:
                if locked:
                    yield
                    return
            time.sleep(0.05)
        raise BusyError(busy)

    def _is_locked(self, name: str) -> bool:
        if not (self._run / f"{name}.lock").exists():
            return False
        with self._lock(name) as locked:
            return not locked

    @contextlib.contextmanager
    def _lock(self, name: str) -> Iterator[bool]:
        try:
            descriptor = os.open(self._run / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise StorageError(f"cannot write in {self._run}: {error.strerror}: check its permissions") from error
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True
        finally:
            os.close(descriptor)

    def recover(self, frontier: SqlFrontier, now: float) -> list[str]:
        """Free what dead workers held and delete their unfinished segments; says what was done."""
        done = []
        stored = survey(self.segments)  # before the database is asked: what is committed meanwhile is then known
        known_workers = workers(frontier.db)
        # Whether a worker of another machine lives, its signs of life tell, and its lease.
        here = self.machine()
        alive = {worker for worker, machine in known_workers if machine != here or self.is_alive(worker)}
        # What they have written counts in a moment, or never.
        alive |= {self.helper(role) for role in _HELPERS if self._is_locked(role)}
        for worker, _ in known_workers:
            if worker not in alive:
                frontier.retire(worker, now)
                (self._run / f"{worker}.lock").unlink(missing_ok=True)
                done.append(f"took the sites of dead worker {worker} back")
        known = set(segment_ids(frontier.db))
        age = _ORPHAN_AGE if self.is_shared else 0.0
        dead = {worker for worker, _ in known_workers} | {self.helper(role) for role in _HELPERS}
        dead -= alive
        gone = delete_orphans(self.segments, stored, known, alive, dead_workers=dead, older_than=age, now=now)
        return done + [f"deleted unfinished segment {name}" for name in gone]


def storage_of(root: Path) -> StorageConfig:
    """Where the crawl of a data folder lies: what the command line said once, else what the settings say."""
    path = root / _STORAGE
    try:
        return msgspec.json.decode(path.read_bytes(), type=StorageConfig)
    except FileNotFoundError:
        return load_settings(root).storage
    except (OSError, msgspec.DecodeError) as error:
        raise UsageError(f"{path} cannot be read ({error}): delete it, and name --database and --segments") from error


def remember_storage(root: Path, database: str | None, segments: str | None) -> StorageConfig:
    """Keep what the command line says of database and segments for the verbs to come; returns what holds now."""
    storage = storage_of(root)
    if database is None and segments is None:
        return storage
    given = {"database": database, "segments": segments}
    storage = msgspec.structs.replace(storage, **{name: text for name, text in given.items() if text is not None})
    storage.check()
    with storing(root):
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = root / _STORAGE
        path.touch(0o600)  # it may hold the database's password
        path.write_bytes(msgspec.json.encode(storage))
    return storage


def options_of(database: Database) -> dict[str, dict[str, Any]]:
    """What the last crawl changed in the settings by its options."""
    noted = meta.noted(database, meta.OPTIONS)
    return dict(msgspec.json.decode(noted)) if noted else {}


def note_settings(frontier: SqlFrontier, settings: Settings, options: Mapping[str, Mapping[str, Any]]) -> None:
    """Remember by which settings a crawl runs, and what its options changed: for the verbs that speak of it, and
    for the workers of other machines."""
    # What is each machine's own affair stays here; a database's password is among it.
    own = {name: type(getattr(settings, name))() for name in OWN_SECTIONS}
    shared = msgspec.structs.replace(settings, **own)
    with frontier.db.transaction():
        meta.note(frontier.db, meta.OPTIONS, msgspec.json.encode(options).decode())
        meta.note(frontier.db, meta.SETTINGS, msgspec.json.encode(shared).decode())


def check_clock(frontier: SqlFrontier, now: float, accept: bool) -> None:
    """Refuse to go on while the system clock is behind what was written already."""
    last = float(meta.noted(frontier.db, meta.LAST_SEEN) or 0.0)
    behind = last - now
    if behind > _CLOCK_SLACK and not accept:
        raise ClockError(
            f"the system clock is {behind:.0f} s behind the last crawl here: set it right, "
            "or pass --accept-clock to go on from the present time"
        )
    with frontier.db.transaction():
        if behind > _CLOCK_SLACK:
            turn_back(frontier.db, now, latest_written(frontier.db, last) - now)
        meta.note(frontier.db, meta.LAST_SEEN, repr(now))

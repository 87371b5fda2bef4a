"""The four stores of `kv.py` as their owner sees them: started, stopped, weighed.

Two are embedded (SQLite, LMDB: all clients open one file), two are servers on loopback (PostgreSQL, Redis). `synced`
says whether a commit must be on the disk before it counts.
"""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psycopg

from _kv_clients import Client, LmdbClient, RedisClient, SqlClient
from _postgres import PostgresServer, has_postgres
from _scale_processes import parent_of, tree_cpu

Opener = Callable[[], Client]


class Store(ABC):
    """A store for one round of the benchmark."""

    name = ""
    synced_by = ""
    """What makes it sync each commit."""
    unsynced_by = ""
    """How that is left out, and what a power cut then costs."""

    def __init__(self, folder: Path, synced: bool) -> None:
        self.folder, self.synced = folder, synced

    @staticmethod
    def missing() -> str:
        """What would have to be installed first; nothing where it is there."""
        return ""

    @abstractmethod
    def start(self) -> Opener:
        """Make it ready; what clients open it with."""

    def cpu(self) -> float:
        """CPU seconds of a server so far."""
        return 0.0

    def size(self) -> int:
        """Bytes on the disk, without a log that is only kept for a while."""
        return sum(path.stat().st_blocks * 512 for path in self.folder.rglob("*") if path.is_file())

    def stop(self) -> None:  # noqa: B027 - what is embedded ends with its clients
        """End it; its folder is the caller's."""


class Sqlite(Store):
    """The frontier's own file."""

    name = "SQLite"
    synced_by = "WAL, synchronous=FULL"
    unsynced_by = "synchronous=NORMAL: synced at checkpoints; the last commits are lost"

    def start(self) -> Opener:
        opener = partial(SqlClient, self.folder / "kv.db", "" if self.synced else "PRAGMA synchronous = NORMAL")
        opener().close()
        return opener


class Postgres(Store):
    """A server as `gossamer crawl --database` uses it."""

    name = "PostgreSQL"
    synced_by = "fsync and synchronous_commit on"
    unsynced_by = "synchronous_commit=off: the last half second is lost"

    @staticmethod
    def missing() -> str:
        return "" if has_postgres() else "apt-get install postgresql"

    def start(self) -> Opener:
        self._server = PostgresServer(self.folder, durable=True)
        url = self._server.database() + ("" if self.synced else "%20-csynchronous_commit%3Doff")
        opener = partial(SqlClient, url)
        opener().close()
        self._control = psycopg.connect(url, autocommit=True)
        self._pid = parent_of(self._control.info.backend_pid)
        return opener

    def cpu(self) -> float:
        return tree_cpu(self._pid)

    def size(self) -> int:
        row = self._control.execute("SELECT pg_total_relation_size('urls')").fetchone()
        assert row is not None
        return int(row[0])

    def stop(self) -> None:
        self._control.close()
        self._server.stop()


class Lmdb(Store):
    """A memory-mapped tree."""

    name = "LMDB"
    synced_by = "sync=True"
    unsynced_by = "sync=False: the whole file may be lost"

    @staticmethod
    def missing() -> str:
        return "" if importlib.util.find_spec("lmdb") else "pip install lmdb"

    def start(self) -> Opener:
        opener = partial(LmdbClient, str(self.folder), self.synced)
        opener().close()
        return opener


class Redis(Store):
    """A server that keeps everything in memory, with its log on."""

    name = "Redis"
    synced_by = "appendonly, appendfsync=always"
    unsynced_by = "appendfsync=everysec: the last second or two are lost"

    @staticmethod
    def missing() -> str:
        needed = ["apt-get install redis-tools"] if _redis_program() is None else []
        needed += [] if importlib.util.find_spec("redis") else ["pip install redis[hiredis]"]
        return " and ".join(needed)

    def start(self) -> Opener:
        program, port = _redis_program(), _free_port()
        assert program is not None
        settings = {
            "bind": "127.0.0.1", "port": str(port), "dir": str(self.folder), "save": "", "appendonly": "yes",
            "appendfsync": "always" if self.synced else "everysec", "daemonize": "no",
        }  # fmt: skip
        words = [word for name, value in settings.items() for word in (f"--{name}", value)]
        with (self.folder / "log").open("wb") as log:
            self._process = subprocess.Popen(["redis-server", *words], executable=program, stdout=log, stderr=log)
        _wait_for(port, self._process, self.folder / "log")
        return partial(RedisClient, port)

    def cpu(self) -> float:
        return tree_cpu(self._process.pid)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(60)


STORES: dict[str, type[Store]] = {"sqlite": Sqlite, "postgresql": Postgres, "lmdb": Lmdb, "redis": Redis}


def _redis_program() -> str | None:
    # Debian's redis-tools holds the server's program too, under the name of one that checks files; what it does goes
    # by the name it is called with. Installing redis-server would add nothing but a service that runs all the time.
    return shutil.which("redis-server") or shutil.which("valkey-server") or shutil.which("redis-check-rdb")


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(200):
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        if process.poll() is not None:
            raise SystemExit(f"Redis did not start:\n{log.read_text(errors='replace')[-1000:]}")
        time.sleep(0.05)
    raise SystemExit("Redis did not answer within 10 s")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

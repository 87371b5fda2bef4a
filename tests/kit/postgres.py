"""A PostgreSQL server of a test's own: in a temporary folder, on loopback, gone when the test is."""

from __future__ import annotations

import contextlib
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg

_PLACES = ("/usr/lib/postgresql", "/usr/local/pgsql")
_PORTS = 5
"""How many ports are tried."""


class PostgresServer:
    """A running server; `database()` gives each caller room of its own."""

    def __init__(self, folder: Path | None = None, durable: bool = False) -> None:
        """`durable`: whether it syncs, for tests that kill it."""
        self._folder = folder or Path(tempfile.mkdtemp(prefix="gossamer-postgres-"))
        self._data = self._folder / "data"
        self.port = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._user = _user_of_server()
        if self._user:
            shutil.chown(self._folder, self._user)
        self._run(
            "initdb", "-D", str(self._data), "-U", "gossamer", "-A", "trust", "-E", "UTF8", "--locale", "C.UTF-8",
            "--no-sync",
        )  # fmt: skip
        self._settings = [] if durable else ["-c", "fsync=off", "-c", "full_page_writes=off"]
        self._start_first()

    def _start_first(self) -> None:
        """Start it on a port that nobody has: one that was free may be taken by the time it is used."""
        for _ in range(_PORTS):
            self.port = _free_port()
            try:
                return self.start()
            except psycopg.OperationalError:
                if self._process is None or self._process.poll() is None:
                    raise
        raise RuntimeError(f"the server did not start: see {self._folder / 'log'}")

    def start(self) -> None:
        """Start it, also again after it was stopped or killed."""
        command = [
            _binary("postgres"), "-D", str(self._data), "-k", str(self._folder),
            "-h", "127.0.0.1", "-p", str(self.port),
            "-c", "shared_buffers=64MB", "-c", "max_connections=60", *self._settings,
        ]  # fmt: skip
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=self._folder, user=self._user, start_new_session=True
            )
        deadline = time.monotonic() + 120
        while True:
            try:
                with psycopg.connect(self.url("postgres"), connect_timeout=10) as connection:
                    found = connection.execute("SHOW data_directory").fetchone()
                if found == (str(self._data),):
                    return
                raise psycopg.OperationalError(f"port {self.port} is another server's")
            except psycopg.OperationalError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise
                time.sleep(0.05)

    def kill(self) -> None:
        """End it at once, as a power cut would."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        (self._data / "postmaster.pid").unlink(missing_ok=True)

    def freeze(self) -> None:
        """It keeps its connections and does nothing any more."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """It goes on."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        for pid in [self._process.pid, *map(int, children)]:
            with contextlib.suppress(ProcessLookupError):  # a connection that ended since they were listed
                os.kill(pid, number)

    def stop(self) -> None:
        """End it, and delete everything."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)  # at once: nobody needs its data any more
            try:
                self._process.wait(60)
            except subprocess.TimeoutExpired:
                self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def url(self, database: str) -> str:
        """The URL of a database."""
        return f"postgresql://gossamer@127.0.0.1:{self.port}/{database}"

    def database(self) -> str:
        """The URL of new, empty room for tables; a schema, which is quicker to make than a database."""
        name = f"s{secrets.token_hex(6)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return f"{self.url('postgres')}?options=-csearch_path%3D{name}"

    def _run(self, *command: str) -> None:
        done = subprocess.run(
            [_binary(command[0]), *command[1:]], capture_output=True, text=True, cwd=self._folder, user=self._user
        )
        if done.returncode:
            raise RuntimeError(f"{command[0]} failed: {done.stderr}")


def has_postgres() -> bool:
    """Whether a server is installed."""
    return _find("postgres") is not None


def _binary(name: str) -> str:
    found = _find(name)
    if found is None:
        raise RuntimeError(f"no {name} found: apt-get install postgresql")
    return found


def _find(name: str) -> str | None:
    places = [path / "bin" for place in _PLACES for path in sorted(Path(place).glob("*"), reverse=True)]
    return next((str(place / name) for place in places if (place / name).exists()), None) or shutil.which(name)


def _user_of_server() -> str | None:
    """PostgreSQL does not run as root: its own user does, where we are root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            pwd.getpwnam(name)
            return name
        except KeyError:
            continue
    return None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

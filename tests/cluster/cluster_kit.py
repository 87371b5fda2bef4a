"""A crawl by several processes of the command line, and what must be true of it in the end.

Only for use in a network namespace of its own: see `machines_kit`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow.parquet

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from crawl_kit import GOSSAMER, descendants, exported, kill

from gossamer.data.folder import DataFolder
from gossamer.store.layout import PAGES, worker_of
from gossamer.testing import Log
from kit.postgres import PostgresServer


class Command:
    """A gossamer command under way; all it says is in one file."""

    def __init__(self, *arguments: str, data: Path) -> None:
        data.mkdir(parents=True, exist_ok=True)
        self._said = data.with_suffix(".said")
        with self._said.open("ab") as file:
            self._process = subprocess.Popen(
                [*GOSSAMER, *arguments, "--data", str(data)],
                stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True,
            )  # fmt: skip
        self.pid = self._process.pid

    @property
    def said(self) -> str:
        """Its output and that of its processes, so far."""
        return self._said.read_text(encoding="utf-8", errors="replace")

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def succeeds(self, seconds: float) -> None:
        """Wait for its end, which must be a good one."""
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"not done after {seconds} s: {self.said}") from None
        assert code == 0, self.said

    def stop(self) -> None:
        """Ask it to end in good order."""
        os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL for all its processes, where it has not ended by itself."""
        if self.is_running:
            for pid in [self.pid, *descendants(self.pid)]:
                kill(pid)
            self._process.wait()


class NetworkDatabase(PostgresServer):
    """A server that listens on a network of the test's own."""

    def __init__(self, folder: Path, address: str, network: str) -> None:
        self._address, self._network = address, network
        super().__init__(folder, durable=True)

    def start(self) -> None:
        """Start it; everybody on the network is let in."""
        with (self._data / "pg_hba.conf").open("a") as file:
            file.write(f"host all all {self._network} trust\n")
        self._settings = ["-c", f"listen_addresses={self._address}"]
        super().start()

    def url(self, database: str) -> str:
        """The URL of a database, from any machine."""
        return f"postgresql://gossamer@{self._address}:{self.port}/{database}"


def pages_of(data: Path) -> dict[str, str]:
    """URL → hash of the text; each page must be there once."""
    pages = exported("pages", data)
    assert len({page["url"] for page in pages}) == len(pages)
    return {page["url"]: page["content_hash"] for page in pages}


def check_storage(data: Path, dead: set[str]) -> None:
    """What the database counts is stored, each visit once; nothing else is stored but what the dead left."""
    folder = DataFolder(data)
    database = folder.read()
    try:
        counted = {row[0] for row in database.execute("SELECT id FROM segments WHERE merged_into IS NULL")}
    finally:
        database.close()
    stored = set(folder.segments.ids())
    assert counted <= stored
    assert {worker_of(segment) for segment in stored - counted} <= dead
    visits: Counter[str] = Counter()
    for segment in sorted(counted):
        visits.update(
            pyarrow.parquet.read_table(folder.segments.file(segment, PAGES), columns=["url"])["url"].to_pylist()
        )
    assert [url for url, times in visits.items() if times > 1] == []


def workers_of_machine(folder: DataFolder, machine: str) -> set[str]:
    """The names under which a machine is known to the database of a crawl."""
    database = folder.read()
    try:
        return {row[0] for row in database.execute("SELECT id FROM workers WHERE machine = ?", (machine,))}
    finally:
        database.close()


def since(log: Log, before: Log) -> Log:
    """The part of a log that is new."""
    return Log(log[len(before) :], log.connections[len(before.connections) :])

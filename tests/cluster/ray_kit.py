"""A Ray cluster on loopback, one `ray start` for each machine. Only for use within `namespace_kit.run_alone`."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ADDRESS = "127.0.0.1:6379"
_OBJECT_STORE = 80_000_000
_NOTICE = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 1000,
    "health_check_timeout_ms": 10_000,
    "health_check_failure_threshold": 4,
}
"""So that a dead machine is noticed after seconds; as it comes it takes up to a minute. But one that is only held up
for that long is taken for dead, too, and so is all that runs on it."""


class Cluster:
    """Machines of a cluster; the first is the head."""

    def __init__(self, notice: dict[str, int]) -> None:
        self._notice = notice
        self._folder = tempfile.mkdtemp(prefix="ray-")  # short: sockets lie in it, and their paths may not be long
        self._starts: list[subprocess.Popen[bytes]] = []
        self._killed: set[int] = set()

    def add(self, cores: int, **environment: str) -> int:
        """One more machine, when it is part of the cluster; its number.

        One after the other, and with worker ports that the system picks: of two that started at once, one failed to
        register now and then, probably because both took the same port.
        """
        head = ["--head", "--port", "6379", "--include-dashboard", "false", "--system-config", json.dumps(self._notice)]
        head += ["--temp-dir", self._folder]
        join = ["--address", ADDRESS]
        log = Path(self._folder) / f"start-{len(self._starts)}.log"
        with log.open("wb") as output:
            start = subprocess.Popen(
                [
                    *(sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--disable-usage-stats"),
                    *("--node-ip-address", "127.0.0.1", "--min-worker-port", "0", "--max-worker-port", "0"),
                    *("--num-cpus", str(cores), "--object-store-memory", str(_OBJECT_STORE)),
                    *(join if self._starts else head),
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0", **environment},
            )
        self._starts.append(start)
        while "Ray runtime started" not in log.read_text():
            assert start.poll() is None, log.read_text()
            time.sleep(0.1)
        return len(self._starts) - 1

    def processes(self, machine: int) -> set[int]:
        """All processes of a machine."""
        parents = dict(_parents())
        found = {self._starts[machine].pid}
        while more := {child for child, parent in parents.items() if parent in found} - found:
            found |= more
        return found

    def kill(self, machine: int) -> None:
        """The plug is pulled."""
        for process in self.processes(machine):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self._starts[machine].wait()
        self._killed.add(machine)

    def close(self) -> None:
        """Kill what is left."""
        for machine in reversed(range(len(self._starts))):
            if machine not in self._killed:
                self.kill(machine)
        shutil.rmtree(self._folder, ignore_errors=True)


@contextlib.contextmanager
def cluster(machines_die: bool = True) -> Iterator[Cluster]:
    """An empty cluster; `machines_die`: whether that has to be noticed soon."""
    cluster = Cluster(_NOTICE if machines_die else {})
    try:
        yield cluster
    finally:
        cluster.close()


def _parents() -> Iterator[tuple[int, int]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                yield int(entry.name), int((entry / "stat").read_text().rpartition(")")[2].split()[1])

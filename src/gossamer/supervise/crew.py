"""The worker processes of this machine: started, missed when they die, stopped in good order."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from gossamer.clock import environment_with_clock
from gossamer.crawl.alive.signs import Job, Listener
from gossamer.data.folder import DataFolder
from gossamer.errors import OperationError, UsageError
from gossamer.settings import Settings
from gossamer.supervise.nursery import Process
from gossamer.supervise.nursery import start as start_process

log = logging.getLogger(__name__)

_WORKER = "gossamer.crawl.worker_process"
_LOOK = 0.1
"""Seconds between two looks whether workers have stopped."""
_SLACK = 10.0
"""Seconds that a worker has beyond its limit to commit and give everything back."""
_PROCESS = 64 << 20
"""Bytes of memory that a worker or parser needs at the very least; most need more."""


class Crew:
    """Workers by name; each ends when this process does, however it ends."""

    def __init__(self, settings: Settings, folder: DataFolder, debug: bool = False, workers: int = 0) -> None:
        """`workers`: how many will be started, where it is not as the settings say."""
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        check_memory(workers or settings.workers, settings.crawl.parsers, memory)
        self._settings, self._folder, self._debug = settings, folder, debug
        self._workers: dict[str, _Worker] = {}
        self._environment = environment_with_clock()

    def start(self, name: str = "") -> None:
        """One more worker."""
        name = name or f"w{secrets.token_hex(4)}"
        process = start_process(_WORKER, [str(self._settings.crawl.parsers)], self._environment)
        job = Job(str(self._folder.root), self._settings, name, self._debug)
        payload = msgspec.msgpack.encode(job)
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it is dead already, and will be buried
            process.stdin.write(len(payload).to_bytes(4, "little") + payload)
            process.stdin.flush()
        listener = Listener(name, process, self._settings.crawl.stuck_after)
        listener.start()
        self._workers[name] = _Worker(process, listener)
        log.info("worker %s started", name, extra={"worker": name, "worker_pid": process.pid})

    def bury_dead(self) -> list[str]:
        """The workers that died of a signal since; the error of one that failed is raised."""
        dead = []
        for name, worker in list(self._workers.items()):
            code = worker.process.poll()
            if code is not None:
                del self._workers[name]
                worker.raise_failure()
                died = {"worker": name, "signal": -code}
                log.warning("worker %s died of signal %d; starting another", name, -code, extra=died)
                dead.append(name)
        return dead

    def stop(self, waiting: Callable[[], bool] = lambda: True) -> None:
        """Closing the pipe asks a worker to stop; it has `crawl.stop_within` for what is under way. `waiting` is asked
        again and again whether to go on waiting; who is not waited for is left to `kill`."""
        for worker in self._workers.values():
            if worker.process.stdin is not None:
                with contextlib.suppress(BrokenPipeError):
                    worker.process.stdin.close()
        deadline = time.monotonic() + self._settings.crawl.stop_within + _SLACK
        while (left := self._running()) and time.monotonic() < deadline and waiting():
            with contextlib.suppress(subprocess.TimeoutExpired):
                left[0].wait(_LOOK)
        for process in self._running() if time.monotonic() >= deadline else ():
            log.warning("worker process %d did not stop in time; killing it", process.pid)
        for name, worker in self._workers.items():
            worker.raise_failure()
            log.info("worker %s stopped", name, extra={"worker": name, "code": worker.process.returncode})

    def _running(self) -> list[Process]:
        return [worker.process for worker in self._workers.values() if worker.process.poll() is None]

    def kill(self) -> None:
        """End those that are left at once, and their parsers with them: a busy one would not notice for long."""
        for worker in self._workers.values():
            if worker.process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(worker.process.pid, signal.SIGKILL)
            worker.process.wait()
        self._workers.clear()


def check_memory(workers: int, parsers: int, memory: int) -> None:
    """Refuse a number of processes that would only bring this machine down."""
    most = max(memory // ((1 + parsers) * _PROCESS), 1)
    if workers > most:
        raise UsageError(
            f"{workers:,} workers with {parsers} parsers each do not fit into the memory of this machine "
            f"({memory >> 30} GB): start at most {most:,} workers (crawl.workers)"
        )


class _Worker(NamedTuple):
    process: Process
    listener: Listener

    def raise_failure(self) -> None:
        """A worker that ended with an error said why in its last words."""
        if self.process.returncode is not None and self.process.returncode > 0:
            words = self.listener.last_words()
            raise OperationError(words or "a worker failed; no committed data is lost")

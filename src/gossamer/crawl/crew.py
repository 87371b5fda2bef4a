"""The worker processes of this machine: started, missed when they die, stopped in good order."""

from __future__ import annotations

import contextlib
import logging
import secrets
import subprocess
import sys
import time
from typing import NamedTuple

import msgspec

from gossamer.clock import environment_with_clock
from gossamer.crawl.folder import DataFolder
from gossamer.crawl.signs import Listener
from gossamer.crawl.worker_process import Job
from gossamer.errors import OperationError
from gossamer.settings import Settings

log = logging.getLogger(__name__)


class Crew:
    """Workers by name; each ends when this process does, however it ends."""

    def __init__(self, settings: Settings, folder: DataFolder, debug: bool = False) -> None:
        self._settings, self._folder, self._debug = settings, folder, debug
        self._workers: dict[str, _Worker] = {}
        self._environment = environment_with_clock()

    def start(self, name: str = "") -> None:
        """One more worker."""
        name = name or f"w{secrets.token_hex(4)}"
        process = subprocess.Popen(
            [sys.executable, "-m", "gossamer.crawl.worker_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env=self._environment,
        )
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
                log.warning("worker %s died of signal %d and is replaced", name, -code, extra=died)
                dead.append(name)
        return dead

    def stop(self) -> None:
        """Closing the pipe asks a worker to stop; it has the time a download may take."""
        for worker in self._workers.values():
            if worker.process.stdin is not None:
                with contextlib.suppress(BrokenPipeError):
                    worker.process.stdin.close()
        deadline = time.monotonic() + self._settings.fetch.total_timeout + 10
        for worker in self._workers.values():
            try:
                worker.process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                log.warning("worker process %d did not stop in time and is killed", worker.process.pid)
        for name, worker in self._workers.items():
            worker.raise_failure()
            log.info("worker %s stopped", name, extra={"worker": name, "code": worker.process.returncode})

    def kill(self) -> None:
        """End those that are left at once."""
        for worker in self._workers.values():
            if worker.process.poll() is None:
                worker.process.kill()
            worker.process.wait()
        self._workers.clear()


class _Worker(NamedTuple):
    process: subprocess.Popen[bytes]
    listener: Listener

    def raise_failure(self) -> None:
        """A worker that ended with an error said why in its last words."""
        if self.process.returncode is not None and self.process.returncode > 0:
            words = self.listener.last_words()
            raise OperationError(words or "a worker failed; everything committed is safe")

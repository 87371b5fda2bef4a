"""The worker processes of this machine: started, missed when they die, stopped in good order."""

from __future__ import annotations

import contextlib
import logging
import secrets
import subprocess
import sys
import time

import msgspec

from gossamer.clock import environment_with_clock
from gossamer.crawl.folder import DataFolder
from gossamer.crawl.worker_process import Job
from gossamer.errors import OperationError
from gossamer.settings import Settings

log = logging.getLogger(__name__)


class Crew:
    """Workers by name; each ends when this process does, however it ends."""

    def __init__(self, settings: Settings, folder: DataFolder, debug: bool = False) -> None:
        self._settings, self._folder, self._debug = settings, folder, debug
        self._workers: dict[str, subprocess.Popen[bytes]] = {}
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
        self._workers[name] = process
        log.info("worker %s started", name, extra={"worker": name, "worker_pid": process.pid})

    def bury_dead(self) -> list[str]:
        """The workers that died of a signal since; the error of one that failed is raised."""
        dead = []
        for name, process in list(self._workers.items()):
            code = process.poll()
            if code is not None:
                del self._workers[name]
                _raise_failure(process)
                died = {"worker": name, "signal": -code}
                log.warning("worker %s died of signal %d and is replaced", name, -code, extra=died)
                dead.append(name)
        return dead

    def stop(self) -> None:
        """Closing the pipe asks a worker to stop; it has the time a download may take."""
        for process in self._workers.values():
            if process.stdin is not None:
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.close()
        deadline = time.monotonic() + self._settings.fetch.total_timeout + 10
        for process in self._workers.values():
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                log.warning("worker process %d did not stop in time and is killed", process.pid)
        for name, process in self._workers.items():
            _raise_failure(process)
            log.info("worker %s stopped", name, extra={"worker": name, "code": process.returncode})

    def kill(self) -> None:
        """End those that are left at once."""
        for process in self._workers.values():
            if process.poll() is None:
                process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
        self._workers.clear()


def _raise_failure(process: subprocess.Popen[bytes]) -> None:
    """A worker that ended with an error said why in its last words."""
    if process.returncode is None or process.returncode <= 0:
        return
    words = process.stdout.read().decode("utf-8", "replace") if process.stdout is not None else ""
    raise OperationError(words.strip() or "a worker failed; everything committed is safe")

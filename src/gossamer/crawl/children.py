"""Processes that stand beside the workers of a crawl: the indexer, and the server where it is wanted.

They are told to finish by the end of their pipe, so they do so, too, when the crawl is
killed. One that dies is started again; one that fails with a sentence for a person is left
alone, since the crawl does not need it: what it missed is made up for by the next start.
"""

from __future__ import annotations

import contextlib
import logging
import subprocess
import sys
import time
from collections.abc import Sequence

log = logging.getLogger(__name__)

_AGAIN = 1.0
"""Seconds between two starts of a process that keeps dying."""


class Child:
    """One such process."""

    def __init__(self, name: str, module: str, arguments: Sequence[str], speaks: bool = False) -> None:
        self._name = name
        self._output = None if speaks else subprocess.PIPE
        """One that speaks to the person itself needs nobody to pass on its last words."""
        self._command = [sys.executable, "-m", module, *arguments]
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        self.failed = ""
        """Its last words, where it gave up."""

    def watch(self) -> None:
        """Start it, or start it again."""
        if self._process is not None and self._process.poll() is not None:
            self._bury(self._process)
        if self._process is None and not self.failed and time.monotonic() - self._started > _AGAIN:
            self._started = time.monotonic()
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=self._output, start_new_session=True
            )

    @property
    def is_running(self) -> bool:
        """Whether there is a process that has not ended yet."""
        return self._process is not None and self._process.poll() is None

    def ask_to_finish(self) -> None:
        """Let it do what is left, and end."""
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()

    def wait(self, seconds: float | None = None) -> None:
        """Until it has ended; killed where it takes longer."""
        if self._process is None:
            return
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            log.warning("the %s did not end in time and is killed; nothing committed is lost", self._name)
            self.kill()
            return
        self._bury(self._process)

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._close(self._process)

    def _bury(self, process: subprocess.Popen[bytes]) -> None:
        if process.returncode > 0:
            words = process.stdout.read().decode("utf-8", "replace").strip() if process.stdout else ""
            self.failed = words or f"exit code {process.returncode}"
            log.warning("the %s stopped; the crawl goes on: %s", self._name, self.failed)
        elif process.returncode < 0:
            log.warning("the %s died of signal %d and is started again", self._name, -process.returncode)
        self._close(process)

    def _close(self, process: subprocess.Popen[bytes]) -> None:
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        self._process = None

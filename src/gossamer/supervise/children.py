"""Processes that stand beside the workers of a crawl: the indexer, and the server where it is wanted.

They are told to finish by the end of their pipe, so they do so, too, when the crawl is killed. One that dies is started
again at once. One that fails with a sentence for a person (a full disk, say) is tried again after a wait that grows:
the crawl goes on without it, and what it missed it makes up for.
"""

from __future__ import annotations

import contextlib
import logging
import subprocess
import time
from collections.abc import Mapping, Sequence

from gossamer.clock import environment_with_clock
from gossamer.supervise.nursery import Process, start

log = logging.getLogger(__name__)

_AGAIN = 1.0
"""Seconds between two starts of a process that keeps dying."""
_FIRST_WAIT, _LONGEST_WAIT = 30.0, 600.0
"""Seconds before one that failed is tried again: doubled each time, until it has lived that long."""


class Child:
    """One such process."""

    def __init__(
        self, name: str, module: str, arguments: Sequence[str], speaks: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        """`environment`: where it was made earlier, so that all processes of a crawl have one clock."""
        self._name = name
        self._environment = environment if environment is not None else environment_with_clock()
        self._speaks = speaks
        """One that speaks to the person itself needs nobody to pass on its last words."""
        self._module, self._arguments = module, list(arguments)
        self._process: Process | None = None
        self._started = self._not_before = self._waited = 0.0
        self.code: int | None = None
        """How it ended when it did so last, as a process tells it."""

    def watch(self) -> None:
        """Start it, or start it again."""
        if self._process is not None and self._process.poll() is not None:
            self._bury(self._process)
        now = time.monotonic()
        if self._process is None and now >= self._not_before:
            self._started, self._not_before = now, now + _AGAIN
            self._process = start(self._module, self._arguments, self._environment, self._speaks)
            log.info("the %s started", self._name, extra={"child": self._name, "child_pid": self._process.pid})

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
            log.warning("the %s did not end in time; killing it (no committed data is lost)", self._name)
            self.kill()
            return
        self._bury(self._process)

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._close(self._process)

    def _bury(self, process: Process) -> None:
        self.code = code = process.wait()
        fields = {"child": self._name, "code": code, "seconds": time.monotonic() - self._started}
        if code == 0:
            log.info("the %s is done", self._name, extra=fields)
        elif code > 0:
            words = process.stdout.read().decode("utf-8", "replace").strip() if process.stdout else ""
            words = words or f"exit code {code}"
            log.warning(
                "the %s failed and starts again later; the crawl continues: %s", self._name, words, extra=fields
            )
            self._wait_longer()
        else:
            log.warning("the %s died of signal %d; starting it again", self._name, -code, extra=fields)
        self._close(process)

    def _wait_longer(self) -> None:
        now = time.monotonic()
        lived = now - self._started
        self._waited = _FIRST_WAIT if lived > _LONGEST_WAIT else min(max(2 * self._waited, _FIRST_WAIT), _LONGEST_WAIT)
        self._not_before = now + self._waited

    def _close(self, process: Process) -> None:
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        self._process = None

"""All cores of this machine: processes that are kept between the stages of a job.

They are kept because stages repeat: what a process has read or mapped into memory stays there for the next
iteration. A process holds one task at a time and the next is handed to whoever is free, so tasks of unlike length
balance out, and the engine always knows which task a dead process had.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from gossamer.engine.tasks import DEATHS, died, pack, run_here, title, unpack

A = TypeVar("A")
R = TypeVar("R")

MEMORY = 1 << 30
"""Bytes of arguments that are under way at once, unless told otherwise."""

_LOOK = 1.0
"""Seconds between two looks at processes that say nothing: one may be dead while a child of it holds its socket."""

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""A process for each core, and each with a thread for each core, would only get in each other's way."""


class LocalEngine:
    """Runs tasks in processes of this machine; used by one thread at a time, one stage after the other."""

    name = "local"

    def __init__(self, workers: int = 0, memory: int = MEMORY) -> None:
        self.workers = workers or len(os.sched_getaffinity(0))
        self._memory = memory
        self._idle: list[_Process] = []
        self._stage = threading.Lock()
        self._closed = False

    def run(self, function: Callable[[A], R], arguments: Sequence[A]) -> Iterator[tuple[int, R]]:
        """The results as they come; what is unfinished when the caller stops listening is ended."""
        if self._closed:
            raise RuntimeError("the engine is closed")
        if len(arguments) < 2 or self.workers == 1:
            yield from run_here(function, arguments)  # starting processes costs more than it saves
            return
        if not self._stage.acquire(blocking=False):
            raise RuntimeError("the engine runs another stage: take all its results first")
        stage = _Stage(function, arguments, self._memory)
        try:
            while stage.unfinished:
                self._hand_out(stage)
                for process in stage.ready():
                    yield from self._take(stage, process)
        finally:
            stage.end()
            self._stage.release()

    def close(self) -> None:
        """End all processes."""
        self._closed = True
        while self._idle:
            self._idle.pop().kill()

    def _hand_out(self, stage: _Stage) -> None:
        while stage.wants_more() and len(stage.busy) < self.workers:
            stage.hand_to(self._idle.pop() if self._idle else _Process())

    def _take(self, stage: _Stage, process: _Process) -> Iterator[tuple[int, Any]]:
        outcome = process.receive()
        place = stage.take_from(process)
        if outcome is None:
            stage.again(place, process.bury())
            return
        self._idle.append(process)
        result = unpack(outcome)
        self._hand_out(stage)  # before the caller works on the result, so that nobody waits for it
        yield place, result


class _Stage:
    """One `run`: what waits, who has what."""

    def __init__(self, function: Callable[[A], Any], arguments: Sequence[A], memory: int) -> None:
        self._function = function
        self._arguments = arguments
        self._memory = memory
        self._waiting = deque(range(len(arguments)))
        self._deaths: dict[int, int] = {}
        self.busy: dict[_Process, tuple[int, int]] = {}

    @property
    def unfinished(self) -> bool:
        return bool(self._waiting or self.busy)

    def wants_more(self) -> bool:
        """Whether a task waits and there is room for its argument; for one there always is."""
        return bool(self._waiting) and (not self.busy or sum(size for _, size in self.busy.values()) < self._memory)

    def hand_to(self, process: _Process) -> None:
        place = self._waiting.popleft()
        try:
            task = pack(self._function, self._arguments, place)
        except BaseException:
            process.kill()
            raise
        self.busy[process] = place, len(task)
        process.send(task)

    def ready(self) -> list[_Process]:
        """Processes that answered, or died."""
        connections = {process.connection: process for process in self.busy}
        while True:
            if found := [connections[ready] for ready in wait(list(connections), _LOOK)]:  # type: ignore[index]  # what it was given
                return found
            if dead := [process for process in self.busy if process.is_dead]:
                return dead

    def take_from(self, process: _Process) -> int:
        return self.busy.pop(process)[0]

    def again(self, place: int, reason: str) -> None:
        """Run a task once more whose process died."""
        self._deaths[place] = self._deaths.get(place, 0) + 1
        if self._deaths[place] >= DEATHS:
            raise died(title(self._function, place, len(self._arguments)), reason)
        self._waiting.appendleft(place)

    def end(self) -> None:
        for process in self.busy:
            process.kill()


class _Process:
    """A process and the socket to it."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "gossamer.engine.worker_process", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=2,  # what a task prints must not mix with what the command answers
                env=_environment(),
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is ours to handle
            )
        self.connection = Connection(ours.detach())

    @property
    def is_dead(self) -> bool:
        return self._process.poll() is not None

    def send(self, task: bytes) -> None:
        """A process that died in the meantime is noticed when its answer is read."""
        with contextlib.suppress(OSError):
            self.connection.send_bytes(task)

    def receive(self) -> bytes | None:
        """An outcome; None where the process died."""
        if self.is_dead and not self.connection.poll():
            return None
        try:
            return self.connection.recv_bytes()
        except (EOFError, OSError):
            return None

    def kill(self) -> None:
        """End it at once."""
        self.connection.close()
        self._process.kill()
        self._process.wait()

    def bury(self) -> str:
        """How it died."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_LOOK)  # its socket ends a little before it does
        self.kill()
        code = self._process.returncode
        return f"signal {-code}" if code < 0 else f"exit code {code}"


def _environment() -> dict[str, str]:
    path = os.pathsep.join(folder or str(os.getcwd()) for folder in sys.path)  # noqa: PTH109 - a string is wanted
    return {**os.environ, **dict.fromkeys(_ONE_THREAD, "1"), "PYTHONPATH": path}

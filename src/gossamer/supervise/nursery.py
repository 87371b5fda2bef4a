"""Processes that begin warm: forked from one that has loaded the modules of workers and parsers, so that they start in
milliseconds and share its memory.

The nursery is a process of its own (`nursery_process`): it has no threads, no database and no settings, so a fork of it
has nothing to inherit but modules. A command starts it with `warm_up`, before it loads anything itself. Without one, or
after its death, processes are started as new interpreters: they cost more memory and are the same in all else.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import IO, Protocol

import msgspec

MODULE = "gossamer.supervise.nursery_process"
_LIBRARIES = {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
"""No threads, which a fork would lose, and one heap: each of several keeps what was freed in it. With the defaults of
the libraries an indexer of 3,000 pages held 178 MiB of its own, with these and `return_memory` 49 (decision 30)."""
_PATIENCE = 60.0
"""Seconds after which a nursery that does not answer counts as dead."""
READY = b"+"
"""The first byte of a child: it leads a session of its own."""


class Order(msgspec.Struct, frozen=True):
    """The process to fork. With it come its standard input, the pipe for its end, and its standard output."""

    module: str
    arguments: Sequence[str]
    environment: dict[str, str]


class Process(Protocol):
    """What `subprocess.Popen` and `Forked` have in common."""

    pid: int
    stdin: IO[bytes] | None
    stdout: IO[bytes] | None
    returncode: int | None

    def poll(self) -> int | None:
        """The exit code, if the process has ended."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; raises `subprocess.TimeoutExpired`."""

    def kill(self) -> None:
        """Send SIGKILL."""


class Forked:
    """A process that the nursery forked."""

    def __init__(self, pid: int, pidfd: int, status: int, stdin: int, stdout: int) -> None:
        """`pidfd`: tells the end even if the nursery, its parent, has died. `status`: where the nursery writes the
        exit code."""
        self.pid = pid
        self.stdin: IO[bytes] | None = os.fdopen(stdin, "wb")
        self.stdout: IO[bytes] | None = os.fdopen(stdout, "rb", buffering=0)
        self.returncode: int | None = None
        self._pidfd = io.FileIO(pidfd)
        self._status = io.FileIO(status)
        self._lock = threading.Lock()

    def poll(self) -> int | None:
        """The exit code, if the process has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; raises `subprocess.TimeoutExpired`."""
        if self.returncode is None and not select.select([self._pidfd], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired([str(self.pid)], timeout or 0.0)
        with self._lock:
            if self.returncode is None:
                said = self._status.read()  # the nursery writes it as soon as it sees the end; or it is dead
                self.returncode = int(said) if said else -signal.SIGKILL
        return self.returncode

    def kill(self) -> None:
        """Send SIGKILL."""
        with self._lock, contextlib.suppress(ProcessLookupError):
            if self.returncode is None:
                signal.pidfd_send_signal(self._pidfd.fileno(), signal.SIGKILL)


class Nursery:
    """The nursery as its owner sees it; it ends with its owner."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(_PATIENCE)
        with theirs:
            command = [sys.executable, "-m", MODULE, str(theirs.fileno())]
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, start_new_session=True, pass_fds=[theirs.fileno()],
                env={**_LIBRARIES, **os.environ},
            )  # fmt: skip
        self._lock = threading.Lock()

    def fork(self, order: Order) -> Forked:
        """Raises `OSError` if the nursery is dead."""
        inputs, outputs, status = os.pipe(), os.pipe(), os.pipe()
        theirs, ours = [inputs[0], status[1], outputs[1]], [inputs[1], status[0], outputs[0]]
        try:
            pid, pidfd = self._ask(order, theirs)
            if os.read(status[0], 1) != READY:
                raise ChildProcessError("a process died before it began")
        except BaseException:
            for fd in ours:
                os.close(fd)
            raise
        finally:
            for fd in theirs:
                os.close(fd)
        return Forked(pid, pidfd, status[0], inputs[1], outputs[0])

    def _ask(self, order: Order, fds: list[int]) -> tuple[int, int]:
        message = msgspec.msgpack.encode(order)
        with self._lock:
            try:
                socket.send_fds(self._socket, [message], fds)
                answer, pidfds, _, _ = socket.recv_fds(self._socket, 64, 1)
            except OSError:
                self._socket.close()  # a late answer would be taken for that to the next order
                raise
        if not answer:
            raise ChildProcessError("the nursery is dead")
        return int(answer), pidfds[0]

    def close(self) -> None:
        """End it; what it forked goes on."""
        self._socket.close()
        self._process.kill()  # it may still be loading
        self._process.wait()  # with it, what its processes cost counts as ours


_nursery: Nursery | None = None


def warm_up() -> None:
    """Start a nursery for the processes of this one; they are started later."""
    global _nursery
    if _nursery is None:
        with contextlib.suppress(OSError):  # slower, not wrong
            _nursery = Nursery()
            atexit.register(_nursery.close)


def start(module: str, arguments: Sequence[str], environment: Mapping[str, str], speaks: bool = False) -> Process:
    """Start `python -m module` as the leader of a session, with pipes as its standard input and output. One that
    `speaks` writes where this process does, and is always a new interpreter: it is no part of the crawl."""
    if _nursery is not None and not speaks:
        with contextlib.suppress(OSError, UnicodeEncodeError):  # it is dead, or a variable is no text
            return _nursery.fork(Order(module, arguments, dict(environment)))
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments], stdin=subprocess.PIPE, stdout=None if speaks else subprocess.PIPE,
        start_new_session=True, env=dict(environment) if speaks else {**_LIBRARIES, **environment},
    )  # fmt: skip

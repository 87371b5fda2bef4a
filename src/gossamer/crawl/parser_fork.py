"""The first parsers of a worker: forked from it before it reads its order, so that they share its modules.

Nothing but modules is in its memory by then: no settings, no database, no thread, no event loop. A parser that dies is
followed by a new interpreter, since a worker under way cannot be forked.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
from collections.abc import Callable
from typing import cast

import msgspec

from gossamer.courtesy import show_command
from gossamer.crawl import parser_process


class Forked(msgspec.Struct, frozen=True):
    """A parser process that waits for its configuration."""

    pid: int
    source: int
    """Its standard input."""
    sink: int
    """Its standard output."""


def fork_parsers(count: int) -> list[Forked]:
    """Call it while the process has one thread."""
    gc.freeze()
    return [_fork_parser() for _ in range(count)]


def _fork_parser() -> Forked:
    source, sink = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.dup2(source[0], 0)
            os.dup2(sink[1], 1)
            # Not the pipes of the worker and of other parsers: they would not end with their owner.
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))
            show_command(parser_process.__name__)
            parser_process.main(forked=True)
        finally:
            os._exit(0)
    os.close(source[0])
    os.close(sink[1])
    return Forked(pid, source[1], sink[0])


class ForkedTransport:
    """Of `asyncio.SubprocessTransport` what a parser's owner uses."""

    def __init__(self, forked: Forked, ended: Callable[[], None]) -> None:
        self._pid = forked.pid
        self._ended = ended
        self._pidfd = os.pidfd_open(forked.pid)
        asyncio.get_running_loop().add_reader(self._pidfd, self._reap)
        self._input: asyncio.WriteTransport | None = None
        self._output: asyncio.ReadTransport | None = None

    @classmethod
    async def connect(
        cls, forked: Forked, received: Callable[[int, bytes], None], ended: Callable[[], None]
    ) -> ForkedTransport:
        """`received`: called with pieces of its output. `ended`: called at its end."""
        self, loop = cls(forked, ended), asyncio.get_running_loop()
        self._input, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(forked.source, "wb"))
        self._output, _ = await loop.connect_read_pipe(lambda: _Output(received), os.fdopen(forked.sink, "rb"))
        return self

    def get_pid(self) -> int:
        """Its number."""
        return self._pid

    def get_pipe_transport(self, fd: int) -> asyncio.WriteTransport:
        """Its standard input."""
        return cast(asyncio.WriteTransport, self._input)

    def kill(self) -> None:
        """Send SIGKILL; raises `ProcessLookupError` if it has ended."""
        signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def close(self) -> None:
        """Close its pipes; it has ended."""
        for pipe in (self._input, self._output):
            if pipe is not None:
                pipe.close()
        os.close(self._pidfd)

    def _reap(self) -> None:
        asyncio.get_running_loop().remove_reader(self._pidfd)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._pid, 0)
        self._ended()


class _Output(asyncio.Protocol):
    def __init__(self, received: Callable[[int, bytes], None]) -> None:
        self._received = received

    def data_received(self, data: bytes) -> None:
        """Passes it on."""
        self._received(1, data)

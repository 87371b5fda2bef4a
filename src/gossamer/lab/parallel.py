"""Runs independent pieces of a study on several cores; results come in the order of the pieces.

Not a pool of the standard library: that one waits for ever for the piece of a process that was killed, or, if the
process
that began it catches SIGTERM, for a process to end that was told to.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Any, TypeVar

from gossamer.errors import OperationError

A = TypeVar("A")
T = TypeVar("T")

PROCESSES = max(1, min(4, os.cpu_count() or 1))

_is_piece = False
"""Whether this process already works on a piece: then it runs its own pieces itself."""


def each(function: Callable[[A], T], pieces: Sequence[A]) -> list[T]:
    """`function` of each piece. Processes are forked, so that function and pieces may hold webs of any size that nobody
    has to copy; only results are sent back. Temporary folders of the processes go with this call, even if it is
    interrupted."""
    if len(pieces) <= 1 or PROCESSES == 1 or _is_piece:
        return [function(piece) for piece in pieces]
    results: dict[int, T] = {}
    with _processes(function, pieces) as pipes:
        while len(results) < len(pieces):
            for pipe in wait(pipes):
                assert isinstance(pipe, Connection)
                if (received := _received(pipe)) is None:
                    pipes.remove(pipe)
                    continue
                place, result, error = received
                if error is not None:
                    raise error
                results[place] = result
    return [results[place] for place in range(len(pieces))]


def _received(pipe: Connection) -> Any:
    try:
        return pipe.recv()
    except EOFError:
        raise OperationError("a process of the lab was killed: check that there is enough memory") from None


@contextmanager
def _processes(function: Callable[[Any], Any], pieces: Sequence[Any]) -> Iterator[list[Connection]]:
    """Running processes, by the pipes of their results; none is left afterwards."""
    fork = multiprocessing.get_context("fork")
    started: list[ForkProcess] = []
    pipes: list[Connection] = []
    following = fork.Value("i", 0)

    def take() -> int:
        with following.get_lock():
            place: int = following.value
            following.value = place + 1
            return place

    with tempfile.TemporaryDirectory(prefix="gossamer-lab-", ignore_cleanup_errors=True) as scratch:
        try:
            for _ in range(min(PROCESSES, len(pieces))):
                ours, theirs = fork.Pipe(duplex=False)
                started.append(fork.Process(target=_work, args=(function, pieces, take, theirs, scratch), daemon=True))
                started[-1].start()
                theirs.close()
                pipes.append(ours)
            yield pipes
        finally:
            for process in started:
                process.kill()
                process.join()


def _work(
    function: Callable[[Any], Any], pieces: Sequence[Any], take: Callable[[], int], results: Connection, scratch: str
) -> None:
    """The work of one process: piece after piece until none is left, which it reports last."""
    global _is_piece
    _is_piece = True
    tempfile.tempdir = scratch
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    while (place := take()) < len(pieces):
        try:
            results.send((place, function(pieces[place]), None))
        except Exception as error:
            results.send((place, None, error))
    results.send(None)

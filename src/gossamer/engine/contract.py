"""What an engine promises to a job, and a job to an engine.

A job is a list of pure tasks, run stage by stage: a function that can be imported by name, and one small argument
for each task. Large things travel in files of a `store.place.Place` that all machines reach: a task reads files,
writes files, and returns a few numbers.

The engine's part: each argument's result is yielded exactly once, in any order, and a task whose process or machine
died is run again. The job's part: a task may run any number of times, also twice at the same time, and always writes
the same bytes under the same names. So a job does not know where it runs, and its result does not depend on it.

An error that a task *raises* is not the machine's: it ends the job, as the same class with the same message, and with a
note that names the task. One stage at a time: take all results of a `run`, or close it, before the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from gossamer.engine.tasks import run_here

A = TypeVar("A")
R = TypeVar("R")


class Engine(Protocol):
    """Runs tasks."""

    @property
    def name(self) -> str:
        """Such as `local`."""
        ...

    @property
    def workers(self) -> int:
        """Tasks that run at the same time: what a job cuts its input by. Stays as it is while the engine is open."""
        ...

    def run(self, function: Callable[[A], R], arguments: Sequence[A]) -> Iterator[tuple[int, R]]:
        """The place of each argument and the function's result for it, in any order."""
        ...

    def close(self) -> None:
        """Give processes and connections back."""
        ...


class InlineEngine:
    """One task after the other in this process: for small inputs and for tests."""

    name = "inline"
    workers = 1

    def run(self, function: Callable[[A], R], arguments: Sequence[A]) -> Iterator[tuple[int, R]]:
        """The results in order."""
        return run_here(function, arguments)

    def close(self) -> None:
        """Nothing to give back."""


def collect(engine: Engine, function: Callable[[A], R], arguments: Sequence[A]) -> list[R]:
    """All results, in the order of the arguments."""
    found = dict(engine.run(function, arguments))
    return [found[place] for place in range(len(arguments))]

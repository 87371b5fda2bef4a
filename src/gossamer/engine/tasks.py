"""A task as bytes, and what became of it as bytes: so every engine treats results and errors in the same way.

The function travels by its name, so it must be one that can be imported on every machine. An error that a task
raises comes back as the same class with the same message; a note on it says which task it was, and where in it.
"""

from __future__ import annotations

import io
import pickle
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from gossamer.errors import OperationError

A = TypeVar("A")
R = TypeVar("R")

DEATHS = 3
"""Times that the process or machine of a task may die before the task is held to be the reason."""


def title(function: Callable[..., Any], place: int, count: int) -> str:
    """How messages name a task: `task 3 of 8, gossamer.jobs.graph.read_links`."""
    plain = getattr(function, "func", function)  # of a functools.partial
    name = getattr(plain, "__qualname__", type(plain).__name__)
    return f"task {place + 1} of {count}, {getattr(plain, '__module__', '?')}.{name}"


def pack(function: Callable[[A], Any], arguments: Sequence[A], place: int) -> bytes:
    """What `attempt` takes for the argument at that place."""
    if getattr(getattr(function, "func", function), "__module__", "") == "__main__":
        raise TypeError(f"{_named(function)} is part of a script: only functions of modules can run elsewhere")
    name = title(function, place, len(arguments))
    try:
        # The name by itself, so that it is known also where the rest cannot be read.
        return pickle.dumps(name) + pickle.dumps((function, arguments[place]), pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(f"{name} cannot be sent to another process: {error}") from error


def attempt(task: bytes) -> bytes:
    """Run a task; its result or its error, for `unpack`. Raises nothing that a task can be the reason of."""
    name = "a task"
    try:
        stream = io.BytesIO(task)
        name = pickle.load(stream)
        function, argument = pickle.load(stream)
        return pickle.dumps((True, function(argument)), pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        return _pack_error(name, error)


def unpack(outcome: bytes) -> Any:
    """A task's result; raises its error."""
    try:
        succeeded, value = pickle.loads(outcome)
    except Exception as error:
        raise OperationError(f"the result of a task cannot be read: {type(error).__name__}: {error}") from error
    if succeeded:
        return value
    raise value


def run_here(function: Callable[[A], R], arguments: Sequence[A]) -> Iterator[tuple[int, R]]:
    """One task after the other in this process, with the same errors."""
    for place, argument in enumerate(arguments):
        try:
            result = function(argument)
        except Exception as error:
            error.add_note(f"In {title(function, place, len(arguments))}.")
            raise
        yield place, result


def died(name: str, reason: str, times: int = DEATHS) -> OperationError:
    """The error of a task whose process died too often."""
    return OperationError(
        f"{name}: its process died {times} times ({reason}); if memory ran out, use fewer workers or more memory"
    )


def _pack_error(name: str, error: Exception) -> bytes:
    where = "".join(traceback.format_tb(error.__traceback__)[1:])
    error.add_note(f"In {name}.")
    if where:
        error.add_note(f"There:\n{where}")
    try:
        packed = pickle.dumps((False, error), pickle.HIGHEST_PROTOCOL)
        pickle.loads(packed)  # an error class whose constructor is not of the usual kind fails here, not over there
    except Exception:
        plain = OperationError(f"{name}: {type(error).__name__}: {error}")
        return pickle.dumps((False, plain), pickle.HIGHEST_PROTOCOL)
    return packed


def _named(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", repr(function))

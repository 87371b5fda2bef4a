"""Tasks for the engines' contract: functions of a module, as every engine asks for."""

from __future__ import annotations

import functools
import os
import signal
import time
from pathlib import Path

import numpy as np

from gossamer.errors import GossamerError, UsageError


class OddError(Exception):
    """One that cannot be made again from its message."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def double(number: int) -> int:
    return 2 * number


def process_of(_: object) -> int:
    time.sleep(0.3)  # so that one process cannot have them all before another has started
    return os.getpid()


def meet(folder: str) -> int:
    """Which process it is, told when another one has such a task, too."""
    (Path(folder) / str(os.getpid())).touch()
    deadline = time.monotonic() + 120
    while len(list(Path(folder).iterdir())) < 2:
        if time.monotonic() > deadline:
            raise TimeoutError("no other process has a task")
        time.sleep(0.02)
    return os.getpid()


def measure(data: bytes) -> tuple[int, bytes]:
    return len(data), data[::-1]


def random_sum(seed: int) -> float:
    return float(np.random.default_rng(seed).random(10_000).sum())


def die_once(argument: tuple[str, int]) -> int:
    """Kills its own process where nobody did so before with this number."""
    folder, number = argument
    try:
        (Path(folder) / f"died-{number}").touch(exist_ok=False)
    except FileExistsError:
        return number * number
    if number % 3 == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def die_always(number: int) -> int:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def fail(number: int) -> int:
    if number == 3:
        raise ValueError("three is no good")
    return number


def fail_for_a_person(number: int) -> int:
    if number == 2:
        raise UsageError("the file two.txt is not there")
    return number


def fail_oddly(number: int) -> int:
    if number == 1:
        raise OddError(7, "seven")
    return number


class OwnError(GossamerError):
    """A class of the job's own."""


def fail_on_its_own(number: int) -> int:
    raise OwnError(f"number {number}")


@functools.lru_cache
def _read_once(name: str) -> list[str]:
    return []


def remember(name: str) -> int:
    """How often this process was asked for that name."""
    time.sleep(0.02)
    _read_once(name).append(name)
    return len(_read_once(name))


def threads_of_libraries(_: object) -> str:
    return os.environ.get("OMP_NUM_THREADS", "")


def span(_: object) -> tuple[float, float]:
    """When it ran."""
    begin = time.monotonic()
    time.sleep(0.05)
    return begin, time.monotonic()


def tell_and_sleep(argument: tuple[str, int]) -> None:
    folder, number = argument
    (Path(folder) / f"{number}.part").write_text(str(os.getpid()))
    (Path(folder) / f"{number}.part").rename(Path(folder) / f"{number}.pid")
    time.sleep(600)

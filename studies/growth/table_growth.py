"""What a page costs the frontier with few and with many known URLs.

One database and one process per size; they take turns batch by batch, so that whatever else the machine does hits all
alike. Filled databases may be kept and used again; work is done on copies, for it changes them.
"""

from __future__ import annotations

import multiprocessing
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

import msgspec

from gossamer.database.schema import VERSION
from studies.growth.frontier_load import BATCH, WARM_UP, Load, Step
from studies.growth.made_up_frontier import FILLING, fill

_SAFE_BYTES = 400
"""Of disk that a URL may take in a filled database, with room to spare."""
_ROOM = 0.7
"""Share of the free disk that may be used."""
_PATIENCE = 60.0
"""Seconds in which a process must end when it is told to."""


class Work(msgspec.Struct, frozen=True):
    """How the processes work."""

    pages: int = 4000
    """Measured per size."""
    new: float = 0.09
    """Share of the links that lead to new URLs."""
    cold: bool = False
    """Whether the worker has just started, so that its cache is empty."""
    near: bool = True
    """Whether pages have fingerprints."""
    seed: int = 1


class Measured(msgspec.Struct, frozen=True):
    """What a page cost at one size."""

    size: int
    """Known URLs to begin with."""
    urls: float
    """Mean of the known URLs while it was measured: small tables grow by much meanwhile."""
    cpu: list[float]
    """Microseconds of processor time per page, of each batch."""
    calls: dict[str, float]
    """The mean of these by kind of call."""
    wall: float
    """Microseconds per page."""
    memory_first: int
    memory_last: int
    """Bytes of the process at the first and the last batch."""
    file: int
    """Bytes of the database to begin with."""

    @property
    def cost(self) -> float:
        """Mean microseconds of processor time per page."""
        return statistics.fmean(self.cpu)

    @property
    def pages(self) -> int:
        """How many were measured."""
        return len(self.cpu) * BATCH


def kept_at(store: Path, size: int) -> Path:
    """Where a filled database is kept, if it is."""
    return store / f"frontier-{size}-schema{VERSION}-filling{FILLING}.db"


def filled(store: Path, size: int, tell: Callable[[str], None]) -> Path:
    """A filled database, kept in a folder: not to be worked on."""
    path = kept_at(store, size)
    if not path.exists():
        started = time.perf_counter()
        store.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="filling-", dir=store) as folder:
            unfinished = Path(folder) / path.name
            fill(unfinished, size)
            unfinished.replace(path)
        tell(f"filled {size:,} URLs in {time.perf_counter() - started:.0f} s")
    return path


def fitting(store: Path, sizes: Sequence[int]) -> list[int]:
    """The sizes, smallest first, for which the disk has room: for copies, and for what is not kept yet."""
    store.mkdir(parents=True, exist_ok=True)
    room, chosen = _ROOM * shutil.disk_usage(store).free, list[int]()
    for size in sorted(sizes):
        room -= _SAFE_BYTES * size * (1 if kept_at(store, size).exists() else 2)
        if room > 0:
            chosen.append(size)
    return chosen


def measure(store: Path, sizes: Sequence[int], work: Work, tell: Callable[[str], None]) -> list[Measured]:
    """Fill what is missing and let the sizes take turns."""
    stored = [filled(store, size, tell) for size in sizes]
    with tempfile.TemporaryDirectory(prefix="working-", dir=store) as made:
        copies = [Path(made) / path.name for path in stored]
        for path, copy in zip(stored, copies, strict=True):
            shutil.copyfile(path, copy)
        tell(f"working: {work.pages:,} pages at each of {len(sizes)} sizes")
        steps = _in_turns(copies, sizes, work)
    return [_measured(size, path.stat().st_size, mine) for size, path, mine in zip(sizes, stored, steps, strict=True)]


def _in_turns(paths: Sequence[Path], sizes: Sequence[int], work: Work) -> list[list[Step]]:
    steps: list[list[Step]] = [[] for _ in sizes]
    with ExitStack() as running:
        ends = [running.enter_context(_Worker(path, size, work)) for path, size in zip(paths, sizes, strict=True)]
        for _ in range(WARM_UP + max(1, work.pages // BATCH)):
            for end, mine in zip(ends, steps, strict=True):
                mine.append(end.step())
    return [mine[WARM_UP:] for mine in steps]


class _Worker:
    """The process of one size, from the side of the one who tells it to work."""

    def __init__(self, path: Path, size: int, work: Work) -> None:
        context = multiprocessing.get_context("spawn")
        self._end, other = context.Pipe()
        self._process: SpawnProcess = context.Process(target=_serve, args=(path, size, work, other), daemon=True)
        self._process.start()
        other.close()  # so that a process that dies is noticed, not waited for

    def __enter__(self) -> _Worker:
        self._end.recv()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.close()
        self._process.join(_PATIENCE)
        if self._process.is_alive():
            self._process.kill()

    def step(self) -> Step:
        """One batch."""
        self._end.send(None)
        found: Any = self._end.recv()
        assert isinstance(found, Step)
        return found


def _serve(path: Path, size: int, work: Work, end: Connection[Any, Any]) -> None:
    load = Load(path, size, work.new, cold=work.cold, near=work.near, seed=work.seed)
    end.send(None)
    try:
        while True:
            end.recv()
            end.send(load.step())
    except EOFError:
        load.close()


def _measured(size: int, file: int, steps: Sequence[Step]) -> Measured:
    scale = 1e6 / BATCH
    return Measured(
        size,
        urls=statistics.fmean(step.urls for step in steps),
        cpu=[scale * sum(step.cpu.values()) for step in steps],
        calls={kind: scale * statistics.fmean(step.cpu[kind] for step in steps) for kind in steps[0].cpu},
        wall=scale * statistics.fmean(sum(step.wall.values()) for step in steps),
        memory_first=steps[0].memory,
        memory_last=steps[-1].memory,
        file=file,
    )

"""What can wait gives way to what a person waits for: workers, parsers, jobs and the indexer leave the processor to the
server. And a process gives back memory that it does not
need any more, and shows what it is."""

from __future__ import annotations

import ctypes
import os
import random
import time
from pathlib import Path

_AUTOGROUP = Path("/proc/self/autogroup")
_PATIENCE = 2.0
"""Seconds for which the kernel is asked again: it takes one such wish in a tenth of a second, from all users but
root together."""


def give_way(nice: int = 0) -> None:
    """Lower the priority of this process, and of those it starts; with 0, see that what it inherited counts."""
    now = os.nice(nice)
    # Linux weighs whole sessions against each other where `kernel.sched_autogroup_enabled` is set, as it is by default;
    # a process's own value then counts within its session only, and a new session begins with none.
    if now > 0 and os.getsid(0) == os.getpid():
        _weigh_less(now)


def _weigh_less(nice: int) -> None:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        try:
            _AUTOGROUP.write_text(str(nice))
            return
        except BlockingIOError:
            time.sleep(random.uniform(0.05, 0.15))
        except OSError:  # another system, or sessions are not weighed
            return


def return_memory() -> None:
    """Give freed memory back to the system, in some milliseconds: after work in steps of which each needs much."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:  # another C library
        trim(0)


def show_command(*words: str) -> None:
    """Let lists of processes show what this one is: as much of it as fits where the kernel reads the command line."""
    start, end = map(int, Path("/proc/self/stat").read_text().rpartition(")")[2].split()[45:47])
    shown = b"\0".join(os.fsencode(word) for word in ("python", "-m", *words))[: end - start - 1]
    if end > start:
        ctypes.memmove(start, shown.ljust(end - start, b"\0"), end - start)

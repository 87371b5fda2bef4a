"""What can wait gives way to what a person waits for: workers, parsers, jobs and the indexer leave the processor to the
server."""

from __future__ import annotations

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

"""The only reader of time.

Durable times (leases, politeness clocks) are compared between processes and
across restarts, so they are wall-clock times. Inside one process the wall clock
may jump; `SystemClock` therefore reads it once and counts on monotonically.
"""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Seconds since 1970, never going backwards within a process."""

    def now(self) -> float:
        """The current time."""
        ...


class SystemClock:
    """The wall clock at the start, carried on by the monotonic one."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def now(self) -> float:
        """The current time."""
        return self._offset + time.monotonic()

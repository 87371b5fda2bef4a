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


class CorrectedClock:
    """A clock set by another one, such as the database's: machines that share a crawl must agree on the time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ahead = 0.0
        self._last = 0.0

    def own(self) -> float:
        """What the machine's own clock says."""
        return self._clock.now()

    def set_ahead(self, seconds: float) -> None:
        """The machine's own clock is so many seconds ahead."""
        self._ahead = seconds

    def now(self) -> float:
        """The current time; while a correction would take it back, it stands still."""
        self._last = max(self._last, self._clock.now() - self._ahead)
        return self._last

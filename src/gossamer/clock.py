"""The time by which a crawl decides; how long something takes is measured elsewhere.

Durable times (leases, politeness clocks) are compared between processes and
across restarts, so they are wall-clock times. But the wall clock may jump while a
crawl runs; `SystemClock` therefore reads it once and counts on steadily. The processes
that a crawl starts later take over what it read (`environment_with_clock`): by a clock of their own
they would find the leases of the others run out, or their politeness a day in the future.
"""

from __future__ import annotations

import os
import time
from typing import Protocol


class Clock(Protocol):
    """Seconds since 1970, never going backwards within a process."""

    def now(self) -> float:
        """The current time."""
        ...


_SHARED = "GOSSAMER_CLOCK"
"""Environment variable: the wall clock when the machine started, as whoever started this process read it."""


class SystemClock:
    """The wall clock at the start, carried on by one that never jumps and counts while the machine sleeps, too."""

    def __init__(self) -> None:
        shared = os.environ.get(_SHARED)
        self._offset = float(shared) if shared else time.time() - _steady()

    def now(self) -> float:
        """The current time."""
        return self._offset + _steady()

    def wrong_by(self) -> float:
        """Seconds by which the wall clock has been set since it was read."""
        return time.time() - self.now()


class WallClock:
    """What a clock on the wall shows, jumps and all: for times that people and other machines look at, not for those
    that must not be crossed. It may go back."""

    def now(self) -> float:
        """The current time."""
        return time.time()


def environment_with_clock() -> dict[str, str]:
    """The environment of this process, and its clock as it is now: for the processes that it starts, now or later."""
    return {**os.environ, _SHARED: os.environ.get(_SHARED) or repr(time.time() - _steady())}


def _steady() -> float:
    """Seconds since the machine was started."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


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

"""Virtual time: it stands still until a test moves it."""

from __future__ import annotations


class FakeClock:
    """A `gossamer.clock.Clock` under the test's control."""

    def __init__(self, start: float = 1_700_000_000.0) -> None:
        self._now = start

    def now(self) -> float:
        """The current virtual time, in seconds since 1970."""
        return self._now

    def advance(self, seconds: float) -> float:
        """Moves time forward and returns the new time; a clock never goes back by accident."""
        if seconds < 0:
            raise ValueError(f"time cannot advance by {seconds} s; use set() to put the clock back")
        self._now += seconds
        return self._now

    def set(self, t: float) -> None:
        """Sets the time, also back: that is how a wrong system clock is played."""
        self._now = t

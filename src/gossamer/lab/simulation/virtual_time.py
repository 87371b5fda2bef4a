"""An event loop on which waiting takes no time: when nothing is left to do, the clock jumps to the next timer.

The order of events is that of a real loop on an infinitely fast machine, and the same every time. Nothing may wait for
the
outside here (sockets, threads, processes): it would never come, and is an error.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Jumps(selectors.SelectSelector):
    """Time passes where a loop would wait."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Let the time pass that the loop wants to wait."""
        if timeout is None:
            raise RuntimeError("a simulated crawl waits for something that never happens")
        self.time += max(timeout, 0.0)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """The loop; `time` begins at 0."""

    def __init__(self) -> None:
        self._jumps = _Jumps()
        super().__init__(self._jumps)

    def time(self) -> float:
        """Virtual seconds since the loop began."""
        return self._jumps.time


class VirtualClock:
    """`clock.Clock` on a virtual loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, started_at: float) -> None:
        self._loop, self._started_at = loop, started_at

    def now(self) -> float:
        """The current time; it moves only while everybody waits."""
        return self._started_at + self._loop.time()


def run_virtually(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)

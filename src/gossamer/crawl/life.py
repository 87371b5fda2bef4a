"""Whether a worker may still send requests: it was not told to stop, and its leases cannot have run out."""

from __future__ import annotations

import asyncio

from gossamer.clock import Clock
from gossamer.errors import LeaseLost

_COUNTED_ON = 0.9
"""The part of a lease after which a worker without a sign of life lets go: even a busy machine then closes its
connections before other workers come.
"""


class Life:
    """A worker's life under one name."""

    def __init__(self, name: str, clock: Clock, stop: asyncio.Event, lease: float) -> None:
        """`lease`: seconds that others wait after the last sign of life."""
        self.name, self.clock = name, clock
        self._stop, self._lease = stop, lease
        self.renewed_at = clock.now()
        """The time of the last sign of life."""

    @property
    def stopping(self) -> bool:
        """Whether to make no new request."""
        return self._stop.is_set()

    async def stopped(self) -> None:
        """Wait for the order to stop."""
        await self._stop.wait()

    async def sleep(self, seconds: float) -> bool:
        """Wait; returns False at once if the worker is to stop."""
        try:
            async with asyncio.timeout(seconds):
                await self._stop.wait()
        except TimeoutError:
            return True
        return False

    def renewed(self, at: float) -> None:
        """A sign of life got through and counts from this time on."""
        self.renewed_at = max(self.renewed_at, at)

    @property
    def left(self) -> float:
        """Seconds until the leases may have run out; negative if they may have."""
        return self.renewed_at + _COUNTED_ON * self._lease - self.clock.now()

    def check(self) -> None:
        """Raise `LeaseLost` once the leases may have run out: no request after that. What remains: a worker frozen
        between this check and its `send` still sends that one request."""
        if self.left < 0:
            raise LeaseLost(f"{self.name} was silent too long")

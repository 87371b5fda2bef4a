"""Sends a worker's signs of life, and sets its clock by the database's.

Both use their own connection and thread: a commit may wait for its turn, or for a slow store, longer than a lease
lasts, while the worker is alive.
"""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

from gossamer.clock import CorrectedClock
from gossamer.crawl.thread import DatabaseThread
from gossamer.database.database import Database
from gossamer.errors import ClockError
from gossamer.frontier import leases
from gossamer.frontier.contract import Budgets

log = logging.getLogger(__name__)

MOST_AHEAD = 300.0
"""Seconds by which a machine's clock may be wrong: less is corrected, for more a person has to look."""
_NOTICED = 5.0
_COMPARE = 60.0
"""Seconds between two checks of the database's clock."""


class Heartbeat:
    """Renews a worker's leases."""

    def __init__(self, database: Database, budgets: Budgets, clock: CorrectedClock) -> None:
        self._database, self._budgets, self._clock = database, budgets, clock
        self._executor = ThreadPoolExecutor(1, "heartbeat")
        self._thread = DatabaseThread(self._executor)
        self._compare_at = 0.0

    async def beat(self, worker: str) -> float:
        """Send a sign of life; returns the time from which it counts."""
        return await self._thread.run(self._beat, worker)

    def _beat(self, worker: str) -> float:
        given = self._database.patiently(lambda: self._renew(worker))
        if given >= self._compare_at:
            set_by_database(self._clock, self._database)
            self._compare_at = given + _COMPARE
        return given

    def _renew(self, worker: str) -> float:
        now = self._clock.now()  # of this attempt: an earlier one may have been long ago
        leases.renew(self._database, worker, now, self._budgets)
        return now

    async def close(self) -> None:
        """Close the connection."""
        await self._thread.run(self._database.close)
        self._executor.shutdown()


def set_by_database(clock: CorrectedClock, database: Database) -> None:
    """Set a clock by the database's; raises a `ClockError` if the machine's is too far off."""
    ahead = database.clock_ahead(clock.own)
    if abs(ahead) > MOST_AHEAD:
        raise ClockError(
            f"this machine's clock is {abs(ahead):.0f} s {'ahead of' if ahead > 0 else 'behind'} that of "
            f"{database.where}: set the clock (NTP), then start again"
        )
    if abs(ahead) > _NOTICED:
        log.warning("this machine's clock is %.1f s ahead of the database's; using the database's", ahead)
    clock.set_ahead(ahead)

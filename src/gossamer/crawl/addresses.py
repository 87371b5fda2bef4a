"""The IP addresses a worker holds, shared by its sites."""

from __future__ import annotations

from gossamer.clock import Clock
from gossamer.crawl.channel import Address
from gossamer.crawl.seams import Runs
from gossamer.frontier.sql import SqlFrontier


class AddressBook:
    """Addresses in use; those that nobody uses any more are given back with the next release."""

    def __init__(self, worker: str, frontier: SqlFrontier, thread: Runs, clock: Clock) -> None:
        self._worker, self._frontier, self._thread, self._clock = worker, frontier, thread, clock
        self._held: dict[str, Address] = {}

    async def hold(self, site: str, slot: str) -> Address | None:
        """Share an address, or claim it; None while another worker holds it."""
        held = self._held.get(slot)
        if held is None:
            now = self._clock.now()
            not_before = await self._thread.run(self._frontier.hold_address, self._worker, site, slot, now)
            if not_before is None:
                return None
            held = self._held.setdefault(slot, Address(slot, not_before))
        held.users += 1
        return held

    def changed(self) -> list[tuple[str, float]]:
        """Clocks that moved since the last commit."""
        moved = [address for address in self._held.values() if address.changed]
        for address in moved:
            address.changed = False
        return [(address.slot, address.not_before) for address in moved]

    def take_idle(self) -> list[tuple[str, float]]:
        """Addresses to give back, with their clocks; they are no longer ours from now on."""
        idle = [address for address in self._held.values() if not address.users]
        for address in idle:
            del self._held[address.slot]
        return [(address.slot, address.not_before) for address in idle]

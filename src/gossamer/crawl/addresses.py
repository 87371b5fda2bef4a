"""The IP addresses a worker holds, shared by its sites."""

from __future__ import annotations

import asyncio

from gossamer.crawl.bound_frontier import BoundFrontier


def slot_of(address: str, part: int) -> str:
    """The key under which an address is held: parts of a split site do not wait for each other."""
    return f"{address}#{part}" if part else address


class Address:
    """An IP address held by this worker: one request at a time over all its sites."""

    def __init__(self, slot: str, not_before: float) -> None:
        self.slot = slot
        self.address = slot.partition("#")[0]
        self.not_before = not_before
        self.turn = asyncio.Lock()
        self.users = 0
        self.changed = False


class AddressBook:
    """Addresses in use; the next release gives back those that no site uses any more."""

    def __init__(self, frontier: BoundFrontier) -> None:
        self._frontier = frontier
        self._held: dict[str, Address] = {}

    async def hold(self, site: str, slot: str) -> Address | None:
        """Share an address, or claim it; None while another worker holds it."""
        held = self._held.get(slot)
        if held is None:
            not_before = await self._frontier.hold_address(site, slot)
            if not_before is None:
                return None
            held = self._held.setdefault(slot, Address(slot, not_before))
        held.users += 1
        return held

    def drop(self, address: Address) -> None:
        """A site stops using an address."""
        address.users -= 1

    def changed(self) -> list[tuple[str, float]]:
        """Clocks that moved since the last commit."""
        moved = [address for address in self._held.values() if address.changed]
        for address in moved:
            address.changed = False
        return [(address.slot, address.not_before) for address in moved]

    def take_idle(self) -> list[tuple[str, float]]:
        """Addresses to give back, with their clocks; from now on they are not ours."""
        idle = [address for address in self._held.values() if not address.users]
        for address in idle:
            del self._held[address.slot]
        return [(address.slot, address.not_before) for address in idle]

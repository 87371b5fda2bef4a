"""Connections kept between requests: at most one per address.

Each address has a slot. A fetch from it holds the slot, so two requests to one address queue up here even if a caller
forgot politeness, and a connection for another site at the same address replaces the old one, which is fully closed
first. Unused connections close by themselves after a while (`transport`), or when there are too many, or when `drop` is
called.
"""

from __future__ import annotations

import asyncio

from gossamer.fetch.transport import Connection


class Slot:
    """The one connection to an address, and the queue for it."""

    __slots__ = ("connection", "lock", "users")

    def __init__(self) -> None:
        self.connection: Connection | None = None
        self.lock = asyncio.Lock()
        self.users = 0
        """Holder and waiters; a slot without users and connection is forgotten."""

    async def clear(self) -> None:
        """Close the connection and wait until it is closed."""
        connection, self.connection = self.connection, None
        if connection is not None and not connection.closed:
            await connection.shut()


class Pool:
    """All slots."""

    def __init__(self, max_idle: int) -> None:
        self._max_idle = max_idle
        self._slots: dict[str, Slot] = {}
        self._idle: dict[str, Slot] = {}
        """Slots with an unused connection, the longest unused first."""

    async def acquire(self, address: str) -> Slot:
        """The slot of an address, once it is free."""
        slot = self._slots.get(address)
        if slot is None:
            slot = self._slots[address] = Slot()
        slot.users += 1
        self._idle.pop(address, None)
        try:
            await slot.lock.acquire()
        except BaseException:
            slot.users -= 1
            raise
        return slot

    def release(self, address: str, slot: Slot) -> None:
        """Give a slot back; its connection is kept if it can be used again."""
        slot.lock.release()
        slot.users -= 1
        if slot.users:
            return
        if slot.connection is None or not slot.connection.usable:
            self._slots.pop(address, None)
            return
        self._idle[address] = slot
        if len(self._idle) > self._max_idle:
            self.drop(next(iter(self._idle)))

    def drop(self, address: str) -> None:
        """Close the unused connection to an address, if there is one."""
        slot = self._idle.pop(address, None)
        if slot is not None:
            self._slots.pop(address, None)
            if slot.connection is not None:
                slot.connection.abort()

    async def close(self) -> None:
        """Close every connection."""
        slots, self._slots, self._idle = list(self._slots.values()), {}, {}
        await asyncio.gather(*(slot.clear() for slot in slots))

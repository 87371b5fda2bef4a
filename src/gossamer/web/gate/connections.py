"""Who may stay connected when there are too many: those whose request is being answered, before those who keep silent.

An open connection costs memory and a file, so there is a limit for all and one for each address. Where either is
reached, those connections make room for which nothing is being done: unfinished heads and bodies first, then idle ones,
the oldest first, and all from the address that has most of them. Only where everybody is being served is a newcomer
refused, and even then it may ask whether the server is alive.

A reverse proxy brings all readers from one address: those of `serve.proxies`, and this machine itself, have no limit of
their own.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Literal, Protocol

from gossamer.web.gate.clients import Clients

CONNECTIONS = 500
"""Connections at once."""
OF_ONE_ADDRESS = 100
"""Connections of one address at once: an office behind one address seldom has as many requests under way."""
RESERVE = 50
"""Connections beyond that which may ask for health while all others are being served."""
AT_ONCE = 16
"""Connections that make room at a time, so that looking for them costs little however quickly others come."""

Admission = Literal["all", "health", "none"]
"""What a newcomer may ask for."""


class Connection(Protocol):
    """One connection, as far as it matters here."""

    @property
    def peer(self) -> str:
        """The address at the other end."""
        ...

    @property
    def waits(self) -> bool:
        """Whether nothing is done for it: what it asks has not come yet, or was answered."""
        ...

    @property
    def patience(self) -> tuple[bool, float]:
        """Who makes room first: unfinished requests before idle connections, the oldest first."""
        ...

    def make_room(self) -> None:
        """Close it."""
        ...


class Connections:
    """All connections of a server by address."""

    def __init__(self, proxies: Iterable[str]) -> None:
        self._clients = Clients(proxies)
        self._by_address: dict[str, set[Connection]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, new: Connection) -> Admission:
        """A connection was opened; others may have to make room for it."""
        address = self._clients.key(new.peer)
        own = self._by_address.setdefault(address, set())
        own.add(new)
        self._count += 1
        if len(own) > OF_ONE_ADDRESS and not self._is_proxy(new.peer) and not _shed(own - {new}, 1):
            return self._refused()
        if self._count > CONNECTIONS and not _shed(self._most_waiting() - {new}, AT_ONCE):
            return self._refused()
        return "all"

    def remove(self, gone: Connection) -> None:
        """A connection was closed."""
        address = self._clients.key(gone.peer)
        own = self._by_address.get(address, set())
        if gone in own:
            own.remove(gone)
            self._count -= 1
        if not own:
            self._by_address.pop(address, None)

    def _refused(self) -> Admission:
        return "health" if self._count <= CONNECTIONS + RESERVE else "none"

    def _most_waiting(self) -> set[Connection]:
        return max(self._by_address.values(), key=lambda own: sum(one.waits for one in own))

    def _is_proxy(self, peer: str) -> bool:
        return self._clients.is_proxy(peer) or _is_this_machine(peer)


def _shed(connections: Iterable[Connection], most: int) -> bool:
    """Close those that wait, the oldest first; whether there was any."""
    waiting = sorted((one for one in connections if one.waits), key=lambda one: one.patience)[:most]
    for one in waiting:
        one.make_room()
    return bool(waiting)


def _is_this_machine(peer: str) -> bool:
    try:
        return ipaddress.ip_address(peer).is_loopback
    except ValueError:
        return not peer  # a Unix socket

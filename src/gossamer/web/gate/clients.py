"""Who asks: the address that the rate limit counts.

`X-Forwarded-For` is whatever the sender wrote, so it is read only where the
connection comes from a proxy of the settings, and only back to the first
address that is not such a proxy. One household has a whole IPv6 network of 2^64
addresses: they count as one. IPv4 addresses that arrive on an IPv6 socket count
as what they are.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import TypeAlias

from gossamer.errors import UsageError

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

IPV6_PREFIX = 64
MAX_HOPS = 32
"""Addresses of an `X-Forwarded-For` that are looked at."""


class Clients:
    """Tells clients apart."""

    def __init__(self, proxies: Iterable[str]) -> None:
        self._proxies = [_network(text) for text in proxies]

    def key(self, peer: str, forwarded: Iterable[str] = ()) -> str:
        """A short text that is the same for all requests of a client.

        `peer` is the address of the connection, `forwarded` the values of its `X-Forwarded-For` headers in order.
        """
        address = _address(peer)
        if address is None:
            return "?"
        if self._proxies and self._trusted(address):
            address = self._behind(address, forwarded)
        if isinstance(address, ipaddress.IPv6Address):
            return str(ipaddress.ip_network((address, IPV6_PREFIX), strict=False))
        return str(address)

    def is_proxy(self, peer: str) -> bool:
        """Whether an address is that of a proxy of the settings."""
        address = _address(peer)
        return address is not None and self._trusted(address)

    def _behind(self, proxy: Address, forwarded: Iterable[str]) -> Address:
        """The last address that was not written by a proxy of ours, or is none of them."""
        found = proxy
        for text in reversed(",".join(forwarded).split(",")[-MAX_HOPS:]):
            address = _address(text.strip())
            if address is None:
                break
            found = address
            if not self._trusted(address):
                break
        return found

    def _trusted(self, address: Address) -> bool:
        return any(address in network for network in self._proxies if network.version == address.version)


def _network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError as error:
        raise UsageError(f"serve.proxies: {text!r} is not a network: write 10.0.0.0/8 or 10.0.0.7") from error


def _address(text: str) -> Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address

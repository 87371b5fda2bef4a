"""Which addresses may be connected to.

Links are written by strangers. Without a guard a page could send the crawler to the router, the database or the cloud's
metadata service next door and have the answer published in a search index. So an address must be ordinary, public
unicast; everything special is refused unless the operator lists its network.

IPv6 can carry an IPv4 address (mapped, 6to4, NAT64, Teredo, ISATAP); such an address is judged by the one inside it.

The hole that remains: a public address may still lead inside, for instance a router that answers on its outer address,
or
a proxy or web server out there that forwards by `Host`. The guard judges addresses, not what is behind them; and with a
configured proxy the proxy, not we, decides where to connect.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import NamedTuple

from gossamer.errors import UsageError
from gossamer.model.decision import Decision, allow, refuse

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

WAY_IN = "crawl it with --allow-network {} (network.allow)"
_CACHED = 65_536
_OWN = ("private", "shared", "link_local")
"""Kinds of networks that an operator may run, and crawl."""


class _Special(NamedTuple):
    """Addresses that are not public."""

    network: Network
    name: str
    words: str


# The first match wins, so single addresses come before their networks. Facts from the
# IANA special-purpose registries (RFC 6890 and successors) and the clouds' manuals.
_SPECIAL: tuple[_Special, ...] = tuple(
    _Special(ip_network(cidr), name, words)
    for cidr, name, words in (
        ("169.254.169.254/32", "metadata", "the metadata service of a cloud"),
        ("169.254.170.2/32", "metadata", "the metadata service of a cloud"),
        ("100.100.100.200/32", "metadata", "the metadata service of a cloud"),
        ("192.0.0.192/32", "metadata", "the metadata service of a cloud"),
        ("168.63.129.16/32", "metadata", "the metadata service of a cloud"),
        ("fd00:ec2::254/128", "metadata", "the metadata service of a cloud"),
        ("fd20:ce::254/128", "metadata", "the metadata service of a cloud"),
        ("0.0.0.0/8", "unspecified", "not the address of any host"),
        ("10.0.0.0/8", "private", "private"),
        ("100.64.0.0/10", "shared", "inside a provider's network (CGNAT)"),
        ("127.0.0.0/8", "loopback", "this machine"),
        ("169.254.0.0/16", "link_local", "link-local"),
        ("172.16.0.0/12", "private", "private"),
        ("192.0.0.0/24", "reserved", "reserved for protocols"),
        ("192.0.2.0/24", "reserved", "reserved for documentation"),
        ("192.88.99.0/24", "reserved", "a retired 6to4 relay"),
        ("192.168.0.0/16", "private", "private"),
        ("198.18.0.0/15", "reserved", "reserved for measurements"),
        ("198.51.100.0/24", "reserved", "reserved for documentation"),
        ("203.0.113.0/24", "reserved", "reserved for documentation"),
        ("224.0.0.0/4", "multicast", "multicast"),
        ("240.0.0.0/4", "reserved", "reserved"),
        ("::/128", "unspecified", "not the address of any host"),
        ("::1/128", "loopback", "this machine"),
        ("2001:db8::/32", "reserved", "reserved for documentation"),
        ("2001::/23", "reserved", "reserved for protocols"),
        ("3fff::/20", "reserved", "reserved for documentation"),
        ("fc00::/7", "private", "private"),
        ("fe80::/10", "link_local", "link-local"),
        ("ff00::/8", "multicast", "multicast"),
    )
)
_GLOBAL_V6 = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)


class AddressPolicy:
    """Judges addresses by the networks the operator allowed and whether there is a contact.

    `allow_networks` are CIDR blocks (`127.0.0.0/8`, `::1`) that may be crawled although they are special. Without a
    `contact`
    no site outside may be visited: only loopback passes, and only if it is listed."""

    def __init__(self, allow_networks: tuple[str, ...] = (), contact: str = "", way_in: str = WAY_IN) -> None:
        """`way_in`: how an operator allows a network, for the sentence of a refusal."""
        self._way_in = way_in
        self._allowed = tuple(_network(text) for text in allow_networks)
        self._contact = bool(contact.strip())
        self._verdicts: dict[str, Decision] = {}

    def check(self, address: str) -> Decision:
        """May this address be connected to? Anything that is not an address may not."""
        verdict = self._verdicts.get(address)
        if verdict is None:
            if len(self._verdicts) >= _CACHED:
                self._verdicts.clear()
            verdict = self._verdicts[address] = self._judge(address)
        return verdict

    def _judge(self, text: str) -> Decision:
        try:
            address = _plain(ip_address(text))
        except ValueError:
            return refuse("address.syntax", f"{text[:80]!r} is not an IP address")
        if not self._contact and not address.is_loopback:
            return refuse("address.contact", f"{text} is not loopback, and nothing else is crawled without a contact")
        if any(address in network for network in self._allowed):
            return allow("address.allowed", f"{text} is in an allowed network")
        for part in (address, *_embedded(address)):
            found = _special(part)
            if found and not any(part in network for network in self._allowed):
                inside = f"{text} carries {part}, which" if part is not address else text
                return refuse(
                    f"address.{found.name}", f"{inside} is {found.words}: {_way_in(part, found, self._way_in)}"
                )
        return allow("address.public", f"{text} is a public address")


def network_of(address: str) -> str:
    """The special network of an address, to be allowed with it; else the address alone."""
    found = _plain(ip_address(address))
    for network, _, _ in _SPECIAL:
        if found in network:
            return str(network)
    return f"{found}/{found.max_prefixlen}"


def _network(text: str) -> Network:
    try:
        return ip_network(text.strip(), strict=False)
    except ValueError as error:
        raise UsageError(f"allow_networks: {text!r} is not a network such as 10.0.0.0/8 or ::1/128 ({error})") from None


def _plain(address: Address) -> Address:
    """A mapped address (`::ffff:127.0.0.1`) is the IPv4 one: the kernel connects to just that."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def _special(address: Address) -> _Special | None:
    for special in _SPECIAL:
        if address in special.network:
            # Teredo is in 2001::/23 but is judged by the address it carries.
            if isinstance(address, IPv6Address) and address.teredo is not None:
                return None
            return special
    if isinstance(address, IPv6Address) and address not in _GLOBAL_V6 and address not in _NAT64:
        return _Special(ip_network(address), "reserved", "outside the public range of IPv6")
    return None


def _way_in(address: Address, special: _Special, way: str) -> str:
    """The option that allows a special address: loopback as a whole, else this address alone; for a network that may be
    one's own also the whole."""
    if special.name == "loopback":
        return way.format(special.network)
    option = way.format(ip_network(address))
    return f"{option}, or all of its network with {special.network}" if special.name in _OWN else option


def _embedded(address: Address) -> Iterator[IPv4Address]:
    """The IPv4 addresses to which a transition mechanism would send the packets."""
    if not isinstance(address, IPv6Address):
        return
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    low = int(address) & 0xFFFFFFFF
    if address in _NAT64 or (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
        yield IPv4Address(low)

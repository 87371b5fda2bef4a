from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import UsageError
from gossamer.fetch.guard import AddressPolicy
from gossamer.fetch.identity import check_contact, user_agent

OUT = AddressPolicy(contact="crawl@example.org")
SPECIAL = {
    "10.1.2.3": "private",
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "192.168.1.1": "private",
    "127.0.0.1": "loopback",
    "127.9.9.9": "loopback",
    "169.254.1.1": "link_local",
    "169.254.169.254": "metadata",
    "168.63.129.16": "metadata",
    "100.100.100.200": "metadata",
    "fd00:ec2::254": "metadata",
    "100.64.0.1": "shared",
    "100.127.255.255": "shared",
    "0.0.0.0": "unspecified",
    "0.1.2.3": "unspecified",
    "224.0.0.1": "multicast",
    "255.255.255.255": "reserved",
    "192.0.2.1": "reserved",
    "198.19.0.1": "reserved",
    "::": "unspecified",
    "::1": "loopback",
    "fe80::1": "link_local",
    "fe80::1%eth0": "link_local",
    "fc00::1": "private",
    "fdff::1": "private",
    "ff02::1": "multicast",
    "2001:db8::1": "reserved",
    "2001:10::1": "reserved",
    "64:ff9b:1::1": "reserved",
    "::7f00:1": "reserved",
    "4000::1": "reserved",
    "::ffff:127.0.0.1": "loopback",
    "::ffff:10.0.0.1": "private",
    "::ffff:169.254.169.254": "metadata",
    "2002:7f00:1::": "loopback",
    "2002:a00:1::1": "private",
    "64:ff9b::a9fe:a9fe": "metadata",
    "64:ff9b::10.0.0.1": "private",
    "2001:0:808:808:0:0:80ff:fffe": "loopback",
    "2001:0:a00:1::": "private",
    "2620:0:1::5efe:192.168.1.1": "private",
}


@pytest.mark.parametrize(("address", "rule"), SPECIAL.items())
def test_a_special_address_is_refused_by_name_with_a_reason(address: str, rule: str) -> None:
    verdict = OUT.check(address)
    assert not verdict.allowed
    assert verdict.rule == f"address.{rule}"
    assert address in verdict.reason


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "172.15.0.1", "172.32.0.1", "100.63.255.255", "100.128.0.1", "2a00:1450::1", "2620:0:1::1",
     "64:ff9b::8.8.8.8", "2002:808:808::1", "::ffff:8.8.8.8"],
)  # fmt: skip
def test_a_public_address_passes(address: str) -> None:
    assert OUT.check(address).allowed


@pytest.mark.parametrize(
    "text", ["", "localhost", "127.1", "0x7f000001", "2130706433", "example.org", "1.2.3.4 ", "[::1]"]
)
def test_what_is_not_an_address_never_passes(text: str) -> None:
    assert AddressPolicy(("0.0.0.0/0", "::/0"), "crawl@example.org").check(text).rule == "address.syntax"


def test_a_listed_network_passes_and_its_neighbour_does_not() -> None:
    policy = AddressPolicy(("10.1.0.0/16", "::1"), "crawl@example.org")
    assert policy.check("10.1.2.3").allowed
    assert policy.check("::ffff:10.1.2.3").allowed
    assert policy.check("::1").allowed
    assert not policy.check("10.2.0.1").allowed
    assert not policy.check("127.0.0.1").allowed


def test_without_a_contact_only_listed_loopback_passes() -> None:
    policy = AddressPolicy(("127.0.0.0/8", "10.0.0.0/8", "8.8.8.0/24"), "")
    assert policy.check("127.0.1.7").allowed
    assert policy.check("8.8.8.8").rule == "address.contact"
    assert policy.check("10.0.0.1").rule == "address.contact"
    assert policy.check("::1").rule == "address.loopback"
    assert AddressPolicy().check("127.0.0.1").rule == "address.loopback"


@pytest.mark.parametrize("cidr", ["", "10.0.0.0/33", "example.org", "10.0.0/8", "::1/129"])
def test_a_network_that_is_none_is_a_usage_error(cidr: str) -> None:
    with pytest.raises(UsageError, match="is not a network"):
        AddressPolicy((cidr,))


@given(st.ip_addresses(v=4))
def test_whatever_carries_an_ipv4_address_is_judged_like_it(inner: IPv4Address) -> None:
    bare = OUT.check(str(inner)).allowed
    number = int(inner)
    for outer in (0xFFFF << 32 | number, 0x64FF9B << 96 | number, 0x2002 << 112 | number << 80 | 1):
        assert OUT.check(str(IPv6Address(outer))).allowed == bare


@given(st.ip_addresses())
def test_the_guard_is_at_least_as_strict_as_the_standard_library(address: IPv4Address | IPv6Address) -> None:
    if OUT.check(str(address)).allowed:
        assert not (address.is_loopback or address.is_link_local or address.is_multicast or address.is_unspecified)
        # Newer versions of the library call every address that carries an IPv4 address private, whichever it carries.
        assert not address.is_private or any(address in ip_network(one) for one in ("64:ff9b::/96", "2002::/16"))


@given(st.text(max_size=40))
def test_the_guard_never_raises(text: str) -> None:
    OUT.check(text)


@pytest.mark.parametrize(
    "contact",
    [
        "crawl@example.org",
        " crawl@example.org ",
        "https://example.org/bot",
        "http://[::1]/x",
        "mailto:a@b.org",
    ],
)
def test_the_user_agent_names_the_project_and_the_contact(contact: str) -> None:
    assert user_agent("0.1.0", contact) == f"Gossamer/0.1 (+{contact.strip()})"


@pytest.mark.parametrize(
    "contact", ["", "me", "a@", "@b", "ftp://x", "a@b\r\nX: y", "https://a b", "https://a)", "a@b.org" * 50]
)
def test_a_contact_nobody_can_be_reached_by_is_a_usage_error(contact: str) -> None:
    with pytest.raises(UsageError, match="neither a mail address nor a URL"):
        check_contact(contact)


def test_without_a_contact_the_user_agent_is_the_bare_name() -> None:
    assert user_agent("0.1.0", "") == "Gossamer/0.1"


@pytest.mark.parametrize(
    ("address", "way"),
    [
        ("127.0.0.1", "127.0.0.1 is this machine: crawl it with --allow-network 127.0.0.0/8 (network.allow)"),
        ("::1", "::1 is this machine: crawl it with --allow-network ::1/128 (network.allow)"),
        ("10.3.2.1", "--allow-network 10.3.2.1/32 (network.allow), or all of its network with 10.0.0.0/8"),
        ("fd12::5", "--allow-network fd12::5/128 (network.allow), or all of its network with fc00::/7"),
        ("169.254.169.254", "is the metadata service of a cloud: crawl it with --allow-network 169.254.169.254/32"),
        ("2002:a00:1::", "carries 10.0.0.1, which is private: crawl it with --allow-network 10.0.0.1/32"),
    ],
)
def test_a_refusal_names_the_very_option_that_allows_the_address(address: str, way: str) -> None:
    reason = OUT.check(address).reason
    assert way in reason
    named = reason.partition("--allow-network ")[2].split()[0]
    assert AddressPolicy((named,), "crawl@example.org").check(address).allowed

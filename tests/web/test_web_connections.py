"""Who makes room when there are too many connections."""

from __future__ import annotations

import pytest

from gossamer.web.gate import connections
from gossamer.web.gate.connections import Connections


class Fake:
    def __init__(self, peer: str, age: float = 0.0, waits: bool = True, idle: bool = False) -> None:
        self.peer, self.waits, self.patience, self.closed = peer, waits, (idle, -age), False

    def make_room(self) -> None:
        self.closed, self.waits = True, False


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"CONNECTIONS": 6, "OF_ONE_ADDRESS": 3, "RESERVE": 2, "AT_ONCE": 1}.items():
        monkeypatch.setattr(connections, name, value)


def test_unfinished_requests_make_room_before_idle_connections_and_the_oldest_first() -> None:
    here, peer = Connections(()), "203.0.113.5"
    idle, old, young = Fake(peer, 9, idle=True), Fake(peer, 5), Fake(peer, 1)
    assert [here.add(one) for one in (idle, young, old, Fake(peer))] == ["all"] * 4
    assert [old.closed, young.closed, idle.closed] == [True, False, False]


def test_the_address_with_most_that_wait_makes_room_for_others() -> None:
    here = Connections(["198.51.100.0/24"])
    many = [Fake("198.51.100.7", age) for age in range(5)]
    lone = Fake("203.0.113.5", 99)
    for one in (*many, lone, Fake("203.0.113.6")):
        assert here.add(one) == "all"
    assert [one.closed for one in many] == [False] * 4 + [True]
    assert not lone.closed


@pytest.mark.parametrize("peer", ["127.0.0.1", "::1", "198.51.100.7"])
def test_proxies_and_this_machine_have_no_limit_of_their_own(peer: str) -> None:
    here = Connections(["198.51.100.0/24"])
    busy = [Fake(peer, waits=False) for _ in range(6)]
    assert {here.add(one) for one in busy} == {"all"}


def test_one_household_of_ipv6_counts_as_one() -> None:
    here = Connections(())
    busy = [Fake(f"2001:db8::{n}", waits=False) for n in range(1, 5)]
    assert [here.add(one) for one in busy] == ["all", "all", "all", "health"]


def test_where_all_are_served_a_newcomer_may_ask_for_health_and_then_nothing() -> None:
    here = Connections(())
    busy = [Fake(f"203.0.113.{n}", waits=False) for n in range(9)]
    assert [here.add(one) for one in busy] == ["all"] * 6 + ["health"] * 2 + ["none"]
    for one in busy:
        here.remove(one)
        here.remove(one)
    assert len(here) == 0
    assert here.add(Fake("203.0.113.1")) == "all"

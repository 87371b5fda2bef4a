from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from gossamer.errors import UsageError
from gossamer.fetch import dns
from gossamer.fetch.dns import DnsConfig, Resolver
from gossamer.fetch.guard import AddressPolicy
from gossamer.fetch.limits import Trouble
from gossamer.model.outcome import Outcome

LOCAL = AddressPolicy(("127.0.0.0/8", "::1"), "crawl@example.org")


class Clock:
    time = 1000.0

    def now(self) -> float:
        return self.time


class Names:
    """In place of the system's resolver: scripted answers, counted questions."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answers: dict[str, list[str] | Exception] = {}
        self.asked: list[str] = []
        self.wait = 0.0
        monkeypatch.setattr(dns.socket, "getaddrinfo", self.look_up)

    def look_up(self, host: str, port: None, *, type: int) -> list[tuple[object, ...]]:
        self.asked.append(host)
        time.sleep(self.wait)
        answer = self.answers.get(host, socket.gaierror(-2, "Name or service not known"))
        if isinstance(answer, Exception):
            raise answer
        family = {True: socket.AF_INET6, False: socket.AF_INET}
        return [(family[":" in a], type, 6, "", (a, 0)) for a in answer]


@pytest.fixture
async def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    return Names(monkeypatch)


async def trouble_of(resolver: Resolver, host: str) -> Trouble:
    with pytest.raises(Trouble) as caught:
        await resolver.address_of(host)
    return caught.value


async def test_a_host_keeps_its_address_for_the_ttl_whatever_the_server_says_later(names: Names) -> None:
    clock = Clock()
    resolver = Resolver(DnsConfig(ttl=300), LOCAL, clock)
    names.answers["a.test"] = ["8.8.8.8"]
    assert await resolver.address_of("a.test") == "8.8.8.8"
    names.answers["a.test"] = ["9.9.9.9"]
    clock.time += 299
    assert await resolver.address_of("a.test") == "8.8.8.8"
    clock.time += 2
    assert await resolver.address_of("a.test") == "9.9.9.9"
    assert len(names.asked) == 2


async def test_the_choice_is_the_lowest_ipv4_in_any_order(names: Names) -> None:
    for order in (["9.9.9.9", "2a00::1", "8.8.8.8"], ["8.8.8.8", "9.9.9.9", "2a00::1"]):
        names.answers["a.test"] = order
        assert await Resolver(DnsConfig(), LOCAL, Clock()).address_of("a.test") == "8.8.8.8"
    names.answers["six.test"] = ["2a00::2", "2a00::1"]
    assert await Resolver(DnsConfig(), LOCAL, Clock()).address_of("six.test") == "2a00::1"


async def test_a_forbidden_address_is_passed_over_for_an_allowed_one(names: Names) -> None:
    names.answers["a.test"] = ["10.0.0.1", "8.8.8.8"]
    assert await Resolver(DnsConfig(), LOCAL, Clock()).address_of("a.test") == "8.8.8.8"


async def test_only_forbidden_addresses_is_address_refused_with_the_reason(names: Names) -> None:
    names.answers["a.test"] = ["10.0.0.1", "169.254.169.254"]
    trouble = await trouble_of(Resolver(DnsConfig(), LOCAL, Clock()), "a.test")
    assert trouble.outcome is Outcome.ADDRESS_REFUSED
    assert "a.test" in trouble.reason and "10.0.0.1 is private" in trouble.reason


async def test_a_failure_is_believed_for_the_negative_ttl_only(names: Names) -> None:
    clock = Clock()
    resolver = Resolver(DnsConfig(negative_ttl=30), LOCAL, clock)
    assert (await trouble_of(resolver, "a.test")).outcome is Outcome.DNS_FAILED
    names.answers["a.test"] = ["8.8.8.8"]
    clock.time += 29
    await trouble_of(resolver, "a.test")
    assert len(names.asked) == 1
    clock.time += 2
    assert await resolver.address_of("a.test") == "8.8.8.8"


async def test_many_who_ask_at_once_are_one_question_and_a_cancelled_one_harms_nobody(names: Names) -> None:
    names.answers["a.test"] = ["8.8.8.8"]
    names.wait = 0.02
    resolver = Resolver(DnsConfig(timeout=120.0), LOCAL, Clock())
    tasks = [asyncio.ensure_future(resolver.address_of("a.test")) for _ in range(20)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert results[1:] == ["8.8.8.8"] * 19
    assert names.asked == ["a.test"]


async def test_a_silent_name_server_is_given_up(names: Names) -> None:
    names.wait = 60
    trouble = await trouble_of(Resolver(DnsConfig(timeout=0.02), LOCAL, Clock()), "a.test")
    assert trouble.outcome is Outcome.DNS_FAILED and "within" in trouble.reason


@pytest.mark.parametrize(
    "error", [UnicodeError("label too long"), OSError(5, "I/O error"), ValueError("embedded null")]
)
async def test_no_error_of_the_resolver_escapes(names: Names, error: Exception) -> None:
    names.answers["a.test"] = error
    assert (await trouble_of(Resolver(DnsConfig(), LOCAL, Clock()), "a.test")).outcome is Outcome.DNS_FAILED


async def test_literals_localhost_and_overrides_need_no_name_server(names: Names) -> None:
    resolver = Resolver(DnsConfig(overrides={"News.Test": "127.0.1.5", "six.test": "[::1]"}), LOCAL, Clock())
    expected = {"127.0.0.1": "127.0.0.1", "[::1]": "::1", "localhost": "127.0.0.1",
                "a.localhost": "127.0.0.1", "news.test": "127.0.1.5", "six.test": "::1"}  # fmt: skip
    assert {host: await resolver.address_of(host) for host in expected} == expected
    assert names.asked == []


async def test_literals_and_overrides_are_judged_too() -> None:
    resolver = Resolver(DnsConfig(overrides={"a.test": "10.0.0.1"}), LOCAL, Clock())
    for host in ("a.test", "192.168.1.1", "[fe80::1]"):
        assert (await trouble_of(resolver, host)).outcome is Outcome.ADDRESS_REFUSED


async def test_the_cache_is_bounded(names: Names) -> None:
    resolver = Resolver(DnsConfig(max_entries=2), LOCAL, Clock())
    for host in ("a.test", "b.test", "c.test"):
        names.answers[host] = ["8.8.8.8"]
        await resolver.address_of(host)
    await resolver.address_of("c.test")
    assert len(names.asked) == 3
    await resolver.address_of("a.test")
    assert len(names.asked) == 4


def test_an_override_that_is_no_address_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match=r"a\.test=nowhere"):
        Resolver(DnsConfig(overrides={"a.test": "nowhere"}), LOCAL, Clock())


class TestDeadNames:
    """Names whose servers never answer take nothing from the others."""

    @pytest.fixture
    def dead(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
        """Names that begin with "dead" are answered at the end of the test; those that were asked for."""
        asked: list[str] = []
        over = threading.Event()

        def look_up(host: str, port: None, *, type: int) -> list[tuple[object, ...]]:
            asked.append(host)
            if host.startswith("dead"):
                over.wait()
            return [(socket.AF_INET, type, 6, "", ("8.8.8.8", 0))]

        monkeypatch.setattr(dns.socket, "getaddrinfo", look_up)
        yield asked
        over.set()

    async def test_others_are_answered_beside_many_of_them(self, dead: list[str]) -> None:
        resolver = Resolver(DnsConfig(timeout=60), LOCAL, Clock())
        waiting = [asyncio.ensure_future(trouble_of(resolver, f"dead{n}.test")) for n in range(48)]
        for n in range(20):
            assert await resolver.address_of(f"good{n}.test") == "8.8.8.8"
        assert sum(host.startswith("dead") for host in dead) == 48
        for task in waiting:
            task.cancel()

    async def test_one_that_waits_for_room_loses_no_time_by_it(
        self, dead: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(dns, "_AT_ONCE", 2)
        resolver = Resolver(DnsConfig(timeout=0.2), LOCAL, Clock())
        first = [(await trouble_of(resolver, f"dead{n}.test")).reason for n in range(2)]
        assert all("no answer" in reason for reason in first)
        third = asyncio.ensure_future(resolver.address_of("good.test"))
        await asyncio.sleep(1.0)
        assert not third.done() and dead == ["dead0.test", "dead1.test"], "the threads are still taken"
        resolver._config = DnsConfig(timeout=120.0)  # its time begins now; a busy machine needs some for the answer
        resolver._room.release()
        assert await third == "8.8.8.8"

"""Names to addresses: one pinned address per host.

Politeness is counted per address, so everybody who asks for a host within the TTL gets the same address: the worker
that
waits, and the connection that is made then. A host that answers with one address when it is judged and another when it
is connected to (rebinding) gains nothing by it.

Of several addresses the lowest allowed IPv4 one is pinned, or the lowest IPv6 one if there is no IPv4: deterministic,
however the name server shuffles. Failures are cached too, but for a shorter time.

The system's resolver keeps a thread for up to 20 s over a name whose servers are dead, even when nobody waits for it
any
more. So each question has a thread of its own: with the few that an event loop keeps for all questions, four dead names
would make every other one fail.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from ipaddress import ip_address
from threading import Thread
from typing import Any, NamedTuple

import msgspec

from gossamer.clock import Clock
from gossamer.fetch.guard import AddressPolicy
from gossamer.fetch.limits import Trouble
from gossamer.fetch.target import parse_overrides
from gossamer.model.outcome import Outcome

_AT_ONCE = 64
"""Most questions to the system's resolver at once, fewer than small name servers refuse; further ones wait, and waiting
does not count against their time-out.
"""


class DnsConfig(msgspec.Struct, frozen=True, kw_only=True):
    """How names are resolved."""

    ttl: float = 300.0
    """Seconds a host keeps its address. The system's resolver does not tell the record's own TTL."""
    negative_ttl: float = 30.0
    """Seconds a failure is believed."""
    timeout: float = 10.0
    """Seconds to wait for the system's resolver."""
    max_entries: int = 65_536
    """Hosts remembered; the oldest are forgotten first."""
    overrides: dict[str, str] = {}
    """Host → IP address: taken instead of asking, and judged by the guard all the same."""


class _Entry(NamedTuple):
    until: float
    address: str
    trouble: tuple[Outcome, str] | None


class Resolver:
    """The address of a host: from the overrides, the cache, or the system's resolver."""

    def __init__(self, config: DnsConfig, guard: AddressPolicy, clock: Clock) -> None:
        self._config = config
        self._guard = guard
        self._clock = clock
        self._overrides = parse_overrides(config.overrides)
        self._entries: dict[str, _Entry] = {}
        self._pending: dict[str, asyncio.Task[_Entry]] = {}
        self._room = asyncio.Semaphore(_AT_ONCE)

    async def address_of(self, host: str) -> str:
        """The pinned address of a host; raises `Trouble` (DNS_FAILED or ADDRESS_REFUSED). `host` is as in a canonical
        URL: lower case, IDNA, IPv6 in brackets."""
        entry = self._entries.get(host)
        if entry is None or entry.until <= self._clock.now():
            entry = await self._look_up(host)
        if entry.trouble:
            raise Trouble(*entry.trouble)
        return entry.address

    async def _look_up(self, host: str) -> _Entry:
        known = self._known(host)
        if known:
            return self._remember(host, [known])
        task = self._pending.get(host)
        if task is None:
            task = self._pending[host] = asyncio.ensure_future(self._ask(host))
            task.add_done_callback(lambda _: self._pending.pop(host, None))
        # Others may wait for the same answer: a cancelled caller must not take it from them.
        return await asyncio.shield(task)

    def _known(self, host: str) -> str:
        """The address of a host that needs no name server."""
        if host in self._overrides:
            return self._overrides[host]
        if host == "localhost" or host.endswith(".localhost"):  # RFC 6761, 6.3
            return "127.0.0.1"
        bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
        try:
            return str(ip_address(bare))
        except ValueError:
            return ""

    async def _ask(self, host: str) -> _Entry:
        await self._room.acquire()
        try:
            async with asyncio.timeout(self._config.timeout):
                infos = await self._ask_system(host)
        except TimeoutError:
            return self._failed(host, f"no answer for {host} within {self._config.timeout:g} s")
        except (OSError, UnicodeError, ValueError) as error:
            return self._failed(host, f"{host} cannot be resolved: {getattr(error, 'strerror', None) or error}")
        addresses = {str(info[4][0]) for info in infos if info[0] in (socket.AF_INET, socket.AF_INET6)}
        if not addresses:
            return self._failed(host, f"{host} has no address")
        return self._remember(host, sorted(addresses, key=_order))

    def _ask_system(self, host: str) -> asyncio.Future[list[tuple[Any, ...]]]:
        """The answer of the system's resolver. Its thread frees its place when it ends, not when nobody waits."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[tuple[Any, ...]]] = loop.create_future()

        def answered(infos: list[tuple[Any, ...]], error: Exception | None) -> None:
            self._room.release()
            if answer.done():
                return
            if error is None:
                answer.set_result(infos)
            else:
                answer.set_exception(error)

        def ask() -> None:
            infos, trouble = [], None
            try:
                infos = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            except Exception as error:
                trouble = error
            with contextlib.suppress(RuntimeError):  # the event loop has ended
                loop.call_soon_threadsafe(answered, infos, trouble)

        try:
            Thread(target=ask, name="dns", daemon=True).start()
        except RuntimeError as error:
            answered([], OSError(f"cannot start a thread ({error})"))
        return answer

    def _remember(self, host: str, addresses: list[str]) -> _Entry:
        refusal = ""
        for address in addresses:
            verdict = self._guard.check(address)
            if verdict.allowed:
                return self._store(host, _Entry(self._clock.now() + self._config.ttl, address, None))
            refusal = refusal or verdict.reason
        trouble = (Outcome.ADDRESS_REFUSED, f"{host}: {refusal}" if refusal[: len(host)] != host else refusal)
        return self._store(host, _Entry(self._clock.now() + self._config.negative_ttl, "", trouble))

    def _failed(self, host: str, reason: str) -> _Entry:
        trouble = (Outcome.DNS_FAILED, reason)
        return self._store(host, _Entry(self._clock.now() + self._config.negative_ttl, "", trouble))

    def _store(self, host: str, entry: _Entry) -> _Entry:
        self._entries.pop(host, None)  # re-inserting makes it the youngest
        while len(self._entries) >= self._config.max_entries:
            del self._entries[next(iter(self._entries))]
        self._entries[host] = entry
        return entry


def _order(address: str) -> tuple[int, int]:
    parsed = ip_address(address)
    return parsed.version, int(parsed)

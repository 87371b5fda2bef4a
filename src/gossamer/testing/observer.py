"""The politeness observer: reads the server's log and names every rude request.

It knows nothing of the crawler. What it calls a violation:

- `delay`: two requests to a site (or to an address) arrived closer than the delay;
- `overlap`: a request arrived before the previous one's response had ended;
- `connections`: two connections to a site (or an address) were open at once;
- `disallowed`: a path was requested that the site's robots.txt forbids;
- `before_robots`: a page was requested before robots.txt had been answered;
- `repeated`: a URL was requested twice within a time in which the test forbids it.

Requests for robots.txt count like any other: the promise is about requests.
Checks by address run only where `per_ip_delay` is given; 0 asks for no overlap and
one connection, without a delay.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Literal, TypeVar

import msgspec
from protego import Protego

from gossamer.model.site import host_of
from gossamer.testing.log import Connection, Log, Request

Kind = Literal["delay", "overlap", "connections", "disallowed", "before_robots", "repeated"]

T = TypeVar("T")

CONNECTION_GRACE = 0.1
"""Seconds two connections may seem open at once. A server reads closes and opens of one
loop turn in any order, and a client's close may travel behind its next open."""


class Violation(msgspec.Struct, frozen=True):
    """One rude request, with its evidence."""

    kind: Kind
    where: str
    """The site or the address it was rude to."""
    first: Request | Connection | None
    """What it came too close to, where there is such a thing."""
    second: Request | Connection
    sentence: str

    def __str__(self) -> str:
        return self.sentence


def violations(
    log: Log,
    delay: float | Mapping[str, float],
    per_ip_delay: float | None = None,
    tolerance: float = 0.0,
    *,
    robots: Mapping[str, str] | None = None,
    robots_first: bool = False,
    agent: str = "gossamer",
    exempt: Collection[str] = ("/robots.txt",),
    once_within: float | None = None,
    connection_grace: float = CONNECTION_GRACE,
) -> list[Violation]:
    """Every violation in the log, in order of time.

    `delay` is for every site, or by site or host name (one left out is an error).
    `tolerance` seconds are forgiven in delays. `robots` gives the text in force by
    site or host for `agent`; `exempt` paths need no permission and no robots.txt
    before them. `once_within` forbids asking for one URL twice in that many seconds.
    """
    found: list[Violation] = []
    for site, requests in log.sites().items():
        wanted = delay if isinstance(delay, (int, float)) else _named(delay, site)
        if wanted is None:
            raise ValueError(f"no delay is given for {site}")
        found += _spacing(site, requests, wanted - tolerance)
        found += _overlaps(site, requests)
        found += _simultaneous(site, _connections(log, requests), connection_grace)
        rules = _named(robots or {}, site)
        if rules is not None:
            found += _disallowed(site, requests, rules, agent, exempt)
        if robots_first:
            found += _before_robots(site, requests, exempt)
    if per_ip_delay is not None:
        found += _by_address(log, per_ip_delay - tolerance, connection_grace)
    if once_within is not None:
        found += _repeated(log, once_within, exempt)
    return sorted(found, key=_time)


def _time(violation: Violation) -> float:
    second = violation.second
    return second.arrived if isinstance(second, Request) else second.opened


def _named(values: Mapping[str, T], site: str) -> T | None:
    return values.get(site, values.get(host_of(site)))


def _by_address(log: Log, delay: float, grace: float) -> Iterator[Violation]:
    for ip, requests in log.ips().items():
        yield from _spacing(ip, requests, delay)
        yield from _overlaps(ip, requests)
    for ip in {c.ip for c in log.connections}:
        yield from _simultaneous(ip, [c for c in log.connections if c.ip == ip], grace)


def _spacing(where: str, requests: list[Request], delay: float) -> Iterator[Violation]:
    for first, second in pairwise(requests):
        gap = second.arrived - first.arrived
        if gap < delay:
            said = f"{where}: {second.path} came {gap:.4f} s after {first.path}, {delay:.4f} s are asked for"
            yield Violation("delay", where, first, second, said)


def _overlaps(where: str, requests: list[Request]) -> Iterator[Violation]:
    last: Request | None = None
    for request in requests:
        if last and request.arrived < last.ended:
            said = f"{where}: {request.path} came while {last.path} was still being answered"
            yield Violation("overlap", where, last, request, said)
        if last is None or request.ended > last.ended:
            last = request


def _connections(log: Log, requests: list[Request]) -> list[Connection]:
    """The connections a site's requests came over."""
    used = {r.connection for r in requests}
    return [c for c in log.connections if c.number in used]


def _simultaneous(where: str, connections: list[Connection], grace: float) -> Iterator[Violation]:
    last: Connection | None = None
    for connection in connections:
        if last and min(last.closed, connection.closed) - connection.opened > grace:
            said = f"{where}: connection {connection.number} was opened while {last.number} was open"
            yield Violation("connections", where, last, connection, said)
        if last is None or connection.closed > last.closed:
            last = connection


def _disallowed(
    site: str, requests: list[Request], rules: str, agent: str, exempt: Collection[str]
) -> Iterator[Violation]:
    parsed = Protego.parse(rules)
    for request in requests:
        if request.path not in exempt and not parsed.can_fetch(request.url, agent):
            said = f"{site}: robots.txt forbids {request.path} to {agent}"
            yield Violation("disallowed", site, None, request, said)


def _before_robots(site: str, requests: list[Request], exempt: Collection[str]) -> Iterator[Violation]:
    answered = min((r.ended for r in requests if r.path == "/robots.txt"), default=float("inf"))
    for request in requests:
        if request.arrived < answered and request.path not in exempt:
            said = f"{site}: {request.path} was requested before robots.txt had been answered"
            yield Violation("before_robots", site, None, request, said)


def _repeated(requests: Iterable[Request], window: float, exempt: Collection[str]) -> Iterator[Violation]:
    seen: dict[str, Request] = {}
    for request in requests:
        first = seen.get(request.url)
        if first and request.path not in exempt and request.arrived - first.arrived < window:
            gap = request.arrived - first.arrived
            said = f"{request.site}: {request.path} was requested again after {gap:.4f} s"
            yield Violation("repeated", request.site, first, request, said)
        seen[request.url] = request

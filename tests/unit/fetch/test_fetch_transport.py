"""Laws of one connection, on a transport in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from itertools import pairwise
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.clock import SystemClock
from gossamer.fetch.limits import FetchConfig
from gossamer.fetch.reply import Reply
from gossamer.fetch.transport import Connection
from gossamer.model.outcome import Outcome

CONFIG = FetchConfig(user_agent="Gossamer/0.1")
RESPONSES = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 11\r\n\r\nhello world",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nhello \r\n5;a=b\r\nworld\r\n0\r\nT: 1\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 OK\r\nA: b\r\n\r\nhello world",
    b"HTTP/1.1 404 Not Found\r\nContent-Length: 11\r\nSet-Cookie: a=b\r\n\r\nhello world",
)


class Memory(asyncio.Transport):
    """Takes what is written; closing is reported at once."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self.connection = connection
        self.aborted = False

    def write(self, data: object) -> None:
        pass

    def abort(self) -> None:
        if not self.aborted:
            self.aborted = True
            self.connection.connection_lost(None)


def accept(reply: Reply) -> None:
    reply.limit = 1000


async def feed(pieces: list[bytes]) -> tuple[Reply, bool]:
    connection = Connection(CONFIG, SystemClock(), ("http", "a"))
    transport = Memory(connection)
    connection.connection_made(transport)
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(connection.exchange(b"GET", accept, loop.time() + 60))
    await asyncio.sleep(0)
    for piece in pieces:
        if not transport.aborted:
            connection.data_received(piece)
    usable = connection.usable
    transport.abort()
    return await task, usable


def run(coroutine: Coroutine[Any, Any, tuple[Reply, bool]]) -> tuple[Reply, bool]:
    with asyncio.Runner() as runner:
        return runner.run(coroutine)


@given(st.sampled_from(RESPONSES), st.lists(st.integers(1, 140), max_size=8))
def test_a_response_means_the_same_however_it_is_cut_into_pieces(response: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted({cut for cut in cuts if cut < len(response)}), len(response)]
    pieces = [response[a:b] for a, b in pairwise(edges)]
    (whole, usable), (cut, usable_cut) = run(feed([response])), run(feed(pieces))
    assert cut.trouble is None and cut.body() == b"hello world"
    assert (cut.status, cut.headers, usable_cut) == (whole.status, whole.headers, usable)


@given(st.sampled_from(RESPONSES), st.integers(0, 139), st.binary(max_size=6), st.integers(0, 30))
def test_a_damaged_response_ends_in_a_reply_with_or_without_trouble(
    response: bytes, at: int, put: bytes, drop: int
) -> None:
    reply, _ = run(feed([response[:at] + put + response[at + drop :]]))
    assert reply.trouble is not None or reply.answered_at
    assert len(reply.body()) <= 1000


@given(st.binary(min_size=1, max_size=200))
def test_noise_is_trouble(noise: bytes) -> None:
    reply, usable = run(feed([noise]))
    assert reply.trouble is not None and not usable


class Alarm:
    """What is to ring at a time."""

    def __init__(self, at: float, ring: Callable[[], object]) -> None:
        self.at, self.ring, self.off = at, ring, False

    def cancel(self) -> None:
        self.off = True


class Time:
    """An event loop whose clock stands until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0
        self.alarms: list[Alarm] = []

    def time(self) -> float:
        return self.now

    def create_future(self) -> asyncio.Future[None]:
        return asyncio.get_running_loop().create_future()

    def call_at(self, when: float, ring: Callable[[], object]) -> Alarm:
        self.alarms.append(Alarm(when, ring))
        return self.alarms[-1]

    def move(self, seconds: float) -> None:
        """Let so much time pass; what is due rings at its time."""
        until = self.now + seconds
        while due := [alarm for alarm in self.alarms if alarm.at <= until and not alarm.off]:
            first = min(due, key=lambda alarm: alarm.at)
            first.cancel()
            self.now = max(self.now, first.at)
            first.ring()
        self.now = until


@pytest.mark.parametrize(
    ("pause", "said"),
    [(0.45, ""), (0.55, "the server sent no byte for 0.5 s"), (9.0, "the server sent no byte for 0.5 s")],
)
async def test_a_slow_but_steady_page_is_not_idle(pause: float, said: str) -> None:
    """Twenty bytes, one after each pause: far longer than the idle time together."""
    time = Time()
    connection = Connection(FetchConfig(user_agent="Gossamer/0.1", idle_timeout=0.5), SystemClock(), ("http", "a"))
    connection._loop = cast(asyncio.AbstractEventLoop, time)
    connection.connection_made(Memory(connection))
    task = asyncio.ensure_future(connection.exchange(b"GET", accept, 60.0))
    await asyncio.sleep(0)
    for piece in (b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n", *[b"x"] * 20):
        time.move(pause)
        if not connection.closed:
            connection.data_received(piece)
    reply = await task
    assert (reply.trouble.reason if reply.trouble else "") == said
    assert reply.trouble is None or reply.trouble.outcome is Outcome.TIMEOUT
    assert said or reply.body() == b"x" * 20

"""Laws of one connection, on a transport in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gossamer.clock import SystemClock
from gossamer.fetch import FetchConfig
from gossamer.fetch.reply import Reply
from gossamer.fetch.transport import Connection

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

"""Forms, which hubs are sent: POST once, whole, under the same rules as pages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from urllib.parse import parse_qsl

from fetch_kit import MakeFetcher

from gossamer.fetch.request import Request
from gossamer.model.outcome import Outcome

FORM = (("hub.mode", "subscribe"), ("hub.topic", "https://a.org/ä?x=1&y=2"), ("empty", ""))
OK = b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"


class Seen:
    """What a server saw: head and body of each request, and over which connection."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, bytes]] = []
        self.connections = 0


@asynccontextmanager
async def server(answer: Callable[[int], bytes]) -> AsyncIterator[tuple[str, Seen]]:
    """Answers the n-th request so; no bytes close the connection."""
    seen = Seen()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.connections += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
                seen.requests.append((head, await reader.readexactly(int(fields.get("content-length", "0")))))
                data = answer(len(seen.requests))
                if not data:
                    break
                writer.write(data)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/hub?a=1", seen
    finally:
        listening.close()


async def test_a_form_arrives_whole_as_utf_8(make_fetcher: MakeFetcher) -> None:
    fetcher = await make_fetcher()
    async with server(lambda _: OK) as (url, seen):
        response = await fetcher.fetch(Request(url, form=FORM))
        assert (response.outcome, response.status) == (Outcome.DOCUMENT, 202)
        head, body = seen.requests[0]
        assert head.startswith("POST /hub?a=1 HTTP/1.1\r\n")
        assert "Content-Type: application/x-www-form-urlencoded\r\n" in head and "User-Agent: Gossamer" in head
        assert parse_qsl(body.decode("ascii"), keep_blank_values=True) == list(FORM)


async def test_pages_are_asked_for_as_before_around_it(make_fetcher: MakeFetcher) -> None:
    fetcher = await make_fetcher()
    async with server(lambda _: OK) as (url, seen):
        for request in (Request(url), Request(url, form=FORM), Request(url)):
            assert (await fetcher.fetch(request)).status == 202
        assert [head.split(" ", 1)[0] for head, _ in seen.requests] == ["GET", "POST", "GET"]
        assert seen.requests[2][1] == b"" and "Content-Length" not in seen.requests[2][0]


async def test_a_form_is_never_sent_twice(make_fetcher: MakeFetcher) -> None:
    fetcher = await make_fetcher()
    async with server(lambda number: OK if number == 1 else b"") as (url, seen):
        assert (await fetcher.fetch(Request(url))).status == 202
        response = await fetcher.fetch(Request(url, form=FORM))
        assert response.outcome is Outcome.CONNECT_FAILED
        assert len(seen.requests) == 2


async def test_the_guard_and_the_limits_hold_for_forms(make_fetcher: MakeFetcher) -> None:
    guarded = await make_fetcher(allow=())
    big = b"HTTP/1.1 202 Accepted\r\nContent-Length: 100000\r\n\r\n" + b"x" * 100_000
    async with server(lambda _: big) as (url, seen):
        assert (await guarded.fetch(Request(url, form=FORM))).outcome is Outcome.ADDRESS_REFUSED
        assert seen.connections == 0
        fetcher = await make_fetcher()
        response = await fetcher.fetch(Request(url, form=FORM, max_bytes=1000, truncate=True))
        assert response.status == 202 and len(response.body) == 1000

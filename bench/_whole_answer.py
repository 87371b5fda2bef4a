"""A query through the whole answer, in this process: JSON, page, feed, command line, suggestions; checked and timed.

The server is the application itself, asked as its HTTP server asks it; the command line is what `gossamer search`
does once the index is open. Where two forms of the answer make the same request, it is searched once, and the time of
that search counts for both. Time is that of this process's processors: nothing else runs in it, and what others do on
the machine does not count.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import quote_plus
from xml.etree import ElementTree

import msgspec
from starlette.applications import Starlette

from gossamer.cli.searching.search import answer
from gossamer.search.results import Request, Results
from gossamer.search.searcher import Searcher
from gossamer.settings import ServeSettings
from gossamer.web.answers import SearchAnswer
from gossamer.web.app import create_app

LIMIT = 1.0
"""Seconds that an answer may take."""
_SETTINGS = ServeSettings(host="127.0.0.1", port=0, rate=0)
_OK = 200


class Answered(msgspec.Struct, frozen=True):
    """One answer: whether it is one, and what it took."""

    query: str
    way: str
    problem: str
    """Why it is none; empty where it is one."""
    cpu: float
    wall: float


class _Once:
    """A searcher that knows the answer to the last request, and what it took."""

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher
        self._last: tuple[Request, Results, float] | None = None
        self.saved = 0.0
        """Processor time that a known answer would have taken."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._searcher, name)

    def search(self, request: Request) -> Results:
        if self._last is None or self._last[0] != request:
            cpu = time.process_time()
            results = self._searcher.search(request)
            self._last = request, results, time.process_time() - cpu
        else:
            self.saved += self._last[2]
        return self._last[1]


class Everywhere:
    """All ways to ask one index."""

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = _Once(searcher)
        self._app = create_app(self._searcher, _SETTINGS)
        self._loop = asyncio.new_event_loop()
        self.ways: dict[str, Callable[[str], None]] = {
            "JSON": self._json, "page": self._page, "command line": self._command_line, "feed": self._feed,
            "suggestions": self._suggestions,
        }  # fmt: skip

    def ask(self, query: str, ways: Sequence[str] = ()) -> Iterator[Answered]:
        """The query in some ways; in all of them where none is named."""
        for name in ways or self.ways:
            cpu, wall, self._searcher.saved = time.process_time(), time.perf_counter(), 0.0
            try:
                self.ways[name](query)
                problem = ""
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"[:300]
            saved = self._searcher.saved
            yield Answered(query, name, problem, time.process_time() - cpu + saved, time.perf_counter() - wall + saved)

    def close(self) -> None:
        """End the loop."""
        self._loop.close()

    def _json(self, query: str) -> None:
        found = msgspec.json.decode(self._get("/api/v1/search", query), type=SearchAnswer)
        for hit in found.hits:
            for text, marks in ((hit.title, hit.highlights.title), (hit.excerpt, hit.highlights.excerpt)):
                assert all(0 <= start < end <= len(text) for start, end in marks), f"marks outside of {hit.url}"

    def _page(self, query: str) -> None:
        assert self._get("/search", query).rstrip().endswith(b"</html>"), "the page has no end"

    def _feed(self, query: str) -> None:
        ElementTree.fromstring(self._get("/feed.atom", query))

    def _command_line(self, query: str) -> None:
        # Bytes below, as a terminal has them: a text in memory would take what cannot be encoded.
        with io.TextIOWrapper(io.BytesIO(), encoding="utf-8") as screen, contextlib.redirect_stdout(screen):
            answer(self._searcher, Request(query=query.strip()), json=False)
            screen.flush()
            assert screen.buffer.tell(), "nothing was printed"

    def _suggestions(self, query: str) -> None:
        msgspec.json.decode(self._get("/suggest", query), type=tuple[str, list[str]])

    def _get(self, path: str, query: str) -> bytes:
        status, body = self._loop.run_until_complete(
            _get(self._app, path, f"q={quote_plus(query, errors='surrogatepass')}")
        )
        assert status == _OK, f"status {status}: {body[:200]!r}"
        return body


async def _get(app: Starlette, path: str, parameters: str) -> tuple[int, bytes]:
    """What the application answers to a GET request."""
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
        "path": path, "raw_path": path.encode(), "root_path": "", "query_string": parameters.encode(),
        "headers": [(b"host", b"127.0.0.1")], "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
    }  # fmt: skip
    status, body = 0, b""

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        nonlocal status, body
        if message["type"] == "http.response.start":
            status = message["status"]
        else:
            body += message.get("body", b"")

    await app(scope, receive, send)
    return status, body

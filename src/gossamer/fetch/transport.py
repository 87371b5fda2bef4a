"""One connection, one exchange at a time, nothing hidden.

llhttp (through httptools) parses; this file feeds it, counts, and decides when a
response is over. The rules:

- A response ends where its framing says. Closing the connection ends only a body
  that has neither length nor chunks; any other is cut off, hence broken.
- Interim responses (1xx) are skipped; they count towards the head's byte limit.
- Bytes nobody asked for, before or after a response, spoil the connection.
- Once a head is complete, `judge` says how much of the body is wanted. A body
  that is not wanted is drained if it is short and its length known, which saves
  the connection, and cut off otherwise.
- One timer per connection watches the total, the idle and the keep-alive time.
  It is not moved at every byte: when it rings it looks whether it rang too early.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

import httptools

from gossamer.clock import Clock
from gossamer.fetch.limits import FetchConfig, Trouble
from gossamer.fetch.reply import Reply, header_name
from gossamer.model.outcome import Outcome

_DRAIN = 64 * 1024
"""Bytes: an unwanted body up to this length costs less than a new connection."""
_FRAMING = 1024 * 1024
"""Bytes of chunk framing that are always allowed."""
_NEVER = float("inf")


class Connection(asyncio.Protocol):
    """A connection to one server, possibly used for many exchanges."""

    def __init__(self, config: FetchConfig, clock: Clock, key: tuple[str, ...]) -> None:
        self.key = key
        """Scheme, host and port it was made for."""
        self.closed = False
        self._config = config
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpResponseParser(self)
        # A crawler reads what servers really send. None of this can be used to smuggle: there
        # is one request at a time, and a connection with left-over bytes is not used again.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True, lenient_chunked_length=True, lenient_optional_lf_after_cr=True,
            lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True,
        )  # fmt: skip
        self._transport: asyncio.Transport | None = None
        self._reply: Reply | None = None
        self._interim = False
        self._over = False
        self._reusable = True
        self._waiter: asyncio.Future[None] | None = None
        self._gone: asyncio.Future[None] | None = None
        self._deadline = self._last_byte = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = _NEVER

    # What the fetcher calls.

    @property
    def usable(self) -> bool:
        """Whether another request may be sent over it."""
        return self._reusable and not self.closed and self._reply is None

    async def exchange(self, data: bytes, judge: Callable[[Reply], None], deadline: float) -> Reply:
        """Send a request, wait for its response or its trouble; `deadline` by the loop's clock."""
        reply = self._reply = Reply(judge)
        if self.closed or self._transport is None:
            self._reply = None
            reply.trouble = Trouble(Outcome.CONNECT_FAILED, "the connection was closed before the request")
            return reply
        self._over = self._interim = False
        self._waiter = self._loop.create_future()
        self._last_byte = self._loop.time()
        self._deadline = deadline
        self._watch()
        self._transport.write(data)
        try:
            await self._waiter
        except asyncio.CancelledError:
            self._reply = None
            self.abort()
            raise
        return reply

    def abort(self) -> None:
        """Close at once; nothing more is sent."""
        self._reusable = False
        if self._transport is not None:
            self._transport.abort()

    async def shut(self) -> None:
        """Close and wait until it is closed, so that the server never sees two connections."""
        self.abort()
        if not self.closed and self._transport is not None:
            self._gone = self._gone or self._loop.create_future()
            await asyncio.shield(self._gone)

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop once, and by us after a TLS upgrade inside a proxy's tunnel."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Feed the parser and see whether the response is over."""
        reply = self._reply
        if reply is None:
            self.abort()
            return
        self._last_byte = self._loop.time()
        reply.touched = True
        reply.received += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._reusable = False
            if not self._over:
                self._stop(Outcome.BROKEN_RESPONSE, f"the answer is not HTTP: {str(error)[:120]}")
        except httptools.HttpParserUpgrade:
            self._stop(Outcome.BROKEN_RESPONSE, "the server switched to another protocol without a request")
        if not self._over:
            self._count(reply)
        if self._over:
            self._finish()

    def connection_lost(self, exc: Exception | None) -> None:
        """The end of a body without length, or an accident."""
        self.closed = True
        self._disarm()
        if self._gone is not None and not self._gone.done():
            self._gone.set_result(None)
        reply = self._reply
        if reply is None:
            return
        if not reply.touched:
            how = f" ({exc})" if exc else ""
            self._stop(Outcome.CONNECT_FAILED, f"the server closed the connection without an answer{how}")
        elif exc is not None or not reply.until_close:
            where = f"after {reply.size} bytes of the body" if reply.answered_at else "within the headers"
            self._stop(Outcome.BROKEN_RESPONSE, f"the connection ended {where}")
        self._finish()

    # What the parser calls.

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, or a trailer, which is ignored."""
        reply = self._reply
        if reply is None or reply.answered_at or self._over:
            return
        written, lower = header_name(name)
        text = value.decode("latin-1")
        reply.headers.append((written, text))
        reply.fields.setdefault(lower, text)
        if len(reply.headers) > self._config.max_headers:
            self._stop(Outcome.BROKEN_RESPONSE, f"more than {self._config.max_headers} headers")

    def on_headers_complete(self) -> None:
        """The head is complete: note the time, ask the judge."""
        reply, parser = self._reply, self._parser
        if reply is None or self._over:
            return
        status = parser.get_status_code()
        self._interim = 100 <= status < 200
        if self._interim:
            return
        reply.status = status
        reply.version = parser.get_http_version()
        reply.answered_at = self._clock.now()
        if reply.received > self._config.max_head_bytes and self._head_size(reply) > self._config.max_head_bytes:
            self._head_too_long()
            return
        length = reply.fields.get("content-length", "")
        coding = reply.fields.get("transfer-encoding", "").strip().lower()
        if coding not in ("", "chunked", "identity"):
            self._stop(Outcome.BROKEN_RESPONSE, f"unrequested transfer encoding {coding[:40]!r}")
            return
        if coding and length:  # the coding wins (RFC 9112, 6.3), but a middlebox may disagree
            self._reusable, length = False, ""
        reply.until_close = not length and coding != "chunked"
        reply.judge(reply)
        if not reply.keep and not (length.isdecimal() and len(length) < 10 and int(length) <= _DRAIN):
            self._over, self._reusable = True, False

    def on_body(self, data: bytes) -> None:
        """Keep a piece of the body, up to the limit."""
        reply = self._reply
        if reply is None or self._over or not reply.keep:
            return
        reply.size += len(data)
        if reply.size > reply.limit:
            data = data[: reply.limit - (reply.size - len(data))]
            reply.cut = self._over = True
            self._reusable = False
        reply.add(data)

    def on_message_complete(self) -> None:
        """The response, or an interim one before it, is complete."""
        reply = self._reply
        if reply is None or self._over:
            self._reusable = False
        elif self._interim:
            reply.headers, reply.fields = [], {}
        else:
            self._over = True
            self._reusable = self._reusable and self._parser.should_keep_alive()

    def on_message_begin(self) -> None:
        """A second response to one request: the connection is out of step."""
        if self._over:
            self._reusable = False

    # Endings and time.

    def _count(self, reply: Reply) -> None:
        """Stop a head without end, and a body that is all framing."""
        if not reply.answered_at:
            if reply.received > self._config.max_head_bytes:
                self._head_too_long()
        elif reply.received > 2 * reply.limit + _FRAMING:
            self._stop(Outcome.TOO_LARGE, f"{reply.received} bytes of chunks without an end")

    def _head_size(self, reply: Reply) -> int:
        return sum(len(name) + len(value) + 4 for name, value in reply.headers)

    def _head_too_long(self) -> None:
        self._stop(Outcome.BROKEN_RESPONSE, f"the headers are longer than {self._config.max_head_bytes} bytes")

    def _stop(self, outcome: Outcome, reason: str) -> None:
        if self._reply is not None and self._reply.trouble is None:
            self._reply.trouble = Trouble(outcome, reason)
        self._over, self._reusable = True, False

    def _finish(self) -> None:
        self._reply = None
        self._last_byte = self._loop.time()
        if not self._reusable or not self._config.keepalive:
            self.abort()
        else:
            self._watch()
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    def _due(self) -> float:
        if self._reply is None:
            return self._last_byte + self._config.keepalive
        return min(self._deadline, self._last_byte + self._config.idle_timeout)

    def _watch(self) -> None:
        """Make sure that the timer rings before something is due."""
        due = self._due()
        if due < self._timer_at:
            self._disarm()
            self._timer, self._timer_at = self._loop.call_at(due, self._ring), due

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._timer_at = None, _NEVER

    def _ring(self) -> None:
        self._timer, self._timer_at = None, _NEVER
        now = self._loop.time()
        if now < self._due():
            self._watch()
        elif self._reply is None:
            self.abort()
        else:
            total = now >= self._deadline
            what = (
                "the response did not end in time"
                if total
                else (f"the server sent no byte for {self._config.idle_timeout:g} s")
            )
            self._stop(Outcome.TIMEOUT, what)
            self._finish()

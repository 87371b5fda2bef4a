"""Responses whose HTTP is broken, late, or never ends."""

from __future__ import annotations

import asyncio

from gossamer.demo.message import Ask, Reply, head
from gossamer.demo.server import Script, Wire
from gossamer.testing.web import wrap
from kit.hostile.registry import (
    HTML,
    PROSE,
    Pace,
    add,
    behaviour,
    dripping,
    flood,
    raw,
    response,
)

_G = "framing"
_BODY = wrap("Framing", PROSE).encode()
_CHUNKED = head(200, [*HTML, ("Transfer-Encoding", "chunked")])
_NO_LENGTH = head(200, HTML)
_OK = response(_BODY, *HTML)


def _length(*values: str) -> bytes:
    return head(200, [*HTML, *(("Content-Length", value) for value in values)])


add(_G, "slow-head", "The response head comes one byte at a time (slow loris).", dripping(_OK))
add(
    _G,
    "slow-headers",
    "A new header line comes now and then, and the head never ends.",
    lambda ask, pace: _slow_headers(pace),
)
add(_G, "silence", "The request is read and never answered.", raw(status=0, then="hang"))
add(
    _G,
    "endless-body",
    "The chunked body never ends.",
    flood(_CHUNKED, b"4000\r\n" + b"web " * 4096 + b"\r\n"),
)
add(_G, "endless-headers", "The head never ends.", flood(b"HTTP/1.1 200 OK\r\n", b"X-Thread: silk\r\n" * 512))
add(
    _G,
    "endless-interim",
    "100 Continue comes for ever.",
    flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 64, 100),
)
add(_G, "endless-status-line", "The reason phrase never ends.", flood(b"HTTP/1.1 200 ", b"silk " * 1024))
add(
    _G,
    "length-long",
    "Content-Length promises more than comes before the close.",
    raw(_length("99999"), _BODY),
)
add(
    _G,
    "length-long-open",
    "Content-Length promises more, and the connection stays open.",
    raw(_length("99999"), _BODY, then="hang"),
)
add(_G, "length-short", "Content-Length promises less than is sent.", raw(_length("20"), _BODY))
add(_G, "length-negative", "Content-Length is -1.", raw(_length("-1"), _BODY))
add(_G, "length-two", "Two Content-Length headers differ.", raw(_length("20", str(len(_BODY))), _BODY))
add(_G, "length-garbage", "Content-Length is a word.", raw(_length("many"), _BODY))
add(_G, "length-huge", "Content-Length is 2^63.", raw(_length(str(1 << 63)), _BODY))
add(_G, "length-none", "No length at all: the close ends the body, which is legal.", raw(_NO_LENGTH, _BODY))
add(
    _G,
    "chunk-truncated",
    "The connection closes in the middle of a chunk.",
    raw(_CHUNKED, b"fff\r\n", _BODY[:100]),
)
add(
    _G,
    "chunk-no-end",
    "The connection closes without the last chunk.",
    raw(_CHUNKED, b"%x\r\n" % len(_BODY), _BODY, b"\r\n"),
)
add(
    _G,
    "chunk-bad-size",
    "A chunk's size is not a number.",
    raw(_CHUNKED, b"spider\r\n", _BODY, b"\r\n0\r\n\r\n"),
)
add(_G, "chunk-huge-size", "A chunk's size is 2^64 - 1.", raw(_CHUNKED, b"ffffffffffffffff\r\n", _BODY))
add(_G, "chunk-negative", "A chunk's size is negative.", raw(_CHUNKED, b"-5\r\n", _BODY, b"\r\n0\r\n\r\n"))
add(
    _G,
    "chunk-extension",
    "A chunk carries 1 MB of extension.",
    raw(_CHUNKED, b"5;" + b"x" * (1 << 20) + b"\r\n<p>hi\r\n0\r\n\r\n"),
)
add(
    _G,
    "chunk-and-length",
    "Both chunked and Content-Length are claimed.",
    raw(
        head(200, [*HTML, ("Transfer-Encoding", "chunked"), ("Content-Length", "20")]),
        b"%x\r\n" % len(_BODY),
        _BODY,
        b"\r\n0\r\n\r\n",
    ),
)
add(
    _G,
    "chunk-tiny",
    "Every chunk is one byte long.",
    raw(_CHUNKED, b"".join(b"1\r\n%c\r\n" % byte for byte in _BODY), b"0\r\n\r\n", then="keep"),
)
add(
    _G,
    "chunk-trailer-endless",
    "The trailers after the last chunk never end.",
    flood(_CHUNKED + b"2\r\nhi\r\n0\r\n", b"X-Trailer: silk\r\n" * 512),
)
add(
    _G,
    "reset-in-body",
    "The connection is reset in the middle of the body.",
    raw(_length(str(len(_BODY))), _BODY[:50], then="reset"),
)
add(_G, "reset-at-once", "The connection is reset instead of an answer.", raw(status=0, then="reset"))
add(_G, "close-without-response", "The connection closes without an answer.", raw(status=0))
add(_G, "close-in-head", "The connection closes in the middle of the head.", raw(_OK[:30]))
add(_G, "garbage", "Random-looking bytes come instead of HTTP.", raw(bytes(range(256)) * 8, status=0))
add(
    _G,
    "ssh-banner",
    "The server speaks another protocol.",
    raw(b"SSH-2.0-OpenSSH_9.2\r\n", status=0, then="hang"),
)
add(_G, "http09", "A page without status line and headers, as HTTP/0.9 sent it.", raw(_BODY, status=0))
add(
    _G,
    "null-in-header",
    "A header value holds a NUL byte.",
    raw(b"HTTP/1.1 200 OK\r\nX-Odd: a\0b\r\nContent-Length: 2\r\n\r\nhi"),
)
add(
    _G,
    "header-without-colon",
    "A header line has no colon.",
    raw(b"HTTP/1.1 200 OK\r\nnonsense\r\nContent-Length: 2\r\n\r\nhi"),
)
add(
    _G,
    "header-space-name",
    "A header name holds spaces.",
    raw(b"HTTP/1.1 200 OK\r\nContent Length : 9\r\nContent-Length: 2\r\n\r\nhi"),
)
add(
    _G,
    "header-folded",
    "A header is folded over two lines, as was allowed once.",
    raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/html;\r\n charset=utf-8\r\nContent-Length: 2\r\n\r\nhi"),
)
add(
    _G,
    "header-latin1",
    "A header value is raw Latin-1.",
    raw(b"HTTP/1.1 200 OK\r\nX-Name: Spinngew\xebbe\r\nContent-Length: 2\r\n\r\nhi"),
)
add(
    _G,
    "header-1mb",
    "One header is 1 MB long.",
    raw(b"HTTP/1.1 200 OK\r\nX-Long: " + b"s" * (1 << 20) + b"\r\nContent-Length: 2\r\n\r\nhi"),
)
add(
    _G,
    "headers-1000",
    "The head has 1,000 headers.",
    raw(response(_BODY, *HTML, *((f"X-Thread-{n}", "silk") for n in range(1000))), then="keep"),
)
add(_G, "newlines-bare", "Lines end with LF alone.", raw(_OK.replace(b"\r\n", b"\n")))
add(_G, "status-unknown", "The status is 799.", raw(response(_BODY, *HTML, status=799), status=799))
add(
    _G,
    "status-word",
    "The status is a word.",
    raw(b"HTTP/1.1 fine OK\r\nContent-Length: 2\r\n\r\nhi", status=0),
)
add(
    _G,
    "status-four-digits",
    "The status has four digits.",
    raw(b"HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nhi", status=0),
)
add(
    _G,
    "version-odd",
    "The protocol calls itself HTTP/7.3.",
    raw(b"HTTP/7.3 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
)
add(
    _G,
    "early-hints",
    "103 Early Hints come before the answer.",
    raw(b"HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\n\r\n", _OK, then="keep"),
)
add(
    _G,
    "continue-100",
    "100 Continue comes unasked before the answer.",
    raw(b"HTTP/1.1 100 Continue\r\n\r\n", _OK, then="keep"),
)
add(
    _G,
    "switching-101",
    "101 Switching Protocols comes unasked.",
    raw(head(101, [("Upgrade", "websocket"), ("Connection", "Upgrade")]), status=101, then="hang"),
)
add(_G, "close-unannounced", "Keep-alive is implied, but the connection closes after the answer.", raw(_OK))
add(
    _G,
    "response-extra",
    "A second response follows that nobody asked for.",
    raw(_OK, response(b"<p>planted", *HTML), then="keep"),
)
add(
    _G,
    "not-modified-unasked",
    "304 without a conditional request.",
    raw(head(304, ()), status=304, then="keep"),
)
add(
    _G,
    "partial-206",
    "206 with a range nobody asked for.",
    raw(response(_BODY[:20], *HTML, ("Content-Range", f"bytes 0-19/{len(_BODY)}"), status=206), status=206),
)
add(_G, "no-content-204", "204 with no body.", raw(head(204, ()), status=204, then="keep"))
add(
    _G,
    "no-content-with-body",
    "204 with a body all the same.",
    raw(response(_BODY, *HTML, status=204), status=204),
)
add(
    _G,
    "auth-401",
    "A login is wanted.",
    lambda ask, pace: Reply("login", 401, [("WWW-Authenticate", 'Basic realm="web"')]),
)


@behaviour(_G, "slow-body", "The body comes one byte at a time.")
def slow_body(ask: Ask, pace: Pace) -> Script:
    """The head at once, the body in drips."""

    async def script(wire: Wire) -> None:
        await wire.send(_length(str(len(_BODY))))
        await dripping(_BODY)(ask, pace)(wire)  # type: ignore[operator]  # it is a script

    return script


def _slow_headers(pace: Pace) -> Script:
    async def script(wire: Wire) -> None:
        wire.status = 200
        await wire.send(b"HTTP/1.1 200 OK\r\n")
        for _ in range(int(pace.hang / pace.drip)):
            await wire.send(b"X-Thread: silk\r\n")
            await asyncio.sleep(pace.drip)

    return script

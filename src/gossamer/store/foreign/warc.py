"""Reads WARC files of any program: wget, warcio, Heritrix, Common Crawl, browsers.

Only `response` records of http(s) URLs are captures. A record that cannot be read is damage with its place; reading
goes on with the next one. At most `limit` bytes of a body are kept, and at most a gibibyte of it is unpacked: a longer
one, as bombs are, is passed over in its packed form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import BinaryIO, NamedTuple

import msgspec

from gossamer.store.foreign.streams import Broken, Stream, open_stream

Fields = dict[str, str]

_LINE = 1 << 16
_HEAD = 1 << 18
"""Most bytes of a line, and of the lines before a block."""
_HTTP_HEAD = 1 << 16
_BLANK = 64
"""Most empty lines between two records."""
_HEXADECIMAL = re.compile(rb"[0-9A-Fa-f]{1,8}")


class Capture(msgspec.Struct, frozen=True):
    """A response that an archive holds."""

    url: str
    """As the archive has it."""
    at: float
    """When it was captured."""
    offset: int
    """Where its record begins: the byte, or the gzip member's first byte."""
    status: int
    version: str
    """Of HTTP."""
    headers: list[tuple[str, str]]
    body: bytes
    """As transferred, but without chunks."""
    is_whole: bool
    """Whether it was read to its end; a longer one than the limit was not."""
    truncated: str = ""
    """Why the archive holds only its beginning."""
    address: str = ""


class Other(NamedTuple):
    """A record that is no response: a request, a revisit, metadata, a text that somebody extracted."""

    kind: str


class Damage(NamedTuple):
    """A record that cannot be read."""

    offset: int
    problem: str


class _Unreadable(Exception):  # noqa: N818 - an event of one record, never of the whole import
    """The record is no capture, but it is known where it ends."""


def captures(file: BinaryIO, limit: int) -> Iterator[Capture | Other | Damage]:
    """The records of an archive; `limit`: bytes of a body to keep."""
    stream = open_stream(file)
    while True:
        start = -1
        try:
            if not _begins(stream):
                return
            start = stream.here(1)
            yield _record(stream, start, limit)
        except _Unreadable as problem:
            yield Damage(start, str(problem))
        except Broken as broken:
            start = start if start >= 0 else stream.here()
            yield Damage(start, str(broken))
            try:
                if not stream.find(start):
                    return
            except Broken:
                return  # the rest of the file cannot be read at all


def _begins(stream: Stream) -> bool:
    """Pass over empty lines; whether anything follows."""
    for _ in range(_BLANK):
        first = stream.read(1)
        if not first:
            return False
        if first == b"W":
            return True
        if first not in b"\r\n":
            break
    raise Broken("there is no WARC record")


def _record(stream: Stream, start: int, limit: int) -> Capture | Other:
    fields, length = _head(stream)
    kind, url = fields.get("warc-type", ""), fields.get("warc-target-uri", "").strip("<> ")
    is_http = fields.get("content-type", "").replace(" ", "").lower().startswith("application/http")
    if kind != "response" or not is_http or not url.lower().startswith(("http://", "https://")):
        _pass(stream, length)
        return Other(kind or "unnamed")
    taken = min(length, limit + _HTTP_HEAD)
    block = stream.read(taken)
    if len(block) < taken:
        raise Broken("the file ends in the middle of it")
    _pass(stream, length - taken)
    return _capture(fields, url, start, block, length == taken, limit)


def _head(stream: Stream) -> tuple[Fields, int]:
    """The named fields of a record, and the length of its block."""
    version = stream.line(_LINE)
    if not version.startswith(b"ARC/"):  # its first letter was read before
        raise Broken("there is no WARC record")
    fields: Fields = {}
    size, name = 0, ""
    while line := stream.line(_LINE).rstrip(b"\r\n"):
        size += len(line)
        if size > _HEAD:
            raise Broken("its head is longer than 256 KiB")
        text = line.decode("utf-8", "replace")
        if text[0] in " \t" and name:
            fields[name] += f" {text.strip()}"
            continue
        name, colon, value = text.partition(":")
        name = name.strip().lower()
        if not colon:
            raise Broken("its head has a line without a name")
        fields.setdefault(name, value.strip())
    length = fields.get("content-length", "")
    if not length.isascii() or not length.isdigit() or len(length) > 15:
        raise Broken(f"its Content-Length is {length[:20]!r}")
    return fields, int(length)


def _pass(stream: Stream, length: int) -> None:
    if stream.skip(length) < length:
        raise Broken("the file ends in the middle of it")


def _capture(fields: Fields, url: str, start: int, block: bytes, is_whole: bool, limit: int) -> Capture:
    http, end, body = block.partition(b"\r\n\r\n")
    if not end:
        http, end, body = block.partition(b"\n\n")
    status_line, *lines = http[:_HTTP_HEAD].decode("latin-1").replace("\r\n", "\n").split("\n")
    words = status_line.split(None, 2)
    if len(words) < 2 or not words[0].startswith("HTTP/") or not words[1].isdigit() or len(words[1]) != 3:
        raise _Unreadable("it holds no HTTP response")
    headers: list[tuple[str, str]] = []
    for line in lines:
        name, colon, value = line.partition(":")
        if line[:1] in (" ", "\t") and headers:
            headers[-1] = (headers[-1][0], f"{headers[-1][1]} {line.strip()}")
        elif colon and name.strip():
            headers.append((name.strip(), value.strip()))
    if any(name.lower() == "transfer-encoding" and "chunked" in value.lower() for name, value in headers):
        body = unchunked(body)
    is_whole = is_whole and len(body) <= limit
    return Capture(
        url, _time(fields.get("warc-date", "")), start, int(words[1]), words[0][5:], headers, body[: limit + 1],
        is_whole, fields.get("warc-truncated", ""), fields.get("warc-ip-address", ""),
    )  # fmt: skip


def _time(date: str) -> float:
    try:
        time = datetime.fromisoformat(date)
    except ValueError:
        raise _Unreadable(f"its WARC-Date is {date[:40]!r}") from None
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def unchunked(body: bytes) -> bytes:
    """A body without the framing of its chunks; as it is, if it has none, because many programs store it so. A last
    chunk that was cut off counts as far as it goes."""
    parts: list[bytes] = []
    at = 0
    while at < len(body):
        end = body.find(b"\n", at, at + 1024)
        size = body[at:end].split(b";")[0].strip() if end >= 0 else b""
        if not _HEXADECIMAL.fullmatch(size):
            return b"".join(parts) if parts else body
        if (length := int(size, 16)) == 0:
            break
        parts.append(body[end + 1 : end + 1 + length])
        at = end + 1 + length
        at += 2 if body[at : at + 2] == b"\r\n" else 1 if body[at : at + 1] == b"\n" else 0
    return b"".join(parts)

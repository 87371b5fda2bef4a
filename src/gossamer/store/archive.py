"""Raw responses as WARC 1.1, one gzip member per record.

One member per record is what lets any WARC tool start reading at `warc_offset`.
Rules:

- The HTTP headers stay as received, the body as transferred, its content encoding
  kept. The chunked framing is gone when the body reaches us, so `Transfer-Encoding`
  is renamed to `X-Crawler-Transfer-Encoding`, and a `Content-Length` that is not true
  of the stored body to `X-Crawler-Content-Length`, with the true one added.
- A 304 is a `revisit` record (server-not-modified), everything else a `response`.
  A body that was cut off says why in `WARC-Truncated`.
- There are no `request` records: they would repeat the same few headers page by page
  and could carry the cookies and passwords of the settings. The file's first record,
  `warcinfo`, says who asked.
- `WARC-Payload-Digest` is the SHA-1 of the stored body in Base32, as other tools write
  it: by it they recognise equal bodies. There is no digest of whole records: gzip keeps
  a CRC-32 of each.

The records are formatted here because FastWARC takes 14 µs for one, a format string 4.
gzip is ISA-L's: 30 µs for a page of 14 KB where zlib takes 240.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec
from isal import isal_zlib

from gossamer.model.records import Response
from gossamer.store.durable import corrupt, reading

LEVEL = 1
"""ISA-L's levels are 0 to 3. 0 is a quarter faster and a tenth larger, and it blows up a
body that is compressed already by a quarter; 3 takes twice the time for 4 %."""

_CHUNK = 1 << 16
_DAMAGE: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # its stub declares an instance
_GZIP = 31  # zlib's window size that means: 32 KiB, gzip header and CRC
_NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
_SAME_PAYLOAD = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
_KEPT = ("WARC-Target-URI", "WARC-Date", "WARC-IP-Address", "WARC-Truncated")
_PHRASES = {status.value: status.phrase for status in HTTPStatus}

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_BASE32 = [first + second for first in _LETTERS for second in _LETTERS]
"""Ten bits as Base32: the standard library takes a dozen calls for a digest, one for each page."""
_SHIFTS = tuple(range(150, -1, -10))

Place = tuple[int, int]
"""Place of a record in the file: offset and length in bytes."""


class StoredResponse(msgspec.Struct, frozen=True):
    """A response read back from the archive."""

    url: str
    kind: str
    """`response` or `revisit`."""
    fetched_at: str
    """When the request began, ISO 8601."""
    status: int
    headers: list[tuple[str, str]]
    wire_body: bytes
    """The body as it was transferred."""

    def header(self, name: str) -> str:
        """The first value of a header, any case; `""` if there is none."""
        name = name.lower()
        return next((value for key, value in self.headers if key.lower() == name), "")


class Original(NamedTuple):
    """An earlier record with the same payload, by its target and date."""

    url: str
    date: str


class Record(msgspec.Struct, frozen=True):
    """Any record of a WARC file, unpacked."""

    offset: int
    length: int
    headers: dict[str, str]
    """Names in lower case."""
    block: bytes

    @property
    def url(self) -> str:
        """The target URI; `""` for a `warcinfo`."""
        return self.headers.get("warc-target-uri", "")

    @property
    def date(self) -> str:
        """When the request began, ISO 8601."""
        return self.headers.get("warc-date", "")

    @property
    def status(self) -> int:
        """The status of its HTTP response; 0 if it holds none."""
        words = self.block[:64].split(b" ", 2)
        return int(words[1]) if len(words) > 1 and words[0].startswith(b"HTTP/") and words[1].isdigit() else 0

    @property
    def payload(self) -> memoryview:
        """The body of its HTTP response."""
        end = self.block.find(b"\r\n\r\n")
        return memoryview(self.block)[end + 4 :] if end >= 0 else memoryview(b"")

    def http_header(self, name: str) -> str:
        """The first value of a header of its HTTP response; `""` if there is none."""
        _, *lines = self.block.partition(b"\r\n\r\n")[0].decode("utf-8", "replace").split("\r\n")
        pairs = (line.partition(":") for line in lines)
        return next((value.strip() for key, _, value in pairs if key.lower() == name), "")

    @property
    def digest(self) -> str:
        """The digest of its payload, computed if an older version did not store it."""
        return self.headers.get("warc-payload-digest") or payload_digest(self.payload)


def payload_digest(body: bytes | memoryview) -> str:
    """The digest of a body, for `WARC-Payload-Digest`."""
    number = int.from_bytes(hashlib.sha1(body, usedforsecurity=False).digest())
    return f"sha1:{''.join([_BASE32[number >> bits & 1023] for bits in _SHIFTS])}"


def pack(responses: Sequence[Response], info: Mapping[str, str], now: float) -> tuple[bytes, list[Place | None]]:
    """A whole WARC file, and the place of each response in it; None if there was no response."""
    ids = _record_ids(len(responses) + 1)
    members = [_pack_info(info, now, ids[0])]
    at = len(members[0])
    places: list[Place | None] = []
    for response, record_id in zip(responses, ids[1:], strict=True):
        if not response.status:
            places.append(None)
            continue
        member = _pack_response(response, record_id)
        places.append((at, len(member)))
        members.append(member)
        at += len(member)
    return b"".join(members), places


def pack_info(info: Mapping[str, str], now: float) -> bytes:
    """The first record of a file, `warcinfo`."""
    return _pack_info(info, now, _record_ids(1)[0])


def packed_again(record: Record, original: Original | None) -> bytes:
    """A stored response as a record of another file, with the digest of its payload; `original`: an earlier record of
    that file with the same payload, so that only the head is written and the body is read there."""
    fields = [("WARC-Type", "response" if original is None else "revisit")]
    fields += [(name, record.headers[name.lower()]) for name in _KEPT if name.lower() in record.headers]
    fields += [("WARC-Payload-Digest", record.digest), ("Content-Type", "application/http; msgtype=response")]
    if original is not None:
        fields += [
            ("WARC-Profile", _SAME_PAYLOAD),
            ("WARC-Refers-To-Target-URI", original.url),
            ("WARC-Refers-To-Date", original.date),
        ]
    head = record.block[: record.block.find(b"\r\n\r\n") + 4]
    return _member(_header_lines(fields), _record_ids(1)[0], head, b"" if original else bytes(record.payload))


def _pack_info(info: Mapping[str, str], now: float, record_id: str) -> bytes:
    fields = {"format": "WARC File Format 1.1", **info}
    block = _header_lines(list(fields.items())).encode("utf-8", "replace")
    head = f"WARC-Type: warcinfo\r\nWARC-Date: {_date(now)}\r\nContent-Type: application/warc-fields\r\n"
    return _member(head, record_id, block, b"")


def _pack_response(response: Response, record_id: str) -> bytes:
    lines = [
        f"WARC-Type: response\r\nWARC-Date: {_date(response.started_at)}\r\n"
        f"WARC-Target-URI: {_one_line(response.url)}\r\n"
        "Content-Type: application/http; msgtype=response\r\n"
    ]
    if response.status == 304:
        lines[0] = lines[0].replace("response", "revisit", 1)
        lines.append(f"WARC-Profile: {_NOT_MODIFIED}\r\n")
    else:
        lines.append(f"WARC-Payload-Digest: {payload_digest(response.wire_body)}\r\n")
    if response.address:
        lines.append(f"WARC-IP-Address: {_one_line(response.address)}\r\n")
    cut = response.outcome.meaning.truncated
    if cut:
        lines.append(f"WARC-Truncated: {cut}\r\n")
    return _member("".join(lines), record_id, _http_head(response), response.wire_body)


def _member(head: str, record_id: str, block_start: bytes, block_rest: bytes) -> bytes:
    length = len(block_start) + len(block_rest)
    start = f"WARC/1.1\r\nWARC-Record-ID: <urn:uuid:{record_id}>\r\n{head}Content-Length: {length}\r\n\r\n"
    record = b"".join((start.encode("utf-8", "replace"), block_start, block_rest, b"\r\n\r\n"))
    packed: bytes = isal_zlib.compress(record, LEVEL, _GZIP)
    return packed


def _http_head(response: Response) -> bytes:
    headers = _true_headers(response)
    phrase = _PHRASES.get(response.status, "")
    text = f"HTTP/{response.http_version} {response.status} {phrase}\r\n{_header_lines(headers)}\r\n"
    try:  # the transport decodes headers so that odd bytes survive as surrogates
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def _true_headers(response: Response) -> list[tuple[str, str]]:
    if response.status == 304:  # its Content-Length is that of the page that was not sent
        return response.headers
    length, headers = str(len(response.wire_body)), []
    told = framed = False
    for name, value in response.headers:
        lower = name.lower()
        wrong = lower == "content-length" and (told or value.strip() != length)
        told = told or (lower == "content-length" and not wrong)
        framed = framed or wrong or lower == "transfer-encoding"
        renamed = wrong or lower == "transfer-encoding"
        headers.append((f"X-Crawler-{name}" if renamed else name, value))
    if framed and not told:
        headers.append(("Content-Length", length))
    return headers


def _header_lines(headers: Sequence[tuple[str, str]]) -> str:
    text = "".join([f"{name}: {value}\r\n" for name, value in headers])
    if text.count("\n") == text.count("\r") == len(headers):
        return text
    return "".join([f"{_one_line(name)}: {_one_line(value)}\r\n" for name, value in headers])


def _one_line(text: str) -> str:
    if "\n" in text or "\r" in text:
        return text.replace("\r", " ").replace("\n", " ")
    return text


def _date(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _record_ids(count: int) -> list[str]:
    """Random UUIDs (version 4); the system is asked for all at once, which is ten times as fast."""
    digits = os.urandom(16 * count).hex()
    each = (digits[at : at + 32] for at in range(0, len(digits), 32))
    return [f"{d[:8]}-{d[8:12]}-4{d[13:16]}-a{d[17:20]}-{d[20:]}" for d in each]


class _Pieces:
    """Reads on from an offset like a file, by `read(start, length)`."""

    def __init__(self, read: Callable[[int, int], bytes], offset: int) -> None:
        self._read, self._at = read, offset

    def read(self, length: int) -> bytes:
        piece = self._read(self._at, length)
        self._at += len(piece)
        return piece


def read_response(
    where: str, read: Callable[[int, int], bytes], offset: int, length: int | None = None
) -> StoredResponse:
    """The response that starts at `offset`; the length, if known, saves reading too far. `read` gives the bytes from a
    start on, `where` names the file in errors."""
    with reading(where):
        for record in _records(where, _Pieces(read, offset), offset, _CHUNK if length is None else length):
            return _stored(where, record)
    raise corrupt(where, f"no record at byte {offset}")


def iter_records(path: Path) -> Iterator[Record]:
    """All records of a WARC file in order, each checked against its CRC and length."""
    with reading(path), path.open("rb") as file:
        yield from _records(path, file, 0, _CHUNK)


def _records(path: Path | str, file: BinaryIO | _Pieces, offset: int, chunk: int) -> Iterator[Record]:
    waiting = b""
    while waiting or (waiting := file.read(chunk)):
        unpacker = isal_zlib.decompressobj(wbits=_GZIP)
        parts, taken = [], 0
        while not unpacker.eof:
            if not waiting and not (waiting := file.read(_CHUNK)):
                raise corrupt(path, f"the record at byte {offset} is cut off")
            try:
                parts.append(unpacker.decompress(waiting))
            except _DAMAGE as error:
                raise corrupt(path, f"the record at byte {offset}: {error}") from error
            taken += len(waiting)
            waiting = b""
        waiting = unpacker.unused_data
        taken -= len(waiting)
        yield _record(path, offset, taken, b"".join(parts))
        offset += taken


def _record(path: Path | str, offset: int, length: int, raw: bytes) -> Record:
    head, _, block = raw.partition(b"\r\n\r\n")
    version, *lines = head.decode("utf-8", "surrogateescape").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    size = headers.get("content-length", "")
    whole = size.isdigit() and len(block) == int(size) + 4 and block.endswith(b"\r\n\r\n")
    if version != "WARC/1.1" or not whole:
        raise corrupt(path, f"no WARC record at byte {offset}")
    return Record(offset, length, headers, block[:-4])


def _stored(path: Path | str, record: Record) -> StoredResponse:
    kind = record.headers.get("warc-type", "")
    head, _, body = record.block.partition(b"\r\n\r\n")
    status_line, *lines = head.decode("utf-8", "surrogateescape").split("\r\n")
    words = status_line.split(" ", 2)
    if kind not in ("response", "revisit") or len(words) < 2 or not words[1].isdigit():
        raise corrupt(path, f"no HTTP response at byte {record.offset}")
    headers = [(name, value) for name, _, value in (line.partition(": ") for line in lines)]
    return StoredResponse(record.url, kind, record.headers.get("warc-date", ""), int(words[1]), headers, body)

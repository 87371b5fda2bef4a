"""Decodes content encodings, never beyond a limit.

A kilobyte can unpack to a gigabyte, so every decoder gets a limit of one byte more than allowed: getting that byte
proves
the bomb without paying for it. An encoded body that ends early or is corrupt is a broken response; nobody could say
what
is missing. A body cut by *us* (`partial`) yields what can be decoded. Bytes after the end of a compressed stream are
ignored, as in browsers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import brotli
import zstandard
from isal import igzip_lib, isal_zlib

from gossamer.fetch.limits import Trouble
from gossamer.model.outcome import Outcome

ACCEPT_ENCODING = "gzip, deflate, br, zstd"
_LAYERS = 3
"""Encodings on top of each other; more than one is already rare."""
_WINDOW = 8 * 1024 * 1024
"""The largest zstd window for the web (RFC 9659)."""
_ZSTD_SLICE = 512
"""Bytes given to the zstd decoder at a time. Its output cannot be limited, but four bytes
make at most a block of 128 KiB, so one slice makes at most 16 MiB."""
# Not encodings, but sent by servers that mean "none".
_NOTHING = frozenset(("", "identity", "none", "utf-8", "binary", "8bit", "7bit"))
_ZLIB_HEAD = 0x0F
_ZLIB_ERROR = cast(type[Exception], igzip_lib.IsalError)  # its stub calls the class an instance


def decode(body: bytes, encodings: list[str], limit: int, partial: bool = False) -> bytes:
    """Decode the body by all its Content-Encoding header values, last first.

    Raises `Trouble`: BOMB beyond `limit` bytes (`partial`: cut there instead), BROKEN_RESPONSE for a corrupt, cut off
    or
    unknown encoding."""
    names = [name.strip().lower() for value in encodings for name in value.split(",")]
    names = [name for name in names if name not in _NOTHING]
    if len(names) > _LAYERS:
        raise _broken(f"the body has {len(names)} content encodings; Gossamer decodes at most {_LAYERS}")
    for name in reversed(names):
        decoder = _DECODERS.get(name)
        if decoder is None:
            raise _broken(f"the content encoding {name[:40]!r} is unknown")
        if body:
            body = _bounded(decoder, name, body, limit, partial)
    return body


def _bounded(decoder: _Decoder, name: str, body: bytes, limit: int, partial: bool) -> bytes:
    try:
        decoded, complete = decoder(body, limit + 1)
    except (_ZLIB_ERROR, brotli.error, zstandard.ZstdError, MemoryError) as error:
        raise _broken(f"the {name} body is corrupt: {error}") from None
    if len(decoded) > limit:
        if not partial:
            raise Trouble(Outcome.BOMB, f"{len(body)} bytes of {name} unpack to more than {limit} bytes")
        return decoded[:limit]
    if not complete and not partial:
        raise _broken(f"the {name} body ends early")
    return decoded


def _gzip(body: bytes, limit: int) -> tuple[bytes, bool]:
    out, left, rest = [], limit, body
    while left > 0:
        decoder = isal_zlib.decompressobj(31)
        piece = decoder.decompress(rest, left)
        out.append(piece)
        left -= len(piece)
        if not decoder.eof:
            return b"".join(out), False
        rest = decoder.unused_data
        if rest[:2] != b"\x1f\x8b":
            break
    return out[0] if len(out) == 1 else b"".join(out), True


def _deflate(body: bytes, limit: int) -> tuple[bytes, bool]:
    # The standard says zlib; some servers send the raw stream inside it.
    wrapped = len(body) > 1 and body[0] & _ZLIB_HEAD == 8 and (body[0] << 8 | body[1]) % 31 == 0
    try:
        return _inflate(body, 15 if wrapped else -15, limit)
    except _ZLIB_ERROR:
        if not wrapped:
            raise
        return _inflate(body, -15, limit)


def _inflate(body: bytes, window: int, limit: int) -> tuple[bytes, bool]:
    decoder = isal_zlib.decompressobj(window)
    return decoder.decompress(body, limit), decoder.eof


def _brotli(body: bytes, limit: int) -> tuple[bytes, bool]:
    decoder = brotli.Decompressor()
    out = [decoder.process(body, output_buffer_limit=limit)]
    size = len(out[0])
    while size < limit and not decoder.is_finished() and not decoder.can_accept_more_data():
        out.append(decoder.process(b"", output_buffer_limit=limit - size))
        size += len(out[-1])
    return b"".join(out), decoder.is_finished()


def _zstd(body: bytes, limit: int) -> tuple[bytes, bool]:
    context = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
    decoder = context.decompressobj()
    out, size, at = [], 0, 0
    while at < len(body) and size < limit:
        piece = decoder.decompress(body[at : at + _ZSTD_SLICE])
        at += _ZSTD_SLICE
        out.append(piece)
        size += len(piece)
        if decoder.eof:
            at = min(at, len(body)) - len(decoder.unused_data)
            if body[at + 1 : at + 4] not in (b"\xb5\x2f\xfd", b"\x2a\x4d\x18"):
                return b"".join(out), True
            decoder = context.decompressobj()
    return b"".join(out), decoder.eof


def _broken(reason: str) -> Trouble:
    return Trouble(Outcome.BROKEN_RESPONSE, reason)


_Decoder = Callable[[bytes, int], tuple[bytes, bool]]
"""Body and the most bytes wanted → the output, and whether the stream came to its end."""

_DECODERS: dict[str, _Decoder] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}

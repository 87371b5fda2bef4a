"""Bodies that explode, lie about what they are, or wear a parser out.

The bombs are built at first use and kept; each is small on the wire.
"""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Callable
from functools import cache

import brotli
import zstandard

from gossamer.demo.message import Ask, Reply, head
from gossamer.testing.web import wrap
from kit.hostile.registry import HTML, PROSE, Answer, Pace, add, always, flood, made

_G = "bodies"
_PAGE = wrap("Bodies", PROSE)
_BYTES = _PAGE.encode()
_MEGABYTE = 1 << 20


def _encoded(name: str, data: bytes) -> Answer:
    return always(Reply(data, 200, [("Content-Encoding", name)], compress=False))


def _typed(content_type: str, data: bytes) -> Answer:
    return always(Reply(data, content_type=content_type, compress=False))


def _lazily(name: str, build: Callable[[], bytes]) -> Answer:
    def answer(ask: Ask, pace: Pace) -> Reply:
        return Reply(build(), 200, [("Content-Encoding", name)], compress=False)

    return answer


BOMB = 256
"""Megabytes a bomb unpacks to: more than any sane limit, and quickly built."""


def _zeros(megabytes: int) -> bytes:
    """A raw deflate stream of zeros.

    After a full flush the compressor starts anew, so one compressed megabyte can
    be repeated instead of compressing all of them.
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(_MEGABYTE)) + packer.flush(zlib.Z_FULL_FLUSH)
    return block * megabytes + packer.flush()


@cache
def gzip_bomb(megabytes: int = BOMB) -> bytes:
    """A valid gzip file of zeros, a thousandth of its size."""
    crc = 0
    for _ in range(megabytes):
        crc = zlib.crc32(bytes(_MEGABYTE), crc)
    trailer = struct.pack("<II", crc, (megabytes * _MEGABYTE) & 0xFFFFFFFF)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + _zeros(megabytes) + trailer


@cache
def deflate_bomb(megabytes: int = BOMB) -> bytes:
    """A valid zlib stream of zeros; the checksum of n zeros is n mod 65,521 in its upper half and 1 below."""
    adler = (megabytes * _MEGABYTE % 65_521) << 16 | 1
    return b"\x78\xda" + _zeros(megabytes) + struct.pack(">I", adler)


@cache
def zstd_bomb(megabytes: int = BOMB) -> bytes:
    """A zstd frame of zeros."""
    packer = zstandard.ZstdCompressor().compressobj()
    return b"".join(packer.compress(bytes(_MEGABYTE)) for _ in range(megabytes)) + packer.flush()


@cache
def brotli_bomb(megabytes: int = BOMB) -> bytes:
    """A brotli stream of zeros."""
    packer = brotli.Compressor(quality=1)
    parts: list[bytes] = [packer.process(bytes(_MEGABYTE)) for _ in range(megabytes)]
    return b"".join(parts) + bytes(packer.finish())


def _wrapped(times: int) -> bytes:
    data = _BYTES
    for _ in range(times):
        data = gzip.compress(data, mtime=0)
    return data


_GZIP = gzip.compress(_BYTES, mtime=0)

add(_G, "gzip-bomb", "256 KB of gzip unpack to 256 MB.", _lazily("gzip", gzip_bomb))
add(_G, "zstd-bomb", "A few KB of zstd unpack to 256 MB.", _lazily("zstd", zstd_bomb))
add(_G, "br-bomb", "A few KB of brotli unpack to 256 MB.", _lazily("br", brotli_bomb))
add(_G, "deflate-bomb", "256 KB of deflate unpack to 256 MB.", _lazily("deflate", deflate_bomb))
add(_G, "gzip-truncated", "The gzip stream ends in the middle.", _encoded("gzip", _GZIP[: len(_GZIP) // 2]))
add(_G, "gzip-lie", "Plain text is labelled gzip.", _encoded("gzip", _BYTES))
add(_G, "gzip-bad-crc", "The gzip checksum is wrong.", _encoded("gzip", _GZIP[:-8] + b"\0" * 8))
add(_G, "gzip-trailing", "Garbage follows the gzip stream.", _encoded("gzip", _GZIP + b"\xff" * 64))
add(
    _G,
    "gzip-members",
    "The gzip file has two members.",
    _encoded("gzip", _GZIP + gzip.compress(b"<p>more", mtime=0)),
)
add(_G, "gzip-double", "Gzip within gzip, labelled once.", _encoded("gzip", _wrapped(2)))
add(_G, "gzip-layers", "Gzip ten times, each labelled.", _encoded(", ".join(["gzip"] * 10), _wrapped(10)))
add(_G, "gzip-unlabelled", "A gzip body without the label.", always(Reply(_GZIP, compress=False)))
add(_G, "deflate-raw", "Deflate without its zlib wrapper.", _encoded("deflate", zlib.compress(_BYTES)[2:-4]))
add(_G, "br-garbage", "Garbage labelled brotli.", _encoded("br", b"\xff" * 500))
add(_G, "zstd-garbage", "Garbage labelled zstd.", _encoded("zstd", b"\xff" * 500))
add(
    _G,
    "zstd-window",
    "A zstd frame that wants a window of 2 GB.",
    _encoded("zstd", b"\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00"),
)
add(_G, "encoding-unknown", "An encoding that does not exist.", _encoded("silk", _BYTES))
add(_G, "encoding-unasked", "Brotli, whatever the client accepts.", _encoded("br", brotli.compress(_BYTES)))

add(_G, "binary-as-html", "Binary data is labelled text/html.", _typed("text/html", bytes(range(256)) * 400))
add(_G, "html-as-image", "A page is labelled image/png.", _typed("image/png", _BYTES))
add(_G, "html-as-text", "A page is labelled text/plain.", _typed("text/plain", _BYTES))
add(
    _G,
    "html-as-octets",
    "A page is labelled application/octet-stream.",
    _typed("application/octet-stream", _BYTES),
)
add(
    _G,
    "pdf-as-html",
    "A PDF file is labelled text/html.",
    _typed("text/html", b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n" * 99),
)
add(_G, "no-content-type", "There is no Content-Type.", _typed("", _BYTES))
add(_G, "bad-content-type", "Content-Type is not a type.", _typed(";;charset=,,/", _BYTES))
add(
    _G,
    "wrong-charset",
    "windows-1251 is labelled UTF-8.",
    _typed(
        "text/html; charset=utf-8",
        "<title>Паук</title><p>Паук плетёт паутину ночью, когда ветер стихает.".encode("cp1251"),
    ),
)
add(_G, "unknown-charset", "A charset that does not exist.", _typed("text/html; charset=spider-8", _BYTES))
add(
    _G,
    "meta-charset-lies",
    "The meta tag says UTF-16, the bytes are UTF-8.",
    _typed("text/html", f'<meta charset="utf-16"><title>Lie</title><p>{PROSE}'.encode()),
)
add(_G, "utf-16", "UTF-16 with a byte order mark and no label.", _typed("text/html", _PAGE.encode("utf-16")))
add(
    _G,
    "utf-16-bare",
    "UTF-16 without a byte order mark, labelled.",
    _typed("text/html; charset=utf-16le", _PAGE.encode("utf-16-le")),
)
add(
    _G,
    "utf-7",
    "UTF-7, which no browser reads any more.",
    _typed("text/html; charset=utf-7", "<title>Seven</title><p>Паук".encode("utf-7")),
)
add(
    _G,
    "utf-8-broken",
    "UTF-8 with cut and overlong sequences.",
    _typed("text/html; charset=utf-8", b"<title>Cut</title><p>\xd0\xd0\xc0\xaf \xed\xa0\x80 \xf5\x80 " + _BYTES),
)
add(
    _G,
    "null-bytes",
    "NUL bytes and control characters stand in the text.",
    always(Reply("<title>Nu\0ll\x01\x02</title><p>" + PROSE.replace(" ", "\0\x07\u202e ", 5))),
)
add(_G, "empty", "200 with no body.", always(Reply(b"")))
add(
    _G,
    "only-comment",
    "The whole page is a comment that is never closed.",
    always(Reply("<!-- " + PROSE * 50)),
)

add(_G, "nested-divs", "100,000 nested divs.", made(lambda: Reply(b"<div>" * 100_000 + b"deep")))
add(
    _G,
    "nested-mixed",
    "100,000 nested inline tags that must be reopened.",
    made(lambda: Reply(b"<b><i><p>" * 33_000 + b"deep")),
)
add(_G, "nested-tables", "20,000 nested tables.", made(lambda: Reply(b"<table><tr><td>" * 20_000 + b"deep")))
add(
    _G,
    "attributes-100000",
    "One tag with 100,000 attributes.",
    made(lambda: Reply("<p " + " ".join(f"a{n}=1" for n in range(100_000)) + f">{PROSE}")),
)
add(
    _G,
    "attribute-10mb",
    "One attribute of 10 MB.",
    made(lambda: Reply(b'<p title="' + b"web " * 2_500_000 + b'">hi')),
)
add(
    _G,
    "links-100000",
    "100,000 links on one page.",
    made(lambda: Reply("".join(f'<a href="/links-100000/{n}">{n}</a> ' for n in range(100_000)))),
)
add(
    _G,
    "entities-flood",
    "A million character references.",
    made(lambda: Reply(b"<p>" + b"&#x1f577;" * 1_000_000)),
)
add(
    _G,
    "title-1mb",
    "A title of 1 MB.",
    made(lambda: Reply(b"<title>" + b"web " * 262_144 + b"</title><p>hi")),
)
add(_G, "word-5mb", "One word of 5 MB.", made(lambda: Reply(b"<p>" + b"w" * 5_000_000)))
add(_G, "page-10mb", "A page of 10 MB.", made(lambda: Reply(b"<p>" + b"silk and thread, " * 620_000)))
add(
    _G,
    "page-3gb",
    "A page of 3 GB, with its length said.",
    flood(head(200, [*HTML, ("Content-Length", str(3 << 30))]), b"<p>silk and thread" * 4096),
)
add(
    _G,
    "select-unclosed",
    "Unclosed tags of every awkward kind.",
    made(lambda: Reply(f"<select><table><svg><math><template><title>x<p>{PROSE}<plaintext><a href='/never'>")),
)

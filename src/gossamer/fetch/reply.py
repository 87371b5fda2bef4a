"""A response as it comes in: the connection fills it, the judge bounds it, `response` reads it."""

from __future__ import annotations

from collections.abc import Callable

from gossamer.fetch.limits import Trouble

_PIECES = 256
"""A body in tiny chunks is folded together this often: an object per byte would cost 40 times its size."""
_NAMES: dict[bytes, tuple[str, str]] = {}
"""Header names seen → as written, and in lower case. Servers use a few hundred; others are not kept."""


class Reply:
    """A response as it comes in."""

    __slots__ = ("answered_at", "chunks", "cut", "fields", "folded", "headers", "judge", "keep", "limit",
                 "received", "size", "status", "touched", "trouble", "until_close", "version")  # fmt: skip

    def __init__(self, judge: Callable[[Reply], None]) -> None:
        self.judge = judge
        self.status = 0
        self.version = "1.1"
        self.headers: list[tuple[str, str]] = []
        self.fields: dict[str, str] = {}
        """By lower-case name the first value; Content-Encoding and Set-Cookie are read from `headers`."""
        self.received = 0
        """Bytes from the network, framing included."""
        self.answered_at = 0.0
        """When the head was complete; 0 until then."""
        self.touched = False
        """Whether a byte of the response arrived."""
        self.limit = 0
        """Bytes of the body to keep; one more ends the response. Set by the judge."""
        self.keep = True
        """False: the body is not wanted. Set by the judge."""
        self.chunks: list[bytes] = []
        self.folded = bytearray()
        self.size = 0
        self.cut = False
        """Whether the body went beyond the limit."""
        self.until_close = False
        self.trouble: Trouble | None = None
        """Why the response is incomplete."""

    def add(self, data: bytes) -> None:
        """Append to the body."""
        self.chunks.append(data)
        if len(self.chunks) >= _PIECES:
            self.folded += b"".join(self.chunks)
            self.chunks.clear()

    def body(self) -> bytes:
        """All of the body that was kept."""
        rest = b"".join(self.chunks)
        return bytes(self.folded + rest) if self.folded else rest


def header_name(raw: bytes) -> tuple[str, str]:
    """A header's name as written and in lower case."""
    known = _NAMES.get(raw)
    if known is None:
        text = raw.decode("latin-1")
        known = (text, text.lower())
        if len(_NAMES) < 1024 and len(raw) < 64:
            _NAMES[raw] = known
    return known

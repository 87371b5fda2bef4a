"""The bytes of an archive, packed or not, piece by piece.

Whatever the file holds, memory stays small: a gzip member is unpacked 64 KiB at a time, and nothing is kept that was
not asked for. After damage, `find` looks for the place where the next record can begin: in a packed file the next gzip
member that starts like a record, in a plain one the next line that does.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from typing import BinaryIO, Protocol

from isal import isal_zlib

_PIECE = 1 << 16
_GZIP = 31  # zlib's window size that means: 32 KiB, gzip header and CRC
_MAGIC = b"\x1f\x8b\x08"
_ZLIB_ERROR: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # its stub declares an instance
_UNREADABLE = (OSError, EOFError, zipfile.BadZipFile, zlib.error)
_START = re.compile(rb"(?<=\n)WARC/\d\.\d\r?\n")
UNPACKED = 1 << 30
"""Most bytes to unpack in vain."""


class Broken(Exception):  # noqa: N818 - an event of one record, never of the whole import
    """Nobody can tell where the record ends; the message says why."""


class Stream(Protocol):
    """An archive's bytes from the present place on."""

    def read(self, length: int) -> bytes:
        """Up to so many bytes; fewer only at the end."""
        ...

    def skip(self, length: int) -> int:
        """Pass over so many bytes; returns how many there were. Raises `Broken` if that would take too long."""
        ...

    def line(self, limit: int) -> bytes:
        """The next line with its end; without one, if it is longer than the limit or the last."""
        ...

    def here(self, back: int = 0) -> int:
        """Where in the file the record that began so many bytes before is found."""
        ...

    def find(self, start: int) -> bool:
        """Go to the next place after `start` where a record can begin; False: there is none."""
        ...


def open_stream(file: BinaryIO) -> Stream:
    """The stream of a file, which must be able to seek."""
    source = _Source(file)
    magic = source.read(len(_MAGIC))
    source.seek(0)
    return Packed(source) if magic == _MAGIC else Plain(source)


class _Source:
    """A file, or a member of a ZIP file, whose damage is told like any other."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.tell = file.tell

    def read(self, length: int) -> bytes:
        try:
            return self._file.read(length)
        except _UNREADABLE as error:
            raise Broken(f"the file cannot be read here ({error})") from None

    def seek(self, place: int) -> None:
        try:
            self._file.seek(place)
        except _UNREADABLE as error:
            raise Broken(f"the file cannot be read here ({error})") from None


class _Buffered:
    """What both kinds of streams share: a buffer that `_more` fills."""

    def __init__(self) -> None:
        self._ready = bytearray()

    def _more(self) -> bool:
        """Add a piece to the buffer; False at the end."""
        raise NotImplementedError

    def read(self, length: int) -> bytes:
        """Up to so many bytes; fewer only at the end."""
        while len(self._ready) < length and self._more():
            pass
        taken = bytes(self._ready[:length])
        del self._ready[:length]
        return taken

    def skip(self, length: int) -> int:
        """Pass over so many bytes; returns how many there were."""
        left = length
        while left:
            piece = min(left, len(self._ready))
            del self._ready[:piece]
            left -= piece
            if left and not self._more():
                break
        return length - left

    def line(self, limit: int) -> bytes:
        """The next line with its end; without one, if it is longer than the limit or the last."""
        looked = 0
        while (end := self._ready.find(b"\n", looked)) < 0 and len(self._ready) < limit:
            looked = len(self._ready)
            if not self._more():
                break
        return self.read(min(end + 1 if end >= 0 else limit, limit))


class Plain(_Buffered):
    """A file that is not packed."""

    def __init__(self, file: _Source) -> None:
        super().__init__()
        self._file = file

    def _more(self) -> bool:
        piece = self._file.read(_PIECE)
        self._ready += piece
        return bool(piece)

    def skip(self, length: int) -> int:
        """Without reading what lies in between."""
        if length <= len(self._ready):
            return super().skip(length)
        self._go(self.here() + length - 1)
        return length if self.read(1) else 0

    def here(self, back: int = 0) -> int:
        """The byte."""
        return self._file.tell() - len(self._ready) - back

    def find(self, start: int) -> bool:
        """The next line that starts a record."""
        at = start + 1
        self._go(at)
        while True:
            if match := _START.search(self._ready):
                self._go(at + match.start())
                return True
            kept = min(len(self._ready), 64)
            at += len(self._ready) - kept
            del self._ready[: len(self._ready) - kept]
            if not self._more():
                return False

    def _go(self, place: int) -> None:
        self._ready.clear()
        self._file.seek(place)


class Packed(_Buffered):
    """A file of gzip members; usually each holds one record."""

    def __init__(self, file: _Source) -> None:
        super().__init__()
        self._file = file
        self._begin(0)

    def _begin(self, place: int) -> None:
        """Unpack from a member's first byte on."""
        self._file.seek(place)
        self._ready.clear()
        self._member, self._taken = place, 0
        self._waiting, self._is_hurt = b"", False
        self._unpacker = isal_zlib.decompressobj(wbits=_GZIP)

    def _more(self) -> bool:
        if self._unpacker.eof and not self._next():
            return False
        unpacker = self._unpacker
        data = unpacker.unconsumed_tail or self._waiting or self._read()
        self._waiting = b""
        try:
            piece = unpacker.decompress(data, _PIECE)
        except _ZLIB_ERROR as error:
            self._is_hurt = True
            raise Broken(f"its compressed bytes are damaged ({error})") from None
        self._ready += piece
        if data or piece or unpacker.eof:
            return True
        if self._taken:
            self._is_hurt = True
            raise Broken("the file ends in the middle of it")
        return False

    def _read(self) -> bytes:
        data = self._file.read(_PIECE)
        self._taken += len(data)
        return data

    def _next(self) -> bool:
        """Go on with the member behind the one that ended; False at the end of the file."""
        rest = self._unpacker.unused_data
        self._member += self._taken - len(rest)
        self._taken = len(rest)
        self._waiting = rest or self._read()
        self._unpacker = isal_zlib.decompressobj(wbits=_GZIP)
        return bool(self._waiting)

    def skip(self, length: int) -> int:
        """By unpacking it, unless that is too much."""
        if length > UNPACKED:
            self._is_hurt = True  # in effect: nobody looks any further into this member
            raise Broken("its body is too long to unpack")
        return super().skip(length)

    def here(self, back: int = 0) -> int:
        """The member's first byte: only there can be begun."""
        return self._member

    def find(self, start: int) -> bool:
        """The next record in the same member, if its compressed bytes are well, or the next member that starts like
        one."""
        return (not self._is_hurt and self._find_inside()) or self._find_member(start + 1)

    def _find_inside(self) -> bool:
        done = 0
        try:
            while not (match := _START.search(self._ready)):
                kept = min(len(self._ready), 64)
                done += len(self._ready) - kept
                del self._ready[: len(self._ready) - kept]
                if done > UNPACKED or self._unpacker.eof or not self._more():
                    return False
        except Broken:
            return False
        del self._ready[: match.start()]
        return True

    def _find_member(self, at: int) -> bool:
        tail = b""
        self._file.seek(at)
        while piece := self._file.read(_PIECE):
            window = tail + piece
            base = at - len(tail)
            at += len(piece)
            place = window.find(_MAGIC)
            while place >= 0:
                if self._starts(base + place):
                    self._begin(base + place)
                    return True
                place = window.find(_MAGIC, place + 1)
            self._file.seek(at)
            tail = window[-len(_MAGIC) + 1 :]
        return False

    def _starts(self, place: int) -> bool:
        self._file.seek(place)
        try:
            head = isal_zlib.decompressobj(wbits=_GZIP).decompress(self._file.read(1024), 16)
        except _ZLIB_ERROR:
            return False
        return head.startswith(b"WARC/")

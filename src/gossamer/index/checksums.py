"""Checks whether the files of an index are undamaged.

Tantivy ends each file with a checksum, and does not check it when it opens an index: reading everything would take too
long. A flipped bit can make it find nonsense, or end the process. So the files are read here, on request.
"""

from __future__ import annotations

import os
import struct
import zlib
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

import msgspec

from gossamer.index import commits

_PIECE = 1 << 20
_TAIL = struct.Struct("<II")
_MAGIC = 1337
_SMALL = 64 << 20
"""Bytes up to which an index is read whole for every status."""
_LONGEST_FOOTER = 50_000
"""Bytes; the library's own limit."""
_KINDS = (".fast", ".fieldnorm", ".idx", ".pos", ".store", ".term")
"""Of each segment."""


class _Footer(msgspec.Struct, frozen=True):
    crc: int


def size(folder: Path) -> int:
    """Bytes that there are to read."""
    return sum(path.stat().st_size for path in _files(folder) if path.exists())


def damaged(folder: Path) -> list[Path]:
    """Files of the present commit that are missing or have changed."""
    found = [path for path in _files(folder) if not _is_whole(path)]
    # A commit meanwhile deletes files that do not count any more.
    return sorted(_files(folder) & set(found)) if found else []


def seem_damaged(folder: Path) -> list[Path]:
    """Like `damaged`, but cheap enough for a status: of a large index only the ends of the files are read."""
    whole = size(folder) <= _SMALL
    found = {path for path in _files(folder) if not _seems_whole(path, whole)}
    return sorted(_files(folder) & found) if found else []


def _seems_whole(path: Path, whole: bool) -> bool:
    try:
        stat = path.stat()
    except OSError:
        return False
    return _known_whole(path, stat.st_ino, stat.st_mtime_ns, stat.st_size) if whole else _has_its_end(path)


@lru_cache(maxsize=10_000)
def _known_whole(path: Path, *identity: int) -> bool:
    """A file of an index never changes: one that was read once is not read again."""
    return _is_whole(path)


def _has_its_end(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            file.seek(-_TAIL.size, os.SEEK_END)
            return bool(_TAIL.unpack(file.read(_TAIL.size))[1] == _MAGIC)
    except (OSError, struct.error):
        return False


def _files(folder: Path) -> set[Path]:
    """Files that the present commit names, there or not."""
    segments = commits.read(folder).segments
    stems = [folder / segment.segment_id.replace("-", "") for segment in segments]
    present = {path for segment in segments for path in segment.files(folder)}
    return present | {stem.with_suffix(kind) for stem in stems for kind in _KINDS}


def _is_whole(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return _has_its_checksum(file)
    except (OSError, ValueError, struct.error):  # msgspec's are ValueErrors
        return False


def _has_its_checksum(file: BinaryIO) -> bool:
    end = file.seek(-_TAIL.size, os.SEEK_END)
    length, magic = _TAIL.unpack(file.read(_TAIL.size))
    if magic != _MAGIC or length > min(end, _LONGEST_FOOTER):
        return False
    body = file.seek(end - length)
    footer = msgspec.json.decode(file.read(length), type=_Footer)
    file.seek(0)
    checksum, left = 0, body
    while left and (piece := file.read(min(left, _PIECE))):
        checksum = zlib.crc32(piece, checksum)
        left -= len(piece)
    return checksum == footer.crc

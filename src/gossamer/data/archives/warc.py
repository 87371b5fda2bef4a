"""The responses of a crawl as one WARC file, each body once.

A body that was written before is not written again: its record is a `revisit` that names the earlier one. This holds
for pages that were fetched again and had not changed, and for equal pages under other URLs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gossamer import __version__
from gossamer.clock import SystemClock
from gossamer.data.archives.stored import Lost, stored_responses
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.store.archive import Original, Record, pack_info, packed_again

_REMEMBERED = 200_000
"""Bodies remembered, about 100 MB; equal ones that are further apart are written twice."""


class Written(NamedTuple):
    """A record as it is to be written."""

    record: Record
    data: bytes
    is_revisit: bool


class Bodies:
    """Makes records, and revisits of bodies that were written before."""

    def __init__(self) -> None:
        self._known: dict[str, Original] = {}

    def pack(self, record: Record) -> Written:
        """The record to write for a stored response."""
        digest = record.digest
        original = self._known.get(digest) if len(record.payload) else None
        if original is None:
            if len(self._known) >= _REMEMBERED:
                del self._known[next(iter(self._known))]
            self._known[digest] = Original(record.url, record.date)
        return Written(record, packed_again(record, original), original is not None)


def file_info() -> bytes:
    """The first record of an exported file."""
    return pack_info({"software": f"Gossamer/{__version__}"}, SystemClock().now())


def warc(folder: DataFolder, db: Database, lost: Lost | None = None) -> Iterator[bytes]:
    """The pieces of the file."""
    yield file_info()
    bodies = Bodies()
    for one in stored_responses(folder, db, lost):
        yield bodies.pack(one.record).data

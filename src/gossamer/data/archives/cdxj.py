"""CDXJ: an index of archives, a line for each response, sorted by URL and time.

    org,example)/page 20261115033105 {"url":"https://example.org/page","mime":"text/html","status":"200",…}

The lines of a crawl may be more than fit into memory: they are sorted in runs on the disk, which are merged.
"""

from __future__ import annotations

import gzip
import heapq
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import orjson

from gossamer.data.archives.stored import Lost, stored_responses
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.model.surt import sort_key
from gossamer.store import layout
from gossamer.store.archive import Record

RUN = 100_000
"""Lines sorted in memory; about 40 MB."""


def cdxj(folder: DataFolder, db: Database, lost: Lost | None = None) -> Iterator[bytes]:
    """The index of the archives of a data folder, as they lie there: file names are relative to its segments."""
    return sorted_lines(
        line(one.record, f"{one.segment}/{layout.RESPONSES}", one.record.offset, one.record.length)
        for one in stored_responses(folder, db, lost)
    )


def line(record: Record, file: str, offset: int, length: int, is_revisit: bool = False) -> bytes:
    """The line of a response that lies at this place."""
    media = "warc/revisit" if is_revisit else _media_type(record)
    entry = {
        "url": record.url,
        **({"mime": media} if media else {}),
        "status": str(record.status),
        "digest": record.digest,
        "length": str(length),
        "offset": str(offset),
        "filename": file,
    }
    return f"{sort_key(record.url)} {timestamp(record.date)} ".encode() + orjson.dumps(entry) + b"\n"


def timestamp(date: str) -> str:
    """An ISO date in 14 digits."""
    return "".join(filter(str.isdigit, date))[:14].ljust(14, "0")


def _media_type(record: Record) -> str:
    return record.http_header("content-type").partition(";")[0].strip().lower()


def sorted_lines(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines in the order of their bytes."""
    with ExitStack() as stack:
        runs: list[Path] = []
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gossamer-")))
        rest: list[bytes] = []
        for one in lines:
            rest.append(one)
            if len(rest) >= RUN:
                runs.append(folder / f"{len(runs)}.gz")
                with gzip.open(runs[-1], "wb", compresslevel=1) as file:
                    file.writelines(sorted(rest))
                rest = []
        rest.sort()
        yield from heapq.merge(*(stack.enter_context(gzip.open(run)) for run in runs), rest)

"""Where segments lie, how they are named, and which ones nobody counts.

    segments/
      20261115T033105123-w1-000007/     one commit of worker w1
        pages.parquet                   one row per visit
        links.parquet                   one row per link
        responses.warc.gz               raw responses (absent with --no-archive)
      .building/                        segments that are not whole yet

The frontier database decides which segments count. A folder it does not know is an
orphan, left by a worker that died between its files and its transaction. A worker
that lives may be between the two right now, so its folders are never orphans. On many
machines nobody knows of all that live, such as whoever merges segments: there a folder
must also be old.
"""

from __future__ import annotations

import re
from collections.abc import Set
from datetime import UTC, datetime

PAGES = "pages.parquet"
LINKS = "links.parquet"
RESPONSES = "responses.warc.gz"
FILES = (RESPONSES, LINKS, PAGES)
"""In the order in which they come to count: who sees `pages` sees the others."""
BUILDING = ".building"

_ID = re.compile(r"\d{8}T\d{9}-(?P<worker>[A-Za-z0-9._-]+)-\d{6,}")
_WORKER = re.compile(r"[A-Za-z0-9._-]+")


def new_segment_id(worker: str, now: float, n: int) -> str:
    """A name that sorts by time and tells whose it is; `n` counts the worker's segments."""
    if not _WORKER.fullmatch(worker):
        raise ValueError(f"worker id {worker!r}: only letters, digits, dot, dash and underscore")
    time = datetime.fromtimestamp(now, UTC)
    return f"{time:%Y%m%dT%H%M%S}{time.microsecond // 1000:03d}-{worker}-{n:06d}"


def time_of(segment_id: str) -> float:
    """When a segment was begun, by the clock of its worker: seconds since 1970, to the millisecond."""
    return datetime.strptime(f"{segment_id[:18]}000+0000", "%Y%m%dT%H%M%S%f%z").timestamp()


def worker_of(segment_id: str) -> str | None:
    """Whose segment it is; None where the name is not a segment's."""
    match = _ID.fullmatch(segment_id)
    return match["worker"] if match else None


def role_of(segment_id: str) -> str | None:
    """What its worker is, of whatever machine: the name's first part."""
    worker = worker_of(segment_id)
    return worker.partition("-")[0] if worker else None


def is_orphan(segment_id: str, live_workers: Set[str], older_than: float = 0.0, now: float = 0.0) -> bool:
    """Whether a segment that does not count never will: its worker is dead, and it is old enough.

    Names that are not ours are left alone. An age of 0 asks for none.
    """
    worker = worker_of(segment_id)
    if worker is None or worker in live_workers:
        return False
    return older_than <= 0 or now - time_of(segment_id) >= older_than

"""Where segments are, how they are named, and which ones do not count.

    segments/
      20261115T033105123-w1-000007/     one commit of worker w1
        pages.parquet                   one row per visit
        links.parquet                   one row per link
        responses.warc.gz               raw responses (absent with --no-archive)
      .building/                        segments that are not complete yet

The frontier database decides which segments count. A folder it does not know is an orphan, left by a worker that died
between its files and its transaction. A living worker may be between the two right now, so its folders are never
orphans.
On many machines nobody knows all living writers, such as processes that merge segments: there a folder must also be
old.
"""

from __future__ import annotations

import re
from collections.abc import Set
from datetime import UTC, datetime

PAGES = "pages.parquet"
LINKS = "links.parquet"
RESPONSES = "responses.warc.gz"
FILES = (RESPONSES, LINKS, PAGES)
"""In the order in which they appear: if `pages` is there, so are the others."""
BUILDING = ".building"

_ID = re.compile(r"\d{8}T\d{9}-(?P<worker>[A-Za-z0-9._-]+)-\d{6,}")
_WORKER = re.compile(r"[A-Za-z0-9._-]+")


def new_segment_id(worker: str, now: float, n: int) -> str:
    """A name that sorts by time and names its worker; `n` counts the worker's segments."""
    if not _WORKER.fullmatch(worker):
        raise ValueError(f"worker id {worker!r}: only letters, digits, dot, dash and underscore")
    time = datetime.fromtimestamp(now, UTC)
    return f"{time:%Y%m%dT%H%M%S}{time.microsecond // 1000:03d}-{worker}-{n:06d}"


def time_of(segment_id: str) -> float:
    """When a segment was begun, by the clock of its worker: seconds since 1970, to the millisecond."""
    return datetime.strptime(f"{segment_id[:18]}000+0000", "%Y%m%dT%H%M%S%f%z").timestamp()


def worker_of(segment_id: str) -> str | None:
    """The worker of a segment; None if the name is not a segment's."""
    match = _ID.fullmatch(segment_id)
    return match["worker"] if match else None


def role_of(segment_id: str) -> str | None:
    """The role of its worker, on whatever machine: the name's first part."""
    worker = worker_of(segment_id)
    return worker.partition("-")[0] if worker else None


def is_orphan(segment_id: str, live_workers: Set[str], older_than: float = 0.0, now: float = 0.0) -> bool:
    """Whether a segment that does not count never will: its worker is dead, and it is old enough. Foreign names are
    never orphans. An age of 0 always suffices."""
    worker = worker_of(segment_id)
    if worker is None or worker in live_workers:
        return False
    return older_than <= 0 or now - time_of(segment_id) >= older_than

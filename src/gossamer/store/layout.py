"""Where segments lie, how they are named, and which ones nobody counts.

    segments/
      20261115T033105123-w1-000007/     one commit of worker w1
        pages.parquet                   one row per visit
        links.parquet                   one row per link
        responses.warc.gz               raw responses (absent with --no-archive)
      .building/                        segments that are not whole yet

The frontier database decides which segments count. A folder it does not know is an
orphan, left by a worker that died between its files and its transaction. A worker
that lives may be between the two right now, so its folders are never orphans.
"""

from __future__ import annotations

import re
from collections.abc import Set
from datetime import UTC, datetime
from pathlib import Path

PAGES = "pages.parquet"
LINKS = "links.parquet"
RESPONSES = "responses.warc.gz"
BUILDING = ".building"

_ID = re.compile(r"\d{8}T\d{9}-(?P<worker>[A-Za-z0-9._-]+)-\d{6,}")
_WORKER = re.compile(r"[A-Za-z0-9._-]+")


def new_segment_id(worker: str, now: float, n: int) -> str:
    """A name that sorts by time and tells whose it is; `n` counts the worker's segments."""
    if not _WORKER.fullmatch(worker):
        raise ValueError(f"worker id {worker!r}: only letters, digits, dot, dash and underscore")
    time = datetime.fromtimestamp(now, UTC)
    return f"{time:%Y%m%dT%H%M%S}{time.microsecond // 1000:03d}-{worker}-{n:06d}"


def worker_of(segment_id: str) -> str | None:
    """Whose segment it is; None where the name is not a segment's."""
    match = _ID.fullmatch(segment_id)
    return match["worker"] if match else None


def segment_bytes(root: Path, segment_id: str) -> int:
    """How much disk a segment's files take; 0 where it is gone."""
    try:
        return sum(path.stat().st_size for path in (root / segment_id).iterdir())
    except FileNotFoundError:
        return 0


def orphans(root: Path, known_ids: Set[str], live_workers: Set[str]) -> list[Path]:
    """Folders of segments that never came to count, oldest first.

    `known_ids` are the segments with files of their own, not those merged into
    another. Names that are not ours are left alone.
    """
    found = [path for path in _folders(root) if path.name not in known_ids]
    found += _folders(root / BUILDING)
    return sorted(path for path in found if _owner_is_dead(path.name, live_workers))


def _folders(root: Path) -> list[Path]:
    if not root.is_dir():
        return []
    return [path for path in root.iterdir() if path.is_dir()]


def _owner_is_dead(name: str, live_workers: Set[str]) -> bool:
    worker = worker_of(name)
    return worker is not None and worker not in live_workers

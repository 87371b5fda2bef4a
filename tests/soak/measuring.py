"""What a soak looks at: memory and file handles of every process by its role, disk by what lies there, the crawl's
own counters, and how long a search takes."""

from __future__ import annotations

import os
import re
import sys
import time
import urllib.request
from collections import Counter
from pathlib import Path

import msgspec

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from crawl_kit import command_of, descendants

from gossamer.data.folder import DataFolder
from gossamer.errors import GossamerError
from gossamer.frontier.views.inspect import status

ROLES = {
    "worker_process": "worker", "parser_process": "parser", "indexer_process": "indexer", "cli crawl": "crawl",
    "nursery_process": "nursery", "cli serve": "server",
}  # fmt: skip
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Sample(msgspec.Struct):
    """One look."""

    at: float
    """Seconds since the beginning."""
    memory: dict[str, float]
    """Mebibytes of the largest process of each role."""
    handles: dict[str, int]
    """Open files of the process of each role that has the most."""
    disk: dict[str, float]
    """Mebibytes by what lies there."""
    fetched: int
    pages: int
    search_ms: float
    """One search over HTTP; 0 where there was no answer."""
    kills: int


def role_of(pid: int) -> str:
    """What a process does; "other" for those that come and go."""
    command = command_of(pid)
    return next((role for sign, role in ROLES.items() if sign in command), "other")


def look(at: float, pids: list[int], data: Path, address: str, kills: int, before: Sample | None) -> Sample:
    """A sample; where the database cannot be asked at this instant, the counters are those of the sample before."""
    memory: dict[str, float] = {}
    handles: dict[str, int] = {}
    for pid in {one for root in pids for one in (root, *descendants(root))}:
        try:
            resident = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE / 2**20
            opened = len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208 - a folder that may vanish while it is read
        except OSError:
            continue
        role = role_of(pid)
        memory[role] = max(memory.get(role, 0.0), round(resident, 1))
        handles[role] = max(handles.get(role, 0), opened)
    fetched, pages = _counters(data) or ((before.fetched, before.pages) if before else (0, 0))
    return Sample(round(at, 1), memory, handles, _disk(data), fetched, pages, _search(address), kills)


def _counters(data: Path) -> tuple[int, int] | None:
    try:
        db = DataFolder(data).read()
    except GossamerError:
        return None
    try:
        found = status(db, time.time())
    except GossamerError:
        return None
    finally:
        db.close()
    return found.fetched, found.pages


def _disk(data: Path) -> dict[str, float]:
    sizes: Counter[str] = Counter()
    for folder, _, names in os.walk(data):
        part = Path(folder).relative_to(data).parts
        for name in names:
            kind = "database" if not part and name.startswith("frontier.db") else (part[0] if part else "other")
            try:
                sizes[kind] += (Path(folder) / name).stat().st_blocks * 512
            except OSError:
                continue
    return {kind: round(size / 2**20, 1) for kind, size in sorted(sizes.items())}


def _search(address: str) -> float:
    if not re.match("http://127", address):
        return 0.0
    started = time.perf_counter()
    try:
        with urllib.request.urlopen(f"{address}/api/v1/search?q=light&size=10", timeout=5) as answer:
            answer.read()
    except OSError:
        return 0.0
    return round((time.perf_counter() - started) * 1000, 2)

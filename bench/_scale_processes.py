"""CPU seconds of a program's processes, by what they do, read from the kernel while they run.

A crawl is a tree: the command, its workers, their parsers. PostgreSQL and the web server are trees of their own. The
difference of two readings is what a stretch of time cost, start-up left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_ROLES = {
    "gossamer.crawl.worker_process": "workers",
    "gossamer.crawl.parser_process": "parsers",
    "gossamer.indexer.indexer_process": "indexer",
}


def crawl_cpu(leader: int) -> dict[str, float]:
    """CPU seconds so far of a crawl's processes, by role."""
    found: dict[str, float] = {}
    for pid in _tree(leader):
        words = _read(pid, "cmdline").split("\0")
        role = next((_ROLES[word] for word in words if word in _ROLES), "command")
        found[role] = found.get(role, 0.0) + _cpu(pid)
    return found


def tree_cpu(leader: int) -> float:
    """CPU seconds so far of a process, its children, and those that have ended."""
    return sum(_cpu(pid, ended=True) for pid in _tree(leader))


def written(leader: int) -> int:
    """Bytes that a tree of processes has had written to disks so far."""
    lines = (line.split(": ") for pid in _tree(leader) for line in _read(pid, "io").splitlines())
    return sum(int(value) for name, value in lines if name == "write_bytes")


def child_running(module: str) -> int:
    """The child of this process whose command line names a module."""
    return next(pid for pid in _tree(os.getpid())[1:] if module in _read(pid, "cmdline"))


def parent_of(pid: int) -> int:
    """The process that started this one."""
    return int(_stat(pid)[1])


def _tree(leader: int) -> list[int]:
    """A process and all below it; sessions do not matter."""
    children: dict[int, list[int]] = {}
    for pid in _processes():
        if stat := _stat(pid):
            children.setdefault(int(stat[1]), []).append(pid)
    found, todo = [], [leader]
    while todo:
        found.append(pid := todo.pop())
        todo += children.get(pid, [])
    return found


def _processes() -> Iterator[int]:
    return (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())


def _cpu(pid: int, ended: bool = False) -> float:
    """Own CPU seconds, and those of children that have ended where they are wanted."""
    stat = _stat(pid)
    return sum(map(int, stat[11 : 15 if ended else 13])) / _TICKS if stat else 0.0


def _stat(pid: int) -> list[str]:
    """The fields behind the name: state, parent, …; none for a process that is gone."""
    return _read(pid, "stat").rpartition(")")[2].split()


def _read(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    except OSError:
        return ""

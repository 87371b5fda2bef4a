"""A process with all its descendants: what memory they hold, and how to kill them at once.

A crawler's processes may have sessions of their own, so a process group is not all of it.
Memory is the proportional set size: a page that n processes share counts 1/n for each, so that
forked workers are not charged for what they have in common. Only Linux tells it.
"""

from __future__ import annotations

import os
import re
import signal
from contextlib import suppress
from pathlib import Path

_PSS = re.compile(r"^Pss:\s+(\d+) kB", re.M)


def tree(root: int) -> list[int]:
    """A process and its descendants, parents first."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            children.setdefault(_parent(folder), []).append(int(folder.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def tree_memory(root: int) -> int:
    """Bytes that a process and its descendants hold at this moment."""
    return sum(map(_held, tree(root)))


def kill_tree(root: int) -> None:
    """Kills the leader of a group and its descendants, none of which gets to see that another one is gone."""
    stopped: set[int] = set()
    # Who is stopped starts no further process, so that this ends.
    while new := set(tree(root)) - stopped:
        for pid in new:
            _send(pid, signal.SIGSTOP)
        stopped |= new
    for pid in stopped:
        _send(pid, signal.SIGKILL)
    # Where the root has ended already, what is left of its group has another parent.
    with suppress(ProcessLookupError):
        os.killpg(root, signal.SIGKILL)
    for pid in stopped - {root}:
        # They become ours when their parent dies, if this process is a reaper.
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)


def _send(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _parent(folder: Path) -> int:
    try:
        return int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        # It ended meanwhile.
        return 0


def _held(pid: int) -> int:
    try:
        found = _PSS.search(Path(f"/proc/{pid}/smaps_rollup").read_text())
    except OSError:
        return 0
    return int(found.group(1)) * 1024 if found else 0


def machine_cpu() -> float:
    """CPU seconds spent by everything on this machine since it started."""
    user, nice, system, _idle, _wait, irq, soft, steal = map(
        int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    )
    return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")

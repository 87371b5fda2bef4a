"""Reads py-spy's raw output (`frame;frame;frame count`) and says where the time went.

C code is counted for the Python function that called it. A thread whose innermost Python function
waits (for a lock, an event, a connection) does no work and is left out: py-spy alone takes it for a
running one in some containers. py-spy's `--native` would tell better, but it crashes on our processes.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path

_PROCESS = re.compile(r'^process \d+:"?(.*?)"?$')
_PYTHON = re.compile(r"^(.*) \((.*?\.pyx?|<frozen .*?>|<string>)(?::\d+)?\)$")
_WAITING = re.compile(
    r"^(?:wait|_wait_for_tstate_lock|select|poll|get|accept|recv\w*|_worker) "
    r"\((?:.*/)?(?:threading|selectors|queue|socket|connection|thread)\.py"
)

Samples = list[tuple[list[str], int]]


def print_profile(file: Path, top: int = 15) -> None:
    """The functions with most time of their own, by process."""
    processes: dict[str, Samples] = defaultdict(list)
    for line in file.read_text().splitlines():
        stack, _, count = line.rpartition(" ")
        frames = stack.split(";")
        owner = max((i for i, frame in enumerate(frames) if _PROCESS.match(frame)), default=-1)
        working = _python_frames(frames[owner + 1 :])
        if working:
            processes[frames[owner] if owner >= 0 else "process"].append((working, int(count)))
    everything = sum(_count(samples) for samples in processes.values())
    print(f"\nWhere the time goes: {everything} samples of threads at work")
    for name, samples in sorted(processes.items(), key=lambda item: -_count(item[1])):
        if _count(samples) >= everything / 100:
            _print_process(name, samples, everything, top)


def _python_frames(frames: list[str]) -> list[str]:
    """The Python functions of a stack, outermost first; none for a thread that waits."""
    found = [m for m in map(_PYTHON.match, frames) if m]
    return [] if found and _WAITING.match(found[-1][0]) else [_short(m) for m in found]


def _short(match: re.Match[str]) -> str:
    return f"{match[1]} ({'/'.join(match[2].split('/')[-3:])})"


def _count(samples: Samples) -> int:
    return sum(count for _, count in samples)


def _print_process(name: str, samples: Samples, everything: int, top: int) -> None:
    total = _count(samples)
    alone: Counter[str] = Counter()
    within: Counter[str] = Counter()
    for frames, count in samples:
        alone[frames[-1]] += count
        within.update(dict.fromkeys(frames, count))
    print(f"\n{name[:90]}: {total} samples, {total / everything:.0%}\n{'self':>7}{'total':>7}")
    for function, count in alone.most_common(top):
        print(f"{count / total:7.1%}{within[function] / total:7.1%} {function}")

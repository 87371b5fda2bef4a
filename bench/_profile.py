"""Reads py-spy's raw output (`frame;frame;frame count`) and says where the time went."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path

_PROCESS = re.compile(r'^process (\d+):"?(.*?)"?$')


def print_profile(file: Path, top: int = 15) -> None:
    """The functions with most time of their own, by process."""
    samples: dict[str, list[tuple[list[str], int]]] = defaultdict(list)
    for line in file.read_text().splitlines():
        stack, _, count = line.rpartition(" ")
        frames = stack.split(";")
        owner = next((i for i, frame in reversed(list(enumerate(frames))) if _PROCESS.match(frame)), None)
        name = frames[owner] if owner is not None else "process"
        samples[name].append((frames[owner + 1 if owner is not None else 0 :], int(count)))
    everything = sum(count for stacks in samples.values() for _, count in stacks)
    print(f"\nWhere the time goes: {everything} samples of running threads")
    for name, stacks in sorted(samples.items(), key=lambda item: -sum(c for _, c in item[1])):
        _print_process(name, stacks, everything, top)


def _print_process(name: str, stacks: list[tuple[list[str], int]], everything: int, top: int) -> None:
    total = sum(count for _, count in stacks)
    if total < everything / 100:
        return
    alone: Counter[str] = Counter()
    within: Counter[str] = Counter()
    for frames, count in stacks:
        if frames:
            alone[_short(frames[-1])] += count
        for frame in {_short(frame) for frame in frames}:
            within[frame] += count
    print(f"\n{name[:100]}: {total} samples, {total / everything:.0%}\n{'self':>7}{'total':>7}")
    for function, count in alone.most_common(top):
        print(f"{count / total:7.1%}{within[function] / total:7.1%} {function}")


def _short(frame: str) -> str:
    """A frame without its line number and with the last folders of its file only."""
    match = re.match(r"(.*) \((.*?)(?::\d+)?\)$", frame)
    if not match:
        return frame
    return f"{match[1]} ({'/'.join(match[2].split('/')[-3:])})"

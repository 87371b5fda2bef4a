"""Which segments to merge.

A commit every half second makes 170,000 folders a day. All segments with the same number of decimal digits in their
size are merged, as soon as there are ten, so that

- a merged segment has at least one digit more than each of its parts, and a byte is copied at most once per digit:
  O(log n) times;
- at most nine segments of each size below `FULL` remain: 72 and the full ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

ENOUGH = 10
FULL = 10**8
"""Bytes from which a segment is left alone. A merged one then has 0.1 to 1 GB: few enough
files for a terabyte (some thousand), small enough to copy while a crawl runs."""


def plan(sizes: Mapping[str, int], full: int = FULL) -> list[list[str]]:
    """Which segments to merge, given the bytes of each in order of time.

    Each group is of one size class and at least ten long; a group ends when it is full.
    """
    classes: dict[int, list[str]] = {}
    for segment_id, size in sizes.items():
        if size < full:
            classes.setdefault(size_class(size), []).append(segment_id)
    return [group for _, members in sorted(classes.items()) for group in _cut(members, sizes, full)]


def size_class(size: int) -> int:
    """The number of decimal digits."""
    return len(str(size))


def _cut(members: Sequence[str], sizes: Mapping[str, int], full: int) -> Iterator[list[str]]:
    group: list[str] = []
    total = 0
    for segment_id in members:
        group.append(segment_id)
        total += sizes[segment_id]
        if len(group) >= ENOUGH and total >= full:
            yield group
            group, total = [], 0
    if len(group) >= ENOUGH:
        yield group

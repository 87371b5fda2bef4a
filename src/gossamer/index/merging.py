"""Which segments of the index to merge (S0.5), and the merging.

Every commit adds a segment. `plan` merges segments of like size, so that

- a document moves into a segment several times as large each time: it is rewritten
  O(log n) times. It needs no more than four merges to come from 1 to 65,536 documents, or three
  to 10,000, and one or two more to `LARGEST`: five in all, however many updates there are;
- at most fifteen segments of each small size and seven of each large one remain.

Small segments cost little each, so sixteen may gather; large ones are merged by eights. The
library merges what *it* finds alike — at least eight segments, all below 10,000 documents or the
smallest more than three fifths of the largest — so groups are cut by that rule, and given to it in
a folder of their own, where there is nothing else to merge.

A small segment keeps the size it was written with when its pages are replaced, else the pages that stay
would fall back among the smallest and be rewritten again and again. (With one page of five changing
all the time, counting only what is left rewrote the other four 29 times in 60,000 updates; so, 4 times.)
Pages that change all the time, and are too few to fill the next size, are rewritten some times more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import tantivy

from gossamer.errors import StorageError
from gossamer.index import commits, schema
from gossamer.index.commits import Segment

_SMALL_BITS = 4
_SMALL_FAN = 1 << _SMALL_BITS
_LARGE_FAN = 8
"""Segments that the library needs to see before it merges."""
_ALIKE = 2**0.75
_SMALL = 10_000
"""Documents up to which the library treats all segments as alike."""
LARGEST = 500_000
"""Documents from which a segment is left alone: few enough for five rewrites, many enough for segments to be few."""


def plan(sizes: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Groups of segments to merge, as positions, given the documents of each: written, and not deleted since."""
    small: dict[int, list[int]] = {}
    large: list[tuple[int, int]] = []
    for position, (written, alive) in enumerate(sizes):
        if written < _SMALL:
            small.setdefault((written.bit_length() - 1) // _SMALL_BITS, []).append(position)
        elif alive < LARGEST:
            large.append((max(alive, _SMALL), position))
    groups = [members for _, members in sorted(small.items()) if len(members) >= _SMALL_FAN]
    return groups + _large_groups(sorted(large, reverse=True))


def _large_groups(members: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Runs of alike segments, as the library forms them: from the largest down."""
    groups: list[list[int]] = []
    largest = math.inf
    for size, position in members:
        if size * _ALIKE < largest:
            largest = size
            groups.append([])
        groups[-1].append(position)
    return [group for group in groups if len(group) >= _LARGE_FAN]


def merge(scratch: Path) -> list[Segment]:
    """Merge the segments of a folder that holds one group of them; returns the result."""
    with commits.checking(scratch):
        writer = schema.prepare(tantivy.Index.open(str(scratch))).writer(15_000_000, 1)
        writer.commit()
        writer.wait_merging_threads()
    merged = list(commits.read(scratch).segments)
    if len(merged) > 1:  # the library does not say why
        raise StorageError(
            f"cannot merge segments of the index in {scratch.parent.parent}: there may be too little free space: "
            "free some and start again; nothing committed is lost"
        )
    return merged

"""Which segments of the index to merge (S0.5), and the merging.

Every commit adds a segment. `plan` merges segments of like size, so that

- a document moves into a segment several times as large each time: it is rewritten
  O(log n) times, at most five times in a year of an update a minute;
- at most `_SMALL_FAN` segments of each small size and seven of each large one remain.

Small segments cost little each, so sixteen may gather; large ones are merged by eights. The
library merges what *it* finds alike — at least eight segments, the smallest of
10,000 documents or more than three fifths of the largest — so groups are cut by that rule, and given to it in a
folder of their own, where there is nothing else to merge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import tantivy

from gossamer.index import commits, schema
from gossamer.index.commits import Segment

_SMALL_FAN = 16
_LARGE_FAN = 8
"""What the library wants to see before it merges."""
_ALIKE = 2**0.75
_SMALL = 10_000
"""Documents up to which the library takes all segments for alike."""
LARGEST = 5_000_000
"""Documents from which a segment is left alone; the library would leave it alone from 10 million on."""


def plan(sizes: Sequence[int]) -> list[list[int]]:
    """Groups of segments to merge, given the documents of each: positions in `sizes`."""
    small: dict[int, list[int]] = {}
    large: list[int] = []
    for position, size in enumerate(sizes):
        if size < _SMALL:
            small.setdefault(int(math.log(max(size, 1), _SMALL_FAN)), []).append(position)
        elif size < LARGEST:
            large.append(position)
    groups = [members for _, members in sorted(small.items()) if len(members) >= _SMALL_FAN]
    return groups + _large_groups(sorted(large, key=lambda position: -sizes[position]), sizes)


def _large_groups(members: Sequence[int], sizes: Sequence[int]) -> list[list[int]]:
    """Runs of alike segments, as the library draws them: from the largest down."""
    groups: list[list[int]] = []
    largest = math.inf
    for position in members:
        if sizes[position] * _ALIKE < largest:
            largest = sizes[position]
            groups.append([])
        groups[-1].append(position)
    return [group for group in groups if len(group) >= _LARGE_FAN]


def merge(scratch: Path) -> list[Segment]:
    """Merges the segments of a folder that holds one group of them; returns what became of them."""
    with commits.checking(scratch):
        writer = schema.prepare(tantivy.Index.open(str(scratch))).writer(15_000_000, 1)
        writer.commit()
        writer.wait_merging_threads()
    return list(commits.read(scratch).segments)

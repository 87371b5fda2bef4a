"""Makes plans: parts of equal size, of pieces as large as possible.

It starts as in the papers: key paths, largest first, each to the part with the fewest URLs. If that leaves a part too
large, the largest directory in it is opened: its own key directories become pieces, and the hash of URLs cuts the rest
of it. That repeats until the parts are even. So a site of many middle-sized directories is cut along them, and a site
with everything in one directory is cut all the same.

Directories say nothing about a site of which most is still unknown: a plan by what is known would be uneven at the end.
Such a site is cut by the hash of URLs alone, until it is known (decision 17).

A plan that has become uneven is repaired by moving pieces from the largest part to the smallest, as few URLs as needed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable
from typing import Literal

import msgspec

from gossamer.partition.assignment import ROOT, Assignment, bucket_of
from gossamer.partition.paths import key_paths
from gossamer.partition.sizes import Sizes

BUCKETS = 120
"""Pieces of the rest of an opened directory; 2, 3, 4, 5, 6, 8 and 10 parts can share them evenly."""
UNEVEN = 0.01
"""How much larger than its fair share a part may be in a new plan."""
LEAST_SHARE = 0.001
"""Share of a site's URLs that a directory needs to be a piece of its own: a plan has at most some thousand lines."""
LEAST_URLS = 20
"""URLs that it needs, too: smaller ones say nothing about what is still to be found in them."""
DEEPEST = 12
"""Levels of directories that are opened."""

SETTLED = 0.9
"""Share of the known URLs that must have been fetched before a site is cut by paths."""

Rule = Literal["paths", "urls"]
"""What a site is cut by."""
Unit = tuple[str, int]
"""A directory and its bucket."""


def rule_for(fetched: float) -> Rule:
    """What a site is to be cut by, given the share of its known URLs that were fetched."""
    return "paths" if fetched >= SETTLED else "urls"


def plan(sizes: Sizes, parts: int, rule: Rule = "paths") -> Assignment:
    """A plan with this many parts for a site of which these URLs are known."""
    return _by_paths(sizes, parts) if rule == "paths" else _by_urls(sizes, parts)


def _by_urls(sizes: Sizes, parts: int) -> Assignment:
    """All parts get as many buckets, so that URLs found later are shared; and as even as that allows."""
    counts = [0] * BUCKETS
    for path in sizes.inside(ROOT, ()):
        counts[bucket_of(path, BUCKETS)] += 1
    order = sorted(range(BUCKETS), key=lambda bucket: (-counts[bucket], bucket))
    loads, held = [0] * parts, [0] * BUCKETS
    for start in range(0, BUCKETS, parts):
        free = sorted(range(parts), key=lambda part: (loads[part], part))
        for part, bucket in zip(free, order[start : start + parts], strict=False):
            held[bucket] = part
            loads[part] += counts[bucket]
    return Assignment(parts, {ROOT: tuple(held)})


def _by_paths(sizes: Sizes, parts: int) -> Assignment:
    pieces = _Pieces(sizes)
    pieces.open(ROOT)
    while True:
        owners, loads = _deal_out(pieces.units, parts)
        busiest = max(range(parts), key=loads.__getitem__)
        if loads[busiest] <= (1 + UNEVEN) * len(sizes) / parts:
            break
        mine = [unit for unit, part in owners.items() if part == busiest]
        if not pieces.open_largest(mine):
            break
    return _assignment(owners, parts)


def rebalanced(before: Assignment, sizes: Sizes, uneven: float = UNEVEN) -> Assignment:
    """The plan with as few URLs moved as make its parts even again."""
    pieces = _Pieces(sizes, before)
    owners = {(name, bucket): part for name, parts in before.table.items() for bucket, part in enumerate(parts)}
    fair = len(sizes) / before.parts
    moved = False
    while True:
        loads = [0] * before.parts
        for unit, part in owners.items():
            loads[part] += pieces.units[unit]
        busiest = max(range(before.parts), key=loads.__getitem__)
        idlest = min(range(before.parts), key=loads.__getitem__)
        if loads[busiest] <= (1 + uneven) * fair:
            break
        mine = [unit for unit, part in owners.items() if part == busiest and pieces.units[unit]]
        # No more than one has too many, nor than the other has too few.
        room = min(loads[busiest] - fair, fair - loads[idlest])
        found = pieces.largest(mine, room)
        if found is None and pieces.open_largest(mine):
            owners |= {piece: busiest for piece in pieces.units if piece not in owners}
            continue
        found = found or min(mine, key=lambda unit: (pieces.units[unit], unit))
        if pieces.units[found] >= loads[busiest] - loads[idlest]:
            break
        owners[found], moved = idlest, True
    if not moved:
        return before
    _deal_out_empty(owners, pieces.units, before.parts)
    return _assignment(owners, before.parts)


class _Pieces:
    """The pieces of parts: directories as a whole, and buckets of opened ones, with their URLs."""

    def __init__(self, sizes: Sizes, plan: Assignment | None = None) -> None:
        self._sizes = sizes
        self._least = max(LEAST_URLS, LEAST_SHARE * len(sizes))
        self.units: dict[Unit, int] = {}
        for directory, parts in (plan.table if plan else {}).items():
            self._cut(directory, set(plan.table) if plan else set(), len(parts))

    def open(self, directory: str) -> None:
        """Replace a directory by its key directories and the buckets of the rest."""
        below = self._sizes.below(directory)
        inner = {name: count for name, count in below.items() if name.endswith("/")}
        # The files of a directory are one path among the others, as `host/` is among those of a site.
        counts = {**inner, "": below.total() - sum(inner.values())}
        apart = {name for name, _ in self.units if name != directory}
        for name in key_paths(counts):
            if name and counts[name] >= self._least and directory + name not in apart:
                self.units[directory + name, 0] = counts[name]
                apart.add(directory + name)
        self._cut(directory, apart, BUCKETS)

    def largest(self, units: Iterable[Unit], room: float) -> Unit | None:
        """The largest of these pieces that is not larger than this."""
        fitting = [unit for unit in units if self.units[unit] <= room]
        return max(fitting, key=lambda unit: (self.units[unit], unit), default=None)

    def open_largest(self, units: Iterable[Unit]) -> bool:
        """Open the largest whole directory among these that can be opened."""
        opened = {name for name, bucket in self.units if bucket > 0}
        for unit in sorted(units, key=lambda unit: (-self.units[unit], unit)):
            directory = unit[0]
            if directory not in opened and self.units[unit] > 1 and directory.count("/") <= DEEPEST:
                self.open(directory)
                return True
        return False

    def _cut(self, directory: str, apart: Container[str], buckets: int) -> None:
        """Count a directory's buckets without the sub-directories that are pieces of their own."""
        counts = [0] * buckets
        for path in self._sizes.inside(directory, apart):
            counts[bucket_of(path, buckets)] += 1
        self.units |= {(directory, bucket): count for bucket, count in enumerate(counts)}


def _deal_out(units: dict[Unit, int], parts: int) -> tuple[dict[Unit, int], list[int]]:
    """Each piece, largest first, to the part with the fewest URLs."""
    loads = [0] * parts
    owners = {}
    for unit in sorted(units, key=lambda unit: (-units[unit], unit)):
        part = min(range(parts), key=loads.__getitem__)
        loads[part] += units[unit]
        owners[unit] = part
    _deal_out_empty(owners, units, parts)
    return owners, loads


def _deal_out_empty(owners: dict[Unit, int], units: dict[Unit, int], parts: int) -> None:
    """Empty buckets go to the parts with the fewest of their directory: URLs found later are shared."""
    held: dict[str, list[int]] = defaultdict(lambda: [0] * parts)
    for unit, part in owners.items():
        held[unit[0]][part] += units[unit] > 0
    for unit in sorted(unit for unit in owners if not units[unit]):
        mine = held[unit[0]]
        owners[unit] = min(range(parts), key=mine.__getitem__)
        mine[owners[unit]] += 1


def _assignment(owners: dict[Unit, int], parts: int) -> Assignment:
    table: dict[str, list[int]] = defaultdict(list)
    for (directory, _), part in sorted(owners.items()):
        table[directory].append(part)
    return Assignment(parts, {directory: tuple(held) for directory, held in table.items()})


class Share(msgspec.Struct, frozen=True):
    """A part's share of one directory."""

    directory: str
    urls: int
    buckets: int
    """How many of its buckets; 0: the whole directory."""


def shares(assignment: Assignment, sizes: Sizes) -> list[list[Share]]:
    """The shares of each part, largest first."""
    pieces = _Pieces(sizes, assignment)
    urls: dict[tuple[int, str], int] = defaultdict(int)
    buckets: dict[tuple[int, str], int] = defaultdict(int)
    for (directory, bucket), count in pieces.units.items():
        held = assignment.table[directory]
        urls[held[bucket], directory] += count
        buckets[held[bucket], directory] += len(held) > 1
    found: list[list[Share]] = [[] for _ in range(assignment.parts)]
    for (part, directory), count in urls.items():
        found[part].append(Share(directory, count, buckets[part, directory]))
    return [sorted(part, key=lambda share: (-share.urls, share.directory)) for part in found]

"""When segments of an index are merged: three policies as pure functions, and a year of updates under each.

How often a document is rewritten depends on the policy and the sizes of the updates alone, so a year is counted in
seconds, without an index. Every merge is a node above the segments it took; a document was rewritten as often as there
are nodes between the segment it was written in and the one it was deleted from, or is in now.

- `one_segment`: every update is merged with all there is, as Nutch does by default;
- `levels`: new segments are merged at the end of each day; seven days make a week, four weeks a month, four months the
  first level, four segments of a level the next one (S0.5);
- `ours`: `index.merging.plan`, which goes by size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random

import msgspec
import numpy as np
import numpy.typing as npt

from gossamer.index.merging import plan

DAYS = 365
MOST_REWRITES = 5
"""Of a document in a year, by the seed."""
_WEEK = 7
_FOUR = 4


class Load(msgspec.Struct, frozen=True):
    """What comes to the index."""

    pages: int = 10
    """Of one update."""
    replaced: int = 2
    """Those of them that were there before."""
    a_day: int = 24
    """Updates."""
    most: int = 10**9
    """Pages that there are; when all are known, updates replace some of them only."""
    changing: float = 1.0
    """Share of the pages, the first ones, of which they do."""


class Held(msgspec.Struct):
    """A segment, as far as policies look at it."""

    written: int
    alive: int
    level: int = 0
    """How many merges made it, where the policy counts them."""
    node: int = 0


Policy = Callable[[Sequence[Held], bool], list[list[int]]]
"""Groups of segments to merge, as positions; it is told whether a day is over."""


def one_segment(segments: Sequence[Held], _day_over: bool) -> list[list[int]]:
    """All there is."""
    return [list(range(len(segments)))] if len(segments) > 1 else []


def levels(segments: Sequence[Held], day_over: bool) -> list[list[int]]:
    """The lowest level that is full."""
    members: dict[int, list[int]] = {}
    for position, segment in enumerate(segments):
        members.setdefault(segment.level, []).append(position)
    for level in sorted(members):
        full = day_over if level == 0 else len(members[level]) >= (_WEEK if level == 1 else _FOUR)
        if full:
            return [members[level]]
    return []


def ours(segments: Sequence[Held], _day_over: bool) -> list[list[int]]:
    """As the live index does."""
    return plan([(segment.written, segment.alive) for segment in segments])


POLICIES: dict[str, Policy] = {"one segment": one_segment, "levels": levels, "ours": ours}


class Course(msgspec.Struct, frozen=True):
    """What became of the documents of a run."""

    written: int
    """Documents, each version counted."""
    rewritten: int
    """Documents copied by merges."""
    worst: int
    """Rewrites of the document that was rewritten most."""
    often: int
    """Documents that were rewritten more than `MOST_REWRITES` times."""
    by_update: npt.NDArray[np.float64]
    """Mean rewrites of the documents of each update."""
    segments: npt.NDArray[np.int64]
    """After each update."""

    @property
    def mean(self) -> float:
        """Rewrites of a document."""
        return self.rewritten / self.written if self.written else 0.0


def numbers(load: Load, update: int, seed: int) -> list[int]:
    """The pages of an update: new ones, and some that were there before."""
    fresh = load.pages - load.replaced
    known = min(update * fresh, load.most)
    fresh = min(fresh, load.most - known)
    old = min(load.pages - fresh, max(1, int(load.changing * known)), known)
    again = Random(f"{seed} {update}").sample(range(max(1, int(load.changing * known))), old) if old else []
    return [*range(known, known + fresh), *again]


def simulate(policy: Policy, load: Load, updates: int, seed: int = 1) -> Course:
    """Let so many updates come, and count."""
    run = _Run(policy, load)
    segments = np.zeros(updates, np.int64)
    replaces = load.replaced or updates * load.pages > load.most
    for update in range(updates):
        run.add(numbers(load, update, seed) if replaces else None)
        run.merge((update + 1) % load.a_day == 0)
        segments[update] = len(run.held)
    return run.course(segments)


class _Run:
    """The segments at one moment, and the tree of merges behind them."""

    def __init__(self, policy: Policy, load: Load) -> None:
        self._policy, self._load = policy, load
        self.held: list[Held] = []
        self._parent: list[int] = []
        """Of each node, the merge that took it; itself where none did."""
        self._jump: list[int] = []
        """The same, made shorter by those who walked it."""
        self._at: dict[int, Held] = {}
        """Node → the segment it is now."""
        self._leaves: list[int] = []
        self._alive: list[int] = []
        """Of the documents of each update, how many are there still."""
        self._newest: list[int] = []
        """Page → the update that last wrote it."""
        self._deleted: list[tuple[int, int]] = []
        """Update and node at the end of a document that was replaced."""

    def add(self, pages: Sequence[int] | None) -> None:
        """A new segment; the old versions of its pages are deleted. None: all pages are new."""
        update, size = len(self._leaves), self._load.pages if pages is None else len(pages)
        for page in pages or ():
            if page < len(self._newest):
                self._delete(self._newest[page])
                self._newest[page] = update
            else:
                self._newest.append(update)
        self.held = [segment for segment in self.held if segment.alive]
        self._leaves.append(self._new(Held(size, size)))
        self._alive.append(size)

    def merge(self, day_over: bool) -> None:
        """As long as the policy finds something to merge."""
        while groups := self._policy(self.held, day_over):
            members = [self.held[position] for position in groups[0]]
            if len(members) == 1:  # it moves up as it is
                members[0].level += 1
                continue
            taken = set(groups[0])
            self.held = [segment for position, segment in enumerate(self.held) if position not in taken]
            alive = sum(segment.alive for segment in members)
            merged = self._new(Held(alive, alive, 1 + max(segment.level for segment in members)))
            for segment in members:
                self._parent[segment.node] = self._jump[segment.node] = merged
                del self._at[segment.node]

    def course(self, segments: npt.NDArray[np.int64]) -> Course:
        """What was counted."""
        depth = self._depths()
        ends = [(update, self._find(leaf), alive) for update, (leaf, alive) in enumerate(self._living())]
        ends += [(update, node, 1) for update, node in self._deleted]
        update, node, count = (np.array(column, np.int64) for column in zip(*ends, strict=True))
        leaves = np.array(self._leaves, np.int64)
        rewrites = depth[leaves[update]] - depth[node]
        written = np.bincount(update, count, len(leaves))
        return Course(
            written=int(count.sum()),
            rewritten=int((rewrites * count).sum()),
            worst=int(rewrites[count > 0].max()),
            often=int(count[rewrites > MOST_REWRITES].sum()),
            by_update=np.bincount(update, rewrites * count, len(leaves)) / written,
            segments=segments,
        )

    def _living(self) -> Iterator[tuple[int, int]]:
        yield from zip(self._leaves, self._alive, strict=True)

    def _new(self, segment: Held) -> int:
        segment.node = len(self._parent)
        self._parent.append(segment.node)
        self._jump.append(segment.node)
        self._at[segment.node] = segment
        self.held.append(segment)
        return segment.node

    def _delete(self, update: int) -> None:
        node = self._find(self._leaves[update])
        self._at[node].alive -= 1
        self._alive[update] -= 1
        self._deleted.append((update, node))

    def _find(self, node: int) -> int:
        jump = self._jump
        while jump[node] != node:
            jump[node] = jump[jump[node]]
            node = jump[node]
        return node

    def _depths(self) -> npt.NDArray[np.int64]:
        """Merges above each node; a merge has a higher number than what it took."""
        depth = [0] * len(self._parent)
        for node in range(len(depth) - 1, -1, -1):
            if self._parent[node] != node:
                depth[node] = depth[self._parent[node]] + 1
        return np.array(depth, np.int64)

"""What two sequences have in common, in order, within a fixed amount of work.

Elements that both sides have once are sure landmarks: the longest run of them in the same order parts the sequences
into gaps, which are treated alike until there are no landmarks; there the longest common stretch is looked for. Exact
algorithms take the square of the length for texts that share nothing: here every step is paid from a budget, and a gap
that cannot be paid for stays unmatched. So the answer is always right, and for very different texts not the longest.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

import msgspec

_STEP, _ELEMENT, _FOUND = 100, 16, 60
"""What a look at a gap costs, at each element in it, and to deal with each landmark and the gap before it."""


class Budget(msgspec.Struct):
    """Work that may still be done; a unit is one comparison, about a ten-millionth of a second."""

    left: int

    def pay(self, units: int) -> bool:
        """Whether the work can be done; it is paid for, if so."""
        if units > self.left:
            return False
        self.left -= units
        return True


class Match(NamedTuple):
    """`old[old_at : old_at + size]` equals `new[new_at : new_at + size]`."""

    old_at: int
    new_at: int
    size: int


class _Gap(NamedTuple):
    """Two ranges that are yet to be compared."""

    old_at: int
    old_end: int
    new_at: int
    new_end: int


def matches(old: Sequence[Hashable], new: Sequence[Hashable], budget: Budget) -> list[Match]:
    """Common stretches in order, neither touching both ends of the next one nor overlapping."""
    found: list[Match] = []
    todo = [_Gap(0, len(old), 0, len(new))]
    while todo:
        gap, ends = _trimmed(old, new, todo.pop())
        found += ends
        size = gap.old_end - gap.old_at + gap.new_end - gap.new_at
        if gap.old_at == gap.old_end or gap.new_at == gap.new_end or not budget.pay(_STEP + _ELEMENT * size):
            continue
        inside = _paid(_landmarks(old, new, gap), budget) or _longest(old, new, gap, budget)
        found += inside
        todo += _between(gap, inside)
    return list(_joined(sorted(found)))


def _paid(landmarks: list[Match], budget: Budget) -> list[Match]:
    """Those that can be paid for: the first of them."""
    most = budget.left // _FOUND
    budget.pay(_FOUND * min(len(landmarks), most))
    return landmarks[:most]


def _trimmed(old: Sequence[Hashable], new: Sequence[Hashable], gap: _Gap) -> tuple[_Gap, list[Match]]:
    """The gap without what is equal at its ends."""
    start, room = 0, min(gap.old_end - gap.old_at, gap.new_end - gap.new_at)
    while start < room and old[gap.old_at + start] == new[gap.new_at + start]:
        start += 1
    end = 0
    while end < room - start and old[gap.old_end - 1 - end] == new[gap.new_end - 1 - end]:
        end += 1
    left = _Gap(gap.old_at + start, gap.old_end - end, gap.new_at + start, gap.new_end - end)
    ends = [Match(gap.old_at, gap.new_at, start), Match(left.old_end, left.new_end, end)]
    return left, [match for match in ends if match.size]


def _landmarks(old: Sequence[Hashable], new: Sequence[Hashable], gap: _Gap) -> list[Match]:
    """Elements that both ranges have once: as many as stand in the same order on both sides."""
    here, there = _once(old, gap.old_at, gap.old_end), _once(new, gap.new_at, gap.new_end)
    pairs = [(at, there[element]) for element, at in here.items() if element in there]
    # The longest increasing subsequence: of each length, the one that ends earliest.
    ends: list[int] = []
    tails: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(tails[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        tails[length : length + 1] = [number]
    chosen: list[Match] = []
    number = tails[-1] if tails else -1
    while number >= 0:
        chosen.append(Match(*pairs[number], 1))
        number = before[number]
    return chosen[::-1]


def _once(elements: Sequence[Hashable], start: int, end: int) -> dict[Hashable, int]:
    """Element → place, of the elements that a range has once, in order."""
    counts = Counter(elements[start:end])
    return {elements[at]: at for at in range(start, end) if counts[elements[at]] == 1}


def _longest(old: Sequence[Hashable], new: Sequence[Hashable], gap: _Gap, budget: Budget) -> list[Match]:
    here, there = old[gap.old_at : gap.old_end], new[gap.new_at : gap.new_end]
    counts = Counter(there)
    pairs = sum(counts[element] for element in here)
    if not pairs or not budget.pay(pairs):
        return []
    at, place, size = SequenceMatcher(None, here, there, autojunk=False).find_longest_match()
    return [Match(gap.old_at + at, gap.new_at + place, size)]


def _between(gap: _Gap, inside: Sequence[Match]) -> Iterator[_Gap]:
    old_at, new_at = gap.old_at, gap.new_at
    for match in inside:
        yield _Gap(old_at, match.old_at, new_at, match.new_at)
        old_at, new_at = match.old_at + match.size, match.new_at + match.size
    if inside:
        yield _Gap(old_at, gap.old_end, new_at, gap.new_end)


def _joined(found: Sequence[Match]) -> Iterator[Match]:
    """Stretches that follow each other on both sides are one."""
    last: Match | None = None
    for match in found:
        if last and (last.old_at + last.size, last.new_at + last.size) == (match.old_at, match.new_at):
            last = Match(last.old_at, last.new_at, last.size + match.size)
            continue
        if last:
            yield last
        last = match
    if last:
        yield last

"""Which runs of a page are its stored main text.

The text was chosen when the page was parsed: by the model, by a document rule, by what its site shows. To choose again
would need all of that, and could choose otherwise. So the lines of the stored text are looked for in the page, and
Markdown and index always show the same text.

Most lines of a text stand on the page once: they are the anchors. Between two of them, lines that are rare
there are anchors again, and what is left is matched in order. This takes linear time on every page.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import accumulate

from gossamer.parse.markdown.layout import Layout

_ROUNDS = 8
"""How often the space between anchors is searched for more of them."""
_HALF = 0.5
_TELLING = 8
"""Letters of a line from which on it is looked for anywhere in a gap."""
_MOST_COMPARED = 20_000_000
"""Characters times lines of a gap in which parts of lines are looked for."""

Gap = tuple[int, int, int, int]
"""A range of the wanted lines, and the range of the page's in which they are."""


def found_in(layout: Layout, wanted: Sequence[str]) -> tuple[list[bool], float]:
    """For each run whether it is of the wanted text, given by the keys of its lines; the share of that text found."""
    there = [line for run in layout.runs for line in run.lines]
    covered = _covered(wanted, there)
    taken, at = [], 0
    for run in layout.runs:
        size, hits = sum(map(len, run.lines)), sum(covered[at : at + len(run.lines)])
        taken.append(size > 0 and hits >= size * _HALF)
        at += len(run.lines)
    return taken, sum(covered) / max(sum(map(len, wanted)), 1)


def _covered(wanted: Sequence[str], there: Sequence[str]) -> list[int]:
    """How many characters of each line there are of the wanted text."""
    covered = [0] * len(there)
    places = aligned(wanted, there)
    number = low = 0
    for end, place in [*((end, place) for end, place in enumerate(places) if place >= 0), (len(wanted), len(there))]:
        if number < end and low < place:
            _cover_pieces(wanted[number:end], there[low:place], covered, low)
        if place < len(there):
            covered[place] = len(there[place])
        number, low = end + 1, place + 1
    return covered


def _cover_pieces(wanted: Sequence[str], there: Sequence[str], covered: list[int], low: int) -> None:
    """Lines that a rule or another reading of the page joined or divided."""
    text, page = "".join(wanted), "".join(there)
    if len(text) * len(there) + len(page) * len(wanted) > _MOST_COMPARED:
        return
    at = 0
    for number, line in enumerate(there, low):
        place = text.find(line, at, at + len(line) if len(line) < _TELLING else len(text))
        if place >= 0:
            covered[number], at = len(line), place + len(line)
    ends = list(accumulate(map(len, there)))
    at = 0
    for line in wanted:
        place = page.find(line, at) if len(line) >= _TELLING else -1
        if place >= 0:
            number = bisect_right(ends, place)
            at = place + len(line)
            if at <= ends[number]:
                covered[low + number] = min(covered[low + number] + len(line), len(there[number]))


def aligned(wanted: Sequence[str], there: Sequence[str]) -> list[int]:
    """For each wanted line its place among those there, in order; -1 where it is not there."""
    places = [-1] * len(wanted)
    gaps: list[Gap] = [(0, len(wanted), 0, len(there))]
    for _ in range(_ROUNDS):
        smaller = [part for gap in gaps for part in _divided(wanted, there, gap, places)]
        if smaller == gaps:
            break
        gaps = smaller
    for gap in gaps:
        _match_in_order(wanted, there, gap, places)
    return places


def _divided(wanted: Sequence[str], there: Sequence[str], gap: Gap, places: list[int]) -> list[Gap]:
    """The gaps between the lines that stand once on both sides of a gap; notes their places."""
    start, end, low, high = gap
    once = {line for line, count in Counter(wanted[start:end]).items() if count == 1}
    counts = Counter(line for line in there[low:high] if line in once)
    at = {line: place for place, line in enumerate(there[low:high], low) if counts.get(line) == 1}
    pairs = [(number, at[wanted[number]]) for number in range(start, end) if wanted[number] in at]
    if not pairs:
        return [gap]
    parts: list[Gap] = []
    for number, place in _rising(pairs):
        places[number] = place
        parts.append((start, number, low, place))
        start, low = number + 1, place + 1
    parts.append((start, end, low, high))
    return [part for part in parts if part[0] < part[1] and part[2] < part[3]]


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of the pairs in which both numbers rise: the first ones do."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(tails, place)
        before.append(ends[length - 1] if length else -1)
        tails[length : length + 1] = [place]
        ends[length : length + 1] = [number]
    kept, number = [], ends[-1]
    while number >= 0:
        kept.append(pairs[number])
        number = before[number]
    return kept[::-1]


def _match_in_order(wanted: Sequence[str], there: Sequence[str], gap: Gap, places: list[int]) -> None:
    """Match what is left in a gap, nearest to the anchor: the text before the first anchor ends there."""
    start, end, low, high = gap
    stand: dict[str, list[int]] = defaultdict(list)
    names = set(wanted[start:end])
    for place in range(low, high):
        if there[place] in names:
            stand[there[place]].append(place)
    if start == 0 and end < len(wanted):
        for number in range(end - 1, start - 1, -1):
            before = stand[wanted[number]]
            if index := bisect_left(before, high):
                places[number] = high = before[index - 1]
        return
    for number in range(start, end):
        behind = stand[wanted[number]]
        index = bisect_left(behind, low)
        if index < len(behind):
            places[number] = behind[index]
            low = behind[index] + 1

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
from collections.abc import Iterable, Sequence
from itertools import accumulate, takewhile

from gossamer.parse.html import Element, Text, detach
from gossamer.parse.markdown.layout import Layout, Run, clean

_ROUNDS = 8
"""How often the space between anchors is searched for more of them."""
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
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


def complete(layout: Layout, taken: list[bool], tables: Iterable[int]) -> None:
    """Take what belongs to the text by its structure: all of a code block, whole rows of the data tables given by the
    numbers of their boxes, the headings above what is taken, and pictures and rules in between. A text holds
    each line once, and headings by chance."""
    headings = []
    for number, box in enumerate(layout.boxes):
        name = box.tag
        if name == "pre":
            _take_code(layout, taken, number)
        elif name in _HEADINGS:
            headings.append(number)
    for number in tables:
        _take_table(layout, taken, number)
        _complete_table(layout, taken, number)
    for number in reversed(headings):
        _take_heading(layout, taken, number)
    _take_between(layout, taken)


def _take(layout: Layout, taken: list[bool], box: int) -> None:
    start, end = layout.first[box], layout.end[box]
    taken[start:end] = [True] * (end - start)


def _take_code(layout: Layout, taken: list[bool], box: int) -> None:
    """Take a code block of which a part is taken, or which stands beside what is taken, in one box with it."""
    start, end = layout.first[box], layout.end[box]
    around = _box_around(layout, box)
    beside = taken[max(start - 1, layout.first[around]) : min(end + 1, layout.end[around])]
    if any(beside):
        _take(layout, taken, box)


def _take_table(layout: Layout, taken: list[bool], box: int) -> None:
    """Take a table of data between what is taken, in one box with it."""
    start, end = layout.first[box], layout.end[box]
    around = _box_around(layout, box)
    after = end == layout.end[around] or taken[end]
    if start > layout.first[around] and taken[start - 1] and after:
        _take(layout, taken, box)


def _box_around(layout: Layout, box: int) -> int:
    """The first box around another that holds more than it."""
    around = layout.parents[box]
    while around and layout.first[around] == layout.first[box] and layout.end[around] == layout.end[box]:
        around = layout.parents[around]
    return around


def _complete_table(layout: Layout, taken: list[bool], table: int) -> None:
    if not any(taken[layout.first[table] : layout.end[table]]):
        return
    rows = [box for box in range(table, layout.after[table]) if layout.boxes[box].tag == "tr"]
    full = [box for box in rows if any(taken[layout.first[box] : layout.end[box]])]
    for row in (*rows[:1], *(rows if 2 * len(full) >= len(rows) else full)):
        _take(layout, taken, row)


def _take_heading(layout: Layout, taken: list[bool], box: int) -> None:
    """Take a heading if what follows it is taken, stands in one box with it, and is no heading of the same level."""
    following = layout.end[box]
    if not layout.first[box] < following < layout.end[_box_around(layout, box)] or not taken[following]:
        return
    name = layout.boxes[layout.runs[following].holder].tag
    if name not in _HEADINGS or name > layout.boxes[box].tag:
        _take(layout, taken, box)


def _take_between(layout: Layout, taken: list[bool]) -> None:
    """Take runs without words between two that are taken; of several rules one is enough."""
    waiting: list[int] | None = None
    for number, run in enumerate(layout.runs):
        if run.lines:
            for place in (waiting or ()) if taken[number] else ():
                taken[place] = True
            waiting = [] if taken[number] else None
        elif waiting is not None and not (waiting and _is_rule(run) and _is_rule(layout.runs[waiting[-1]])):
            waiting.append(number)


def _is_rule(run: Run) -> bool:
    node = run.nodes[0]
    return isinstance(node, Element) and node.tag == "hr"


def prune(layout: Layout, taken: Sequence[bool]) -> None:
    """Take everything else out of the tree, and clean what stays. Empty cells stay: they are what makes rows."""
    sums = list(accumulate(taken, initial=0))
    box = 0
    while box < len(layout.boxes):
        element = layout.boxes[box]
        if sums[layout.end[box]] == sums[layout.first[box]] and element.tag not in ("td", "th", "body"):
            element.extract()
            box = layout.after[box]
        else:
            box += 1
    for run, is_taken in zip(layout.runs, taken, strict=True):
        if not is_taken:
            detach(run.nodes)
            continue
        for nodes in (run.nodes, reversed(run.nodes)):
            detach([node for node in takewhile(_is_blank, nodes) if type(node) is Element])
        for node in run.nodes:
            if type(node) is Text and not node.data.isascii():
                node.data = clean(node.data)


def _is_blank(node: Text | Element) -> bool:
    """Whether a node of a run is a line break, or white space."""
    return node.tag == "br" if isinstance(node, Element) else node.data.isspace()

"""What of a page its Markdown shows: the runs of its text, and what belongs to them by their structure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, takewhile

from gossamer.parse.html import Element, Text, detach
from gossamer.parse.markdown.layout import Layout, Run, clean, line_key

_ITEMS = ("li", "article", "figure")
_TELLING = 8
"""Letters from which on a heading within a title, or around it, is the same."""
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


def complete(layout: Layout, taken: list[bool], tables: Iterable[int], title: str) -> None:
    """Take what belongs to the text by its structure: all of a code block, whole rows of the data tables given by the
    numbers of their boxes, the headings and terms above what is taken, the heading that is the page's title, and
    pictures and rules in between. A text holds each line once, and headings by chance."""
    headings = []
    for number, box in enumerate(layout.boxes):
        name = box.tag
        if name == "pre":
            _take_code(layout, taken, number)
        elif name in _HEADINGS or name == "dt":
            headings.append(number)
    for number in tables:
        _take_table(layout, taken, number)
        _complete_table(layout, taken, number)
    for number in reversed(headings):
        _take_heading(layout, taken, number)
    _take_title(layout, taken, headings, line_key(title).lower())
    _take_between(layout, taken)
    _take_pictures(layout, taken)


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


def _take_title(layout: Layout, taken: list[bool], headings: Sequence[int], title: str) -> None:
    """Take the heading before the text that says the page's title: names and dates stand between the two. A first
    heading may say a little more or less."""
    first = next((number for number, is_taken in enumerate(taken) if is_taken), 0)
    for box in reversed(headings):
        start, end, name = layout.first[box], layout.end[box], layout.boxes[box].tag
        said = "".join(line for run in layout.runs[start:end] for line in run.lines).lower()
        is_like = name == "h1" and min(len(said), len(title)) >= _TELLING and (said in title or title in said)
        if name != "dt" and said and (said == title or is_like):
            if end <= first:
                _take(layout, taken, box)
            if any(taken[start:end]):
                return


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


def _take_pictures(layout: Layout, taken: list[bool]) -> None:
    """Take pictures beside what is taken, in one item of a list with it: the text between two items may be left out."""
    for number, run in enumerate(layout.runs):
        if not (run.lines or taken[number] or _is_rule(run)):
            item = _item_around(layout, run.holder)
            beside = [place for place in (number - 1, number + 1) if 0 <= place < len(taken) and taken[place]]
            taken[number] = item > 0 and any(layout.holds(item, place) for place in beside)


def _item_around(layout: Layout, box: int) -> int:
    """The innermost item around a box, or itself; 0 if there is none."""
    while box and layout.boxes[box].tag not in _ITEMS:
        box = layout.parents[box]
    return box


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

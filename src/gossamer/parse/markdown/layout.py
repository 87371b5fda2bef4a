"""A page as runs of inline content and the boxes around them: where its main text can be found again in its tree.

A run is what stands between two borders of block elements, as a block of the text model is (`parse/text/blocks.py`);
here each one knows its nodes. A picture or a rule (`<hr>`) that no text surrounds is a run without words. Runs are
numbered in document order, so a box holds a range of them.
"""

from __future__ import annotations

import re

import msgspec

from gossamer.parse.html import Element, Text
from gossamer.parse.text.tags import BLOCK, BREAK, KINDS, RULE

_LINE_BREAK = "\0"
"""Stands for `<br>`, and for the end of a line in `<pre>`: no text has a NUL."""
SIGNS = "\ufdd0\ufdd1\ufdd2\ufdd3\ufdd4"
"""Characters with a meaning while Markdown is made: Unicode reserves them for use inside of programs."""
_CLEAN = {0xA0: " ", 0xAD: None, 0x200B: None, 0xFEFF: None, **dict.fromkeys(map(ord, SIGNS))}
_NO_WORD = re.compile(r"\W+")


class Run(msgspec.Struct):
    """Inline content without a border inside."""

    holder: int
    """The innermost box around it."""
    nodes: list[Text | Element]
    """Its texts, line breaks, pictures, or its rule."""
    lines: list[str]
    """A key for each line of its text (`line_key`); none where it has no text."""


class Layout(msgspec.Struct):
    """Runs, and boxes as parallel lists; the body is box 0 and its own parent."""

    runs: list[Run]
    boxes: list[Element]
    parents: list[int]
    first: list[int]
    """The first run of each box."""
    end: list[int]
    """One past its last run."""
    after: list[int]
    """The number of the first box that follows and does not stand inside."""

    def holds(self, box: int, run: int) -> bool:
        """Whether a run stands in a box."""
        return self.first[box] <= run < self.end[box]


def line_key(line: str) -> str:
    """What two readings of one line have in common: its letters and digits, or all of it where it has none."""
    return _NO_WORD.sub("", line) or "".join(line.split())


def clean(text: str) -> str:
    """A text of the page without signs of ours, and without white space that is none or cannot be seen."""
    return text if text.isascii() else text.translate(_CLEAN)


def first_box(element: Element) -> Element | None:
    """The first block element inside another."""
    return next((part for part in element.descendants if type(part) is Element and KINDS[part.tag] == BLOCK), None)


def read_layout(body: Element) -> Layout:
    """The runs and boxes of a body."""
    layout = Layout([], [body], [0], [0], [0], [0])
    runs, boxes, parents, first, end, after = msgspec.structs.astuple(layout)
    nodes: list[Text | Element] = []
    parts: list[str] = []
    box = 0
    around: list[tuple[Element, int]] = []
    parent, kind = body, BLOCK

    def finish() -> None:
        if nodes:
            lines = _keys("".join(parts), boxes[box].tag == "pre")
            if lines or any(type(node) is Element and node.tag != "br" for node in nodes):
                runs.append(Run(box, nodes.copy(), lines))
            nodes.clear()
            parts.clear()

    for child in body.descendants:
        above = child.parent
        while above is not parent:
            if kind == BLOCK:
                finish()
                end[box], after[box] = len(runs), len(boxes)
                box = parents[box]
            parent, kind = around.pop()
        if type(child) is Text:
            nodes.append(child)
            parts.append(child.data)
        elif type(child) is Element:
            name = child.tag
            around.append((parent, kind))
            parent, kind = child, KINDS[name]
            if kind == BLOCK:
                finish()
                parents.append(box)
                box = len(boxes)
                boxes.append(child)
                first.append(len(runs))
                end.append(0)
                after.append(0)
            elif kind == BREAK:
                nodes.append(child)
                parts.append(_LINE_BREAK)
            elif kind == RULE:
                finish()
                runs.append(Run(box, [child], []))
            elif name == "img":
                nodes.append(child)
    finish()
    while box:
        end[box], after[box] = len(runs), len(boxes)
        box = parents[box]
    end[0], after[0] = len(runs), len(boxes)
    return layout


def _keys(text: str, keeps_lines: bool) -> list[str]:
    if keeps_lines:
        text = text.replace("\n", _LINE_BREAK)
    return [key for line in text.split(_LINE_BREAK) if (key := line_key(line))]

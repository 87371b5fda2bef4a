"""Takes down what a document says: lines of text, the same as simple HTML, headings and links.

A converter tells runs of text and where paragraphs, items, cells and notes end; the writer makes lists and tables of
them. Contents of cells, notes and text boxes come in the middle of something else, so each is a frame of its own on a
stack. Nothing is written beyond the limits of the settings: there `Full` ends the reading.

In the text, a row of a table is one line, with ` | ` between its cells, unless a cell holds several paragraphs.
"""

from __future__ import annotations

import re
from html import escape

import msgspec

from gossamer.model.records import Link
from gossamer.parse.clean import clean_line
from gossamer.parse.documents.limits import Full
from gossamer.parse.limits import ParseLimits
from gossamer.parse.links import ANCHOR_CHARS, MAX_REFERENCE

MAX_HEADINGS = 100
HEADING_CHARS = 200
_MOST_LEVELS = 8
"""Lists, or tables, inside each other."""
_PLAIN = ("", False, False)
_BETWEEN = " | "


class Properties(msgspec.Struct):
    """What a document says of itself."""

    title: str = ""
    author: str = ""
    description: str = ""
    language: str = ""
    published: str = ""
    """ISO 8601."""
    updated: str = ""
    is_dated: bool = False
    """Whether the date is that of publication, and not that of the file."""


class _Frame:
    """What is being written at one place: the body, a cell, a note, a box."""

    __slots__ = ("cells", "has_rows", "html", "in_table", "kind", "lines", "lists", "plain", "rich", "style")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.lines: list[str] = []
        self.html: list[str] = []
        self.lists: list[str] = []
        """The tags of the open lists, the outermost first; each has an open item."""
        self.plain: list[str] = []
        self.rich: list[str] = []
        self.style = _PLAIN
        self.cells: list[_Frame] | None = None
        """Of the row that is being written."""
        self.in_table = False
        self.has_rows = False


class Writer:
    """Takes down one document."""

    def __init__(self, limits: ParseLimits) -> None:
        self.limits = limits
        self.properties = Properties()
        self.headings: list[str] = []
        self.links: list[Link] = []
        self.title = ""
        """The text that the document sets as its title."""
        self.is_table = False
        """Whether its first line is the head of a table and no title."""
        self.charset = ""
        self._size = self._marks = self._tables = 0
        self._frames = [_Frame("body")]
        self._notes: list[_Frame] = []
        self._anchor: list[str] = []

    # --- inside a line --------------------------------------------------------------------------------

    def run(self, text: str, href: str = "", bold: bool = False, italic: bool = False) -> None:
        """Some characters of one kind."""
        room = self.limits.max_text_chars - self._size
        text, is_all = text[:room], len(text) <= room
        self._size += len(text)
        frame = self._frames[-1]
        style = (href if len(href) <= MAX_REFERENCE else "", bold, italic)
        if style != frame.style and not text.isspace():
            self._switch(frame, style)
        frame.plain.append(text)
        frame.rich.append(escape(text, quote=False))
        if frame.style[0]:
            self._anchor.append(text)
        if not is_all:
            raise Full

    def line_break(self) -> None:
        """A new line in the same paragraph."""
        frame = self._frames[-1]
        frame.plain.append("\n")
        frame.rich.append("<br>")
        self._mark()

    def _switch(self, frame: _Frame, style: tuple[str, bool, bool]) -> None:
        href, bold, italic = frame.style
        frame.rich.append("</i>" * italic + "</b>" * bold + ("</a>" if href else ""))
        if href and len(self.links) < self.limits.max_links:
            self.links.append(Link(href, clean_line("".join(self._anchor), ANCHOR_CHARS)))
        if href:
            self._anchor = []
        frame.style = style
        href, bold, italic = style
        link = f'<a href="{escape(href)}">' if href else ""
        frame.rich.append(link + "<b>" * bold + "<i>" * italic)
        self._mark()

    def _mark(self) -> None:
        self._marks += 1
        if self._marks > self.limits.max_tags:
            raise Full

    # --- lines ----------------------------------------------------------------------------------------

    def end_paragraph(self) -> None:
        """What was run since the last end is a paragraph, if it is anything."""
        self._end_line("p", None)

    def drop_paragraph(self) -> None:
        """It is left out."""
        frame = self._frames[-1]
        frame.style = _PLAIN
        frame.plain.clear()
        frame.rich.clear()
        self._anchor = []

    def take_start(self, pattern: re.Pattern[str]) -> str:
        """Take away what a paragraph begins with; the first group of the pattern, empty if it begins otherwise."""
        frame = self._frames[-1]
        found = pattern.match("".join(frame.plain[:5])[:50])
        if found is None:
            return ""
        for parts in (frame.plain, frame.rich):
            left = found.end()
            for place, part in enumerate(parts):
                if left and part[:1] != "<":
                    parts[place], left = part[left:], max(left - len(part), 0)
        return found[1]

    def end_heading(self, level: int, is_title: bool = False) -> None:
        """It is a heading; 1 is the highest level."""
        frame = self._frames[-1]
        line = clean_line("".join(frame.plain), HEADING_CHARS)
        if line and len(self.headings) < MAX_HEADINGS:
            self.headings.append(line)
        if line and is_title and not self.title:
            self.title = line
        self._end_line(f"h{min(max(level, 1), 6)}", None)

    def end_code(self) -> None:
        """It is lines of code, or of other text whose spaces count."""
        self._end_line("pre", None)

    def end_item(self, level: int, is_ordered: bool, is_first: bool = True) -> None:
        """It is an item of a list, 0 being the outermost level; `is_first`: not a further paragraph of one."""
        self._end_line("li" if is_first else "p", (min(max(level, 0), _MOST_LEVELS), "ol" if is_ordered else "ul"))

    def _end_line(self, tag: str, item: tuple[int, str] | None) -> None:
        frame = self._frames[-1]
        if frame.style != _PLAIN:
            self._switch(frame, _PLAIN)
        line, rich = "".join(frame.plain), "".join(frame.rich)
        frame.plain.clear()
        frame.rich.clear()
        if not line.strip():
            return
        if item is None:
            self._close_lists(frame, 0)
        elif tag == "li":
            self._open_item(frame, *item)
        frame.lines.append(line)
        if tag == "li":
            frame.html.append(rich)
        else:
            rich = rich.replace("<b>", "").replace("</b>", "") if tag[0] == "h" else rich
            frame.html.append(f"<{tag}>{rich}</{tag}>\n")
        self._mark()

    def _open_item(self, frame: _Frame, level: int, tag: str) -> None:
        lists = frame.lists
        self._close_lists(frame, level + 1)
        if len(lists) == level + 1 and lists[-1] != tag:
            self._close_lists(frame, level)
        if len(lists) == level + 1:
            frame.html.append("</li>\n<li>")
        while len(lists) < level + 1:
            lists.append(tag)
            frame.html.append(f"\n<{tag}>\n<li>")
            self._mark()

    @staticmethod
    def _close_lists(frame: _Frame, kept: int) -> None:
        while len(frame.lists) > kept:
            frame.html.append(f"</li>\n</{frame.lists.pop()}>\n")

    # --- tables ---------------------------------------------------------------------------------------

    def begin_table(self) -> None:
        """A table; within a few others it is a sequence of paragraphs."""
        frame = self._frames[-1]
        self.end_paragraph()
        self._close_lists(frame, 0)
        if not frame.in_table and self._tables < _MOST_LEVELS:
            frame.in_table, frame.has_rows = True, False
            self._tables += 1
            frame.html.append("<table>\n")

    def begin_row(self) -> None:
        """A row of it."""
        self._frames[-1].cells = []

    def begin_cell(self) -> None:
        """A cell of the row."""
        self._mark()
        self._frames.append(_Frame("cell"))

    def repeat_cell(self, count: int) -> None:
        """The last cell of the row stands so many times more."""
        cells = self._frames[-1].cells or []
        for _ in range(count if cells else 0):
            self._size += sum(map(len, cells[-1].lines))
            self._mark()
            cells.append(cells[-1])
        if self._size > self.limits.max_text_chars:
            raise Full

    def end_cell(self) -> None:
        """The end of the cell."""
        cell = self._pop()
        row = self._frames[-1]
        if row.cells is None:
            row.cells = []
        row.cells.append(cell)

    def end_row(self, is_head: bool = False) -> None:
        """The end of the row; nothing is written of a row without words."""
        frame = self._frames[-1]
        cells, frame.cells = frame.cells or [], None
        while cells and not cells[-1].lines:
            cells.pop()
        if not cells:
            return
        is_head = is_head or (self.is_table and not frame.has_rows and all(map(_is_name, cells)))
        frame.has_rows = True
        if all(len(cell.lines) <= 1 for cell in cells):
            frame.lines.append(_BETWEEN.join(" ".join(cell.lines[0].split()) for cell in cells if cell.lines))
        else:
            frame.lines += [line for cell in cells for line in cell.lines]
        if not frame.in_table:
            frame.html += [part for cell in cells for part in cell.html]
            return
        tag = "th" if is_head else "td"
        frame.html += ["<tr>", *(f"<{tag}>{''.join(cell.html)}</{tag}>" for cell in cells), "</tr>\n"]
        self._mark()

    def end_table(self) -> None:
        """The end of the table."""
        frame = self._frames[-1]
        if frame.in_table:
            frame.in_table = False
            self._tables -= 1
            frame.html.append("</table>\n")

    # --- what stands beside ---------------------------------------------------------------------------

    def begin_box(self) -> None:
        """A text box: what it holds comes before the paragraph it is anchored in."""
        self._frames.append(_Frame("box"))

    def end_box(self) -> None:
        """The end of the box."""
        box = self._pop()
        frame = self._frames[-1]
        if box.html:
            self._close_lists(frame, 0)
        frame.lines += box.lines
        frame.html += box.html

    def begin_note(self) -> None:
        """A note: it comes at the end of the document."""
        self._frames.append(_Frame("note"))

    def end_note(self) -> None:
        """The end of the note."""
        self._notes.append(self._pop())

    def add_page(self, html: str, lines: str) -> None:
        """A part that is HTML already, and its text."""
        self.end_paragraph()
        frame = self._frames[-1]
        self._close_lists(frame, 0)
        room = self.limits.max_text_chars - self._size
        self._size += len(lines)
        frame.lines.append(lines[:room])
        frame.html.append(html)
        if len(lines) > room:
            raise Full

    @property
    def room_for_marks(self) -> int:
        """Tags that a part may have."""
        return max(self.limits.max_tags - self._marks, 0)

    def count_marks(self, count: int) -> None:
        """So many tags were read of a part."""
        self._marks += count

    # --- the end --------------------------------------------------------------------------------------

    def finish(self) -> None:
        """End whatever is open: the document is over, or enough was read."""
        self.limits = msgspec.structs.replace(self.limits, max_tags=2**62)
        while len(self._frames) > 1:
            kind = self._frames[-1].kind
            if kind == "cell":
                self.end_cell()
                self.end_row()
            elif kind == "note":
                self.end_note()
            else:
                self.end_box()
        self._close(self._frames[0])

    def _pop(self) -> _Frame:
        self._close(self._frames[-1])
        return self._frames.pop()

    def _close(self, frame: _Frame) -> None:
        self.end_paragraph()
        if frame.cells:
            self.end_row()
        self.end_table()
        self._close_lists(frame, 0)

    @property
    def text(self) -> str:
        """All lines; notes at the end."""
        return "\n".join(line for frame in (*self._frames, *self._notes) for line in frame.lines)

    @property
    def html(self) -> str:
        """All parts; notes at the end."""
        return "".join(part for frame in (*self._frames, *self._notes) for part in frame.html)


def _is_name(cell: _Frame) -> bool:
    """Whether a cell may be the head of a column: words, and no number."""
    return len(cell.lines) == 1 and cell.lines[0].strip()[:1].isalpha()

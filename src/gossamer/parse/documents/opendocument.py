"""OpenDocument texts, presentations and spreadsheets (ODT, ODP, ODS): ISO/IEC 26300.

One vocabulary for all three: paragraphs, headings, lists, tables and notes. A sheet becomes a heading and a table; of a
slide the title becomes a heading, and the notes of the speaker follow. Not read: headers and footers, comments, deleted
text, indexes and tables of contents. A row that says it is repeated stands once.
"""

from __future__ import annotations

from collections.abc import Callable

from gossamer.model.records import ParseJob
from gossamer.parse.documents.archive import Archive
from gossamer.parse.documents.limits import Budget, Unreadable
from gossamer.parse.documents.properties import Fields, day
from gossamer.parse.documents.writer import Writer
from gossamer.parse.documents.xml_part import Attributes, XmlPart

_MOST_STYLES = 10_000
_MOST_SPACES = 100
_WIDEST = 200
"""Times that a cell stands in its row."""
_META = frozenset(("dc:title", "dc:creator", "meta:initial-creator", "dc:description", "dc:subject", "dc:language",
                   "meta:creation-date", "dc:date"))  # fmt: skip
_SKIPPED = frozenset(
    ("office:annotation", "text:tracked-changes", "text:table-of-content", "text:alphabetical-index",
     "text:illustration-index", "text:table-index", "text:ruby-text", "text:note-citation", "text:page-number",
     "presentation:footer", "presentation:date-time", "presentation:header", "text:index-title",
     "table:tracked-changes", "office:forms", "table:shapes", "office:scripts", "text:sequence-decls")
)  # fmt: skip
_FURNITURE = ("page-number", "date-time", "footer", "header", "handout")


def convert(job: ParseJob, writer: Writer, budget: Budget) -> None:
    """Take down an OpenDocument file."""
    archive = Archive(job.body, budget)
    is_encrypted = False

    def encrypted(attributes: Attributes) -> None:
        nonlocal is_encrypted
        is_encrypted = True

    archive.read_xml("META-INF/manifest.xml", XmlPart(budget, {"manifest:encryption-data": encrypted}))
    if is_encrypted:
        raise Unreadable("encrypted: it wants a password")
    _read_properties(archive, budget, writer)
    lists = _Lists(budget)
    archive.read_xml("styles.xml", lists.part)
    content = _Content(writer, lists, budget)
    archive.read_xml("content.xml", content.part, is_needed=True)


def _read_properties(archive: Archive, budget: Budget, writer: Writer) -> None:
    fields, properties = Fields(budget, _META), writer.properties
    archive.read_xml("meta.xml", fields.part)
    said = fields.found.get
    properties.title = said("dc:title", "")
    properties.author = said("meta:initial-creator", "") or said("dc:creator", "")
    properties.description = said("dc:description", "") or said("dc:subject", "")
    properties.language = said("dc:language", "")
    properties.published, properties.updated = day(said("meta:creation-date", "")), day(said("dc:date", ""))


class _Lists:
    """Which levels of which lists are numbered, and which styles of text are bold, italic, titles."""

    def __init__(self, budget: Budget) -> None:
        self.numbered: set[tuple[str, int]] = set()
        self.looks: dict[str, tuple[bool, bool]] = {}
        self.parents: dict[str, str] = {}
        self._list = self._style = ""
        self.starts: dict[str, Callable[[Attributes], None]] = {
            "text:list-style": self._begin_list,
            "text:list-level-style-number": self._number,
            "style:style": self._begin_style,
            "style:text-properties": self._look,
        }
        self.part = XmlPart(budget, self.starts)

    def _begin_list(self, attributes: Attributes) -> None:
        self._list = attributes.get("style:name", "")

    def _number(self, attributes: Attributes) -> None:
        # a level whose numbers have no format shows none
        shows = any(key.endswith(":num-format") and value for key, value in attributes.items())
        if shows and len(self.numbered) < _MOST_STYLES:
            self.numbered.add((self._list, _whole(attributes.get("text:level"), 1)))

    def _begin_style(self, attributes: Attributes) -> None:
        self._style = attributes.get("style:name", "")
        if len(self.parents) < _MOST_STYLES:
            self.parents[self._style] = attributes.get("style:parent-style-name", "")

    def _look(self, attributes: Attributes) -> None:
        said = {key.rpartition(":")[2]: value for key, value in attributes.items()}
        bold, italic = said.get("font-weight") == "bold", said.get("font-style") == "italic"
        if (bold or italic) and len(self.looks) < _MOST_STYLES:
            self.looks[self._style] = bold, italic

    def is_title(self, style: str) -> bool:
        """Whether a paragraph of this style is the title of the document."""
        return "Title" in (style, self.parents.get(style))


class _Content:
    """Reads the body."""

    def __init__(self, writer: Writer, lists: _Lists, budget: Budget) -> None:
        self._writer, self._lists = writer, lists
        self._links: list[str] = []
        self._looks: list[tuple[bool, bool]] = []
        self._styles: list[str] = []
        """Of each open list."""
        self._is_first: list[bool] = []
        """Of each open item whether nothing of it was written."""
        self._depths: list[int] = []
        """Paragraphs that are open, outside of notes and boxes."""
        self._open = 0
        self._level = 1
        self._style = ""
        self._class = ""
        self._classes: list[str] = []
        self._is_head = 0
        self._is_first_row = False
        self._notes = 0
        self._rows = 0
        self._repeated: list[int] = []
        self._kept: list[tuple[list[str], list[bool], list[tuple[bool, bool]], list[str], str]] = []
        starts: dict[str, Callable[[Attributes], None]] = {
            **lists.starts,
            "text:h": self._begin_heading,
            "text:p": self._begin_paragraph,
            "text:s": self._spaces,
            "text:tab": self._tab,
            "text:line-break": self._break,
            "text:span": self._begin_span,
            "text:a": self._begin_link,
            "text:list": self._begin_list,
            "text:list-item": self._begin_item,
            "text:list-header": self._begin_item,
            "text:note-body": self._begin_note,
            "draw:text-box": self._begin_box,
            "draw:frame": self._begin_frame,
            "draw:page": self._begin_page,
            "office:spreadsheet": self._begin_sheets,
            "presentation:notes": self._begin_speaker,
            "table:table": self._begin_table,
            "table:table-header-rows": self._begin_head,
            "table:table-row": self._begin_row,
            "table:table-cell": self._begin_cell,
            "table:covered-table-cell": self._begin_cell,
        }
        ends: dict[str, Callable[[], None]] = {
            "text:h": self._end_heading,
            "text:p": self._end_paragraph,
            "text:span": self._end_span,
            "text:a": self._end_link,
            "text:list": self._end_list,
            "text:list-item": self._end_item,
            "text:list-header": self._end_item,
            "text:note-body": self._end_note,
            "draw:text-box": self._end_box,
            "draw:frame": self._end_frame,
            "presentation:notes": self._end_speaker,
            "table:table": self._end_table,
            "table:table-header-rows": self._end_head,
            "table:table-row": self._end_row,
            "table:table-cell": self._end_cell,
            "table:covered-table-cell": self._end_cell,
        }
        self.part = XmlPart(budget, starts, ends, self._take, _SKIPPED)

    # --- text -----------------------------------------------------------------------------------------

    def _take(self, text: str) -> None:
        if self._open and self._class not in _FURNITURE:
            bold, italic = self._looks[-1] if self._looks else (False, False)
            if "\n" in text:
                text = text.replace("\n", " ")
            self._writer.run(text, self._links[-1] if self._links else "", bold, italic)

    def _spaces(self, attributes: Attributes) -> None:
        self._take(" " * min(_whole(attributes.get("text:c"), 1), _MOST_SPACES))

    def _tab(self, attributes: Attributes) -> None:
        self._take("\t")

    def _break(self, attributes: Attributes) -> None:
        if self._open:
            self._writer.line_break()

    def _begin_span(self, attributes: Attributes) -> None:
        bold, italic = self._lists.looks.get(attributes.get("text:style-name", ""), (False, False))
        around = self._looks[-1] if self._looks else (False, False)
        self._looks.append((bold or around[0], italic or around[1]))

    def _end_span(self) -> None:
        self._looks.pop()

    def _begin_link(self, attributes: Attributes) -> None:
        # what is beside the document is one folder up, seen from inside of its archive
        self._links.append(attributes.get("xlink:href", "").removeprefix("../"))

    def _end_link(self) -> None:
        self._links.pop()

    # --- paragraphs -----------------------------------------------------------------------------------

    def _begin_heading(self, attributes: Attributes) -> None:
        self._open += 1
        self._level = _whole(attributes.get("text:outline-level"), 1)

    def _end_heading(self) -> None:
        self._open -= 1
        self._writer.end_heading(self._level)

    def _begin_paragraph(self, attributes: Attributes) -> None:
        self._open += 1
        self._style = attributes.get("text:style-name", "")

    def _end_paragraph(self) -> None:
        self._open -= 1
        writer = self._writer
        if self._class == "title" or self._lists.is_title(self._style):
            writer.end_heading(1, is_title=True)
        elif self._styles and self._is_first and self._class != "subtitle":
            level = len(self._styles)
            is_numbered = (self._styles[-1], level) in self._lists.numbered
            writer.end_item(level - 1, is_numbered, self._is_first[-1])
            self._is_first[-1] = False
        else:
            writer.end_paragraph()
        self._style = ""

    # --- lists ----------------------------------------------------------------------------------------

    def _begin_list(self, attributes: Attributes) -> None:
        around = self._styles[-1] if self._styles else ""
        self._styles.append(attributes.get("text:style-name", around))

    def _end_list(self) -> None:
        self._styles.pop()

    def _begin_item(self, attributes: Attributes) -> None:
        self._is_first.append(True)

    def _end_item(self) -> None:
        self._is_first.pop()

    # --- notes and boxes ------------------------------------------------------------------------------

    def _begin_note(self, attributes: Attributes) -> None:
        self._notes += 1
        self._writer.run(f"[{self._notes}]")
        self._put_aside()
        self._writer.begin_note()
        self._writer.run(f"[{self._notes}] ")

    def _end_note(self) -> None:
        self._writer.end_note()
        self._take_up()

    def _begin_box(self, attributes: Attributes) -> None:
        self._put_aside()
        self._writer.begin_box()

    def _end_box(self) -> None:
        self._writer.end_box()
        self._take_up()

    def _put_aside(self) -> None:
        """What follows stands inside of a paragraph, but is none of it."""
        self._depths.append(self._open)
        self._kept.append((self._styles, self._is_first, self._looks, self._links, self._style))
        self._open, self._styles, self._is_first, self._looks, self._links = 0, [], [], [], []

    def _take_up(self) -> None:
        self._open = self._depths.pop()
        self._styles, self._is_first, self._looks, self._links, self._style = self._kept.pop()

    def _begin_frame(self, attributes: Attributes) -> None:
        self._classes.append(self._class)
        self._class = attributes.get("presentation:class", self._class)

    def _end_frame(self) -> None:
        self._class = self._classes.pop()

    # --- slides and sheets ----------------------------------------------------------------------------

    def _begin_page(self, attributes: Attributes) -> None:
        self._class = ""

    def _begin_sheets(self, attributes: Attributes) -> None:
        self._writer.is_table = True

    def _begin_speaker(self, attributes: Attributes) -> None:
        self._classes.append(self._class)
        self._class = "notes"

    def _end_speaker(self) -> None:
        self._class = self._classes.pop()

    # --- tables ---------------------------------------------------------------------------------------

    def _begin_table(self, attributes: Attributes) -> None:
        writer = self._writer
        if writer.is_table and not self._depths and not self._rows:
            writer.run(attributes.get("table:name", ""))
            writer.end_heading(1)
        self._is_first_row = attributes.get("table:use-first-row-styles") == "true"
        writer.begin_table()

    def _end_table(self) -> None:
        self._writer.end_table()

    def _begin_head(self, attributes: Attributes) -> None:
        self._is_head += 1

    def _end_head(self) -> None:
        self._is_head -= 1

    def _begin_row(self, attributes: Attributes) -> None:
        self._rows += 1
        self._writer.begin_row()

    def _end_row(self) -> None:
        self._rows -= 1
        self._writer.end_row(self._is_head > 0 or self._is_first_row)
        self._is_first_row = False

    def _begin_cell(self, attributes: Attributes) -> None:
        self._repeated.append(_whole(attributes.get("table:number-columns-repeated"), 1))
        self._put_aside()
        self._writer.begin_cell()

    def _end_cell(self) -> None:
        self._writer.end_cell()
        self._writer.repeat_cell(min(self._repeated.pop(), _WIDEST) - 1)
        self._take_up()


def _whole(value: str | None, usual: int) -> int:
    return int(value) if value and value.isdecimal() and len(value) < 10 else usual

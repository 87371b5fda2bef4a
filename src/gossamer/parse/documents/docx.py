"""Word documents (DOCX): WordprocessingML, ISO/IEC 29500.

What is read of a document: its body in order, text boxes where they are anchored, footnotes and endnotes at the end.
Not read: headers and footers, comments, deleted and hidden text, tables of contents, pictures.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gossamer.model.records import ParseJob
from gossamer.parse.documents.archive import Archive, part_of_type, relationships
from gossamer.parse.documents.docx_styles import Styles, read_styles
from gossamer.parse.documents.limits import Budget
from gossamer.parse.documents.properties import read_core_properties
from gossamer.parse.documents.writer import Writer
from gossamer.parse.documents.xml_part import Attributes, XmlPart

_SKIPPED = frozenset(("mc:Fallback", "w:del", "w:moveFrom", "w:rPrChange", "w:pPrChange"))
_FIELD = re.compile(r'\s*HYPERLINK\s+(?:\\[a-km-z]\s+)*"([^"]{1,4096})"', re.I)
_NO = ("0", "false", "off")


def convert(job: ParseJob, writer: Writer, budget: Budget) -> None:
    """Take down a Word document."""
    archive = Archive(job.body, budget)
    read_core_properties(archive, budget, writer.properties)
    main = part_of_type(relationships(archive, budget, ""), "officeDocument", "word/document.xml")
    around = relationships(archive, budget, main)
    styles = read_styles(archive, budget, part_of_type(around, "styles"), part_of_type(around, "numbering"))
    body = _Body(archive, budget, writer, styles)
    body.read(main, is_needed=True)
    for kind in ("footnotes", "endnotes"):
        if name := part_of_type(around, kind):
            body.read(name)


class _Paragraph:
    """What is known of the paragraph that is being read."""

    __slots__ = ("level", "list", "outline", "style")

    def __init__(self) -> None:
        self.style = ""
        self.list: str | None = None
        """The list it names; `0`: it is in none, whatever its style says."""
        self.level = 0
        self.outline: int | None = None


class _Body:
    """Reads a part that holds paragraphs."""

    def __init__(self, archive: Archive, budget: Budget, writer: Writer, styles: Styles) -> None:
        self._archive, self._budget, self._writer, self._styles = archive, budget, writer, styles
        self._targets: dict[str, tuple[str, str]] = {}
        self._paragraphs = [_Paragraph()]
        self._in_text = False
        self._bold = self._italic = self._hidden = False
        self._links: list[str] = []
        self._fields: list[list[str]] = []
        """Of each open field its instruction; it is closed by being emptied of all but its target."""
        self._instruction: list[str] | None = None
        self._notes = 0
        self._note_number = 0
        self._rows: list[bool] = []
        self._starts: dict[str, Callable[[Attributes], None]] = {
            "w:p": self._begin_paragraph,
            "w:pStyle": self._style,
            "w:outlineLvl": self._outline,
            "w:ilvl": self._level,
            "w:numId": self._list,
            "w:r": self._begin_run,
            "w:b": self._make_bold,
            "w:i": self._make_italic,
            "w:vanish": self._hide,
            "w:t": self._begin_text,
            "m:t": self._begin_text,
            "w:tab": self._tab,
            "w:br": self._break,
            "w:cr": self._break,
            "w:noBreakHyphen": self._hyphen,
            "w:hyperlink": self._begin_link,
            "w:fldSimple": self._begin_simple_field,
            "w:fldChar": self._field,
            "w:instrText": self._begin_instruction,
            "w:footnoteReference": self._refer,
            "w:endnoteReference": self._refer,
            "w:footnote": self._begin_note,
            "w:endnote": self._begin_note,
            "w:tbl": self._begin_table,
            "w:tr": self._begin_row,
            "w:tblHeader": self._head_row,
            "w:tc": self._begin_cell,
            "w:txbxContent": self._begin_box,
        }
        self._ends: dict[str, Callable[[], None]] = {
            "w:p": self._end_paragraph,
            "w:t": self._end_text,
            "m:t": self._end_text,
            "w:instrText": self._end_instruction,
            "w:hyperlink": self._end_link,
            "w:fldSimple": self._end_link,
            "w:footnote": self._end_note,
            "w:endnote": self._end_note,
            "w:tbl": self._end_table,
            "w:tr": self._end_row,
            "w:tc": self._end_cell,
            "w:txbxContent": self._end_box,
        }

    def read(self, name: str, is_needed: bool = False) -> None:
        """One part."""
        self._targets = relationships(self._archive, self._budget, name)
        self._note_number = 0
        part = XmlPart(self._budget, self._starts, self._ends, self._take, _SKIPPED)
        self._archive.read_xml(name, part, is_needed)

    # --- text -----------------------------------------------------------------------------------------

    def _take(self, text: str) -> None:
        if self._instruction is not None:
            if len(self._instruction) < 100:
                self._instruction.append(text)
        elif self._in_text and not self._hidden:
            href = self._links[-1] if self._links else ""
            self._writer.run(text, href, self._bold, self._italic)

    def _begin_text(self, attributes: Attributes) -> None:
        self._in_text = True

    def _end_text(self) -> None:
        self._in_text = False

    def _begin_run(self, attributes: Attributes) -> None:
        self._bold = self._italic = self._hidden = False

    def _make_bold(self, attributes: Attributes) -> None:
        self._bold = attributes.get("w:val", "1") not in _NO

    def _make_italic(self, attributes: Attributes) -> None:
        self._italic = attributes.get("w:val", "1") not in _NO

    def _hide(self, attributes: Attributes) -> None:
        self._hidden = attributes.get("w:val", "1") not in _NO

    def _tab(self, attributes: Attributes) -> None:
        if "w:pos" not in attributes:  # that is a tabulator of a paragraph's properties
            self._writer.run("\t")

    def _break(self, attributes: Attributes) -> None:
        self._writer.line_break()

    def _hyphen(self, attributes: Attributes) -> None:
        self._writer.run("-")

    # --- paragraphs -----------------------------------------------------------------------------------

    def _begin_paragraph(self, attributes: Attributes) -> None:
        self._paragraphs[-1] = _Paragraph()
        self._bold = self._italic = self._hidden = False

    def _style(self, attributes: Attributes) -> None:
        self._paragraphs[-1].style = attributes.get("w:val", "")

    def _outline(self, attributes: Attributes) -> None:
        self._paragraphs[-1].outline = _number(attributes)

    def _level(self, attributes: Attributes) -> None:
        self._paragraphs[-1].level = _number(attributes) or 0

    def _list(self, attributes: Attributes) -> None:
        self._paragraphs[-1].list = attributes.get("w:val", "")

    def _end_paragraph(self) -> None:
        one, writer = self._paragraphs[-1], self._writer
        style = self._styles.of(one.style)
        outline = style.outline if one.outline is None else one.outline
        number = style.list if one.list is None else one.list
        form = self._styles.form(number, one.level if one.list is not None else style.level)
        if style.is_contents:
            writer.drop_paragraph()
        elif style.is_title or (outline is not None and outline < 6):
            writer.end_heading((outline or 0) + 1, is_title=style.is_title)
        elif form:
            writer.end_item(one.level if one.list is not None else style.level, form != "bullet")
        else:
            writer.end_paragraph()
        self._paragraphs[-1] = _Paragraph()

    # --- links ----------------------------------------------------------------------------------------

    def _begin_link(self, attributes: Attributes) -> None:
        self._links.append(self._targets.get(attributes.get("r:id", ""), ("", ""))[1])

    def _begin_simple_field(self, attributes: Attributes) -> None:
        self._links.append(_target(attributes.get("w:instr", "")))

    def _end_link(self) -> None:
        if self._links:
            self._links.pop()

    def _field(self, attributes: Attributes) -> None:
        kind = attributes.get("w:fldCharType")
        if kind == "begin":
            self._fields.append([])
        elif kind == "separate" and self._fields:
            self._links.append(_target("".join(self._fields[-1])))
            self._fields[-1] = ["shown"]
        elif kind == "end" and self._fields and self._fields.pop() == ["shown"]:
            self._end_link()

    def _begin_instruction(self, attributes: Attributes) -> None:
        self._instruction = self._fields[-1] if self._fields else []

    def _end_instruction(self) -> None:
        self._instruction = None

    # --- notes ----------------------------------------------------------------------------------------

    def _refer(self, attributes: Attributes) -> None:
        self._notes += 1
        self._writer.run(f"[{self._notes}]")

    def _begin_note(self, attributes: Attributes) -> None:
        self._writer.begin_note()
        if attributes.get("w:type", "normal") == "normal":  # the others are lines that separate
            self._note_number += 1
            self._writer.run(f"[{self._note_number}] ")

    def _end_note(self) -> None:
        self._writer.end_note()

    # --- tables and boxes -----------------------------------------------------------------------------

    def _begin_table(self, attributes: Attributes) -> None:
        self._writer.begin_table()

    def _end_table(self) -> None:
        self._writer.end_table()

    def _begin_row(self, attributes: Attributes) -> None:
        self._rows.append(False)
        self._writer.begin_row()

    def _head_row(self, attributes: Attributes) -> None:
        if self._rows:
            self._rows[-1] = attributes.get("w:val", "1") not in _NO

    def _end_row(self) -> None:
        self._writer.end_row(self._rows.pop())

    def _begin_cell(self, attributes: Attributes) -> None:
        self._paragraphs.append(_Paragraph())
        self._writer.begin_cell()

    def _end_cell(self) -> None:
        self._paragraphs.pop()
        self._writer.end_cell()

    def _begin_box(self, attributes: Attributes) -> None:
        self._paragraphs.append(_Paragraph())
        self._writer.begin_box()

    def _end_box(self) -> None:
        self._paragraphs.pop()
        self._writer.end_box()


def _number(attributes: Attributes) -> int | None:
    value = attributes.get("w:val", "")
    return int(value) if value.isdecimal() and len(value) < 3 else None


def _target(instruction: str) -> str:
    """Where a field leads; empty if it is no link."""
    found = _FIELD.match(instruction)
    return found[1] if found else ""

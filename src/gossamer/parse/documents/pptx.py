"""PowerPoint presentations (PPTX): PresentationML, ISO/IEC 29500.

Slides come in the order of the presentation: the title as a heading, texts as paragraphs and lists, tables, and then
the notes of the speaker. Numbers of slides, dates and footers are left out.
"""

from __future__ import annotations

from collections.abc import Callable

from gossamer.model.records import ParseJob
from gossamer.parse.documents.archive import Archive, part_of_type, relationships
from gossamer.parse.documents.limits import Budget
from gossamer.parse.documents.properties import read_core_properties
from gossamer.parse.documents.writer import Writer
from gossamer.parse.documents.xml_part import Attributes, XmlPart

_MOST_SLIDES = 5_000
_TITLES = ("title", "ctrTitle")
_FURNITURE = ("sldNum", "dt", "ftr", "hdr", "sldImg")
_YES = ("1", "true")
_SKIPPED = frozenset(("mc:Fallback",))


def convert(job: ParseJob, writer: Writer, budget: Budget) -> None:
    """Take down a presentation."""
    archive = Archive(job.body, budget)
    read_core_properties(archive, budget, writer.properties)
    main = part_of_type(relationships(archive, budget, ""), "officeDocument", "ppt/presentation.xml")
    around = relationships(archive, budget, main)
    places: list[str] = []

    def slide(attributes: Attributes) -> None:
        if len(places) < _MOST_SLIDES:
            places.append(attributes.get("r:id", ""))

    archive.read_xml(main, XmlPart(budget, {"p:sldId": slide}), is_needed=True)
    for part in (around[place][1] for place in places if place in around):
        targets = relationships(archive, budget, part)
        _Slide(writer, targets).read(archive, budget, part)
        if notes := part_of_type(targets, "notesSlide"):
            _Slide(writer, relationships(archive, budget, notes), is_notes=True).read(archive, budget, notes)


class _Slide:
    """Reads one slide, or the notes of one."""

    def __init__(self, writer: Writer, targets: dict[str, tuple[str, str]], is_notes: bool = False) -> None:
        self._writer, self._targets, self._is_notes = writer, targets, is_notes
        self._place: str | None = None
        """The placeholder that a shape fills; None: it is a box of text."""
        self._level, self._bullet = 0, ""
        self._href, self._bold, self._italic, self._in_text = "", False, False, False
        self._is_hidden = self._in_cell = self._is_head = False
        self._starts: dict[str, Callable[[Attributes], None]] = {
            "p:sld": self._begin_slide,
            "p:sp": self._begin_shape,
            "p:ph": self._placeholder,
            "a:pPr": self._paragraph,
            "a:buNone": self._no_bullet,
            "a:buChar": self._bulleted,
            "a:buAutoNum": self._numbered,
            "a:r": self._begin_run,
            "a:rPr": self._run,
            "a:hlinkClick": self._link,
            "a:t": self._begin_text,
            "m:t": self._begin_text,
            "a:br": self._break,
            "a:tbl": self._begin_table,
            "a:tblPr": self._table,
            "a:tr": self._begin_row,
            "a:tc": self._begin_cell,
        }
        self._ends: dict[str, Callable[[], None]] = {
            "p:sp": self._end_shape,
            "a:r": self._end_run,
            "a:fld": self._end_run,
            "a:t": self._end_text,
            "m:t": self._end_text,
            "a:p": self._end_paragraph,
            "a:tbl": self._end_table,
            "a:tr": self._end_row,
            "a:tc": self._end_cell,
        }

    def read(self, archive: Archive, budget: Budget, part: str) -> None:
        """One part."""
        archive.read_xml(part, XmlPart(budget, self._starts, self._ends, self._take, _SKIPPED))

    def _begin_slide(self, attributes: Attributes) -> None:
        self._is_hidden = attributes.get("show", "1") not in _YES

    def _begin_shape(self, attributes: Attributes) -> None:
        self._place = None

    def _end_shape(self) -> None:
        self._place = None

    def _placeholder(self, attributes: Attributes) -> None:
        self._place = attributes.get("type", "")

    # --- text -----------------------------------------------------------------------------------------

    def _take(self, text: str) -> None:
        if self._in_text and not self._is_hidden and self._place not in _FURNITURE:
            self._writer.run(text, self._href, self._bold, self._italic)

    def _begin_text(self, attributes: Attributes) -> None:
        self._in_text = True

    def _end_text(self) -> None:
        self._in_text = False

    def _begin_run(self, attributes: Attributes) -> None:
        self._href, self._bold, self._italic = "", False, False

    def _run(self, attributes: Attributes) -> None:
        self._bold, self._italic = attributes.get("b") in _YES, attributes.get("i") in _YES

    def _link(self, attributes: Attributes) -> None:
        kind, target = self._targets.get(attributes.get("r:id", ""), ("", ""))
        self._href = target if kind == "hyperlink" else ""

    def _end_run(self) -> None:
        self._href, self._bold, self._italic = "", False, False

    def _break(self, attributes: Attributes) -> None:
        self._writer.line_break()

    # --- paragraphs -----------------------------------------------------------------------------------

    def _paragraph(self, attributes: Attributes) -> None:
        level = attributes.get("lvl", "0")
        self._level = int(level) if level.isdecimal() and len(level) == 1 else 0

    def _no_bullet(self, attributes: Attributes) -> None:
        self._bullet = "none"

    def _bulleted(self, attributes: Attributes) -> None:
        self._bullet = "bullet"

    def _numbered(self, attributes: Attributes) -> None:
        self._bullet = "number"

    def _end_paragraph(self) -> None:
        writer = self._writer
        # the outline of a slide has bullets, unless it says otherwise
        bullet = self._bullet or ("bullet" if self._place in ("", "body", "obj") and not self._is_notes else "none")
        if self._in_cell:
            writer.end_paragraph()
        elif self._place in _TITLES:
            writer.end_heading(1, is_title=True)
        elif self._place == "subTitle" or bullet == "none":
            writer.end_paragraph()
        else:
            writer.end_item(self._level, bullet == "number")
        self._level, self._bullet = 0, ""

    # --- tables ---------------------------------------------------------------------------------------

    def _begin_table(self, attributes: Attributes) -> None:
        self._place = None
        self._writer.begin_table()

    def _table(self, attributes: Attributes) -> None:
        self._is_head = attributes.get("firstRow") in _YES

    def _end_table(self) -> None:
        self._writer.end_table()

    def _begin_row(self, attributes: Attributes) -> None:
        self._writer.begin_row()

    def _end_row(self) -> None:
        self._writer.end_row(self._is_head)
        self._is_head = False

    def _begin_cell(self, attributes: Attributes) -> None:
        self._in_cell = True
        self._writer.begin_cell()

    def _end_cell(self) -> None:
        self._in_cell = False
        self._writer.end_cell()

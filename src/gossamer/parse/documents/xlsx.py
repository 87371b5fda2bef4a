"""Excel workbooks (XLSX): SpreadsheetML, ISO/IEC 29500.

Each visible sheet becomes a heading and a table. Numbers are shown as they are stored, days and times as ISO 8601 has
them, and shares in percent, where the format of the cell says so. Formulas show their stored result.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from gossamer.model.records import ParseJob
from gossamer.parse.documents.archive import Archive, part_of_type, relationships
from gossamer.parse.documents.limits import Budget, Full
from gossamer.parse.documents.properties import read_core_properties
from gossamer.parse.documents.writer import Writer
from gossamer.parse.documents.xml_part import Attributes, XmlPart
from gossamer.parse.limits import ParseLimits

_MOST_SHEETS = 1_000
_MOST_FORMATS = 70_000
"""Formats of cells; Excel allows 65,490."""
_MOST_LINKS = 10_000
_WIDEST = 200
"""Cells of a row that are kept in their columns; those of a wider row follow each other."""
_LONGEST_NUMBER = 40
_DATES = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
"""Numbers of built-in formats that show a day or a time."""
_PERCENT = frozenset((9, 10))
_DATE_SIGNS = re.compile(r"[ymdhs]", re.I)
_NO_SIGNS = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|_.|\*.')
"""What of a format is no sign: texts, escaped signs, colours and conditions."""
_CELL = re.compile(r"([A-Z]{1,3})\d*")
_FORMULA_LINK = re.compile(r'\s*HYPERLINK\("([^"]{1,4096})"', re.I)
_EPOCH, _EPOCH_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)
_TEXT = ParseLimits().max_text_chars


def convert(job: ParseJob, writer: Writer, budget: Budget) -> None:
    """Take down a workbook."""
    archive = Archive(job.body, budget)
    read_core_properties(archive, budget, writer.properties)
    writer.is_table = True
    main = part_of_type(relationships(archive, budget, ""), "officeDocument", "xl/workbook.xml")
    around = relationships(archive, budget, main)
    book = _Workbook(budget)
    archive.read_xml(main, book.part, is_needed=True)
    formats = _Formats(budget)
    archive.read_xml(part_of_type(around, "styles", "xl/styles.xml"), formats.part)
    strings = _Strings(budget)
    try:
        archive.read_xml(part_of_type(around, "sharedStrings", "xl/sharedStrings.xml"), strings.part)
    except Full:
        budget.renew_elements()
    for name, place in book.sheets:
        if place in around:
            writer.run(name)
            writer.end_heading(1)
            sheet = _Sheet(writer, strings.found, formats.kinds, book.epoch, budget)
            part = around[place][1]
            targets = relationships(archive, budget, part)
            if any(kind == "hyperlink" for kind, _ in targets.values()):
                sheet.links = _links(archive, budget, part, targets)
            writer.begin_table()
            archive.read_xml(part, sheet.part)
            writer.end_table()


class _Workbook:
    """The names of the visible sheets, and which day is 0."""

    def __init__(self, budget: Budget) -> None:
        self.sheets: list[tuple[str, str]] = []
        self.epoch = _EPOCH
        self.part = XmlPart(budget, {"x:sheet": self._sheet, "x:workbookPr": self._properties})

    def _sheet(self, attributes: Attributes) -> None:
        if attributes.get("state", "visible") == "visible" and len(self.sheets) < _MOST_SHEETS:
            self.sheets.append((attributes.get("name", ""), attributes.get("r:id", "")))

    def _properties(self, attributes: Attributes) -> None:
        if attributes.get("date1904") in ("1", "true"):
            self.epoch = _EPOCH_1904


class _Strings:
    """The texts that cells share."""

    def __init__(self, budget: Budget) -> None:
        self.found: list[str] = []
        self._one: list[str] = []
        self._is_inside = False
        self._size = 0
        self.part = XmlPart(
            budget, {"x:si": self._begin, "x:t": self._begin_text}, {"x:si": self._end, "x:t": self._end_text},
            self._take, frozenset(("x:rPh",)),
        )  # fmt: skip

    def _begin(self, attributes: Attributes) -> None:
        self._one = []

    def _begin_text(self, attributes: Attributes) -> None:
        self._is_inside = True

    def _take(self, text: str) -> None:
        self._size += len(text)
        if self._is_inside and self._size <= _TEXT * 2:
            self._one.append(text)

    def _end_text(self) -> None:
        self._is_inside = False

    def _end(self) -> None:
        self.found.append("".join(self._one))


class _Formats:
    """For each format of cells whether it shows a day (`d`), a share (`%`) or anything else."""

    def __init__(self, budget: Budget) -> None:
        self.kinds: list[str] = []
        self._own: dict[str, str] = {}
        self._is_inside = False
        self.part = XmlPart(
            budget, {"x:numFmt": self._format, "x:cellXfs": self._begin, "x:xf": self._cell}, {"x:cellXfs": self._end}
        )

    def _format(self, attributes: Attributes) -> None:
        if len(self._own) < _MOST_FORMATS:
            signs = _NO_SIGNS.sub("", attributes.get("formatCode", "")[:500])
            kind = "d" if _DATE_SIGNS.search(signs) else "%" if "%" in signs else ""
            self._own[attributes.get("numFmtId", "")] = kind

    def _begin(self, attributes: Attributes) -> None:
        self._is_inside = True

    def _end(self) -> None:
        self._is_inside = False

    def _cell(self, attributes: Attributes) -> None:
        if self._is_inside and len(self.kinds) < _MOST_FORMATS:
            name = attributes.get("numFmtId", "0")
            number = int(name) if name.isdecimal() and len(name) < 9 else 0
            usual = "d" if number in _DATES else "%" if number in _PERCENT else ""
            self.kinds.append(self._own.get(name, usual))


class _Sheet:
    """The rows of one sheet."""

    def __init__(
        self, writer: Writer, strings: list[str], kinds: list[str], epoch: datetime, budget: Budget
    ) -> None:  # fmt: skip
        self._writer, self._strings, self._kinds, self._epoch = writer, strings, kinds, epoch
        self.links: dict[str, str] = {}
        self._place = self._type = self._kind = self._href = ""
        self._value: list[str] = []
        self._is_inside = self._is_formula = False
        self._column = 0
        self.part = XmlPart(
            budget,
            {
                "x:row": self._begin_row, "x:c": self._begin_cell, "x:v": self._begin_value, "x:t": self._begin_value,
                "x:f": self._begin_formula,
            },
            {
                "x:row": self._end_row, "x:c": self._end_cell, "x:v": self._end_value, "x:t": self._end_value,
                "x:f": self._end_formula,
            },
            self._take, frozenset(("x:rPh", "x:conditionalFormatting", "x:dataValidations", "x:extLst")),
        )  # fmt: skip

    def _begin_row(self, attributes: Attributes) -> None:
        self._writer.begin_row()
        self._column = 0

    def _end_row(self) -> None:
        self._writer.end_row()

    def _begin_cell(self, attributes: Attributes) -> None:
        self._place = attributes.get("r", "")
        self._type, self._value, self._href = attributes.get("t", "n"), [], ""
        style = attributes.get("s", "")
        number = int(style) if style.isdecimal() and len(style) < 9 else -1
        self._kind = self._kinds[number] if 0 <= number < len(self._kinds) else ""

    def _begin_value(self, attributes: Attributes) -> None:
        self._is_inside = True

    def _end_value(self) -> None:
        self._is_inside = False

    def _begin_formula(self, attributes: Attributes) -> None:
        self._is_formula = True

    def _end_formula(self) -> None:
        self._is_formula = False

    def _take(self, text: str) -> None:
        if self._is_inside:
            self._value.append(text)
        elif self._is_formula and (found := _FORMULA_LINK.match(text)):
            self._href = found[1]

    def _end_cell(self) -> None:
        text = self._shown("".join(self._value))
        if not text:
            return
        writer = self._writer
        for _ in range(self._gap()):
            writer.begin_cell()
            writer.end_cell()
        writer.begin_cell()
        writer.run(text, self.links.get(self._place, self._href))
        writer.end_cell()

    def _gap(self) -> int:
        """Empty cells before this one."""
        found = _CELL.match(self._place)
        if found is None:
            return 0
        column = 0
        for letter in found[1]:
            column = column * 26 + ord(letter) - 64
        gap, self._column = column - self._column - 1, column
        return max(gap, 0) if column <= _WIDEST else 0

    def _shown(self, value: str) -> str:
        if self._type == "s":
            number = int(value) if value.strip().isdecimal() and len(value) < 12 else -1
            return self._strings[number] if 0 <= number < len(self._strings) else ""
        if self._type == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(value.strip(), "")
        if self._type == "n" and 0 < len(value) <= _LONGEST_NUMBER:
            return number_shown(value, self._kind, self._epoch)
        return value


def number_shown(value: str, kind: str, epoch: datetime = _EPOCH) -> str:
    """A stored number as its format shows it."""
    try:
        number = float(value)
        if kind == "d":
            return _moment(number, epoch)
        return f"{number * 100:.15g}%" if kind == "%" else f"{number:.15g}"
    except (ValueError, OverflowError):
        return value.strip()


def _moment(number: float, epoch: datetime) -> str:
    moment = epoch + timedelta(seconds=round(number * 86_400))
    if number < 1:
        return moment.strftime("%H:%M:%S").removesuffix(":00")
    return moment.date().isoformat() if number == int(number) else moment.isoformat(" ").removesuffix(":00")


def _links(
    archive: Archive, budget: Budget, part: str, targets: dict[str, tuple[str, str]]
) -> dict[str, str]:  # fmt: skip
    """Cell → URL: they stand behind the rows, so the sheet is read once more for them."""
    found: dict[str, str] = {}

    def link(attributes: Attributes) -> None:
        url = targets.get(attributes.get("r:id", ""), ("", ""))[1]
        if url and len(found) < _MOST_LINKS:
            found[attributes.get("ref", "")] = url

    archive.read_xml(part, XmlPart(budget, {"x:hyperlink": link}))
    return found

"""What styles and lists of a Word document mean: which paragraphs are headings, and which are items of which list."""

from __future__ import annotations

import re

import msgspec

from gossamer.parse.documents.archive import Archive
from gossamer.parse.documents.limits import Budget
from gossamer.parse.documents.xml_part import Attributes, XmlPart

_MOST = 10_000
"""Styles and lists that are kept."""
_MOST_BASES = 20
"""Styles that a style is based on, one on the other."""
_HEADING = re.compile(r"heading\s*([1-9])", re.I)
_CONTENTS = re.compile(r"toc\s*\d|table of (?:figures|authorities)", re.I)


class Style(msgspec.Struct):
    """What the style of a paragraph says of it."""

    outline: int | None = None
    """0 for a heading of the first level."""
    list: str | None = None
    level: int = 0
    base: str = ""
    is_title: bool = False
    is_contents: bool = False
    """Whether it is for a table of contents, which says everything twice."""


_NONE = Style()


class Styles:
    """Styles by their identifiers, and the forms of lists."""

    def __init__(self) -> None:
        self.named: dict[str, Style] = {}
        self.abstract: dict[str, str] = {}
        """List → its definition."""
        self.forms: dict[tuple[str, int], str] = {}
        """Definition and level → `bullet`, `decimal` …"""
        self._known: dict[str, Style] = {}

    def of(self, name: str) -> Style:
        """A style with what it inherits."""
        known = self._known.get(name)
        if known is None:
            known = self._inherited(name)
            if len(self._known) < _MOST:
                self._known[name] = known
        return known

    def _inherited(self, name: str) -> Style:
        style = self.named.get(name, _NONE)
        found = msgspec.structs.replace(style)
        for _ in range(_MOST_BASES):
            if not style.base or style.base not in self.named:
                break
            style = self.named[style.base]
            if found.outline is None:
                found.outline = style.outline
            if found.list is None:
                found.list, found.level = style.list, style.level
        return found

    def form(self, number: str | None, level: int) -> str:
        """What stands before an item of a list at a level; empty if it is no item."""
        if not number or number == "0":
            return ""
        form = self.forms.get((self.abstract.get(number, ""), level), "")
        return "" if form == "none" else form


def read_styles(archive: Archive, budget: Budget, styles: str, numbering: str) -> Styles:
    """Those of a document, from their parts."""
    found = Styles()
    if styles:
        archive.read_xml(styles, _StyleReader(found, budget).part)
    if numbering:
        archive.read_xml(numbering, _ListReader(found, budget).part)
    return found


class _StyleReader:
    def __init__(self, found: Styles, budget: Budget) -> None:
        self._found, self._style = found, Style()
        self.part = XmlPart(
            budget,
            {
                "w:style": self._begin, "w:name": self._name, "w:basedOn": self._base, "w:outlineLvl": self._outline,
                "w:numId": self._list, "w:ilvl": self._level,
            },
        )  # fmt: skip

    def _begin(self, attributes: Attributes) -> None:
        self._style = Style()
        if len(self._found.named) < _MOST:
            self._found.named[attributes.get("w:styleId", "")] = self._style

    def _name(self, attributes: Attributes) -> None:
        name = attributes.get("w:val", "")
        if heading := _HEADING.fullmatch(name):
            self._style.outline = int(heading[1]) - 1
        self._style.is_title = name.lower() == "title"
        self._style.is_contents = _CONTENTS.fullmatch(name) is not None

    def _base(self, attributes: Attributes) -> None:
        self._style.base = attributes.get("w:val", "")

    def _outline(self, attributes: Attributes) -> None:
        value = attributes.get("w:val", "")
        if value.isdecimal() and len(value) == 1:
            self._style.outline = int(value)

    def _list(self, attributes: Attributes) -> None:
        self._style.list = attributes.get("w:val", "")

    def _level(self, attributes: Attributes) -> None:
        value = attributes.get("w:val", "")
        if value.isdecimal() and len(value) == 1:
            self._style.level = int(value)


class _ListReader:
    def __init__(self, found: Styles, budget: Budget) -> None:
        self._found, self._abstract, self._number, self._level = found, "", "", 0
        self.part = XmlPart(
            budget,
            {
                "w:abstractNum": self._begin_definition, "w:lvl": self._begin_level, "w:numFmt": self._form,
                "w:num": self._begin_list, "w:abstractNumId": self._defined_by,
            },
        )  # fmt: skip

    def _begin_definition(self, attributes: Attributes) -> None:
        self._abstract = attributes.get("w:abstractNumId", "")

    def _begin_level(self, attributes: Attributes) -> None:
        value = attributes.get("w:ilvl", "")
        self._level = int(value) if value.isdecimal() and len(value) == 1 else 0

    def _form(self, attributes: Attributes) -> None:
        if len(self._found.forms) < _MOST:
            self._found.forms.setdefault((self._abstract, self._level), attributes.get("w:val", ""))

    def _begin_list(self, attributes: Attributes) -> None:
        self._number = attributes.get("w:numId", "")

    def _defined_by(self, attributes: Attributes) -> None:
        if len(self._found.abstract) < _MOST:
            self._found.abstract[self._number] = attributes.get("w:val", "")

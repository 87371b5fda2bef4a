"""What documents say of themselves: title, author, dates."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from gossamer.parse.documents.archive import Archive, part_of_type, relationships
from gossamer.parse.documents.limits import Budget
from gossamer.parse.documents.writer import Properties
from gossamer.parse.documents.xml_part import Attributes, XmlPart

_DAY = re.compile(r"\s*((?:19|20)\d\d)(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?(?![\d/])")
_LONGEST = 4_000
"""Characters of a field that are looked at."""


def day(written: str) -> str:
    """A date as ISO 8601, no finer than a day; empty if it is none."""
    found = _DAY.match(written[:100])
    if found is None:
        return ""
    year, month, number = found.groups()
    try:
        date(int(year), int(month or 1), int(number or 1))
    except ValueError:
        return ""
    return "-".join(part for part in (year, month, number) if part)


class Fields:
    """The texts of some elements of a part, each the first that says anything."""

    def __init__(self, budget: Budget, names: frozenset[str]) -> None:
        self.found: dict[str, str] = {}
        self._text: list[str] = []
        self._size = 0
        starts = dict.fromkeys(names, self._begin)
        ends: dict[str, Callable[[], None]] = {name: self._ender(name) for name in names}
        self.part = XmlPart(budget, starts, ends, self._take)

    def _begin(self, attributes: Attributes) -> None:
        self._text, self._size = [], 0

    def _take(self, text: str) -> None:
        self._size += len(text)
        if self._size <= _LONGEST:
            self._text.append(text)

    def _ender(self, name: str) -> Callable[[], None]:
        def end() -> None:
            text = "".join(self._text).strip()
            if text:
                self.found.setdefault(name, text)
            self._text = []

        return end


_CORE = frozenset(("dc:title", "dc:creator", "dc:description", "dc:subject", "dc:language", "dcterms:created",
                   "dcterms:modified"))  # fmt: skip


def read_core_properties(archive: Archive, budget: Budget, properties: Properties) -> None:
    """Those of an Office document."""
    name = part_of_type(relationships(archive, budget, ""), "core-properties", "docProps/core.xml")
    fields = Fields(budget, _CORE)
    archive.read_xml(name, fields.part)
    said = fields.found.get
    properties.title = said("dc:title", "")
    properties.author = said("dc:creator", "")
    properties.description = said("dc:description", "") or said("dc:subject", "")
    properties.language = said("dc:language", "")
    properties.published, properties.updated = day(said("dcterms:created", "")), day(said("dcterms:modified", ""))

"""Fields of the operator's own: what they are called, and the values that pages have.

A value is kept as text in one form for each type: a number as Python writes it (`12.5`), a date as ISO 8601, `yes` or
`no`, a text in one line. A stored value names its type, so whoever reads it needs no settings.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

FieldType = Literal["text", "number", "date", "yes-no"]
TYPES: tuple[FieldType, ...] = ("text", "number", "date", "yes-no")


class FieldValue(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One value that a page has."""

    name: str
    type: FieldType
    value: str
    """In the one form of its type."""
    source: str = ""
    """Where it was found, as the settings say it."""

    @property
    def written(self) -> str:
        """As a segment has it: name, type and value."""
        return f"{self.name} {self.type} {self.value}"

    @property
    def plain(self) -> str | float | bool:
        """As a program wants it."""
        if self.type == "number":
            return float(self.value)
        return self.value == "yes" if self.type == "yes-no" else self.value


class CustomField(msgspec.Struct, frozen=True):
    """A field as the index knows it."""

    name: str
    type: FieldType = "text"
    title: str = ""
    facet: bool = False
    """Whether results are counted by it."""
    sort: bool = False
    """Whether results can be ordered by it."""
    ranges: tuple[float, ...] = ()
    """Where the ranges begin that numbers are counted in; none: they are chosen by the numbers."""
    slot: int = 0
    """The column of the index that has its values; 0: it is a text, or in no index."""

    @property
    def heading(self) -> str:
        """What people call it."""
        return self.title or self.name.replace("-", " ").replace("_", " ").capitalize()


CustomFields = tuple[CustomField, ...]


def shown(number: float) -> str:
    """A number in its one form."""
    return str(int(number)) if number == int(number) else repr(number)


def stored_values(written: Iterable[str] | None, sources: Iterable[str] | None = None) -> tuple[FieldValue, ...]:
    """The values of a stored row; what is no value is left out."""
    texts = list(written or ())
    places = list(sources or ()) or [""] * len(texts)
    found = []
    for text, place in zip(texts, places, strict=False):
        name, _, rest = text.partition(" ")
        kind, _, value = rest.partition(" ")
        found += [FieldValue(name, known, value, place) for known in TYPES if kind == known and value]
    return tuple(found)

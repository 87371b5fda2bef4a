"""The settings of fields, and what can be wrong with them; apart from what reads pages, which only parsers load."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping

import msgspec

from gossamer.errors import UsageError
from gossamer.model.fields import CustomField, CustomFields, FieldType

MOST_FIELDS = 16
MOST_SOURCES = 20
"""Places in which one field is looked for."""
MOST_RANGES = 30
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,29}")
RESERVED = frozenset(
    "site intitle inurl lang filetype ext pagetype category after before sort page_type"
    " like group q page size since similar literal collection facets fields url from to format limit"
    " relevance date or not".split()
)
"""Names that mean something else in a query or in the API."""


class FieldConfig(msgspec.Struct, frozen=True):
    """A field of your own, such as a price or a department: readers filter results by it, count them and sort them
    ([fields](fields.md))."""

    source: str | tuple[str, ...] = msgspec.field(default=(), name="from")
    """Where a page states the value: `json-ld: Product.offers.price`, `microdata: Product.price`, `meta: dc.subject`,
    `css: .breadcrumb li:nth-child(2)` or `url: ^/([a-z]+)/`. Of several places, the first that has a value counts.
    Empty: `meta:` and the name of the field."""
    type: FieldType = "text"
    """text, number, date or yes-no. A value of another form is left out."""
    several: bool = False
    """Whether a page may have several values; if not, the first counts."""
    facet: bool = False
    """Whether the page of results offers the values as filters, with counts."""
    sort: bool = False
    """Whether readers can sort by it; not for texts."""
    title: str = ""
    """What the page of results calls the field; empty: its name."""
    sites: tuple[str, ...] = ()
    """Take values only from pages of these hosts and the hosts below them; empty: from all."""
    ranges: tuple[float, ...] = ()
    """Numbers at which the ranges of the filters begin, such as `[10, 50, 100]`; empty: round numbers."""

    def sources(self, name: str) -> tuple[str, ...]:
        """The places of the field with this name, in order."""
        given = (self.source,) if isinstance(self.source, str) else self.source
        return given or (f"meta: {name}",)


Fields = Mapping[str, FieldConfig]


def check_fields(fields: Fields) -> None:
    """`UsageError` that names the field with a mistake."""
    if len(fields) > MOST_FIELDS:
        raise UsageError(f"there are {len(fields)} [fields.…] sections: the limit is {MOST_FIELDS}")
    if not fields:
        return
    from gossamer.parse.fields.sources import read_source  # turbohtml: who has no fields goes without

    for name, one in fields.items():
        _check(name, one)
        for text in one.sources(name):
            try:
                read_source(text)
            except UsageError as error:
                raise UsageError(f"fields.{name}.from {text!r}: {error}") from None


def _check(name: str, one: FieldConfig) -> None:
    where = f"[fields.{name}]"
    if not _NAME.fullmatch(name):
        raise UsageError(f"{where}: a name has small letters, digits, _ and -, begins with a letter, 30 at most")
    if name in RESERVED:
        raise UsageError(f"{where}: {name} means something else in a query or an address: choose another name")
    if len(one.sources(name)) > MOST_SOURCES:
        raise UsageError(f"{where}: from names {len(one.sources(name))} places: the limit is {MOST_SOURCES}")
    if one.sort and one.type == "text":
        raise UsageError(f"{where}: sort needs the type number, date or yes-no, not text")
    if one.ranges and one.type != "number":
        raise UsageError(f"{where}: ranges need the type number, not {one.type}")
    if list(one.ranges) != sorted(set(one.ranges)) or len(one.ranges) > MOST_RANGES:
        raise UsageError(f"{where}: ranges are at most {MOST_RANGES} numbers, each greater than the one before")
    if any(number != number or abs(number) > 1e15 for number in one.ranges):
        raise UsageError(f"{where}: ranges has a number that is none, or too large")
    if len(one.title) > 60 or not one.title.isprintable():
        raise UsageError(f"{where}: title is one line of 60 characters at most")
    for site in one.sites:
        if not re.fullmatch(r"[^\s/:@*]+(:\d+)?", site):
            raise UsageError(f"{where}: sites {site!r} is no host such as www.example.org")


def custom_fields(fields: Fields) -> CustomFields:
    """The fields as the index knows them, in the order of the settings."""
    return tuple(
        CustomField(name, one.type, one.title, one.facet, one.sort, one.ranges) for name, one in fields.items()
    )


def stamp(fields: Fields) -> int:
    """A number that changes with what is taken out of pages; 0 if nothing is."""
    taken = {name: (one.sources(name), one.type, one.several, one.sites) for name, one in sorted(fields.items())}
    return zlib.crc32(msgspec.msgpack.encode(taken)) | 1 if taken else 0

"""Fields of the operator's own in the index.

Texts are values of one JSON field, by the name of their field: as the page writes them, to be counted, and in small
letters, to be found. Numbers, dates and yes or no take columns, or they could not be compared and ordered. An index has
`SLOTS` of them, all empty at first; each field is given the next free one. The index remembers which
(`commits.Payload`). A slot is never given twice, because pages that were not read again still have the values of the
field before; an index that runs out of slots is rebuilt.

A text begins with a mark in the index: the library would take one that looks like a time for a time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from unicodedata import normalize

import msgspec
import tantivy

from gossamer.index.moments import date_seconds
from gossamer.model.fields import CustomField, CustomFields, FieldValue

SLOTS = 24
TEXTS = "texts"
_MARK = "="
_AS_WRITTEN, _ALIKE = "shown", "alike"
_QUOTES = dict.fromkeys(map(ord, '"“”„‟«»「」『』'), " ")


def alike_place(name: str) -> str:
    """Where the index has the texts of a field as they are compared."""
    return f"{TEXTS}.{_ALIKE}.{name}"


def number_column(slot: int) -> str:
    """The column of a slot: numbers, dates (seconds since 1970), yes (1) or no (0)."""
    return f"number_{slot}"


def column(field: CustomField) -> str:
    """The column by which a field is counted."""
    return f"{TEXTS}.{_AS_WRITTEN}.{field.name}" if field.type == "text" else number_column(field.slot)


def declare(builder: tantivy.SchemaBuilder) -> None:
    """The fields of the schema."""
    builder.add_json_field(TEXTS, tokenizer_name="raw", index_option="basic", fast=True)
    for slot in range(1, SLOTS + 1):
        builder.add_float_field(number_column(slot), fast=True)


def add(document: tantivy.Document, values: Sequence[FieldValue], fields: CustomFields) -> None:
    """The values of a page, as far as the index has their fields."""
    known = {(field.name, field.type): field for field in fields}
    texts: dict[str, dict[str, list[str]]] = {_AS_WRITTEN: {}, _ALIKE: {}}
    for value in values:
        field = known.get((value.name, value.type))
        if field is None:
            continue
        if field.type == "text":
            if alike := folded(value.value):
                texts[_AS_WRITTEN].setdefault(field.name, []).append(_MARK + value.value)
                texts[_ALIKE].setdefault(field.name, []).append(_MARK + alike)
        elif (number := number_of(value)) is not None:
            document.add_float(number_column(field.slot), number)
    if texts[_ALIKE]:
        document.add_json(TEXTS, texts)


def term_of(folded_text: str) -> str:
    """The term by which a text is found."""
    return _MARK + folded_text


def text_of(term: str) -> str:
    """The text of a counted term."""
    return term.removeprefix(_MARK)


def folded(text: str) -> str:
    """A text as it is compared: small letters, one space between words, no quotes."""
    return " ".join(normalize("NFKC", text).casefold().translate(_QUOTES).split())


def number_of(value: FieldValue) -> float | None:
    """A value as a number; None if it is none."""
    if value.type == "yes-no":
        return float(value.value == "yes")
    if value.type == "date":
        return date_seconds(value.value)
    try:
        return float(value.value)
    except ValueError:
        return None


def assigned(wanted: Iterable[CustomField], present: CustomFields, given: int) -> tuple[CustomFields, int]:
    """The wanted fields with slots, unless they are texts: those that an index has keep theirs, others get the next
    ones. Also how many slots are given then; more than `SLOTS`: the index must be rebuilt."""
    slots = {(field.name, field.type): field.slot for field in present}
    found = []
    for field in wanted:
        slot = slots.get((field.name, field.type))
        if slot is None and field.type != "text":
            given += 1
            slot = given
        found.append(msgspec.structs.replace(field, slot=slot or 0))
    return tuple(found), given


def named(fields: Collection[CustomField], name: str) -> CustomField | None:
    """The field with a name."""
    return next((field for field in fields if field.name == name), None)

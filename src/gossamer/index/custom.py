"""Fields of the operator's own in the index.

A value is found by a term of one field for all (`facts`: `department:physics`), without regard to small and capital
letters. To count, compare and order values takes columns. An index has `SLOTS` pairs of them, one for texts and one for
numbers, all empty at first; each field is given the next free one. The index remembers which (`commits.Payload`). A
slot is never given twice, because pages that were not read again still have the values of the field before; an index
that runs out of slots is rebuilt.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from unicodedata import normalize

import msgspec
import tantivy

from gossamer.index.moments import date_seconds
from gossamer.model.fields import CustomField, CustomFields, FieldValue

SLOTS = 24
FACTS = "facts"
_QUOTES = dict.fromkeys(map(ord, '"“”„‟«»「」『』'), " ")


def text_column(slot: int) -> str:
    """The column of a slot for texts."""
    return f"text_{slot}"


def number_column(slot: int) -> str:
    """The column of a slot for numbers, dates (seconds since 1970), and yes (1) or no (0)."""
    return f"number_{slot}"


def column(field: CustomField) -> str:
    """The column of a field."""
    return text_column(field.slot) if field.type == "text" else number_column(field.slot)


def declare(builder: tantivy.SchemaBuilder) -> None:
    """The fields of the schema."""
    builder.add_text_field(FACTS, tokenizer_name="raw", index_option="basic")
    for slot in range(1, SLOTS + 1):
        builder.add_text_field(text_column(slot), tokenizer_name="raw", index_option="basic", fast=True)
        builder.add_float_field(number_column(slot), fast=True)


def add(document: tantivy.Document, values: Sequence[FieldValue], fields: CustomFields) -> None:
    """The values of a page, as far as the index has their fields."""
    known = {(field.name, field.type): field for field in fields}
    for value in values:
        field = known.get((value.name, value.type))
        if field is None:
            continue
        if field.type == "text":
            if alike := folded(value.value):
                document.add_text(FACTS, fact(field.name, alike))
                document.add_text(text_column(field.slot), value.value)
        elif (number := number_of(value)) is not None:
            document.add_float(number_column(field.slot), number)


def fact(name: str, value: str) -> str:
    """The term by which a text is found; `value`: folded."""
    return f"{name}:{value}"


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
    """The wanted fields with slots: those that an index has keep theirs, others get the next ones. Also how many slots
    are given then; more than `SLOTS`: the index must be rebuilt."""
    slots = {(field.name, field.type): field.slot for field in present}
    found = []
    for field in wanted:
        slot = slots.get((field.name, field.type))
        if slot is None:
            given += 1
            slot = given
        found.append(msgspec.structs.replace(field, slot=slot))
    return tuple(found), given


def named(fields: Collection[CustomField], name: str) -> CustomField | None:
    """The field with a name."""
    return next((field for field in fields if field.name == name), None)

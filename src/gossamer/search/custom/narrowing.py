"""From values of the operator's own fields to clauses for the index."""

from __future__ import annotations

import math
from collections.abc import Sequence

import tantivy

from gossamer.index.custom import alike_place, number_column, term_of
from gossamer.model.fields import CustomField, CustomFields
from gossamer.search.query.custom import bounds
from gossamer.search.query.language import Query, parse
from gossamer.search.view import any_of

Q = tantivy.Query
_MUST, _SHOULD, _NOT = tantivy.Occur.Must, tantivy.Occur.Should, tantivy.Occur.MustNot
_FLOAT = tantivy.FieldType.Float
_FAR = 1e300
Clause = tuple[tantivy.Occur, tantivy.Query]


def clauses(form: tantivy.Schema, query: Query, fields: CustomFields) -> list[Clause]:
    """What a query keeps and leaves out by own fields."""
    return [
        (occur, _one_of(form, field, values))
        for field in fields
        for occur, excluded in ((_MUST, False), (_NOT, True))
        if (values := query.values(field.name, excluded))
    ]


def chosen(typed: str, fields: CustomFields) -> Query:
    """What was chosen beside the words; only own fields count there."""
    return parse(typed, fields) if typed and fields else Query("")


def _one_of(form: tantivy.Schema, field: CustomField, values: Sequence[str]) -> tantivy.Query:
    if field.type == "text":
        return any_of(form, alike_place(field.name), [term_of(value) for value in values])
    spans = [_span(form, field, value) for value in values]
    found = spans[0] if len(spans) == 1 else Q.boolean_query([(_SHOULD, one) for one in spans])
    return Q.const_score_query(found, 0.0)


def _span(form: tantivy.Schema, field: CustomField, value: str) -> tantivy.Query:
    low, high, with_low, with_high = bounds(field, value)
    low, high = max(low, -_FAR), min(high, _FAR)
    if math.isclose(low, high, rel_tol=0, abs_tol=0) and not (with_low and with_high):
        return Q.empty_query()
    if low > high:
        return Q.empty_query()
    return Q.range_query(form, number_column(field.slot), _FLOAT, low, high, with_low, with_high)

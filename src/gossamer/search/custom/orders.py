"""Orders of results other than by relevance: the date, or an own field. Pages without the value come last."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import tantivy

from gossamer.index import schema
from gossamer.index.custom import named, number_column
from gossamer.model.fields import CustomFields
from gossamer.search.query.language import Query
from gossamer.search.results import Request

_LAST = -1e300
"""What stands for a value that a page does not have."""


class Order(msgspec.Struct, frozen=True):
    """By which column of the index, and which end first."""

    column: str
    is_falling: bool = True

    @property
    def first(self) -> tantivy.Order:
        """As the library says it."""
        return tantivy.Order.Desc if self.is_falling else tantivy.Order.Asc

    def places(self, searcher: tantivy.Searcher, addresses: list[tantivy.DocAddress]) -> list[float]:
        """Numbers by which pages of several shards are ordered, the greatest first."""
        sign = 1.0 if self.is_falling else -1.0
        values: Sequence[float | None] = searcher.fast_field_values(self.column, addresses)
        return [_LAST if value is None else sign * value for value in values]


NEWEST = Order(schema.DATE)


def order_of(query: Query, request: Request, fields: CustomFields) -> Order | None:
    """The order that was asked for; None: by relevance. What was chosen beside the words goes before."""
    asked = (request.sort if request.sort != "relevance" else "") or query.order
    if asked in ("", "date"):
        return NEWEST if asked else None
    field = named(fields, asked.removeprefix("-"))
    if field is None or not field.sort:
        return None
    return Order(number_column(field.slot), asked.startswith("-"))


def is_ordered(query: Query, request: Request, fields: CustomFields) -> bool:
    """Whether results are in another order than by relevance."""
    return order_of(query, request, fields) is not None

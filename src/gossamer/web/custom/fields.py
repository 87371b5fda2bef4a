"""Fields of the operator's own on the page of results: filters with counts, orders, what is chosen."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gossamer.model.fields import CustomField, CustomFields, FieldValue
from gossamer.search.query.custom import in_quotes, order_named
from gossamer.search.query.language import Filter, parse
from gossamer.search.results import FieldFacet, Request, Results
from gossamer.web.links import Links
from gossamer.web.parameters import FIELDS, SORT, BadParameter

SHOWN = 8
"""Values that the page offers."""
_ENDS = {"number": ("lowest first", "highest first"), "date": ("oldest first", "newest first"),
         "yes-no": ("no first", "yes first")}  # fmt: skip


class Offer(msgspec.Struct, frozen=True):
    """One choice of a filter or an order."""

    label: str
    href: str
    is_current: bool = False
    count: int | None = None


class Section(msgspec.Struct, frozen=True):
    """The choices of one field."""

    title: str
    offers: list[Offer]


def check_own(request: Request, fields: CustomFields) -> None:
    """`BadParameter` where a program names a field that does not exist, or a value that makes no sense."""
    if request.sort not in SORT.values and order_named(fields, request.sort) is None:
        known = [*SORT.values, *(name for one in fields if one.sort for name in (one.name, f"-{one.name}"))]
        raise BadParameter(f"{SORT.name}: {request.sort!r} is not one of {', '.join(known)}")
    query = parse(request.fields, fields)
    own = {one.name for one in fields}
    names = ", ".join(sorted(own)) or "none"
    if query.groups or query.excluded or any(one.operator not in own for one in query.filters):
        raise BadParameter(
            f"{FIELDS.name}: {request.fields[:80]!r} is not name:value for each of your fields ({names})"
        )


def sections(request: Request, results: Results, links: Links) -> list[Section]:
    """The filters that the page offers."""
    chosen = _chosen(request, results.fields)
    return [section for facet in results.fields if (section := _section(facet, chosen, request, links)) is not None]


def orders(request: Request, results: Results, links: Links) -> list[Offer]:
    """The orders that the page offers, beside relevance and date."""
    return [
        Offer(f"{facet.title}: {words}", links.search(request, sort=name), request.sort == name)
        for facet in results.fields
        if facet.sort
        for name, words in zip((facet.name, f"-{facet.name}"), _ENDS.get(facet.type, ("", "")), strict=True)
    ]


def chips(request: Request, results: Results, links: Links) -> list[tuple[str, str]]:
    """What was chosen, each with the address of the same search without it."""
    chosen = _chosen(request, results.fields)
    titles = {facet.name: facet for facet in results.fields}
    return [
        (
            f"{titles[one.operator].title}: {'not ' if one.excluded else ''}{_label(titles[one.operator], one.value)}",
            links.search(request, fields=_written([other for other in chosen if other != one])),
        )
        for one in chosen
    ]


def shown_values(values: Sequence[FieldValue], facets: Sequence[FieldFacet]) -> list[tuple[str, str]]:
    """Titles and values of a result, for people."""
    titles = {facet.name: facet.title for facet in facets}
    found: dict[str, list[str]] = {}
    for one in values:
        if one.name in titles:
            found.setdefault(titles[one.name], []).append(one.value)
    return [(title, ", ".join(texts)) for title, texts in found.items()]


def _section(facet: FieldFacet, chosen: Sequence[Filter], request: Request, links: Links) -> Section | None:
    mine = [one for one in chosen if one.operator == facet.name]
    if len(facet.values) < 2 and not mine:
        return None
    others = [one for one in chosen if one.operator != facet.name]
    offers = [Offer("All", links.search(request, fields=_written(others)), not mine)]
    for one in facet.values[:SHOWN]:
        picked = Filter(facet.name, one.value)
        offers.append(
            Offer(one.label, links.search(request, fields=_written([*others, picked])), picked in mine, one.count)
        )
    return Section(facet.title, offers)


def _chosen(request: Request, facets: Sequence[FieldFacet]) -> list[Filter]:
    fields = tuple(CustomField(facet.name, facet.type) for facet in facets)
    return list(parse(request.fields, fields).filters) if request.fields and fields else []


def _label(facet: FieldFacet, value: str) -> str:
    return next((one.label for one in facet.values if one.value == value), value)


def _written(filters: Sequence[Filter]) -> str:
    """As `Request.fields` has it."""
    parts = []
    for one in filters:
        value = f'"{one.value}"' if in_quotes(one.value) else one.value
        parts.append(f"{'-' * one.excluded}{one.operator}:{value}")
    return " ".join(parts)

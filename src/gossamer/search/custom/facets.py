"""How results spread over the values of own fields.

Texts are counted by value, dates by year, numbers in ranges. Where the settings name no ranges they begin at 1, 2 and 5
times a power of ten: the same everywhere, so shards can count by themselves. Neighbours with the fewest results are
put together until `SHOWN` ranges are left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise
from typing import Any

from gossamer.index.custom import column, folded, text_of
from gossamer.model.fields import CustomField, CustomFields, shown
from gossamer.search.results import FieldCount, FieldFacet

PREFIX = "field:"
"""Before the name of a field, where names of other facets stand beside it."""
MOST = 20
"""Values of a text that are counted, and years."""
SHOWN = 8
"""Ranges of a number."""
_YEARS = range(1900, 2101)
_POWERS = range(-2, 10)
_ROUND = tuple(step * 10.0**power for power in _POWERS for step in (1, 2, 5))
_BETWEEN = "..<"


def facets_of(fields: CustomFields) -> dict[str, CustomField]:
    """The fields that results are counted by, each under its name among all facets."""
    return {f"{PREFIX}{field.name}": field for field in fields if field.facet}


def aggregation(field: CustomField, size: int) -> dict[str, Any]:
    """What the library is asked to count."""
    if field.type == "text":
        return {"terms": {"field": column(field), "size": size}}
    return {"range": {"field": column(field), "ranges": _buckets(field)}}


def counts_of(found: Mapping[str, Any]) -> dict[str, int]:
    """What the library counted: value or range → pages."""
    return {str(one["key"]): one["doc_count"] for one in found["buckets"] if one["doc_count"]}


def shown_facets(
    fields: CustomFields, several: Sequence[Mapping[str, Mapping[str, int]]], less: Mapping[tuple[str, str], float]
) -> tuple[FieldFacet, ...]:
    """What indexes counted, added up, for readers; `less`: facet and value → near copies among its pages."""
    found = []
    for field in fields:
        name = f"{PREFIX}{field.name}"
        pages: Counter[str] = Counter()
        for one in several if field.facet else ():
            pages.update(one.get(name, {}))
        counted = {key: max(round(number - less.get((name, key), 0.0)), 1) for key, number in pages.items() if number}
        counts = {"text": _texts, "number": _ranges, "date": _years, "yes-no": _words}[field.type](counted)
        found.append(FieldFacet(field.name, field.heading, field.type, field.sort, tuple(counts)))
    return tuple(found)


def _texts(counted: Mapping[str, int]) -> list[FieldCount]:
    """The most frequent first; spellings that differ in capitals are one, called by the most frequent."""
    alike: dict[str, Counter[str]] = {}
    for value, number in counted.items():
        alike.setdefault(folded(text_of(value)), Counter())[text_of(value)] += number
    together = sorted(alike.items(), key=lambda one: (-one[1].total(), one[0]))[:MOST]
    return [FieldCount(key, spelled.most_common(1)[0][0], spelled.total()) for key, spelled in together]


def _words(counted: Mapping[str, int]) -> list[FieldCount]:
    return [FieldCount(key, key, counted[key]) for key in ("yes", "no") if key in counted]


def _years(counted: Mapping[str, int]) -> list[FieldCount]:
    """The newest first."""
    found = sorted(counted.items(), key=lambda one: one[0].lstrip("<"), reverse=True)
    return [FieldCount(key, key.replace("<", "before ").replace("..", " and later"), number) for key, number in found][
        :MOST
    ]


def _ranges(counted: Mapping[str, int]) -> list[FieldCount]:
    """In order; no more than `SHOWN`."""
    spans = sorted((_span(key), number) for key, number in counted.items())
    while len(spans) > SHOWN:
        at = min(range(len(spans) - 1), key=lambda place: spans[place][1] + spans[place + 1][1])
        (first, one), (second, other) = spans[at], spans[at + 1]
        spans[at : at + 2] = [((first[0], second[1]), one + other)]
    return [FieldCount(_key(*span), _label(*span), number) for span, number in spans]


def _span(key: str) -> tuple[float, float]:
    if key.startswith("<"):
        return (-float("inf"), float(key[1:]))
    low, _, high = key.partition("..")
    return (float(low), float(high.lstrip("<")) if high else float("inf"))


def _key(low: float, high: float) -> str:
    """A range as a query names it."""
    if low == -float("inf"):
        return f"<{shown(high)}"
    return f"{shown(low)}.." if high == float("inf") else f"{shown(low)}{_BETWEEN}{shown(high)}"


def _label(low: float, high: float) -> str:
    """A range for people."""
    if low == -float("inf"):
        return f"below {_grouped(high)}"
    return f"{_grouped(low)} and more" if high == float("inf") else f"{_grouped(low)} to {_grouped(high)}"


def _grouped(number: float) -> str:
    return f"{int(number):,}" if number == int(number) else shown(number)


@lru_cache(100)
def _buckets(field: CustomField) -> list[dict[str, Any]]:
    if field.type == "yes-no":
        return [{"key": "no", "to": 0.5}, {"key": "yes", "from": 0.5}]
    if field.type == "date":
        starts = [datetime(year, 1, 1, tzinfo=UTC).timestamp() for year in (*_YEARS, _YEARS.stop)]
        years = [
            {"key": str(year), "from": start, "to": end}
            for year, (start, end) in zip(_YEARS, pairwise(starts), strict=True)
        ]
        return [{"key": f"<{_YEARS.start}", "to": starts[0]}, *years, {"key": f"{_YEARS.stop}..", "from": starts[-1]}]
    ends = list(field.ranges) or [*(-one for one in reversed(_ROUND)), 0.0, *_ROUND]
    ends = [round(one, 4) for one in ends]
    inner = [{"key": _key(low, high), "from": low, "to": high} for low, high in pairwise(ends)]
    return [{"key": f"<{shown(ends[0])}", "to": ends[0]}, *inner, {"key": f"{shown(ends[-1])}..", "from": ends[-1]}]

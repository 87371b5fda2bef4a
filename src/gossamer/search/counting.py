"""How many results there are, and how they spread: counted in clusters, not in pages.

Near copies are one result, so they are one in every number that a reader sees. The index counts
pages fast; what has to be taken off is the *surplus*: of the matching pages of a cluster, all but one.
A page says whether others were in its cluster before it (`joined`), so only clusters with such a page
among the results can have any. They are few: up to `EXACT` joined pages their clusters are counted one by
one; of more, a sample of that size tells the surplus of all, and the numbers are marked as estimates.
A facet's value counts the clusters that have a page with it, which is what a reader gets who chooses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import tantivy

from gossamer.index import schema
from gossamer.search.ordering import Candidate
from gossamer.search.results import Count, Facets
from gossamer.search.view import View, count_of

EXACT = 100
"""Joined pages up to which numbers are exact: each costs a look into every segment of the index."""
_FACETS = {
    "sites": (schema.SITE, 12),
    "languages": (schema.LANG, 12),
    "years": (schema.YEAR, 100),
    "page_types": (schema.PAGE_TYPE, 12),
    "categories": (schema.CATEGORY, 20),
}
_VALUES = 500
"""Values of a facet that copies may have."""
_MUST = tantivy.Occur.Must
Q = tantivy.Query


class Tally(msgspec.Struct, frozen=True):
    """What was counted."""

    total: int
    """Clusters that match."""
    estimated: bool
    facets: Facets


class _Surplus(msgspec.Struct, frozen=True):
    """Pages beyond the first of their clusters."""

    pages: float = 0.0
    estimated: bool = False
    by_value: dict[tuple[str, str], float] = {}
    """Facet and value → how many of them have it."""


def tally(
    view: View, query: tantivy.Query, pages: int, hits: Sequence[Candidate], with_facets: bool, collapsed: bool
) -> Tally:
    """Counts the `pages` that match a query, of which `hits` are the best, or all."""
    surplus = _Surplus()
    if collapsed and view.has_copies and not (len(hits) == pages and _are_different(view, hits)):
        surplus = _surplus(view, query, with_facets)
    facets = _facets(view, query, surplus) if pages and with_facets else Facets()
    return Tally(_less(pages, surplus.pages), surplus.estimated, facets)


def _are_different(view: View, hits: Sequence[Candidate]) -> bool:
    """Whether no two hits are near copies."""
    return len(set(view.numbers(schema.CLUSTER, [address for _, address in hits]))) == len(hits)


def _surplus(view: View, query: tantivy.Query, with_facets: bool) -> _Surplus:
    matching = Q.const_score_query(query, 0.0)  # nothing here asks for an order
    joined = Q.const_score_query(Q.term_query(view.schema, schema.JOINED, 1), 0.0)
    found = view.searcher.search(Q.boolean_query([(_MUST, matching), (_MUST, joined)]), EXACT)
    number = count_of(found)
    if not number:
        return _Surplus()
    clusters = sorted(set(view.numbers(schema.CLUSTER, [address for _, address in found.hits])))
    theirs = Q.const_score_query(Q.term_set_query(view.schema, schema.CLUSTER, clusters), 0.0)
    # All in one pass: to find these pages costs more than to count them.
    counted = view.searcher.aggregate(Q.boolean_query([(_MUST, matching), (_MUST, theirs)]), _plan(with_facets))
    members = {int(bucket["key"]): bucket["doc_count"] for bucket in counted["joined"]["buckets"]}
    share = number / max(members.get(1, 0), 1) if number > EXACT else 1.0
    return _Surplus(
        pages=share * (sum(members.values()) - len(clusters)),
        estimated=number > EXACT,
        by_value={
            (name, str(bucket["key"])): share * (bucket["doc_count"] - len(bucket["clusters"]["buckets"]))
            for name in (_FACETS if with_facets else ())
            for bucket in counted[name]["buckets"]
        },
    )


def _plan(with_facets: bool) -> dict[str, Any]:
    plan: dict[str, Any] = {"joined": {"terms": {"field": schema.JOINED}}}
    for name, (field, _) in _FACETS.items() if with_facets else ():
        clusters = {"clusters": {"terms": {"field": schema.CLUSTER, "size": EXACT}}}
        plan[name] = {"terms": {"field": field, "size": _VALUES}, "aggs": clusters}
    return plan


def _facets(view: View, query: tantivy.Query, surplus: _Surplus) -> Facets:
    plan = {name: {"terms": {"field": field, "size": size}} for name, (field, size) in _FACETS.items()}
    found = view.searcher.aggregate(query, plan)

    def counts(name: str) -> list[Count]:
        counted = []
        for bucket in found[name]["buckets"]:
            taken_off = surplus.by_value.get((name, str(bucket["key"])), 0.0)
            counted.append(Count(str(bucket["key"]).removesuffix(".0"), _less(bucket["doc_count"], taken_off)))
        return sorted(counted, key=lambda count: (-count.count, count.value))

    years = sorted(counts("years"), key=lambda count: int(count.value))
    return Facets(
        sites=tuple(counts("sites")),
        languages=tuple(counts("languages")),
        years=tuple(years),
        page_types=tuple(counts("page_types")),
        categories=tuple(counts("categories")),
    )


def _less(pages: int, surplus: float) -> int:
    """What is left; one at least where there are any."""
    return max(round(pages - surplus), min(pages, 1))

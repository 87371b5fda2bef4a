"""How many results there are, and how they spread: counted in clusters, not in pages.

Near copies are one result, so they are one in every number that a reader sees. A page says
whether others were in its cluster before it (`joined`); where no page of the results did, pages
are clusters and nothing has to be counted again. Else the clusters among up to `EXACT` pages are
counted one by one, and among more of them by a sketch whose error is about two per cent: such
numbers are marked as estimates. A facet's value counts the clusters that have a page with it,
which is what a reader gets who chooses it.
"""

from __future__ import annotations

from typing import Any

import msgspec
import tantivy

from gossamer.index import schema
from gossamer.search.results import Count, Facets
from gossamer.search.view import View

EXACT = 2_000
"""Pages up to which clusters are counted one by one: a millisecond for each facet."""
_FACETS = {
    "sites": (schema.SITE, 12),
    "languages": (schema.LANG, 12),
    "years": (schema.YEAR, 100),
    "page_types": (schema.PAGE_TYPE, 12),
    "categories": (schema.CATEGORY, 20),
}
_CLUSTERS = "clusters"
_JOINED = "joined"


class Tally(msgspec.Struct, frozen=True):
    """What was counted."""

    total: int
    """Clusters that match."""
    estimated: bool
    facets: Facets


def tally(view: View, query: tantivy.Query, pages: int, with_facets: bool, collapsed: bool) -> Tally:
    """Counts the `pages` that match a query."""
    if not pages:
        return Tally(0, False, Facets())
    if not collapsed or not view.has_copies:
        return Tally(pages, False, _facets(view, query, "pages") if with_facets else Facets())
    if not _joined(view, query):
        return Tally(pages, False, _facets(view, query, "pages") if with_facets else Facets())
    way = "each" if pages <= EXACT else "sketch"
    found = view.searcher.aggregate(query, _plan(way, with_facets, top=True))
    facets = _read(found, way) if with_facets else Facets()
    return Tally(min(_clusters(found, way), pages), way == "sketch", facets)


def _joined(view: View, query: tantivy.Query) -> bool:
    """Whether any page of the results joined a cluster."""
    return bool(view.searcher.aggregate(query, {_JOINED: {"max": {"field": schema.JOINED}}})[_JOINED]["value"])


def _facets(view: View, query: tantivy.Query, way: str) -> Facets:
    return _read(view.searcher.aggregate(query, _plan(way, True, top=False)), way)


def _plan(way: str, with_facets: bool, top: bool) -> dict[str, Any]:
    ways: dict[str, dict[str, Any]] = {
        "each": {_CLUSTERS: {"terms": {"field": schema.CLUSTER, "size": EXACT}}},
        "sketch": {_CLUSTERS: {"cardinality": {"field": schema.CLUSTER}}},
        "pages": {},
    }
    clusters = ways[way]
    plan: dict[str, Any] = dict(clusters) if top else {}
    for name, (field, size) in _FACETS.items() if with_facets else ():
        plan[name] = {"terms": {"field": field, "size": size}}
        if clusters:
            plan[name]["aggs"] = clusters
    return plan


def _clusters(found: dict[str, Any], way: str) -> int:
    counted = found[_CLUSTERS]
    return len(counted["buckets"]) if way == "each" else round(counted["value"])


def _read(found: dict[str, Any], way: str) -> Facets:
    def counts(name: str) -> list[Count]:
        counted = []
        for bucket in found[name]["buckets"]:
            pages = bucket["doc_count"]
            number = pages if way == "pages" else min(_clusters(bucket, way), pages)
            counted.append(Count(str(bucket["key"]).removesuffix(".0"), number))
        return sorted(counted, key=lambda count: (-count.count, count.value))

    years = sorted(counts("years"), key=lambda count: int(count.value))
    return Facets(
        sites=tuple(counts("sites")),
        languages=tuple(counts("languages")),
        years=tuple(years),
        page_types=tuple(counts("page_types")),
        categories=tuple(counts("categories")),
    )

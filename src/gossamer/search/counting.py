"""How many results there are, and how they spread: counted in clusters, not in pages.

Near copies are one result, so they are one in every number that a reader sees. The index counts
pages fast; what has to be taken off is the *surplus*: of the matching pages of a cluster, all but one.
A page says whether others were in its cluster before it (`joined`), so only clusters with such a page
among the results can have any. They are few: up to `EXACT` joined pages their clusters are counted one by
one; of more, a sample of that size tells the surplus of all, and the numbers are marked as estimates.
A facet's value counts the clusters that have a page with it, which is what a reader gets who chooses it.

The pages of a cluster may lie in different shards. So counting has three steps, of which only the second and the last
speak of more than one index: each shard names the clusters of its `joined` pages; each counts the pages it has of
*all* clusters named (`count`); and the counts are added up (`total`). One index is a list of one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import tantivy

from gossamer.index import schema
from gossamer.model.fields import CustomField, CustomFields
from gossamer.search.crowd import Crowd
from gossamer.search.custom.facets import MOST, aggregation, counts_of, facets_of, shown_facets
from gossamer.search.ordering import Candidate
from gossamer.search.query.operators import FACETS, Facet
from gossamer.search.results import Count, Facets, FieldFacet
from gossamer.search.view import View, any_of, count_of

EXACT = 100
"""Joined pages up to which numbers are exact: each costs a look into every segment of the index."""
_MANY = 10_000
"""Groups that copies may have."""
_VALUES = 500
"""Values of a facet that copies may have."""
_GROUP = "group"
NOBODY = Crowd()
_MUST = tantivy.Occur.Must
Q = tantivy.Query


class Tally(msgspec.Struct, frozen=True):
    """What was counted."""

    total: int
    """Clusters that match."""
    estimated: bool
    facets: Facets
    groups: dict[int, int] = {}
    """Number of a group that was asked for → its clusters."""
    fields: tuple[FieldFacet, ...] = ()
    """The operator's own."""


class Joined(msgspec.Struct, frozen=True):
    """Matching pages that joined a cluster which others had founded."""

    pages: int = 0
    clusters: tuple[int, ...] = ()
    """Theirs; of `EXACT` pages at most."""


class Sharing(msgspec.Struct, frozen=True):
    """How often one value of a facet stands on the pages of some clusters."""

    facet: str
    value: str
    pages: int
    clusters: tuple[int, ...]
    """Those that have such a page."""


class Counted(msgspec.Struct, frozen=True):
    """What one index counted of a query."""

    facets: dict[str, dict[str, int]] = {}
    """Facet → value → pages."""
    members: int = 0
    """Pages of the clusters that were named to it."""
    joined: int = 0
    """Those of them that joined."""
    sharing: tuple[Sharing, ...] = ()
    groups: dict[int, int] = {}
    """Number of a group → pages."""
    grouped_by: str = ""
    """The field, if these are the largest groups of it."""

    def knows(self, crowd: Crowd) -> bool:
        """Whether it has counted some groups."""
        is_whole = len(self.groups) < _VALUES  # what is not among these has no page
        known = is_whole or all(one in self.groups for one in crowd.numbers)
        return not crowd.numbers or (self.grouped_by == crowd.field and known)


def tally(
    view: View, query: tantivy.Query, pages: int, hits: Sequence[Candidate], with_facets: bool, collapsed: bool,
    crowd: Crowd = NOBODY,
) -> Tally:  # fmt: skip
    """Counts the `pages` that match a query, of which `hits` are the best, or all."""
    found = Joined()
    if collapsed and view.has_copies and not (len(hits) == pages and _are_different(view, hits)):
        found = joined(view, query, hits if len(hits) == pages else ())
    counted = count(view, query, found.clusters, bool(pages) and with_facets, crowd=crowd)
    return total(pages, [found], [counted], with_facets, view.fields)


def _are_different(view: View, hits: Sequence[Candidate]) -> bool:
    """Whether no two hits are near copies."""
    return len(set(view.numbers(schema.CLUSTER, [address for _, address in hits]))) == len(hits)


def joined(view: View, query: tantivy.Query, all_hits: Sequence[Candidate] = ()) -> Joined:
    """The clusters of the matching pages that are near copies of earlier ones; `all_hits`: those pages, if they are
    known and few."""
    if 0 < len(all_hits) <= EXACT:
        addresses = [address for _, address in all_hits]
        flags, numbers = view.numbers(schema.JOINED, addresses), view.numbers(schema.CLUSTER, addresses)
        theirs = [number for number, flag in zip(numbers, flags, strict=True) if flag]
        return Joined(len(theirs), tuple(sorted(set(theirs))))
    copies = Q.const_score_query(Q.term_query(view.schema, schema.JOINED, 1), 0.0)
    found = view.searcher.search(Q.boolean_query([(_MUST, _unordered(query)), (_MUST, copies)]), EXACT)
    clusters = set(view.numbers(schema.CLUSTER, [address for _, address in found.hits]))
    return Joined(count_of(found), tuple(sorted(clusters)))


def count(
    view: View, query: tantivy.Query, clusters: Sequence[int], with_facets: bool, shards: int = 1,
    crowd: Crowd = NOBODY,
) -> Counted:  # fmt: skip
    """Counts the matching pages by facet, those of the clusters, and those of some groups.

    A value that is rare in each of several shards may be frequent in all of them: they list more than is shown."""
    facets, groups = _facets(view, query, shards, crowd) if with_facets else ({}, {})
    groups |= _pages_of(view, query, crowd.field, [one for one in crowd.numbers if one not in groups])
    if not clusters:
        return Counted(facets, groups=groups, grouped_by=crowd.field if crowd.largest and with_facets else "")
    theirs = any_of(view.schema, schema.CLUSTER, clusters)
    # All in one pass: to find these pages costs more than to count them.
    asked = Q.boolean_query([(_MUST, _unordered(query)), (_MUST, theirs)])
    field = crowd.field if crowd.numbers else ""
    own = facets_of(view.fields) if with_facets else {}
    found = view.searcher.aggregate(asked, _plan(with_facets, len(clusters), field, own))
    members = {int(bucket["key"]): bucket["doc_count"] for bucket in found["joined"]["buckets"]}
    sharing = [
        Sharing(name, str(bucket["key"]), bucket["doc_count"], _keys(bucket["clusters"]["buckets"]))
        for name in ((*FACETS, *own) if with_facets else ())
        for bucket in found[name]["buckets"]
        if bucket["doc_count"]
    ]
    by_group = {int(bucket["key"]): bucket for bucket in found[_GROUP]["buckets"]} if field else {}
    for number in crowd.numbers:
        if (bucket := by_group.get(number)) is not None:
            keys = _keys(bucket["clusters"]["buckets"])
            sharing.append(Sharing(_GROUP, str(number), bucket["doc_count"], keys))
    return Counted(facets, sum(members.values()), members.get(1, 0), tuple(sharing), groups)


def _pages_of(view: View, query: tantivy.Query, field: str, numbers: Sequence[int]) -> dict[int, int]:
    """Group → pages; all in one pass."""
    if not numbers:
        return {}
    asked = Q.boolean_query([(_MUST, query), (_MUST, any_of(view.schema, field, numbers))])
    found = view.searcher.aggregate(asked, {_GROUP: {"terms": {"field": field, "size": len(numbers)}}})
    pages = {int(bucket["key"]): bucket["doc_count"] for bucket in found[_GROUP]["buckets"]}
    return {number: pages.get(number, 0) for number in numbers}


def total(
    pages: int, found: Sequence[Joined], counted: Sequence[Counted], with_facets: bool, fields: CustomFields = ()
) -> Tally:  # fmt: skip
    """What all indexes counted, added up: clusters instead of pages. `fields`: the operator's own."""
    number = sum(one.pages for one in found)
    estimated = any(one.pages > EXACT for one in found)
    clusters = {cluster for one in found for cluster in one.clusters}
    share = number / max(sum(one.joined for one in counted), 1) if estimated else 1.0
    surplus = share * (sum(one.members for one in counted) - len(clusters)) if clusters else 0.0
    by_value = _surplus_by_value([sharing for one in counted for sharing in one.sharing], share)
    several = [one.facets for one in counted]
    facets = _shown(several, by_value) if pages and with_facets else Facets()
    own = shown_facets(fields, several if pages and with_facets else (), by_value)
    groups: Counter[int] = Counter()
    for one in counted:
        groups.update(one.groups)
    by_group = {number: _less(count, by_value.get((_GROUP, str(number)), 0.0)) for number, count in groups.items()}
    return Tally(_less(pages, surplus), estimated, facets, by_group, own)


def _surplus_by_value(sharing: Iterable[Sharing], share: float) -> dict[tuple[str, str], float]:
    """Facet and value → pages with it beyond the first of their clusters."""
    pages: Counter[tuple[str, str]] = Counter()
    clusters: dict[tuple[str, str], set[int]] = {}
    for one in sharing:
        pages[one.facet, one.value] += one.pages
        clusters.setdefault((one.facet, one.value), set()).update(one.clusters)
    return {place: share * (number - len(clusters[place])) for place, number in pages.items()}


def _unordered(query: tantivy.Query) -> tantivy.Query:
    """The query for those who do not ask for an order."""
    return Q.const_score_query(query, 0.0)


def _keys(buckets: Iterable[dict[str, Any]]) -> tuple[int, ...]:
    return tuple(int(bucket["key"]) for bucket in buckets)


def _by_cluster(clusters: int) -> dict[str, Any]:
    return {"clusters": {"terms": {"field": schema.CLUSTER, "size": clusters}}}


def _plan(with_facets: bool, clusters: int, groups: str, own: Mapping[str, CustomField]) -> dict[str, Any]:
    """`groups`: the field by which pages are grouped; empty: they are not. `own`: facets of the operator's fields."""
    plan: dict[str, Any] = {"joined": {"terms": {"field": schema.JOINED}}}
    by_cluster = _by_cluster(clusters)
    for name, field in own.items():
        plan[name] = aggregation(field, _VALUES) | {"aggs": by_cluster}
    for name, facet in FACETS.items() if with_facets else ():
        plan[name] = {"terms": {"field": facet.field, "size": _VALUES}, "aggs": by_cluster}
    if groups:
        plan[_GROUP] = {"terms": {"field": groups, "size": _MANY}, "aggs": by_cluster}
    return plan


def _facets(
    view: View, query: tantivy.Query, shards: int, crowd: Crowd
) -> tuple[dict[str, dict[str, int]], dict[int, int]]:
    """Facet → value → pages; and groups of the crowd by number, as far as they are among the largest: to count them
    beside the rest takes a fifth of the time of a search for each."""
    plan = {
        name: {"terms": {"field": facet.field, "size": facet.most if shards == 1 else _VALUES}}
        for name, facet in FACETS.items()
    }
    own = facets_of(view.fields)
    # More texts than are shown: spellings are put together.
    plan |= {name: aggregation(field, 3 * MOST if shards == 1 else _VALUES) for name, field in own.items()}
    if crowd.field:
        plan[_GROUP] = {"terms": {"field": crowd.field, "size": _VALUES}}
    found = view.searcher.aggregate(query, plan)
    largest = {bucket["key"]: bucket["doc_count"] for bucket in found[_GROUP]["buckets"]} if crowd.field else {}
    groups = largest if crowd.largest else {one: largest[one] for one in crowd.numbers if one in largest}
    return {name: counts_of(found[name]) for name in (*FACETS, *own)}, groups


def _shown(several: Sequence[dict[str, dict[str, int]]], surplus: dict[tuple[str, str], float]) -> Facets:
    def counts(name: str, facet: Facet) -> tuple[Count, ...]:
        pages: Counter[str] = Counter()
        for facets in several:
            pages.update(facets.get(name, {}))
        most = sorted(pages.items(), key=lambda item: (-item[1], item[0]))[: facet.most]
        counted = [
            Count(value.removesuffix(".0"), _less(number, surplus.get((name, value), 0.0))) for value, number in most
        ]
        if facet.in_order:
            return tuple(sorted(counted, key=lambda count: int(count.value)))
        return tuple(sorted(counted, key=lambda count: (-count.count, count.value)))

    return Facets(**{name: counts(name, facet) for name, facet in FACETS.items()})


def _less(pages: int, surplus: float) -> int:
    """What is left; one at least where there are any."""
    return max(round(pages - surplus), min(pages, 1))

"""From what rules make of a query to a query for the index.

Whatever the rules do is a part of that query, so results, totals, filters and pages of results agree by themselves.
Without rules nothing here is called.
"""

from __future__ import annotations

from collections.abc import Sequence

import tantivy

from gossamer.index import schema
from gossamer.index.document import place
from gossamer.model.site import key64
from gossamer.search.desk.effects import Barred, Boosted, Effects, covers
from gossamer.search.query.building import Builder, Built, Part
from gossamer.search.query.language import parse
from gossamer.search.ranking import RankingConfig
from gossamer.search.results import ScoreExplanation
from gossamer.search.view import View, any_of

Q = tantivy.Query
_MUST, _SHOULD, _NOT = tantivy.Occur.Must, tantivy.Occur.Should, tantivy.Occur.MustNot
_Clause = tuple[tantivy.Occur, tantivy.Query]

FIRST = 100_000.0
"""Score of a page that is put first: more than words can bring."""
_STEP = 1_000.0
"""What the first of several such pages has more than the next."""


def with_rules(view: View, builder: Builder, built: Built, effects: Effects) -> None:
    """Change a built query as the rules demand."""
    if effects.is_idle:
        return
    if effects.unknown:
        built.strict, built.loose, built.given = Q.empty_query(), None, None
        built.strict_bare = None
        return
    narrowing = _barring(view, effects.barred)
    if effects.collection is not None:
        one = effects.collection
        narrowing += _part_of_crawl(view, builder, tuple(map(place, one.sites)), one.filter)
    sets = [(_part_of_crawl(view, builder, one.places, one.filter), one) for one in effects.boosted]
    first = _first(view, effects)
    plain = built.loose or built.strict  # a page that both find has one score
    for part_of, boost in sets:
        extra = Q.boost_query(_all([(_MUST, plain), *part_of]), boost.times - 1.0)
        built.parts.append(Part(boost.rule, extra))
    built.parts += first
    asked = [built.strict] if built.loose is None else [built.strict, built.loose]
    changed = [_changed(query, sets, [one.query for one in first], narrowing) for query in asked]
    built.strict, built.loose = changed[0], changed[1] if len(changed) > 1 else None
    built.strict_bare = built.loose_bare = None
    if built.given is not None:  # pages that are found by their meaning
        built.given = _given(built.given, sets) + narrowing
        if narrowing:
            everything = Q.const_score_query(Q.all_query(), 0.0)
            built.filtered = _all([(_MUST, built.filtered or everything), *narrowing])


def told(why: ScoreExplanation, effects: Effects) -> ScoreExplanation:
    """An explanation that names the rule which keeps a page out."""
    if why.matches:
        return why
    rule = next((one.rule for one in effects.barred if covers(one, why.url)), "")
    if rule:
        return ScoreExplanation(why.url, False, 0.0, (), f"a rule of the search desk keeps it out: {rule}")
    if effects.unknown:
        return ScoreExplanation(why.url, False, 0.0, (), f"there is no collection {effects.unknown}")
    return why


def is_first(score: float) -> bool:
    """Whether a result was put first by a rule."""
    return score >= FIRST / 2


def _changed(
    query: tantivy.Query, sets: Sequence[tuple[list[_Clause], Boosted]], first: Sequence[tantivy.Query],
    narrowing: Sequence[_Clause],
) -> tantivy.Query:  # fmt: skip
    if sets:
        query = _boosted(query, sets)
    if first:
        query = Q.boolean_query([(_SHOULD, query), *((_SHOULD, one) for one in first)])
    return _all([(_MUST, query), *narrowing])


def _given(given: Sequence[_Clause], sets: Sequence[tuple[list[_Clause], Boosted]]) -> list[_Clause]:
    """What scores pages that were found otherwise, with the same boosts."""
    words = [query for occur, query in given if occur == _SHOULD]
    if not sets or not words:
        return list(given)
    boosted = _boosted(Q.boolean_query([(_SHOULD, query) for query in words]), sets)
    return [(_SHOULD, boosted), *((occur, query) for occur, query in given if occur != _SHOULD)]


def _boosted(query: tantivy.Query, sets: Sequence[tuple[list[_Clause], Boosted]]) -> tantivy.Query:
    """Each page once: in the first part of the crawl that it belongs to, or in the rest."""
    clauses: list[_Clause] = []
    before: list[_Clause] = []
    for part_of, boost in sets:
        inside = _all([(_MUST, query), *part_of, *before])
        clauses.append((_SHOULD, Q.boost_query(inside, boost.times)))
        before.append((_NOT, _all(part_of)))
    return Q.boolean_query([*clauses, (_SHOULD, _all([(_MUST, query), *before]))])


def _first(view: View, effects: Effects) -> list[Part]:
    parts = []
    for number, one in enumerate(effects.pinned):
        page = Q.term_query(view.schema, schema.KEY, key64(one.url))
        parts.append(Part(one.rule, Q.const_score_query(page, FIRST + _STEP * (len(effects.pinned) - number))))
    return parts


def _barring(view: View, barred: Sequence[Barred]) -> list[_Clause]:
    keys = [key64(one.url) for one in barred if one.url]
    places = [one.place for one in barred if one.place]
    barring = (schema.KEY, keys), (schema.WITHIN, places)
    return [(_NOT, any_of(view.schema, field, values)) for field, values in barring if values]


def part_of_crawl(view: View, config: RankingConfig, sites: Sequence[str], filter: str) -> list[_Clause]:
    """What keeps the pages of a collection."""
    return _part_of_crawl(view, Builder(view, config), tuple(map(place, sites)), filter)


def _part_of_crawl(view: View, builder: Builder, places: Sequence[str], filter: str) -> list[_Clause]:
    clauses: list[_Clause] = []
    if places:
        clauses.append((_MUST, any_of(view.schema, schema.WITHIN, places)))
    if filter:
        query = parse(filter, view.fields)
        # A field that the index does not have: better no page than all of them.
        clauses += builder.filters(query) if not query.groups else [(_MUST, Q.empty_query())]
    if clauses and all(occur is _NOT for occur, _ in clauses):  # what is only excluded needs something to be left of
        clauses.insert(0, (_MUST, Q.const_score_query(Q.all_query(), 0.0)))
    return clauses


def _all(parts: Sequence[_Clause]) -> tantivy.Query:
    return parts[0][1] if len(parts) == 1 and parts[0][0] == _MUST else Q.boolean_query(parts)

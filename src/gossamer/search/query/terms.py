"""The index terms that the answer to a query may depend on: what a front end has to ask all shards for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gossamer.index import analysis, schema
from gossamer.search.corpus import Place
from gossamer.search.correcting import places_of
from gossamer.search.query.building import PLAIN_FIELDS
from gossamer.search.query.compounds import sought
from gossamer.search.query.language import Query, Term
from gossamer.search.query.signs import sign_units
from gossamer.search.query.words import units


def places(query: Query, languages: analysis.Languages, weights: Mapping[str, float]) -> list[Place]:
    """Every field and term that a query, built for pages in these languages, may look at."""
    terms = [*(term for group in query.groups for term in group), *query.excluded]
    return list(dict.fromkeys(place for term in terms for place in _of(term, languages, weights)))


def wider_places(query: Query, languages: analysis.Languages, weights: Mapping[str, float]) -> list[Place]:
    """The same, with the compounds of the query written another way."""
    others = Query(query.typed, tuple((Term(word),) for word in sought(query)))
    return [*places(query, languages, weights), *places(others, languages, weights)]


def _of(term: Term, languages: analysis.Languages, weights: Mapping[str, float]) -> Iterator[Place]:
    words = analysis.surface_words(term.text)
    yield from ((field, word) for field in PLAIN_FIELDS for word in words)
    if term.field == "url":
        yield from ((schema.ADDRESS, word) for word in analysis.address_words(term.text))
    yield from places_of(term.text, languages)
    if term.phrase:
        return
    for unit in (*sign_units(term.text, weights), *units(term.text, languages, weights)):
        yield from (clause.place for clause in unit.clauses)

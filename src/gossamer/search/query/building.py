"""From a query as understood to a query for the index."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta

import msgspec
import tantivy

from gossamer.index import analysis, schema
from gossamer.index.names import numbers_asked, titles_in
from gossamer.search.corpus import Corpus, Place, narrowed, rarity
from gossamer.search.custom import narrowing
from gossamer.search.desk.effects import Alternative
from gossamer.search.like import asking as like_asking
from gossamer.search.matching import Needle, Phrase
from gossamer.search.query.function_words import is_function_word
from gossamer.search.query.language import Query, Term, phrase_words
from gossamer.search.query.operators import BY_NAME, CHOSEN, OPERATORS, Field, Operator
from gossamer.search.query.phrases import Readings
from gossamer.search.query.signs import with_signs
from gossamer.search.query.words import Clause, Unit, before_nasals, units
from gossamer.search.ranking import RankingConfig
from gossamer.search.results import Request
from gossamer.search.view import View, any_of
from gossamer.search.weights import field_weights

Q = tantivy.Query
_MUST, _SHOULD, _NOT = tantivy.Occur.Must, tantivy.Occur.Should, tantivy.Occur.MustNot
_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}

_NAMES = {
    schema.TITLE: "in the title, as typed", schema.TITLE_STEMS: "in the title, any form",
    schema.BODY: "in the text, as typed", schema.BODY_STEMS: "in the text, any form",
    schema.HEADINGS: "in a heading", schema.ANCHORS: "in a link to the page", schema.ADDRESS: "in the URL",
    schema.NAME: "the query is the name of the page", schema.PART_NAME: "the query is a part of the name of the page",
}  # fmt: skip
"""How explanations call the fields."""
_STEMMED = {schema.TITLE: schema.TITLE_STEMS, schema.BODY: schema.BODY_STEMS}
_ALIKE = 0.7
"""Share of a stem's pages from which on the word as typed tells no more than the stem."""
PLAIN_FIELDS = (schema.TITLE, schema.BODY)
_PHRASE_FIELDS: dict[Field, tuple[str, ...]] = {
    "any": PLAIN_FIELDS, "title": (schema.TITLE,), "url": (schema.ADDRESS,),
}  # fmt: skip
_FEW_PAGES = 40
"""In a smaller index no word is common."""
_MOST_OF_WORD = 2.2
"""What BM25 can give for a word at most, as a multiple of its rarity."""


_Clause = tuple[tantivy.Occur, tantivy.Query]


class Part(msgspec.Struct, frozen=True):
    """A clause of the final query, kept for explanations."""

    name: str
    query: tantivy.Query


class _Group(msgspec.Struct, frozen=True):
    """The clauses any of which satisfies a part of the query, and whether a page must satisfy it."""

    clauses: list[tantivy.Query]
    needed: bool
    firm: bool = False
    """A phrase, or a word in the title or URL: whoever writes that means it, however few pages have it."""
    places: int = 0
    """Entries of the index to look at for the clauses."""


class Built(msgspec.Struct):
    """A query for the index, and what was learned on the way."""

    strict: tantivy.Query
    """Pages that have what was asked for."""
    loose: tantivy.Query | None
    """Pages that have some of it, for when there are few of the others; None where that makes no difference."""
    parts: list[Part]
    needles: list[Needle | Phrase]
    words: list[str]
    """The plain words, as the index spells them."""
    exact: int = 0
    """Pages that `strict` matches, once the index was asked."""
    by_words: int = 0
    """Pages that the query found by its words, in the end."""
    given: list[tuple[tantivy.Occur, tantivy.Query]] | None = None
    """Scores pages that were found otherwise, those that fit the filters; None if the words themselves are meant."""
    filtered: tantivy.Query | None = None
    """All pages that fit the filters, if there are any."""
    strict_bare: tantivy.Query | None = None
    """Matches what `strict` matches, for those who only count: without what helps the order; None if nobody made it."""
    loose_bare: tantivy.Query | None = None
    """The same for `loose`."""

    def bare(self, query: tantivy.Query) -> tantivy.Query:
        """What matches the same pages as a query in the least time."""
        known = (self.strict, self.strict_bare), (self.loose, self.loose_bare)
        return next((bare for one, bare in known if one is query and bare is not None), query)


class Builder:
    """Builds one query for one state of the index."""

    def __init__(
        self, view: View, config: RankingConfig, corpus: Corpus | None = None,
        others: Sequence[tuple[int, Alternative]] = (),
    ) -> None:  # fmt: skip
        """`corpus`: the numbers of all documents, where the index holds a part of them only; `others`: synonyms of
        groups of the query, by number."""
        self._view, self._schema, self._config, self._fields = view, view.schema, config, view.fields
        self._corpus = corpus or view
        self._languages = self._corpus.languages
        """Of the pages that the query may find."""
        self._weights = field_weights(config)
        self._used: set[tuple[str, str]] = set()
        self._readings = Readings()
        self._slight: frozenset[str] = frozenset()
        self._told = 0.0
        self._others: Mapping[int, list[Alternative]] = grouped(others)

    def build(self, query: Query, request: Request, now: float) -> Built:
        """The whole query: words, exclusions, filters."""
        built = Built(Q.empty_query(), None, [], [], [])
        self._languages = narrowed(self._corpus.languages, chosen_languages(query, request))
        built.needles += like_asking.needles(query.like, self._languages)
        groups: list[_Group] = []
        self._slight = self._function_words(query)
        for number, alternatives in enumerate(query.groups):
            groups += self._widened(self._group(alternatives, built), number, built)
        filters = [
            *self.filters(query, built.parts),
            *self._chosen(request, now, query.newest or request.sort == "date"),
        ]
        filters += [(_NOT, self._excluded(term)) for term in query.excluded]
        if not groups and query.groups:
            return built  # only words that the index leaves out, such as one of 120 letters: no page has them
        if not groups:
            scored = query.values("like")
            built.strict = _all([*([] if scored else [(_MUST, self._everything())]), *filters])
            return built
        self._join(built, query, groups, filters)
        return built

    def _join(self, built: Built, query: Query, groups: Sequence[_Group], filters: Sequence[_Clause]) -> None:
        """The two queries that groups make."""
        firm = [(_MUST, _any(one.clauses)) for one in groups if one.firm]
        plain = [one for one in groups if not one.firm]
        any_word = [clause for one in plain for clause in one.clauses]
        required = [one for one in plain if one.needed] or plain
        is_long = len(required) + len(self._slight) > self._config.all_of
        full = [(_MUST, _any(one.clauses)) for one in required] if not is_long else []
        helpful = [clause for one in plain if one not in required for clause in one.clauses] if full else any_word
        named, is_name = self._named(query, built)
        extra = [*_should(named if is_name else ()), *_should(self._near(query, built))]
        complete = self._complete([*full, *firm], built)
        certain = extra + _should(self._certainly_complete(required if full else [], complete))
        extra += _should(complete)
        if not firm:
            built.given = [*_should(any_word), *extra, *filters]
            built.filtered = _all([(_MUST, self._everything()), *filters]) if filters else None
        if len(full) > 1 and named and not firm and titles_in(query.typed):
            # A title that was copied with the name of its site: the page need not say that name.
            either = _any([Q.const_score_query(one, 0.0) for one in (_all(full), *named)])
            built.strict = _all([(_MUST, either), *_should(any_word), *extra, *filters])
            built.strict_bare = _all([(_MUST, either), *filters])
        elif full or firm:
            built.strict = _all([*full, *firm, *_should(helpful), *certain, *filters])
            built.strict_bare = _all([*full, *firm, *filters])
        else:
            built.strict = _all([(_MUST, _any(any_word)), *extra, *filters])
            built.strict_bare = _all([(_MUST, _any(any_word)), *filters])
        if len(full) > 1 or (full and firm):
            some = _should(any_word) if firm else [(_MUST, _any(any_word))]
            built.loose = _all([*firm, *some, *extra, *filters])
            built.loose_bare = _all([*(firm or some), *filters])

    def _function_words(self, query: Query) -> frozenset[str]:
        """The words of a query that weigh little; none if it has no others."""
        words = plain_words(query)
        languages = self._languages.codes
        found = frozenset(word for word in words if is_function_word(word, languages))
        return found if len(found) < len(set(words)) else frozenset()

    def _named(self, query: Query, built: Built) -> tuple[list[tantivy.Query], bool]:
        """Pages whose name is the query, and whether there are any."""
        if any(len(group) > 1 or group[0].field != "any" for group in query.groups):
            return [], False
        is_bare = not query.filters and not query.excluded
        numbers = numbers_asked(query.typed if is_bare else " ".join(group[0].text for group in query.groups))
        weights = ((schema.NAME, self._config.name), (schema.PART_NAME, self._config.part_name))
        fields = {field: weight for field, weight in weights if weight and numbers}
        found = [
            self._bonus(_NAMES[field], any_of(self._schema, field, numbers), weight, built)
            for field, weight in fields.items()
        ]
        return found, any(self._view.holds(field, number) for field in fields for number in numbers)

    def _near(self, query: Query, built: Built) -> list[tantivy.Query]:
        """Texts with neighbouring words of a short query side by side."""
        terms = [group[0] for group in query.groups if len(group) == 1 and group[0].field == "any"]
        words = [word for term in terms for word in analysis.surface_words(term.text)]
        if not self._config.near or len(words) > self._config.all_of:
            return []
        told = [word for word in words if word not in self._slight]
        found = []
        for pair in dict.fromkeys(pair for pair in itertools.pairwise(told) if pair[0] != pair[1]):
            if all(self._corpus.pages(schema.BODY, word) for word in pair) and self._readings.spend(1):
                side_by_side = Q.phrase_query(self._schema, schema.BODY, list(pair))
                near = Q.boost_query(side_by_side, self._config.near * self._corpus.boost(schema.BODY, pair))
                built.parts.append(Part(f'{_NAMES[schema.BODY]}: "{" ".join(pair)}"', near))
                found.append(near)
        return found

    def _complete(self, full: Sequence[_Clause], built: Built) -> list[tantivy.Query]:
        """Pages that have all that was asked for, to stand before those that have some of it."""
        weight = self._config.all_words
        return [self._bonus("all words of the query", _all(full), weight, built)] if weight and full else []

    def _certainly_complete(
        self, required: Sequence[_Group], complete: Sequence[tantivy.Query]
    ) -> Sequence[tantivy.Query]:
        """The same, asked of pages that have all of it: the rarest of the words tells it, in less time than all."""
        if not complete or len(required) < 2:
            return complete
        rarest = min(required, key=lambda one: one.places)
        return [Q.const_score_query(_any(rarest.clauses), self._worth(self._config.all_words))]

    def _bonus(self, name: str, query: tantivy.Query, weight: float, built: Built) -> tantivy.Query:
        query = Q.const_score_query(query, self._worth(weight))
        built.parts.append(Part(name, query))
        return query

    def _worth(self, weight: float) -> float:
        """What a weight is worth in scores, as a share of what the words of the query can give."""
        return weight * _MOST_OF_WORD * self._told

    def _everything(self) -> tantivy.Query:
        """All pages: each has a key."""
        pages = Q.range_query(self._schema, schema.KEY, tantivy.FieldType.Integer, -(2**63), 2**63 - 1)
        return Q.const_score_query(pages, 0.0)

    def _group(self, alternatives: Sequence[Term], built: Built) -> list[_Group]:
        """What one group of the query asks for."""
        if len(alternatives) == 1 and alternatives[0].field == "any" and not alternatives[0].phrase:
            text = alternatives[0].text
            found = list(units(text, self._languages, self._weights))
            found = with_signs(text, found, self._weights, self._corpus.pages)
            groups = [
                _Group(self._unit(unit, built), self._is_needed(unit), places=sum(map(self._entries, unit.clauses)))
                for unit in found
            ]
            return [group for group in groups if group.clauses]
        choices = [choice for choice in (self._term(term, built) for term in alternatives) if choice is not None]
        firm = any(term.phrase or term.field != "any" for term in alternatives)
        return [_Group(choices, True, firm)] if choices else []

    def _widened(self, groups: list[_Group], number: int, built: Built) -> list[_Group]:
        """The same groups, which synonyms satisfy as well."""
        for one in self._others.get(number, ()):
            scratch = Built(Q.empty_query(), None, [], [], [])
            kept = self._readings, self._told
            self._readings = Readings()  # what was typed keeps all of its readings
            found = self._term(Term(one.text, one.phrase), scratch)
            self._readings, self._told = kept  # and is worth what it is worth without synonyms
            if found is None:
                continue
            if one.lang:
                found = _all([(_MUST, found), (_MUST, self._one_of(BY_NAME["lang"], (one.lang,)))])
            found = Q.boost_query(found, one.weight / max(len(groups), 1))
            built.needles += scratch.needles
            for group in groups:
                group.clauses.append(found)
                built.parts.append(Part(f"{one.rule}: “{one.text}”", found))
        return groups

    def _term(self, term: Term, built: Built) -> tantivy.Query | None:
        """One alternative of an OR, a phrase, or a word in a field."""
        words = phrase_words(term, excluded=False)
        if words is not None:
            if words and term.field != "url":
                built.needles.append(phrase_needle(words))
                self._told += sum(self._rarity_of((schema.BODY, word)) for word in dict.fromkeys(words))
            return self._phrase(term.field, words, built)
        weights = self._weights
        if term.field == "title":
            weights = {field: weights[field] for field in (schema.TITLE, schema.TITLE_STEMS)}
        found = list(units(term.text, self._languages, weights))
        needed = [unit for unit in found if not unit.optional] or found
        if not needed:
            return None
        return _all([(_MUST, _any(self._unit(unit, built))) for unit in needed])

    def _phrase(self, where: Field, words: Sequence[str], built: Built | None) -> tantivy.Query | None:
        """Words that follow each other in a field; those that the readings do not suffice for, anywhere in it."""
        if not words:
            return None
        head = self._readings.head(words)
        rest = [(word,) for word in dict.fromkeys(words[head:]) if word not in words[:head]]
        return _any(
            [
                _all([(_MUST, self._row(field, row, built)) for row in (words[:head], *rest)])
                for field in _PHRASE_FIELDS[where]
            ]
        )

    def _row(self, field: str, words: Sequence[str], built: Built | None) -> tantivy.Query:
        if len(words) == 1:
            query = Q.term_query(self._schema, field, words[0])
        else:
            query = Q.phrase_query(self._schema, field, list(words))
        weight = max(self._weights.get(field, 1.0), 0.1)
        query = Q.boost_query(query, weight * self._corpus.boost(field, words))
        if built is not None:
            built.parts.append(Part(f'{_NAMES[field]}: "{" ".join(words)}"', query))
        return query

    def _unit(self, unit: Unit, built: Built) -> list[tantivy.Query]:
        built.needles.append(msgspec.structs.replace(unit.needle, weight=self._rarity(unit)))
        if not unit.optional:
            built.words.append(unit.text)
        rare = self._rarest(unit)
        slight = self._config.function_words if unit.text in self._slight else 1.0
        if not unit.optional:
            self._told += rare * slight
        # Pairs of characters overlap: those that only help the order count once.
        wanted = [one for one in self._telling(unit.clauses) if not (unit.optional and one.place in self._used)]
        self._used.update(one.place for one in wanted)
        # What no page has costs a look into every part of the index; one is left, so that the word is still asked for.
        wanted = [one for one in wanted if self._corpus.pages(*one.place)] or wanted[:1]
        clauses = [(clause, self._clause(clause, rare, slight)) for clause in wanted]
        built.parts += [Part(f"{_NAMES[clause.field]}: {clause.term}", query) for clause, query in clauses]
        return [query for _, query in clauses]

    def _entries(self, clause: Clause) -> int:
        return self._corpus.pages(*clause.place)

    def _rarest(self, unit: Unit) -> float:
        """How rare a word is in texts, in whatever form: the weight of the form that most pages have."""
        places = [clause.place for clause in unit.clauses if clause.field in (schema.BODY, schema.BODY_STEMS)]
        return min(map(self._rarity_of, places), default=0.0)

    def _rarity_of(self, place: Place) -> float:
        pages = self._corpus.pages(*place)
        return rarity(pages, max(self._corpus.documents, pages))

    def _clause(self, clause: Clause, rare: float, factor: float) -> tantivy.Query:
        """A word in a field, as rare as it is in texts: `what` is in few titles, and tells nothing there either."""
        if clause.field not in (schema.BODY, schema.BODY_STEMS):
            factor *= min(1.0, rare / self._rarity_of(clause.place))
        weight = clause.weight * factor * self._corpus.boost(clause.field, (clause.term,))
        return Q.boost_query(Q.term_query(self._schema, clause.field, clause.term, "freq"), weight)

    def _telling(self, clauses: Sequence[Clause]) -> list[Clause]:
        """The clauses without words as typed that stand nearly wherever their stem does: the stem takes their weight.

        To look into a long list twice would cost time and tell nothing."""
        typed = next((clause for clause in clauses if clause.field == schema.BODY), None)
        stems = [clause for clause in clauses if clause.field == schema.BODY_STEMS]
        if typed is None or len(stems) != 1:
            return list(clauses)
        as_typed, as_stem = self._corpus.pages(*typed.place), self._corpus.pages(*stems[0].place)
        # More pages than the stem has: some are in a language that words of queries are not stemmed in.
        if as_typed < _ALIKE * as_stem or as_typed > as_stem:
            return list(clauses)
        extra = {_STEMMED[clause.field]: clause.weight for clause in clauses if clause.field in _STEMMED}
        return [
            msgspec.structs.replace(clause, weight=clause.weight + extra.get(clause.field, 0.0))
            for clause in clauses
            if clause.field not in _STEMMED
        ]

    def _share(self, unit: Unit) -> float:
        """The share of pages that have a word in their text."""
        clause = next((clause for clause in unit.clauses if clause.field == schema.BODY_STEMS), None)
        if clause is None:
            return 0.0
        return self._corpus.pages(*clause.place) / max(self._corpus.documents, _FEW_PAGES)

    def _is_needed(self, unit: Unit) -> bool:
        """Whether a page must have a word; not one that tells nothing."""
        return not unit.optional and unit.text not in self._slight and self._share(unit) <= self._config.common

    def _rarity(self, unit: Unit) -> float:
        """What finding a word in a text is worth, from 0 (every page has it) to 1."""
        return min(1.0, -math.log10(max(self._share(unit), 1e-4)) / 4) if not unit.optional else 0.1

    def _excluded(self, term: Term) -> tantivy.Query:
        return self._phrase(term.field, phrase_words(term, excluded=True) or (), None) or Q.empty_query()

    def filters(self, query: Query, parts: list[Part] | None = None) -> list[tuple[tantivy.Occur, tantivy.Query]]:
        """What a query keeps and leaves out by operators; `parts` gets those that score."""
        filters = [
            (occur, self._one_of(operator, values))
            for operator in OPERATORS
            if operator.kind == "value"
            for occur, excluded in ((_MUST, False), (_NOT, True))
            if (values := query.values(operator.name, excluded))
        ]
        after, before = (next(map(date.fromisoformat, query.values(name)), None) for name in ("after", "before"))
        if after or before:
            filters.append((_MUST, self._dated(_midnight(after), _midnight(before))))
        filters += narrowing.clauses(self._schema, query, self._fields)
        if query.values("like"):
            for name, clause in like_asking.clauses(self._schema, self._corpus, query.like):
                filters.append(clause)
                if name and parts is not None:
                    parts.append(Part(name, clause[1]))
        return filters

    def _chosen(self, request: Request, now: float, newest: bool) -> list[tuple[tantivy.Occur, tantivy.Query]]:
        """What was chosen beside the words."""
        # What lies in the future is no news, but a clock or a page may be ahead by some hours.
        future = int(now) + 2 * 86_400
        filters = [(_NOT, self._dated(future, None))] if newest or request.since else []
        filters += [
            (_MUST, self._one_of(operator, (value,)))
            for name, operator in CHOSEN.items()
            if (value := getattr(request, name))
        ]
        filters += narrowing.clauses(self._schema, narrowing.chosen(request.fields, self._fields), self._fields)
        if request.since:
            # Most dates are days: the last day begins yesterday at midnight.
            start = datetime.fromtimestamp(now, UTC).date() - timedelta(days=_DAYS[request.since])
            filters.append((_MUST, self._dated(_midnight(start), future)))
        return filters

    def _one_of(self, operator: Operator, values: Iterable[str]) -> tantivy.Query:
        return any_of(self._schema, operator.field, list(map(operator.spell, values)))

    def _dated(self, start: int | None, end: int | None) -> tantivy.Query:
        kind = tantivy.FieldType.Integer
        low, high = -(2**62) if start is None else start, 2**62 if end is None else end
        dates = Q.range_query(self._schema, schema.DATE, kind, low, high, include_upper=False)
        return Q.const_score_query(dates, 0.0)


def chosen_languages(query: Query, request: Request) -> list[str]:
    """The languages that pages must be in; none if any will do."""
    chosen = [request.lang] if request.lang else query.values("lang")
    return [lang.partition("-")[0].lower() for lang in chosen]


def grouped(others: Iterable[tuple[int, Alternative]]) -> dict[int, list[Alternative]]:
    """Synonyms by the number of the group that they belong to."""
    found: dict[int, list[Alternative]] = {}
    for number, one in others:
        found.setdefault(number, []).append(one)
    return found


def plain(form: tantivy.Schema, query: Query, corpus: Corpus) -> tantivy.Query:
    """Any of the words, as they stand, in title or text: what plain BM25 looks at."""

    def clause(field: str, word: str) -> tantivy.Query:
        term, boost = Q.term_query(form, field, word), corpus.boost(field, (word,))
        return term if boost == 1.0 else Q.boost_query(term, boost)

    return _any([clause(field, word) for word in plain_words(query) for field in PLAIN_FIELDS])


def plain_words(query: Query) -> list[str]:
    """The words of a query as they stand in the index, without regard to operators."""
    return [word for group in query.groups for term in group for word in analysis.surface_words(term.text)]


def phrase_needle(words: Sequence[str]) -> Phrase:
    """How an excerpt finds a phrase."""
    return Phrase(tuple(_exact(word) for word in words))


def _exact(word: str) -> Needle:
    return Needle(
        prefix=before_nasals(word) or word, word=word, forms=lambda other: analysis.surface_words(other) == [word],
        inside=analysis.is_spaceless(word),
    )  # fmt: skip


def _midnight(day: date | None) -> int | None:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) if day else None


def _all(parts: Sequence[tuple[tantivy.Occur, tantivy.Query]]) -> tantivy.Query:
    return parts[0][1] if len(parts) == 1 else Q.boolean_query(parts)


def _any(queries: Sequence[tantivy.Query]) -> tantivy.Query:
    if not queries:
        return Q.empty_query()
    return queries[0] if len(queries) == 1 else Q.boolean_query(_should(queries))


def _should(queries: Iterable[tantivy.Query]) -> list[tuple[tantivy.Occur, tantivy.Query]]:
    return [(_SHOULD, query) for query in queries]

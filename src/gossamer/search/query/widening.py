"""A wider query, for where the one that was typed finds little (`Request.wider`).

What the query itself finds stays. Behind it come pages that have a phrase of it with other forms of its words; beside
it, pages that write one of its compounds another way.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import tantivy

from gossamer.index import analysis
from gossamer.search.corpus import Corpus
from gossamer.search.correcting import frequency_of
from gossamer.search.desk.asking import with_rules
from gossamer.search.desk.effects import Effects
from gossamer.search.matching import Phrase
from gossamer.search.query.building import PLAIN_FIELDS, Builder, Built, Part
from gossamer.search.query.compounds import variants
from gossamer.search.query.forms import any_form
from gossamer.search.query.language import Query
from gossamer.search.query.operators import Field
from gossamer.search.query.words import needle_of
from gossamer.search.ranking import RankingConfig
from gossamer.search.results import Request
from gossamer.search.view import View

Q = tantivy.Query
_SHOULD = tantivy.Occur.Should
_AS_TYPED = 100.0
"""What a page gains that matches the query as typed: more than any words can give."""
_MOST = 4
"""Phrases whose other forms are looked for."""


def build(view: View, config: RankingConfig, corpus: Corpus, effects: Effects, request: Request, now: float) -> Built:
    """The query for the index, the wider one if the request asks for it, under the rules of the desk."""
    builder = Builder(view, config, corpus, effects.alternatives)
    built = builder.build(effects.query, request, now)
    if request.wider:
        built = _wider(view, config, corpus, built, effects.query, request, now)
    with_rules(view, builder, built, effects)
    return built


def _wider(
    view: View, config: RankingConfig, corpus: Corpus, built: Built, query: Query, request: Request, now: float
) -> Built:

    def frequency(word: str) -> int:
        return frequency_of(word, corpus.pages, corpus.languages)

    # A word in two parts is often two words far apart: only a phrase is meant as it was typed.
    has_phrase = any(term.phrase for group in query.groups for term in group)
    others = [_WideBuilder(view, config, corpus).build(query, request, now)] if has_phrase else []
    others += [Builder(view, config, corpus).build(other, request, now) for other in variants(query, frequency)]
    as_typed = [Part("the query as typed", Q.const_score_query(built.strict, _AS_TYPED))] if has_phrase else []
    every = [built.strict, *(part.query for part in as_typed), *(other.strict for other in others)]
    return msgspec.structs.replace(
        built,
        strict=Q.boolean_query([(_SHOULD, one) for one in every]),
        strict_bare=None,
        loose=None,
        parts=[*built.parts, *as_typed, *(part for other in others for part in other.parts)],
        needles=[*built.needles, *(needle for other in others for needle in other.needles)],
    )


class _WideBuilder(Builder):
    """Reads phrases as phrases of any forms of their words."""

    def __init__(self, view: View, config: RankingConfig, corpus: Corpus) -> None:
        super().__init__(view, config, corpus)
        self._left = _MOST

    def _phrase(self, where: Field, words: Sequence[str], built: Built | None) -> tantivy.Query | None:
        if where != "any" or built is None or not self._left:
            return super()._phrase(where, words, built)
        self._left -= 1
        forms = [any_form(words, field, self._view, self._languages) for field in PLAIN_FIELDS]
        found = [query for query in forms if query is not None]
        if not found:
            return super()._phrase(where, words, built)
        any_way = Part(
            "other forms of the words", Q.boolean_query([(_SHOULD, Q.const_score_query(one, 1.0)) for one in found])
        )
        built.parts.append(any_way)
        stems = [analysis.query_stems(word, self._languages) for word in words]
        needles = [needle_of(word, mine, self._languages) for word, mine in zip(words, stems, strict=True)]
        built.needles.append(Phrase(tuple(needles)))
        return any_way.query

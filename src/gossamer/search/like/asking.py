"""From what pages must share with a page to a part of a query for the index."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock

import msgspec
import tantivy

from gossamer.index import analysis, schema
from gossamer.index.analysis import Languages
from gossamer.search.corpus import Corpus
from gossamer.search.desk.effects import Effects, covers
from gossamer.search.like.telling import likeness, sample
from gossamer.search.like.values import Likeness, Sample, TellingWord, name_of
from gossamer.search.matching import Needle
from gossamer.search.query.words import needle_of
from gossamer.search.results import Request
from gossamer.search.view import View

SHARED = 2
"""Telling words that a page must have: with one, nearly every page is like every other (decision 39)."""
_IN_TITLE = 0.5
"""What a word counts once more in the title of a page."""
_REMEMBERED = 100
"""Pages whose words are remembered."""
_MUST, _SHOULD, _NOT = tantivy.Occur.Must, tantivy.Occur.Should, tantivy.Occur.MustNot
Q = tantivy.Query
_Clause = tuple[tantivy.Occur, tantivy.Query]


class Likenesses:
    """What pages must share with others, remembered while the index stays as it is; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._view: View | None = None
        self._known: dict[str, Likeness | None] = {}

    def into(self, effects: Effects, request: Request, view: View) -> Effects:
        """The same effects, with the page of `like:` looked up; without that operator nothing happens."""
        value = asked_for(effects)
        if not value:
            return effects
        known = self._remembered(view)
        if value not in known:
            page = sample(view, value)
            if len(known) >= _REMEMBERED:
                known.clear()
            known[value] = likeness(page, view.documents, view.pages) if page is not None else None
        return with_likeness(effects, request, known[value])

    def _remembered(self, view: View) -> dict[str, Likeness | None]:
        with self._lock:
            if self._view is not view:
                self._view, self._known = view, {}
            return self._known


def asked_for(effects: Effects) -> str:
    """The value of `like:`; empty where nobody asks for it."""
    return next(iter(effects.query.values("like")), "")


def is_hidden(url: str, effects: Effects) -> bool:
    """Whether the desk keeps a page from readers, who must not learn its words this way."""
    return any(covers(one, url) for one in effects.barred)


def with_likeness(effects: Effects, request: Request, found: Likeness | None) -> Effects:
    """The effects of a query that knows what its pages must share; None: there is no such page."""
    if found is None or is_hidden(found.url, effects):
        found = Likeness(name_of("", asked_for(effects)), found=False)
    if request.lang or effects.query.values("lang"):  # whoever names a language means it
        found = msgspec.structs.replace(found, lang="")
    return msgspec.structs.replace(effects, query=msgspec.structs.replace(effects.query, like=found))


def places(page: Sample | None) -> list[tuple[str, str]]:
    """What the index is looked at for."""
    words = page.words if page is not None else ()
    return [(field, word.stem) for word in words for field in (schema.BODY_STEMS, schema.TITLE_STEMS)]


def clauses(form: tantivy.Schema, corpus: Corpus, like: Likeness | None) -> Iterator[tuple[str, _Clause]]:
    """The clauses that keep pages which are like another, with the names of those that score."""
    if like is None or not like.words:
        yield "", (_MUST, Q.empty_query())
        return
    texts = [_clause(form, corpus, schema.BODY_STEMS, word, 1.0) for word in like.words]
    titles = [_clause(form, corpus, schema.TITLE_STEMS, word, _IN_TITLE) for word in like.words]
    shared = Q.boolean_query([(_SHOULD, one) for one in texts], minimum_number_should_match=min(SHARED, len(texts)))
    yield "words that it shares", (_MUST, shared)
    yield "words that it shares, in its title", (_SHOULD, Q.boolean_query([(_SHOULD, one) for one in titles]))
    yield "", (_NOT, Q.term_query(form, schema.CLUSTER, like.cluster))
    if like.lang:
        yield "", (_MUST, Q.const_score_query(Q.term_query(form, schema.LANG, like.lang), 0.0))


def needles(like: Likeness | None, languages: Languages) -> Iterator[Needle]:
    """How excerpts find the words."""
    for word in like.words if like is not None else ():
        if analysis.is_spaceless(word.stem):
            yield Needle(word.stem, word.stem, lambda _: True, inside=True, weight=word.weight)
        else:
            found = needle_of(word.shown, [word.stem], languages)
            yield msgspec.structs.replace(found, weight=word.weight)


def _clause(form: tantivy.Schema, corpus: Corpus, field: str, word: TellingWord, factor: float) -> tantivy.Query:
    weight = factor * word.weight * corpus.boost(field, (word.stem,))
    return Q.boost_query(Q.term_query(form, field, word.stem, "freq"), weight)

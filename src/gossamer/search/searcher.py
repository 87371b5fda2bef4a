"""Answers requests from the index: finds, orders, collapses copies, cuts excerpts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import tantivy

from gossamer.clock import Clock, SystemClock
from gossamer.index import commits
from gossamer.index.analysis import surface_words
from gossamer.index.folder import IndexFolder
from gossamer.model.site import key64
from gossamer.search import ordering
from gossamer.search.asking import ask_index, continuations
from gossamer.search.attempts.ladder import Standing, Step, climb, steps
from gossamer.search.attempts.reasons import Reason, of_empty, reason
from gossamer.search.attempts.wording import explained
from gossamer.search.correcting import frequency_of, respelled
from gossamer.search.counting import tally
from gossamer.search.custom.orders import is_ordered, order_of
from gossamer.search.desk.acting import NO_RULES, DeskRules
from gossamer.search.desk.asking import is_first, told
from gossamer.search.desk.effects import Effects
from gossamer.search.excerpt import Highlighter
from gossamer.search.explaining import explain
from gossamer.search.hits import make_hit, stored_page
from gossamer.search.limits import (
    DEPTH,
    ENOUGH,
    MAX_PREFIX,
    MAX_SIZE,
    WINDOW,
    Span,
    depth_for,
    relaxed_notice,
    span_of,
)
from gossamer.search.ordering import Candidate, Collapsed, Leaders, Ranks
from gossamer.search.overview import example, outline, overview
from gossamer.search.query.building import Built, plain
from gossamer.search.query.language import Query, parse, render
from gossamer.search.query.widening import build
from gossamer.search.ranking import RankingConfig
from gossamer.search.results import (
    Attempt,
    Hit,
    IndexState,
    Overview,
    Request,
    Results,
    ScoreExplanation,
    StoredPage,
)
from gossamer.search.suggest import Spelling, complete
from gossamer.search.translations import linked
from gossamer.search.view import View, Views

if TYPE_CHECKING:
    from gossamer.search.semantic.mixing import Meaning, Mixture

_READING = 0.5
"""Seconds that a suggestion waits for the words of an index that was opened just now."""


class _Asked(NamedTuple):
    """A query that the index was asked, and what it found."""

    request: Request
    effects: Effects
    """What the rules of the desk make of it."""
    built: Built
    asked: tantivy.Query
    matching: int
    hits: list[Candidate]
    notices: list[str]

    @property
    def query(self) -> Query:
        """The query as it is asked."""
        return self.effects.query

    @property
    def standing(self) -> Standing:
        """How much that is."""
        return Standing(self.built.exact, self.built.by_words)


class _Climbed(NamedTuple):
    """What was searched in the end."""

    asked: _Asked
    spelled: Callable[[], Query | None]
    attempt: Attempt | None = None

    def correction(self) -> str:
        """The query as typed, respelled; empty where there is no reason to."""
        other = self.spelled()
        return render(other) if other is not None else ""


class Searcher:
    """The one way to ask the index; safe to share between threads."""

    def __init__(
        self,
        folder: IndexFolder,
        config: RankingConfig | None = None,
        ranks: Ranks | None = None,
        clock: Clock | None = None,
        leaders: Leaders | None = None,
        meaning: Meaning | None = None,
        desk: DeskRules | None = None,
    ) -> None:
        """`meaning`: by default the one that the settings ask for."""
        self._views = Views(folder)
        self._config = config or RankingConfig()
        self._meaning = meaning or meaning_of(folder, self._config)
        self._ranks, self._leaders = ranks, leaders
        self._clock = clock or SystemClock()
        self._desk = desk

    def under(self, desk: DeskRules) -> Searcher:
        """A searcher of the same index under other rules of the desk, which remembers nothing."""
        other = Searcher.__new__(Searcher)
        other._views, other._config, other._clock = self._views, self._config, self._clock
        other._ranks, other._leaders, other._desk = self._ranks, self._leaders, desk
        other._meaning = self._meaning
        return other

    @classmethod
    def open(cls, root: Path, config: RankingConfig | None = None) -> Searcher:
        """A searcher of an index folder, which must exist."""
        searcher = cls(IndexFolder(root), config)
        searcher.state()
        return searcher

    def search(self, request: Request) -> Results:
        """The results of a request."""
        started = self._clock.now()
        view = self._views.current()
        with commits.checking(view.folder):
            results = self._search(view, request)
        return msgspec.structs.replace(results, seconds=self._clock.now() - started)

    def similar(self, request: Request, url: str) -> tuple[Hit, ...]:
        """The near copies that are collapsed under a hit of the request, best first."""
        view = self._views.current()
        with commits.checking(view.folder):
            asked = self._climb(view, request).asked
            _, _, hits = self._find(view, asked.built, asked.query, asked.request, DEPTH, [])
            highlighter = Highlighter(asked.built.needles)
            copies = ordering.copies_of(view, hits, url)[:MAX_SIZE]
            return tuple(make_hit(view, hit, 0, highlighter) for hit in copies)

    def suggest(self, prefix: str, limit: int = 8) -> list[str]:
        """How a query that is being typed may go on: words and titles of the index."""
        prefix = prefix[:MAX_PREFIX].encode("utf-8", "replace").decode()
        words = surface_words(prefix)
        if not words or limit < 1:
            return []
        view = self._views.current()
        with commits.checking(view.folder):
            terms, titles = continuations(view, words, limit, lambda word: self._beginning_nearly(view, word))
        return complete(prefix, terms, [title for _, title in titles], limit)

    def page(self, url: str) -> StoredPage | None:
        """The stored text of a page."""
        view = self._views.current()
        with commits.checking(view.folder):
            return stored_page(view, url)

    def urls(self, request: Request, limit: int) -> list[str]:
        """The URLs of the best results, without excerpts."""
        view = self._views.current()
        with commits.checking(view.folder):
            if parse(request.query, view.fields).is_empty:
                return []
            hits = self._climb(view, request, limit).asked.hits
            return [view.stored(address).url for _, address in hits[:limit]]

    def explain(self, request: Request, url: str) -> ScoreExplanation:
        """Why a page has the score it has for a request."""
        view = self._views.current()
        with commits.checking(view.folder):
            address = view.find(key64(url))
            if address is None:
                return ScoreExplanation(url, False, 0.0, (), "the page is not in the index")
            climbed = self._climb(view, request).asked
            query, built, request = climbed.query, climbed.built, climbed.request
            wish = ordering.wish_of(query, request, built, self._clock.now())
            asked, _, hits = self._by_words(view, built, query, request, 1, [])
            mixture = self._mixture(view, built, query, request, asked, hits)
            is_found = mixture is not None and key64(url) in mixture.meanings
            explained = explain(view, url, address, built, self._config, self._ranks, wish, is_found=is_found)
            explained = told(explained, climbed.effects)
            return mixture.explained(explained, key64(url)) if mixture is not None else explained

    def effects(self, request: Request) -> Effects:
        """What the rules of the desk make of a request."""
        view = self._views.current()
        return self._effects(view, parse(request.query, view.fields), request)

    def state(self) -> IndexState:
        """How the index stands."""
        view = self._views.current()
        return IndexState(
            documents=view.documents,
            segments=len(view.commit.segments),
            position=view.commit.payload.position,
            committed_at=view.commit.payload.committed_at,
            generation=view.generation,
            fields=view.fields,
        )

    def overview(self) -> Overview:
        """What can be searched: sites, freshness, example queries. Takes some searches' time."""
        view = self._views.current()
        with commits.checking(view.folder):
            return overview([outline(view)], lambda query: self._search(view, example(query)).total > 0)

    def _search(self, view: View, request: Request) -> Results:
        query = self._effects(view, parse(request.query, view.fields), request).query
        if query.is_empty:
            return Results(
                request=request, total=0, hits=(), pages=0, notices=query.notices, reason=of_empty(query).sentence
            )
        climbed = self._climb(view, request)
        found, span = climbed.asked, span_of(request)
        page = self._page(view, request, found.hits[:DEPTH], span)
        if not page.is_full and len(found.hits) < min(found.matching, DEPTH):  # copies took the places of others
            found = self._ask(view, found.request, parse(found.request.query, view.fields), DEPTH)
            page = self._page(view, request, found.hits[:DEPTH], span)
        counted = tally(view, found.asked, found.matching, found.hits, request.facets, self._collapses(request))
        total = counted.total
        shown = zip(page.shown, page.copies, strict=True)
        highlighter = Highlighter(found.built.needles)
        hits = [make_hit(view, hit, copies, highlighter) for hit, copies in shown]
        if found.effects.pinned:
            hits = [msgspec.structs.replace(hit, recommended=is_first(hit.score)) for hit in hits]
        why = Reason() if total else self._reason(view, query, request)
        notices = explained(found.notices, found.effects.query, lambda word: self._frequency(view, word))
        return Results(
            request=request,
            total=total,
            hits=linked(hits, view.held, self._collapses(request)),
            pages=span.pages(total),
            estimated=counted.estimated,
            facets=counted.facets,
            fields=counted.fields,
            did_you_mean=climbed.correction() if not (total and found.effects.rules) else "",
            notices=tuple(dict.fromkeys((*query.notices, *notices, *span.notices(total)))),
            attempt=climbed.attempt,
            reason=why.sentence,
            try_instead=why.instead,
        )

    def _climb(self, view: View, request: Request, needed: int = 0) -> _Climbed:
        """The query as it was typed, or the second attempt that finds more."""
        query, needed = parse(request.query, view.fields), needed or span_of(request).needed
        is_plain = request.literal or query.is_empty
        first = self._ask(view, request, query, needed, is_plain)
        exact = first.built.exact

        @cache
        def whole() -> _Asked:
            return first if is_plain or exact >= ENOUGH else self._ask(view, request, query, needed)

        @cache
        def spelled() -> Query | None:
            return respelled(query, exact, view.pages, view.languages, self._spelling(view), view.documents)

        # Whoever made rules for a query that finds something has said what it means.
        if not is_plain and not (exact and first.effects.rules):

            def total() -> int:
                return whole().built.by_words

            def frequency(word: str) -> int:
                return self._frequency(view, word)

            def ask(step: Step, with_loose: bool) -> tuple[_Asked, Standing]:
                other = self._ask(view, step.request(request), step.query, needed, with_loose)
                return other, other.standing

            better = climb(steps(query, exact, total, spelled, frequency, frequency), exact, total, ask)
            if better is not None:
                return _Climbed(better[0], spelled, better[1])
        return _Climbed(whole(), spelled)

    def _ask(self, view: View, request: Request, query: Query, needed: int, with_loose: bool = True) -> _Asked:
        """Ask the index; `with_loose`: also for pages with a part of the words, where few have all of them."""
        effects = self._effects(view, query, request)
        built = self._build(view, request, effects)
        if not with_loose:
            built = msgspec.structs.replace(built, loose=None)
        notices: list[str] = []
        if with_loose:
            asked, matching, hits = self._find(view, built, effects.query, request, needed, notices)
        else:
            asked, matching, hits = self._by_words(view, built, effects.query, request, needed, notices)
            if built.exact >= ENOUGH:  # then it is the answer
                asked, matching, hits = self._mixed(view, built, effects.query, request, (asked, matching, hits))
        return _Asked(request, effects, built, asked, matching, hits, notices)

    def _spelling(self, view: View) -> Callable[[Sequence[str]], Spelling]:
        return lambda words: self._views.vocabulary(view)

    def _frequency(self, view: View, word: str) -> int:
        return frequency_of(word, view.pages, view.languages)

    def _beginning_nearly(self, view: View, word: str) -> list[tuple[str, int]]:
        """Nobody who types waits until the words of the index are read."""
        vocabulary = self._views.vocabulary_within(view, _READING)
        return vocabulary.beginning_nearly(word) if vocabulary is not None else []

    def _reason(self, view: View, query: Query, request: Request) -> Reason:
        def count(other: Request) -> int:
            return self._ask(view, other, parse(other.query, view.fields), 1).matching

        return reason(query, request, view.documents, lambda word: self._frequency(view, word), count)

    def _effects(self, view: View, query: Query, request: Request) -> Effects:
        """What a reader typed, as the rules of the desk leave it, and what else they do."""
        rules = self._desk.current() if self._desk is not None else NO_RULES
        return rules.effects(query, request, view.languages, self._clock.now())

    def _build(self, view: View, request: Request, effects: Effects) -> Built:
        return build(view, self._config, view, effects, request, self._clock.now())

    def _find(
        self, view: View, built: Built, query: Query, request: Request, needed: int, notices: list[str]
    ) -> tuple[tantivy.Query, int, list[Candidate]]:
        """The query that was asked in the end, how many pages match, and the best of them in order."""
        return self._mixed(view, built, query, request, self._by_words(view, built, query, request, needed, notices))

    def _mixed(
        self,
        view: View,
        built: Built,
        query: Query,
        request: Request,
        found: tuple[tantivy.Query, int, list[Candidate]],
    ) -> tuple[tantivy.Query, int, list[Candidate]]:
        """What was found by words, mixed with what is found by meaning where that is asked for."""
        asked, total, hits = found
        mixture = self._mixture(view, built, query, request, asked, hits)
        return (mixture.query, total + mixture.added, mixture.hits) if mixture is not None else (asked, total, hits)

    def _mixture(
        self, view: View, built: Built, query: Query, request: Request, asked: tantivy.Query, hits: Sequence[Candidate]
    ) -> Mixture | None:
        """The hits mixed with those by meaning, where that is asked for."""
        if self._meaning is None or self._ranking(request) != "web" or is_ordered(query, request, view.fields):
            return None
        wish = ordering.wish_of(query, request, built, self._clock.now())
        priors = partial(ordering.add_priors, view, config=self._config, ranks=self._ranks, wish=wish)
        return self._meaning.mixed(view, built, query, request, asked, hits, priors)

    def _by_words(
        self, view: View, built: Built, query: Query, request: Request, needed: int, notices: list[str]
    ) -> tuple[tantivy.Query, int, list[Candidate]]:
        """The same by words alone; enough hits to be mixed with others."""
        order = order_of(query, request, view.fields)
        depth = max(depth_for(needed), self._meaning.candidates if self._meaning is not None else 0)
        asked = built.strict if self._ranking(request) != "bm25" else plain(view.schema, query, view)
        total, hits = ask_index(view, asked, depth, order)
        built.exact = total
        if total < ENOUGH and built.loose is not None and asked is built.strict:
            looser, more = ask_index(view, built.loose, depth, order)
            if looser > total:
                notices.append(relaxed_notice(total))
                asked, total, hits = built.loose, looser, more
        built.by_words = total
        if order is None and self._ranking(request) == "web":
            wish = ordering.wish_of(query, request, built, self._clock.now())
            best = ordering.add_priors(view, hits[:WINDOW], self._config, self._ranks, wish)
            hits = best + hits[WINDOW:]
        return asked, total, hits

    def _page(self, view: View, request: Request, hits: Sequence[Candidate], span: Span) -> Collapsed:
        if self._collapses(request) and view.has_copies:
            return ordering.collapse(view, hits, span.first, span.size, self._leaders)
        shown = list(hits[span.first : span.first + span.size])
        return Collapsed(shown, [0] * len(shown))

    def _collapses(self, request: Request) -> bool:
        return not request.similar and self._ranking(request) == "web"

    def _ranking(self, request: Request) -> str:
        return request.ranking or self._config.ranking


def meaning_of(folder: IndexFolder, config: RankingConfig) -> Meaning | None:
    """What searches an index by meaning, if the settings ask for it."""
    if not config.semantic:
        return None
    from gossamer.search.semantic.mixing import Meaning  # NumPy: who searches by words alone goes without

    return Meaning(folder, config.semantic)

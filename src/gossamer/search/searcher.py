"""Answers requests from the index: finds, orders, collapses copies, cuts excerpts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import tantivy

from gossamer.clock import Clock, SystemClock
from gossamer.index import commits
from gossamer.index.analysis import surface_words
from gossamer.index.folder import IndexFolder
from gossamer.model.site import key64
from gossamer.search import ordering
from gossamer.search.asking import ask_index, continuations
from gossamer.search.correcting import corrected
from gossamer.search.counting import tally
from gossamer.search.desk.acting import NO_RULES, DeskRules
from gossamer.search.desk.asking import is_first, told, with_rules
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
from gossamer.search.query.building import Builder, Built, plain
from gossamer.search.query.language import Query, parse
from gossamer.search.ranking import RankingConfig
from gossamer.search.results import (
    Hit,
    IndexState,
    Overview,
    Request,
    Results,
    ScoreExplanation,
    StoredPage,
)
from gossamer.search.suggest import complete
from gossamer.search.translations import linked
from gossamer.search.view import View, Views


class Searcher:
    """The one way to ask the index; safe to share between threads."""

    def __init__(
        self,
        folder: IndexFolder,
        config: RankingConfig | None = None,
        ranks: Ranks | None = None,
        clock: Clock | None = None,
        leaders: Leaders | None = None,
        desk: DeskRules | None = None,
    ) -> None:
        self._views = Views(folder)
        self._config = config or RankingConfig()
        self._ranks, self._leaders = ranks, leaders
        self._clock = clock or SystemClock()
        self._desk = desk

    def under(self, desk: DeskRules) -> Searcher:
        """A searcher of the same index under other rules of the desk, which remembers nothing."""
        other = Searcher.__new__(Searcher)
        other._views, other._config, other._clock = self._views, self._config, self._clock
        other._ranks, other._leaders, other._desk = self._ranks, self._leaders, desk
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
            query, effects = self._asked(view, request)
            built = self._build(view, query, request, effects)
            _, _, hits = self._find(view, built, query, request, DEPTH, [])
            highlighter = Highlighter(built.needles)
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
            terms, titles = continuations(view, words, limit)
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
            query, effects = self._asked(view, request)
            if query.is_empty:
                return []
            _, _, hits = self._find(view, self._build(view, query, request, effects), query, request, limit, [])
            return [view.stored(address).url for _, address in hits[:limit]]

    def explain(self, request: Request, url: str) -> ScoreExplanation:
        """Why a page has the score it has for a request."""
        view = self._views.current()
        with commits.checking(view.folder):
            address = view.find(key64(url))
            if address is None:
                return ScoreExplanation(url, False, 0.0, (), "the page is not in the index")
            query, effects = self._asked(view, request)
            built = self._build(view, query, request, effects)
            wish = ordering.wish_of(query, request, built, self._clock.now())
            return told(explain(view, url, address, built, self._config, self._ranks, wish), effects)

    def effects(self, request: Request) -> Effects:
        """What the rules of the desk make of a request."""
        return self._asked(self._views.current(), request)[1]

    def state(self) -> IndexState:
        """How the index stands."""
        view = self._views.current()
        return IndexState(
            documents=view.documents,
            segments=len(view.commit.segments),
            position=view.commit.payload.position,
            committed_at=view.commit.payload.committed_at,
            generation=view.generation,
        )

    def overview(self) -> Overview:
        """What can be searched: sites, freshness, example queries. Takes some searches' time."""
        view = self._views.current()
        with commits.checking(view.folder):
            return overview([outline(view)], lambda query: self._search(view, example(query)).total > 0)

    def _search(self, view: View, request: Request) -> Results:
        query, effects = self._asked(view, request)
        if query.is_empty:
            return Results(request=request, total=0, hits=(), pages=0, notices=query.notices)
        built = self._build(view, query, request, effects)
        span = span_of(request)
        notices = [*query.notices]
        asked, matching, found = self._find(view, built, query, request, span.needed, notices)
        page = self._page(view, request, found[:DEPTH], span)
        if not page.is_full and len(found) < min(matching, DEPTH):  # copies took the places of others
            asked, matching, found = self._find(view, built, query, request, DEPTH, [])
            page = self._page(view, request, found[:DEPTH], span)
        counted = tally(view, asked, matching, found, request.facets, self._collapses(request))
        total = counted.total
        shown = zip(page.shown, page.copies, strict=True)
        highlighter = Highlighter(built.needles)
        hits = [make_hit(view, hit, copies, highlighter) for hit, copies in shown]
        if effects.pinned:
            hits = [msgspec.structs.replace(hit, recommended=is_first(hit.score)) for hit in hits]
        return Results(
            request=request,
            total=total,
            hits=linked(hits, view.held, self._collapses(request)),
            pages=span.pages(total),
            estimated=counted.estimated,
            facets=counted.facets,
            did_you_mean=self._corrected(view, query, total) if not (total and effects.rules) else "",
            notices=(*notices, *span.notices(total)),
        )

    def _corrected(self, view: View, query: Query, total: int) -> str:
        return corrected(query, total, view.pages, view.languages, lambda _: self._views.vocabulary(view))

    def _asked(self, view: View, request: Request) -> tuple[Query, Effects]:
        """What a reader typed, as the rules of the desk leave it, and what else they do."""
        rules = self._desk.current() if self._desk is not None else NO_RULES
        effects = rules.effects(parse(request.query), request, view.languages, self._clock.now())
        return effects.query, effects

    def _build(self, view: View, query: Query, request: Request, effects: Effects) -> Built:
        builder = Builder(view, self._config, others=effects.alternatives)
        built = builder.build(query, request, self._clock.now())
        with_rules(view, builder, built, effects)
        return built

    def _find(
        self, view: View, built: Built, query: Query, request: Request, needed: int, notices: list[str]
    ) -> tuple[tantivy.Query, int, list[Candidate]]:
        """The query that was asked in the end, how many pages match, and the best of them in order."""
        by_date = request.sort == "date" or query.newest
        depth = depth_for(needed)
        asked = built.strict if self._ranking(request) != "bm25" else plain(view.schema, query, view)
        total, hits = ask_index(view, asked, depth, by_date)
        if total < ENOUGH and built.loose is not None and asked is built.strict:
            looser, more = ask_index(view, built.loose, depth, by_date)
            if looser > total:
                notices.append(relaxed_notice(total))
                asked, total, hits = built.loose, looser, more
        if not by_date and self._ranking(request) == "web":
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

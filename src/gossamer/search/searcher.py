"""Answers requests from the index: finds, orders, collapses copies, cuts excerpts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import tantivy

from gossamer.clock import Clock, SystemClock
from gossamer.index import commits, schema
from gossamer.index.analysis import surface_words
from gossamer.index.folder import IndexFolder
from gossamer.model.site import key64
from gossamer.search import grouping, ordering
from gossamer.search.asking import ask_index, continuations
from gossamer.search.attempts.ladder import Standing, Step, climb, steps
from gossamer.search.attempts.reasons import Reason, of_empty, reason
from gossamer.search.attempts.wording import explained
from gossamer.search.clicks import acting as by_clicks
from gossamer.search.clicks.drafting import Team
from gossamer.search.clicks.evidence import Choices
from gossamer.search.correcting import frequency_of, respelled
from gossamer.search.counting import tally
from gossamer.search.custom.orders import is_ordered, order_of
from gossamer.search.desk.acting import NO_RULES, DeskRules
from gossamer.search.desk.asking import is_first, part_of_crawl, told
from gossamer.search.desk.effects import Effects
from gossamer.search.excerpt import Highlighter
from gossamer.search.explaining import explain
from gossamer.search.hits import make_hit, stored_page
from gossamer.search.like.asking import Likenesses
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
    teams: dict[int, Team] = {}  # noqa: RUF012 - a field of a tuple, never changed

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
        choices: Choices | None = None,
    ) -> None:
        """`meaning`: by default the one that the settings ask for; `choices`: what readers chose, if it counts."""
        self._views = Views(folder)
        self._config = config or RankingConfig()
        self._meaning = meaning or meaning_of(folder, self._config)
        self._ranks, self._leaders = ranks, leaders
        self._clock = clock or SystemClock()
        self._desk, self._choices = desk, choices
        self._likes = Likenesses()

    def under(self, desk: DeskRules) -> Searcher:
        """A searcher of the same index under other rules of the desk, which remembers nothing."""
        other = Searcher.__new__(Searcher)
        other._views, other._config, other._clock = self._views, self._config, self._clock
        other._ranks, other._leaders, other._desk = self._ranks, self._leaders, desk
        other._meaning, other._choices, other._likes = self._meaning, self._choices, self._likes
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

    def suggest(self, prefix: str, limit: int = 8, collection: str = "") -> list[str]:
        """How a query that is being typed may go on: words and titles of the index, or of a collection."""
        prefix = prefix[:MAX_PREFIX].encode("utf-8", "replace").decode()
        words = surface_words(prefix)
        if not words or limit < 1:
            return []
        view = self._views.current()
        rules = self._desk.current() if self._desk is not None else NO_RULES
        chosen = rules.desk.collection_of(collection) if collection else None
        if collection and chosen is None:
            return []
        with commits.checking(view.folder):
            within = part_of_crawl(view, self._config, chosen.sites, chosen.filter) if chosen is not None else []
            terms, titles = continuations(view, words, limit, lambda word: self._beginning_nearly(view, word), within)
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
            hits = self._with_clicks(view, self._climb(view, request, limit).asked).hits
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
            if mixture is not None:
                explained = mixture.explained(explained, key64(url))
            if self._choices is None or not self._counts_clicks(climbed):
                return explained
            known = self._choices.of(request.query, [key64(url)]).get(key64(url))
            return by_clicks.told(explained, known, self._config)

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
        found, span = self._with_clicks(view, climbed.asked), span_of(request)
        most = grouping.limit(request, found.query, self._config)
        page = self._page(view, request, found.hits[:DEPTH], span, most)
        if not page.is_full and len(found.hits) < min(found.matching, DEPTH):  # copies took the places of others
            found = self._with_clicks(view, self._deeper(view, found))
            page = self._page(view, request, found.hits[:DEPTH], span, most)
        crowd, bare = grouping.crowd(page.field, page.groups, most), found.built.bare(found.asked)
        counted = tally(view, bare, found.matching, found.hits, request.facets, self._collapses(request), crowd)
        total = counted.total
        shown = zip(page.shown, page.copies, strict=True)
        highlighter = Highlighter(found.built.needles)
        hits = [make_hit(view, hit, copies, highlighter) for hit, copies in shown]
        if found.effects.pinned:
            hits = [msgspec.structs.replace(hit, recommended=is_first(hit.score)) for hit in hits]
        if found.teams:
            keys = view.numbers(schema.KEY, [address for _, address in page.shown])
            hits = by_clicks.in_teams(hits, keys, found.teams)
        translated = linked(hits, view.held, self._collapses(request))
        why = Reason() if total else self._reason(view, query, request)
        notices = [*explained(found.notices, found.query, lambda word: self._frequency(view, word))]
        if total and found.query.like is not None:
            notices.append(found.query.like.sentence)
        return Results(
            request=request,
            total=total,
            hits=grouping.told(translated, page.field, counted.groups),
            pages=span.pages(total),
            estimated=counted.estimated,
            facets=counted.facets,
            fields=counted.fields,
            did_you_mean=climbed.correction() if not (total and found.effects.rules) else "",
            notices=tuple(dict.fromkeys((*query.notices, *notices, *span.notices(total)))),
            attempt=climbed.attempt,
            reason=why.sentence,
            try_instead=why.instead,
            grouped=bool(page.field),
        )

    def _climb(self, view: View, request: Request, needed: int = 0) -> _Climbed:
        """The query as it was typed, or the second attempt that finds more."""
        query, needed = parse(request.query, view.fields), needed or span_of(request).needed
        is_plain = request.literal or query.is_empty
        first = self._ask(view, request, query, needed, is_plain)
        exact = first.built.exact

        @cache
        def whole() -> _Asked:
            return first if is_plain else self._with_loose(view, first, needed)

        @cache
        def spelled() -> Query | None:
            return respelled(query, exact, view.pages, view.languages, self._spelling(view), view.documents)

        # Whoever made rules for a query that finds something has said what it means.
        if not is_plain and not (exact and first.effects.rules):

            def total() -> int:
                return whole().built.by_words

            def frequency(word: str) -> int:
                return self._frequency(view, word)

            @cache
            def taken(step: Step) -> _Asked:
                return self._ask(view, step.request(request), step.query, needed, with_loose=False)

            def ask(step: Step, with_loose: bool) -> tuple[_Asked, Standing]:
                other = self._with_loose(view, taken(step), needed) if with_loose else taken(step)
                return other, other.standing

            better = climb(steps(query, exact, total, spelled, frequency, frequency), exact, total, ask)
            if better is not None:
                return _Climbed(better[0], spelled, better[1])
        return _Climbed(whole(), spelled)

    def _ask(self, view: View, request: Request, query: Query, needed: int, with_loose: bool = True) -> _Asked:
        """Ask the index; `with_loose`: also for pages with a part of the words, where few have all of them."""
        effects = self._effects(view, query, request)
        built = self._build(view, request, effects)
        notices: list[str] = []
        found = self._by_words(view, built, effects.query, request, needed, notices, with_loose)
        if with_loose or built.exact >= ENOUGH:  # then it is the answer
            found = self._mixed(view, built, effects.query, request, found)
        return _Asked(request, effects, built, *found, notices)

    def _with_loose(self, view: View, one: _Asked, needed: int) -> _Asked:
        """The same, with pages that have a part of the words, where few have all of them: only these are looked for."""
        built = msgspec.structs.replace(one.built)
        if built.exact >= ENOUGH:
            return one
        notices: list[str] = []
        found = one.asked, one.matching, one.hits
        found = self._loosened(view, built, one.query, one.request, needed, notices, found)
        built.by_words = found[1]
        found = self._mixed(view, built, one.query, one.request, found)
        return one._replace(built=built, asked=found[0], matching=found[1], hits=found[2], notices=notices)

    def _deeper(self, view: View, one: _Asked) -> _Asked:
        """The same, with as many hits as anybody may see."""
        notices: list[str] = []
        found = self._find(view, one.built, one.query, one.request, DEPTH, notices)
        return one._replace(asked=found[0], matching=found[1], hits=found[2], notices=notices)

    def _with_clicks(self, view: View, found: _Asked) -> _Asked:
        """What was found, in the order that clicks of readers give it."""
        if self._choices is None or not self._counts_clicks(found):
            return found
        moved = by_clicks.moved(view, found.request, found.hits, self._choices, self._config)
        return found._replace(hits=moved.hits, teams=moved.teams) if moved is not None else found

    def _counts_clicks(self, found: _Asked) -> bool:
        in_order = found.request.sort != "relevance" or found.query.order
        return self._config.clicks > 0 and not in_order and self._ranking(found.request) == "web"

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
        return self._likes.into(rules.effects(query, request, view.languages, self._clock.now()), request, view)

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
        self, view: View, built: Built, query: Query, request: Request, needed: int, notices: list[str],
        with_loose: bool = True,
    ) -> tuple[tantivy.Query, int, list[Candidate]]:  # fmt: skip
        """The same by words alone; enough hits to be mixed with others."""
        asked = built.strict if self._ranking(request) != "bm25" else plain(view.schema, query, view)
        found = self._best(view, built, query, request, asked, needed)
        built.exact = found[1]
        if with_loose:
            found = self._loosened(view, built, query, request, needed, notices, found)
        built.by_words = found[1]
        return found

    def _loosened(
        self, view: View, built: Built, query: Query, request: Request, needed: int, notices: list[str],
        found: tuple[tantivy.Query, int, list[Candidate]],
    ) -> tuple[tantivy.Query, int, list[Candidate]]:  # fmt: skip
        """What was found, or pages with a part of the words, where few have all of them."""
        asked, total, _ = found
        if total >= ENOUGH or built.loose is None or asked is not built.strict:
            return found
        looser = self._best(view, built, query, request, built.loose, needed, more_than=total)
        if looser[1] <= total:
            return found
        notices.append(relaxed_notice(total))
        return looser

    def _best(
        self, view: View, built: Built, query: Query, request: Request, asked: tantivy.Query, needed: int,
        more_than: int = 0,
    ) -> tuple[tantivy.Query, int, list[Candidate]]:  # fmt: skip
        """How many pages match a query, and the best of them with their priors; these only if it matches `more_than` so
        many."""
        order = order_of(query, request, view.fields)
        depth = max(depth_for(needed), self._meaning.candidates if self._meaning is not None else 0)
        total, hits = ask_index(view, asked, depth, order)
        if total > more_than and order is None and self._ranking(request) == "web":
            wish = ordering.wish_of(query, request, built, self._clock.now())
            best = ordering.add_priors(view, hits[:WINDOW], self._config, self._ranks, wish)
            hits = best + hits[WINDOW:]
        return asked, total, hits

    def _page(self, view: View, request: Request, hits: Sequence[Candidate], span: Span, most: int) -> Collapsed:
        collapses = self._collapses(request) and view.has_copies
        page = ordering.one_page(view, hits, span, self._leaders, collapses, most)
        return page if collapses else msgspec.structs.replace(page, is_full=True)

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

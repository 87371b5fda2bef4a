"""Answers requests from the index: finds, orders, collapses copies, cuts excerpts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import tantivy

from gossamer.clock import Clock, SystemClock
from gossamer.index import commits, schema
from gossamer.index.analysis import query_stems, surface_words
from gossamer.index.folder import IndexFolder
from gossamer.model.site import key64
from gossamer.search import ordering
from gossamer.search.building import Builder, Built, plain
from gossamer.search.classic import classic
from gossamer.search.counting import tally
from gossamer.search.excerpt import Highlighter
from gossamer.search.explaining import explain
from gossamer.search.ordering import Candidate, Collapsed, Leaders, Ranks
from gossamer.search.query import Query, Term, parse, render
from gossamer.search.ranking import RankingConfig
from gossamer.search.results import (
    Hit,
    IndexState,
    Marked,
    Request,
    Results,
    ScoreExplanation,
    StoredPage,
)
from gossamer.search.suggest import complete, did_you_mean
from gossamer.search.view import View, Views, count_of

DEPTH = 1_000
"""Results that can be paged through."""
_WINDOW = 50
"""Best hits to which priors are added; what comes after them keeps its order."""
_MAX_SIZE = 100
_ENOUGH = 10
"""Results below which pages with only some of the words are shown, too."""
_CLASSIC = 100
"""Results of the classic ranking, as its seed has it."""
_MAX_PREFIX = 100
_ENOUGH_TEXT = 80
"""Characters that make an excerpt."""
_NONE = "No page has all of the words: these have some of them."
_RELAXED = "Few pages have all of the words: some of these have only a part of them."


class Searcher:
    """The one way to ask the index; safe to share between threads."""

    def __init__(
        self,
        folder: IndexFolder,
        config: RankingConfig | None = None,
        ranks: Ranks | None = None,
        clock: Clock | None = None,
        leaders: Leaders | None = None,
    ) -> None:
        self._views = Views(folder)
        self._config = config or RankingConfig()
        self._ranks, self._leaders = ranks, leaders
        self._clock = clock or SystemClock()

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
            query = parse(request.query)
            built = self._build(view, query, request)
            _, _, hits = self._find(view, built, query, request, DEPTH, [])
            highlighter = Highlighter(built.needles)
            copies = ordering.copies_of(view, hits, url)[:_MAX_SIZE]
            return tuple(self._hit(view, hit, 0, highlighter) for hit in copies)

    def suggest(self, prefix: str, limit: int = 8) -> list[str]:
        """How a query that is being typed may go on: words and titles of the index."""
        prefix = prefix[:_MAX_PREFIX].encode("utf-8", "replace").decode()
        words = surface_words(prefix)
        if not words or limit < 1:
            return []
        view = self._views.current()
        with commits.checking(view.folder):
            terms = view.searcher.terms_with_prefix(schema.BODY, words[-1], None, 3 * limit)
            titles = tantivy.Query.phrase_prefix_query(view.schema, schema.TITLE, [*words])
            hits = view.searcher.search(titles, limit, count=False).hits
            named = [view.stored(address).title for _, address in hits]
        return complete(prefix, terms, named, limit)

    def page(self, url: str) -> StoredPage | None:
        """The stored text of a page."""
        view = self._views.current()
        with commits.checking(view.folder):
            address = view.find(key64(url))
            found = view.stored(address) if address is not None else None
        if found is None or found.url != url:
            return None
        return StoredPage(
            url=url, title=found.title, text=found.text, fetched_at=found.fetched_at, date=found.date, lang=found.lang
        )

    def urls(self, request: Request, limit: int) -> list[str]:
        """The URLs of the best results, without excerpts."""
        view = self._views.current()
        with commits.checking(view.folder):
            query = parse(request.query)
            if query.is_empty:
                return []
            _, _, hits = self._find(view, self._build(view, query, request), query, request, limit, [])
            return [view.stored(address).url for _, address in hits[:limit]]

    def explain(self, request: Request, url: str) -> ScoreExplanation:
        """Why a page has the score it has for a request."""
        view = self._views.current()
        with commits.checking(view.folder):
            address = view.find(key64(url))
            if address is None:
                return ScoreExplanation(url, False, 0.0, (), "the page is not in the index")
            query = parse(request.query)
            built = self._build(view, query, request)
            return explain(view, url, address, built, self._config, self._ranks, self._news_at(query, request))

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

    def _search(self, view: View, request: Request) -> Results:
        query = parse(request.query)
        if query.is_empty:
            return Results(request=request, total=0, hits=(), pages=0, notices=query.notices)
        built = self._build(view, query, request)
        size = min(max(request.size, 1), _MAX_SIZE)
        first = (max(request.page, 1) - 1) * size
        notices = list(query.notices)
        if first >= DEPTH:
            notices.append(f"Only the first {DEPTH:,} results can be looked at: add a word to narrow them down.")
        asked, matching, found = self._find(view, built, query, request, min(first + size, DEPTH), notices)
        page = self._page(view, request, found[:DEPTH], first, size)
        if not page.is_full and len(found) < min(matching, DEPTH):  # copies took the places of others
            asked, matching, found = self._find(view, built, query, request, DEPTH, [])
            page = self._page(view, request, found[:DEPTH], first, size)
        counted = tally(view, asked, matching, found, request.facets, self._collapses(request))
        total = counted.total
        shown = zip(page.shown, page.copies, strict=True)
        highlighter = Highlighter(built.needles)
        return Results(
            request=request,
            total=total,
            hits=tuple(self._hit(view, hit, copies, highlighter) for hit, copies in shown),
            pages=-(-min(total, DEPTH) // size),
            estimated=counted.estimated,
            facets=counted.facets,
            did_you_mean=self._correction(view, query, total),
            notices=tuple(notices),
        )

    def _build(self, view: View, query: Query, request: Request) -> Built:
        return Builder(view, self._config).build(query, request, self._clock.now())

    def _find(
        self, view: View, built: Built, query: Query, request: Request, needed: int, notices: list[str]
    ) -> tuple[tantivy.Query, int, list[Candidate]]:
        """The query that was asked in the end, how many pages match, and the best of them in order."""
        by_date = request.sort == "date" or query.newest
        depth = _WINDOW if needed <= _WINDOW // 2 and self._ranking(request) != "classic" else DEPTH
        asked = built.strict if self._ranking(request) != "bm25" else plain(view.schema, query)
        total, hits = _ask(view, asked, depth, by_date)
        if total < _ENOUGH and built.loose is not None and asked is built.strict:
            looser, more = _ask(view, built.loose, depth, by_date)
            if looser > total:
                notices.append(_RELAXED if total else _NONE)
                asked, total, hits = built.loose, looser, more
        if not by_date and self._ranking(request) == "web":
            best = ordering.add_priors(view, hits[:_WINDOW], self._config, self._ranks, self._news_at(query, request))
            hits = best + hits[_WINDOW:]
        elif not by_date and self._ranking(request) == "classic":
            hits = classic(view, hits[:_CLASSIC], built.words, self._ranks)
        return asked, total, hits

    def _page(self, view: View, request: Request, hits: Sequence[Candidate], first: int, size: int) -> Collapsed:
        if self._collapses(request) and view.has_copies:
            return ordering.collapse(view, hits, first, size, self._leaders)
        shown = list(hits[first : first + size])
        return Collapsed(shown, [0] * len(shown))

    def _collapses(self, request: Request) -> bool:
        return not request.similar and self._ranking(request) == "web"

    def _ranking(self, request: Request) -> str:
        return request.ranking or self._config.ranking

    def _news_at(self, query: Query, request: Request) -> float | None:
        return self._clock.now() if ordering.wants_news(query, request) else None

    def _hit(self, view: View, hit: Candidate, copies: int, highlighter: Highlighter) -> Hit:
        score, address = hit
        page = view.stored(address)
        return Hit(
            url=page.url,
            title=highlighter.mark(page.title) if page.title else Marked(page.url),
            excerpt=highlighter.excerpt(_after_title(page.text, page.title)),
            score=score,
            site=page.site,
            date=page.date,
            lang=page.lang,
            fetched_at=page.fetched_at,
            type=page.type,
            page_type=page.page_type,
            category=page.category,
            author=page.author,
            similar=copies,
        )

    def _correction(self, view: View, query: Query, found: int) -> str:
        """The query with words that no page has spelled as the index spells them; empty where there are none."""

        def pages(word: str) -> int:
            terms = [(schema.BODY_STEMS, stem) for stem in query_stems(word, view.languages)]
            terms += [(schema.BODY, typed) for typed in surface_words(word)]
            return max((view.pages(*term) for term in terms), default=0)

        words = [term.text for group in query.groups for term in group if not term.phrase and term.field == "any"]
        if all(pages(word) for word in words):
            return ""
        corrected = did_you_mean(words, self._views.vocabulary(view), found, pages)
        return render(_respelled(query, dict(zip(words, corrected, strict=True)))) if corrected else ""


def _after_title(text: str, title: str) -> str:
    """The text without the title at its beginning, which stands above the excerpt already."""
    rest = text[len(title) :].lstrip() if title and text.startswith(title) else ""
    return rest if len(rest) >= _ENOUGH_TEXT else text


def _ask(view: View, query: tantivy.Query, limit: int, by_date: bool) -> tuple[int, list[Candidate]]:
    if by_date:
        result = view.searcher.search(query, limit, order_by_field=schema.DATE)
        return count_of(result), [(0.0, address) for _, address in result.hits]
    result = view.searcher.search(query, limit)
    return count_of(result), result.hits


def _respelled(query: Query, spelling: dict[str, str]) -> Query:
    def respell(term: Term) -> Term:
        if term.phrase or term.field != "any":
            return term
        return msgspec.structs.replace(term, text=spelling.get(term.text, term.text))

    groups = tuple(tuple(map(respell, group)) for group in query.groups)
    return msgspec.structs.replace(query, groups=groups)

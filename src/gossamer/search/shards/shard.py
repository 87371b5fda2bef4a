"""The searcher of one shard: answers a front end from the documents it holds, by the numbers of all of them.

Each method is one operation of the protocol (`shard_values.py`). Nothing is remembered between two of them: pages
are named by key, so that a commit, or another replica, may come in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec
import tantivy

from gossamer.index import commits, schema
from gossamer.index.analysis import surface_words
from gossamer.index.folder import IndexFolder
from gossamer.index.shards import Cut
from gossamer.model.site import key64
from gossamer.search import grouping, ordering
from gossamer.search.asking import ask_index, continuations
from gossamer.search.corpus import SharedCorpus
from gossamer.search.counting import NOBODY, Joined, count, joined
from gossamer.search.crowd import Crowd
from gossamer.search.custom.orders import Order, order_of
from gossamer.search.desk.asking import part_of_crawl, told
from gossamer.search.desk.effects import Effects
from gossamer.search.excerpt import Highlighter
from gossamer.search.explaining import explain
from gossamer.search.hits import make_hit, stored_page
from gossamer.search.like.telling import sample
from gossamer.search.like.values import Sample
from gossamer.search.limits import ENOUGH, WINDOW, Span
from gossamer.search.ordering import Candidate, Leaders, Ranks
from gossamer.search.overview import Outline, outline
from gossamer.search.query.building import Built, plain
from gossamer.search.query.widening import build
from gossamer.search.ranking import RankingConfig
from gossamer.search.results import Hit, ScoreExplanation, StoredPage
from gossamer.search.shards import merging
from gossamer.search.shards.ballast import Balance
from gossamer.search.shards.lengths import Lengths
from gossamer.search.shards.values import (
    PROTOCOL,
    ExplainAsk,
    FindAsk,
    Finding,
    Found,
    HeldAsk,
    Identity,
    LeadersAsk,
    LikeAsk,
    MeaningAsk,
    Meant,
    OverviewAsk,
    Question,
    ShowAsk,
    Showing,
    Shown,
    Sighting,
    SpellingAsk,
    Spellings,
    Statistics,
    StatisticsAsk,
    SuggestAsk,
    Suggested,
    UrlAsk,
)
from gossamer.search.view import View, Views

if TYPE_CHECKING:
    from gossamer.search.semantic.mixing import Meaning

_READING = 0.5
"""Seconds that a front end waits for the vocabulary of an index that was opened just now."""


OPERATIONS: dict[str, type[msgspec.Struct]] = {
    "statistics": StatisticsAsk,
    "find": FindAsk,
    "show": ShowAsk,
    "explain": ExplainAsk,
    "suggest": SuggestAsk,
    "spelling": SpellingAsk,
    "page": UrlAsk,
    "sample": LikeAsk,
    "leaders": LeadersAsk,
    "overview": OverviewAsk,
    "held": HeldAsk,
    "meaning": MeaningAsk,
}
"""What a shard can be asked: a method of `ShardSearcher` each, and what it takes."""


class ShardSearcher:
    """One shard; safe to share between threads."""

    def __init__(
        self, folder: IndexFolder, cut: Cut, ranks: Ranks | None = None, leaders: Leaders | None = None,
        meaning: Meaning | None = None,
    ) -> None:  # fmt: skip
        self.cut = cut
        self._views = Views(folder, cut)
        self._ranks, self._leaders, self._meaning = ranks, leaders, meaning
        self._balance = Balance()

    def identity(self) -> Identity:
        """Who answers; an error where the index cannot be used."""
        payload = self._views.current().commit.payload
        return Identity(PROTOCOL, payload.version, self.cut.shard, self.cut.shards, payload.crawl)

    def statistics(self, ask: StatisticsAsk) -> Statistics:
        """Numbers of the documents here."""
        with self._view() as view:
            found: dict[str, dict[str, int]] = {}
            for field, term in ask.places:
                found.setdefault(field, {})[term] = view.pages(field, term)
            return Statistics(view.summary, found)

    def find(self, ask: FindAsk) -> Found:
        """The best pages here; also those with a part of the words, where few have all of them."""
        with self._balanced(ask.question) as view:
            asking = _Asking(view, ask.question)
            strict = self._finding(asking, asking.strict, ask)
            loose = None
            if strict.pages < ENOUGH and asking.loose is not None:
                loose = self._finding(asking, asking.loose, ask)
            found = Found(view.commit.payload.position, strict, loose)
            return self._with_ahead(asking, found, ask) if ask.ahead else found

    def show(self, ask: ShowAsk) -> Shown:
        """Results with excerpts, and counts."""
        with self._view() as view:
            asking = _Asking(view, ask.question)
            return self._made(asking, asking.query(ask.loose), ask.showings, ask.clusters, ask.facets, ask.crowd)

    def explain(self, ask: ExplainAsk) -> ScoreExplanation:
        """Why a page here has the score it has."""
        with self._balanced(ask.question) as view:
            address = view.find(key64(ask.url))
            if address is None:
                return ScoreExplanation(ask.url, False, 0.0, (), "the page is not in the index")
            asking = _Asking(view, ask.question)
            lengths = None if self.cut.is_whole else asking.lengths
            config = ask.question.config
            why = explain(
                view, ask.url, address, asking.built, config, self._ranks, asking.wish, lengths, is_found=ask.is_found
            )
            return told(why, ask.question.effects) if ask.question.effects is not None else why

    def suggest(self, ask: SuggestAsk) -> Suggested:
        """Words and titles that go on as a query begins."""
        words = surface_words(ask.prefix)
        if not words or ask.limit < 1:
            return Suggested()
        with self._view() as view:
            within = part_of_crawl(view, RankingConfig(), ask.sites, ask.filter) if ask.sites or ask.filter else []
            terms, titles = continuations(
                view, words, ask.limit, lambda word: self._beginning_nearly(view, word), within
            )
            return Suggested(tuple(terms), tuple(titles))

    def _beginning_nearly(self, view: View, word: str) -> list[tuple[str, int]]:
        vocabulary = self._views.vocabulary_within(view, _READING)
        return vocabulary.beginning_nearly(word) if vocabulary is not None else []

    def overview(self, ask: OverviewAsk) -> Outline:
        """What the index here holds."""
        with self._view() as view:
            return outline(view)

    def spelling(self, ask: SpellingAsk) -> Spellings:
        """Frequencies and neighbours of words."""
        with self._view() as view:
            vocabulary = self._views.vocabulary_within(view, _READING)
        if vocabulary is None:
            return Spellings({}, {})
        neighbours = {word: tuple(vocabulary.neighbours(word)) for word in ask.words}
        completions = {word: tuple(vocabulary.completions(word)) for word in ask.words}
        asked = {*ask.counted, *(near for found in neighbours.values() for _, near in found)}
        asked.update(longer for found in completions.values() for longer in found)
        return Spellings({word: vocabulary.frequency(word) for word in asked}, neighbours, completions)

    def page(self, ask: UrlAsk) -> StoredPage | None:
        """The stored text of a page here."""
        with self._view() as view:
            return stored_page(view, ask.url)

    def sample(self, ask: LikeAsk) -> Sample | None:
        """The words of a page here that others shall be like."""
        with self._view() as view:
            return sample(view, ask.value)

    def leaders(self, ask: LeadersAsk) -> dict[int, int]:
        """Cluster → key of the page that represents it."""
        return dict(self._leading(ask.clusters))

    def _leading(self, clusters: Sequence[int]) -> Mapping[int, int]:
        return self._leaders.of(clusters) if self._leaders is not None else {}

    def held(self, ask: HeldAsk) -> list[int]:
        """Those of some keys whose pages are here."""
        with self._view() as view:
            return view.held(ask.keys)

    def meaning(self, ask: MeaningAsk) -> Meant:
        """How near the best pages by words are, and the pages here that only meaning finds."""
        with self._balanced(ask.question) as view:
            asking = _Asking(view, ask.question)
            query = asking.query(ask.loose)
            looked = None
            if self._meaning is not None and asking.ranking == "web" and asking.order is None:
                query_asked, request = ask.question.query, ask.question.request
                looked = self._meaning.looked(view, asking.built, query_asked, request, ask.keys)
            if looked is None:
                return Meant()
            hits = list(looked.found.values())
            addresses = [address for _, address in hits]
            added = ordering.priors(view, addresses, ask.question.config, self._ranks, asking.wish)
            scores = list(map(sum, zip((score for score, _ in hits), *added.values(), strict=True)))
            matching = self._meaning.matching(view, query, list(looked.found)) if self._meaning is not None else ()
            return Meant(looked.near, _sightings(view, addresses, scores, scores), tuple(matching))

    def _with_ahead(self, asking: _Asking, found: Found, ask: FindAsk) -> Found:
        """Also the best results of the query that the front end will take if all shards find as much."""
        loose, is_few = found.loose, found.strict.pages * self.cut.shards < ENOUGH
        is_loose = loose is not None and is_few and loose.pages > found.strict.pages
        finding = loose if loose is not None and is_loose else found.strict
        # As one of several: then the front end orders equal scores in its own way.
        several = [finding.sightings] if self.cut.is_whole else [finding.sightings, ()]
        ordered = merging.merged(several, asking.ranking, asking.order is not None)
        line = merging.one_page(ordered, Span(0, ask.ahead), self._leading, asking.collapses, 0)
        has_limit = grouping.limit(asking.question.request, asking.question.query, asking.question.config)
        crowd = Crowd(schema.OWNER, largest=True) if has_limit else NOBODY
        facets = ask.facets and bool(finding.pages)
        ahead = self._made(asking, asking.query(is_loose), line.showings, (), facets, crowd)
        return msgspec.structs.replace(found, ahead=ahead, is_loose=is_loose)

    def _made(
        self, asking: _Asking, query: tantivy.Query, showings: Sequence[Showing], clusters: Sequence[int], facets: bool,
        crowd: Crowd,
    ) -> Shown:  # fmt: skip
        """Results as readers see them."""
        highlighter = Highlighter(asking.built.needles)
        hits = {one.key: hit for one in showings if (hit := _shown(asking.view, one, highlighter)) is not None}
        bare = asking.built.bare(query)
        return Shown(hits, count(asking.view, bare, clusters, facets, self.cut.shards, crowd))

    @contextmanager
    def _view(self) -> Iterator[View]:
        view = self._views.current()
        with commits.checking(view.folder):
            yield view

    @contextmanager
    def _balanced(self, question: Question) -> Iterator[View]:
        """For scores: the view with the average lengths of all documents, as soon as there is one."""
        with self._view() as view:
            yield view if self.cut.is_whole else self._balance.view(view, question.whole)

    def _finding(self, asking: _Asking, query: tantivy.Query, ask: FindAsk) -> Finding:
        view = asking.view
        pages, hits = ask_index(view, query, ask.depth, asking.order)
        in_order = asking.order
        sightings = (
            self._by_score(asking, query, hits, ask.needed) if in_order is None else _ordered(view, hits, in_order)
        )
        known = hits if len(hits) == pages else ()
        has_copies = pages and asking.collapses and view.has_copies
        copies = joined(view, asking.built.bare(query), known) if has_copies else Joined()
        return Finding(pages, sightings, copies)

    def _by_score(
        self, asking: _Asking, query: tantivy.Query, hits: Sequence[Candidate], needed: int
    ) -> tuple[Sighting, ...]:
        view, addresses = asking.view, [address for _, address in hits]
        added = self._priors(asking, addresses)
        orders = [score for score, _ in hits]
        if not asking.lengths.are_alike:
            orders = asking.lengths.corrected(view, query, hits, added, needed)
        return _sightings(view, addresses, orders, [score + prior for score, prior in zip(orders, added, strict=True)])

    def _priors(self, asking: _Asking, addresses: list[tantivy.DocAddress]) -> list[float]:
        """What is added to each score; nothing beyond the best hits."""
        if asking.ranking != "web":
            return [0.0] * len(addresses)
        best, config = addresses[:WINDOW], asking.question.config
        parts = ordering.priors(asking.view, best, config, self._ranks, asking.wish)
        added = [sum(values) for values in zip(*parts.values(), strict=True)]
        return added + [0.0] * (len(addresses) - len(best))


class _Asking:
    """A question as this shard asks it of its index."""

    def __init__(self, view: View, question: Question) -> None:
        self.view, self.question = view, question
        request, config = question.request, question.config
        query, effects = question.query, question.effects
        corpus = SharedCorpus(view, view.written, question.whole)
        self.built: Built = build(view, config, corpus, effects or Effects(query), request, question.now)
        self.ranking = request.ranking or config.ranking
        self.order = order_of(query, request, view.fields)
        self.collapses = not request.similar and self.ranking == "web"
        self.wish = ordering.wish_of(query, request, self.built, question.now)
        self.lengths = Lengths(view.lengths, question.whole.lengths)
        is_plain = self.ranking == "bm25"
        self.strict = plain(view.schema, query, corpus) if is_plain else self.built.strict
        self.loose = None if is_plain else self.built.loose

    def query(self, loose: bool) -> tantivy.Query:
        """One of the two queries."""
        return self.loose if loose and self.loose is not None else self.strict


def _ordered(view: View, hits: Sequence[Candidate], order: Order) -> tuple[Sighting, ...]:
    addresses = [address for _, address in hits]
    return _sightings(view, addresses, order.places(view.searcher, addresses), [0.0] * len(hits))


def _sightings(
    view: View, addresses: list[tantivy.DocAddress], orders: Sequence[float], scores: Sequence[float]
) -> tuple[Sighting, ...]:
    fields = (schema.KEY, schema.CLUSTER, schema.OWNER, schema.SECTION)
    return tuple(map(Sighting, orders, scores, *(view.numbers(field, addresses) for field in fields)))


def _shown(view: View, showing: Showing, highlighter: Highlighter) -> Hit | None:
    address = view.find(showing.key)
    return make_hit(view, (showing.score, address), showing.similar, highlighter) if address is not None else None

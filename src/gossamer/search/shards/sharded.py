"""Asks all shards of a divided index, and answers as one searcher would.

A search takes up to three rounds, in each of which all shards are asked at once:

1. *statistics* of the query's terms, to be added up; skipped where they are known and nothing was committed since;
2. *find*: the best pages of each shard, scored by those sums; they are merged, and copies put under each other. For the
   first page of results each shard also makes excerpts of as many of its best pages as are likely to be shown;
3. *show*: what is missing: excerpts of other pages, and counts where copies match. Most searches need none. If pages
   list translations, one more question follows: which of them are *held* by any shard.

A shard that does not answer in time, or that is of another cut, version or crawl, is missing: the others answer, and
the results say so. Only where none is left there is an error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple, TypeVar

import msgspec

from gossamer.clock import Clock, SystemClock
from gossamer.errors import OperationError
from gossamer.index.analysis import Languages
from gossamer.index.shards import shard_of
from gossamer.model.site import key64
from gossamer.search import counting, grouping
from gossamer.search.attempts.ladder import Standing, Step, climb, steps
from gossamer.search.attempts.reasons import Reason, of_empty, reason
from gossamer.search.attempts.wording import explained
from gossamer.search.corpus import Place, Whole, fields_of, narrowed
from gossamer.search.correcting import frequency_of, respelled
from gossamer.search.crowd import Crowd
from gossamer.search.custom.orders import is_ordered
from gossamer.search.desk.acting import NO_RULES, DeskRules
from gossamer.search.desk.asking import is_first
from gossamer.search.desk.effects import Effects
from gossamer.search.like import asking as like_asking
from gossamer.search.like.telling import likeness, spellings
from gossamer.search.like.values import Sample
from gossamer.search.limits import DEPTH, ENOUGH, MAX_PREFIX, MAX_SIZE, depth_for, relaxed_notice, span_of
from gossamer.search.overview import Outline, example, overview
from gossamer.search.query.building import chosen_languages
from gossamer.search.query.language import Query, parse, render
from gossamer.search.query.terms import places, wider_places
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
from gossamer.search.semantic import fusing
from gossamer.search.semantic.fusing import CANDIDATES
from gossamer.search.shards import merging
from gossamer.search.shards.merging import Line, MergedSpelling, Mixed
from gossamer.search.shards.rounds import Nodes, Rounds
from gossamer.search.shards.tallies import Tallies
from gossamer.search.shards.values import (
    ExplainAsk,
    FindAsk,
    Finding,
    Found,
    HeldAsk,
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
    SuggestAsk,
    Suggested,
    UrlAsk,
)
from gossamer.search.suggest import Spelling, sought
from gossamer.search.translations import linked
from gossamer.search.weights import field_weights

T = TypeVar("T")
_UNKNOWN = Query("")
"""Stands for a correction that was not asked for yet."""
_MOST_AHEAD = 20
"""Results of a page up to which shards make them before they are asked for them."""
_UNEVEN = 2.0
"""Standard deviations by which a shard may have more of a page's results than its share, before it is asked again."""


class ShardedSearcher:
    """`web.service.SearchService` over many shards; safe to share between threads."""

    def __init__(
        self, nodes: Nodes, config: RankingConfig | None = None, clock: Clock | None = None, deadline: float = 2.0,
        desk: DeskRules | None = None,
    ) -> None:  # fmt: skip
        """`deadline`: seconds that the shards have for a whole search."""
        self._nodes, self._config, self._deadline = nodes, config or RankingConfig(), deadline
        self._clock = clock or SystemClock()
        self._tallies = Tallies()
        self._weights = field_weights(self._config)
        self._desk = desk

    def search(self, request: Request) -> Results:
        """The results of a request."""
        started = self._clock.now()
        rounds = self._rounds()
        query = self._parsed(request.query, rounds)
        if query.is_empty:
            return Results(
                request=request, total=0, hits=(), pages=0, notices=query.notices, reason=of_empty(query).sentence
            )
        climbed = self._climb(request, query, rounds, ahead=True)
        results = climbed.search.results()
        why = Reason() if results.total else self._reason(request, query, climbed.first)
        return msgspec.structs.replace(
            results,
            request=request,
            notices=tuple(dict.fromkeys((*climbed.first.own_notices, *results.notices))),
            did_you_mean=climbed.first.correction() if not (results.total and climbed.first.ruled) else "",
            attempt=climbed.attempt,
            reason=why.sentence,
            try_instead=why.instead,
            seconds=self._clock.now() - started,
        )

    def similar(self, request: Request, url: str) -> tuple[Hit, ...]:
        """The near copies that are collapsed under a hit of the request, best first."""
        rounds = self._rounds()
        query = self._parsed(request.query, rounds)
        return self._climb(request, query, rounds).search.similar(key64(url))

    def suggest(self, prefix: str, limit: int = 8, collection: str = "") -> list[str]:
        """How a query that is being typed may go on: words and titles of all shards, or of a collection in them."""
        prefix = prefix[:MAX_PREFIX].encode("utf-8", "replace").decode()
        if not prefix.strip() or limit < 1:
            return []
        ask = SuggestAsk(prefix, limit)
        if collection:
            rules = self._desk.current() if self._desk is not None else NO_RULES
            chosen = rules.desk.collection_of(collection)
            if chosen is None:
                return []
            ask = SuggestAsk(prefix, limit, tuple(chosen.sites), chosen.filter)
        found = self._rounds().ask_all("suggest", ask, Suggested)
        return merging.completed(prefix, list(found.values()), limit)

    def page(self, url: str) -> StoredPage | None:
        """The stored text of a page, from the shard that holds it."""
        return self._ask_holder(url, "page", UrlAsk(url), StoredPage | None)  # type: ignore[arg-type]  # a union type

    def explain(self, request: Request, url: str) -> ScoreExplanation:
        """Why a page has the score it has for a request."""
        rounds = self._rounds()
        search = self._climb(request, self._parsed(request.query, rounds), rounds).search
        mixed, key = search.mixed(), key64(url)
        ask = ExplainAsk(search.question, url, mixed is not None and key in mixed.meanings)
        why = self._ask_holder(url, "explain", ask, ScoreExplanation, rounds)
        if mixed is None:
            return why
        return fusing.explained(why, mixed.meanings.get(key), 1 - self._config.semantic)

    def state(self) -> IndexState:
        """How the index stands, all shards together; as far back as the last of them."""
        summaries = self._tallies.summaries(self._rounds())
        return IndexState(
            documents=sum(one.documents for one in summaries),
            segments=sum(one.segments for one in summaries),
            position=min(one.position for one in summaries),
            committed_at=max(one.committed_at for one in summaries),
            generation="+".join(one.generation for one in summaries),
            fields=fields_of(summaries),
        )

    def overview(self) -> Overview:
        """What can be searched, as far as shards answer; those of an older version know no overview."""
        outlines = self._rounds().ask_willing("overview", OverviewAsk(), Outline)
        return overview(outlines, lambda query: self.search(example(query)).total > 0)

    def _parsed(self, text: str, rounds: Rounds) -> Query:
        """A query; shards are asked which fields there are only where it may name one."""
        may_name = ":" in text or "：" in text
        return parse(text, self._tallies.fields(rounds) if may_name else ())

    def _rounds(self) -> Rounds:
        return Rounds(self._nodes, self._deadline)

    def _climb(self, request: Request, query: Query, rounds: Rounds, ahead: bool = False) -> _Climbed:
        """The search of the query as it was typed, or of the second attempt that finds more."""
        first = self._begin(request, query, rounds, ahead)
        # Whoever made rules for a query that finds something has said what it means.
        if not request.literal and not query.is_empty and not (first.ruled and first.standing().exact):
            searches: dict[Attempt, _Search] = {}

            def ask(step: Step, with_loose: bool) -> tuple[_Search, Standing]:
                # A shard tells both at once.
                if step.attempt not in searches:
                    searches[step.attempt] = self._begin(step.request(request), step.query, rounds, ahead)
                return searches[step.attempt], searches[step.attempt].standing()

            found, compounds = first.standing(), self._compounds(query, rounds)
            tried = steps(query, found.exact, lambda: found.total, first.respelled, first.frequency, compounds)
            better = climb(tried, found.exact, lambda: found.total, ask)
            if better is not None:
                return _Climbed(first, *better)
        return _Climbed(first, first)

    def _compounds(self, query: Query, rounds: Rounds) -> Callable[[str], int]:
        """On how many pages of all shards a word of another writing of a query is; asked for with the first."""

        @cache
        def whole() -> Whole:
            return self._tallies.whole(rounds, lambda languages: wider_places(query, languages, self._weights))

        def frequency(word: str) -> int:
            counted = whole()
            return frequency_of(
                word, lambda field, term: counted.frequencies.get(field, {}).get(term, 0), counted.languages
            )

        return frequency

    def _reason(self, request: Request, query: Query, first: _Search) -> Reason:
        def count(other: Request) -> int:
            return self._begin(other, self._parsed(other.query, first.rounds), first.rounds).standing().total

        return reason(first.question.query, request, first.documents, first.frequency, count)

    def _begin(self, request: Request, query: Query, rounds: Rounds, ahead: bool = False) -> _Search:
        return _Search(rounds, self._tallies, self._question(request, query, rounds), ahead)

    def _question(self, request: Request, query: Query, rounds: Rounds) -> Question:
        wanted, chosen, now = (
            wider_places if request.wider else places,
            chosen_languages(query, request),
            self._clock.now(),
        )
        rules = self._desk.current() if self._desk is not None else NO_RULES
        effects = [Effects(query)]
        like = next(iter(query.values("like")), "")
        sample = self._sample(like, rounds) if like else None

        def asked(usual: Languages) -> list[Place]:
            effects[:] = [rules.effects(query, request, usual, now)]
            return [*wanted(effects[0].widened, narrowed(usual, chosen), self._weights), *like_asking.places(sample)]

        whole = self._tallies.whole(rounds, asked)
        if like:
            found = likeness(sample, whole.documents, whole.pages) if sample is not None else None
            effects = [like_asking.with_likeness(effects[0], request, found)]
        return Question(request, self._config, now, whole, effects[0] if self._desk is not None or like else None)

    def _sample(self, like: str, rounds: Rounds) -> Sample | None:
        """The words of the page that others shall be like, from the shard that has it under one of its spellings."""
        shards = {shard_of(key64(url), self._nodes.shards) for url in spellings(like)}
        found = rounds.ask("sample", dict.fromkeys(shards, LikeAsk(like)), Sample | None)  # type: ignore[arg-type]  # a union type
        return next((one for _, one in sorted(found.items()) if one is not None), None)

    def _ask_holder(
        self, url: str, operation: str, ask: msgspec.Struct, answer: type[T], rounds: Rounds | None = None
    ) -> T:
        shard = shard_of(key64(url), self._nodes.shards)
        rounds = rounds or self._rounds()
        found = rounds.ask(operation, {shard: ask}, answer)
        if shard not in found:
            raise OperationError(f"the shard that this page belongs to does not answer: {rounds.missing[shard]}")
        return found[shard]


class _Climbed(NamedTuple):
    """What was searched first, and what in the end."""

    first: _Search
    search: _Search
    attempt: Attempt | None = None


class _Search:
    """One search on its way through the rounds."""

    def __init__(self, rounds: Rounds, tallies: Tallies, question: Question, ahead: bool) -> None:
        """`ahead`: whether its first page of results is likely to be shown."""
        self.rounds, self._tallies, self.question, self._query = rounds, tallies, question, question.query
        query, effects = self._query, question.effects
        self._pins, self.ruled = (bool(effects and effects.pinned), bool(effects and effects.rules))
        self._whole, self._request = question.whole, question.request
        self._found: tuple[dict[int, Finding], list[Sighting]] | None = None
        self._exact = self._matching = 0
        self._spelled: Query | None = _UNKNOWN
        self._span = span_of(self._request)
        self._notices: list[str] = []
        self._ranking = self._request.ranking or question.config.ranking
        self._collapses = not self._request.similar and self._ranking == "web"
        self._ordered = is_ordered(query, self._request, self._whole.fields)
        self._most = grouping.limit(self._request, query, question.config)
        self._loose = False
        self._ahead = ahead
        self._made: dict[int, Shown] = {}
        """Shard → results that it made for a reader before anybody knew which are shown."""

    @property
    def own_notices(self) -> list[str]:
        """Who is missing, and how the query was understood: what is said first."""
        return [*filter(None, [self.rounds.answered().notice]), *self._query.notices]

    @property
    def documents(self) -> int:
        """Pages of all shards."""
        return self._whole.documents

    def standing(self) -> Standing:
        """How much was found."""
        if self._found is None:
            needed = self._span.needed
            self._found = self._find(grouping.reach(needed) if self._most else needed)
            self._matching = sum(one.pages for one in self._found[0].values())
        return Standing(self._exact, self._matching)

    def frequency(self, word: str) -> int:
        """On how many pages of all shards a word is."""
        return frequency_of(word, self._pages, self._whole.languages)

    def results(self) -> Results:
        """All of it."""
        matching = self.standing().total
        assert self._found is not None
        findings, found = self._found
        found, added = self._with_meaning(found)
        line = self._line(found)
        if not line.is_full and len(found) < min(matching + added, DEPTH):  # copies took the places of others
            findings, found = self._find(DEPTH)
            found, added = self._with_meaning(found)
            line = self._line(found)
            matching = sum(one.pages for one in findings.values())
        matching += added
        joined = self._joined(findings, found, matching)
        crowd = grouping.crowd(line.field, line.groups, self._most)
        hits, counted = self._show(line.showings, joined, bool(matching) and self._request.facets, crowd)
        tally = counting.total(matching, joined, counted, self._request.facets, self._whole.fields)
        hits = linked(hits, self._held, self._collapses)
        answered = self.rounds.answered()
        return Results(
            request=self._request,
            total=tally.total,
            hits=grouping.told(hits, line.field, {one: tally.groups.get(one, 0) for one in crowd.numbers}),
            pages=self._span.pages(tally.total),
            estimated=tally.estimated,
            facets=tally.facets,
            fields=tally.fields,
            notices=(
                *explained(self._notices, self._query, self.frequency),
                *filter(None, [self._query.like.sentence if tally.total and self._query.like is not None else ""]),
                *self._span.notices(tally.total),
            ),
            shards=answered,
            grouped=bool(line.field),
        )

    def similar(self, key: int) -> tuple[Hit, ...]:
        """The hits under the hit with a key."""
        found, _ = self._with_meaning(self._find(DEPTH)[1])
        copies = merging.copies_of(found, key)[:MAX_SIZE]
        hits, _ = self._show([Showing(one.key, one.score, 0) for one in copies], [], False)
        return hits

    def _find(self, needed: int) -> tuple[dict[int, Finding], list[Sighting]]:
        """What each shard found with the query that was asked in the end, and the best of all in order."""
        depth = max(depth_for(needed), CANDIDATES if self.question.config.semantic else 0)
        ask = FindAsk(self.question, needed, depth, self._likely(), self._request.facets)
        answers = self.rounds.ask_all("find", ask, Found)
        self._tallies.note({shard: found.position for shard, found in answers.items()})
        findings = {shard: found.strict for shard, found in answers.items()}
        strict = self._exact = sum(one.pages for one in findings.values())
        looser = {shard: found.loose for shard, found in answers.items() if found.loose is not None}
        self._loose = False
        # With so few in all, no shard can have kept its own to itself.
        if strict < ENOUGH and len(looser) == len(findings) and sum(one.pages for one in looser.values()) > strict:
            findings, self._loose = looser, True
            if relaxed_notice(strict) not in self._notices:
                self._notices.append(relaxed_notice(strict))
        self._made = {shard: one.ahead for shard, one in answers.items() if one.ahead and self._is_asked(one)}
        found = merging.merged([one.sightings for one in findings.values()], self._ranking, self._ordered)
        return findings, found[:DEPTH]

    def _likely(self) -> int:
        """How many of the best results of each shard will be shown, more or less."""
        size, shards = self._span.size, self.rounds.shards
        if not self._ahead or self._span.first or size > _MOST_AHEAD:
            return 0
        share = 1 / shards
        return min(size, math.ceil(size * share + _UNEVEN * math.sqrt(size * share * (1 - share))))

    def _is_asked(self, found: Found) -> bool:
        """Whether what a shard made is of the query that counts; one that adds no page is the same."""
        return found.is_loose == self._loose or (found.loose is not None and found.loose.pages == found.strict.pages)

    def mixed(self) -> Mixed | None:
        """The results by words mixed with those by meaning, where that is asked for."""
        self.standing()
        assert self._found is not None
        return self._mixed(self._found[1])

    def _with_meaning(self, found: list[Sighting]) -> tuple[list[Sighting], int]:
        """The best by words and meaning, and how many pages only meaning finds."""
        mixed = self._mixed(found)
        return (mixed.found[:DEPTH], mixed.added) if mixed is not None else (found, 0)

    def _mixed(self, found: Sequence[Sighting]) -> Mixed | None:
        weight = self.question.config.semantic
        if not weight or self._ranking != "web" or self._ordered:
            return None
        ask = MeaningAsk(self.question, self._loose, tuple(one.key for one in found[:CANDIDATES]))
        return merging.mixed(found, self.rounds.ask_willing("meaning", ask, Meant), weight)

    def _line(self, found: Sequence[Sighting]) -> Line:
        collapses = self._collapses and self._whole.has_copies
        return merging.one_page(found, self._span, self._leaders, collapses, self._most)

    def _leaders(self, clusters: Sequence[int]) -> Mapping[int, int]:
        """Any shard knows them, since all follow the same crawl."""
        _, found = self.rounds.ask_any("leaders", LeadersAsk(tuple(clusters)), dict[int, int])
        return found or {}

    def _joined(
        self, findings: Mapping[int, Finding], found: Sequence[Sighting], matching: int
    ) -> list[counting.Joined]:
        if not self._collapses or not self._whole.has_copies:
            return []
        if len(found) == matching and len({one.cluster for one in found}) == len(found):
            return []
        return [one.joined for one in findings.values()]

    def _show(
        self,
        showings: Sequence[Showing],
        joined: Sequence[counting.Joined],
        facets: bool,
        crowd: Crowd = counting.NOBODY,
    ) -> tuple[tuple[Hit, ...], list[counting.Counted]]:
        clusters = tuple(sorted({cluster for one in joined for cluster in one.clusters}))
        by_key = {key: hit for made in self._made.values() for key, hit in made.hits.items()}
        counted = {shard: made.counted for shard, made in self._made.items() if not clusters}
        uncounted = {shard for shard in self.rounds.present if shard not in counted}
        lacking = {shard for shard in self.rounds.present if shard in uncounted or not counted[shard].knows(crowd)}
        wanted: dict[int, list[Showing]] = {
            shard: []
            for shard in self.rounds.present
            if clusters or (facets and shard in uncounted) or (crowd.numbers and shard in lacking)
        }
        for showing in showings:
            if showing.key not in by_key:
                wanted.setdefault(shard_of(showing.key, self.rounds.shards), []).append(showing)
        asks = {
            shard: ShowAsk(self.question, self._loose, tuple(mine), clusters, facets and shard in uncounted, crowd)
            for shard, mine in wanted.items()
        }
        answers = self.rounds.ask("show", asks, Shown) if asks else {}
        for shard, shown in answers.items():
            by_key |= shown.hits
            known = counted.setdefault(shard, shown.counted)
            counted[shard] = msgspec.structs.replace(known, groups=shown.counted.groups)
        hits = tuple(_as_shown(by_key[one.key], one) for one in showings if one.key in by_key)
        if self._pins:
            hits = tuple(msgspec.structs.replace(hit, recommended=is_first(hit.score)) for hit in hits)
        return hits, list(counted.values())

    def _held(self, keys: Sequence[int]) -> list[int]:
        """Those of some keys whose pages are in the index, as far as shards say; those of an older version do not."""
        found = self.rounds.ask_willing("held", HeldAsk(tuple(keys)), list[int])
        return [key for keys_here in found for key in keys_here]

    def correction(self) -> str:
        """The query respelled; empty where there is no reason to."""
        other = self.respelled()
        return render(other) if other is not None else ""

    def respelled(self) -> Query | None:
        """The query respelled; asked for once."""
        if self._spelled is _UNKNOWN:
            self._spelled = respelled(
                self._query, self.standing().exact, self._pages, self._whole.languages, self._spelling,
                self._whole.documents,
            )  # fmt: skip
        return self._spelled

    def _pages(self, field: str, term: str) -> int:
        return self._whole.frequencies.get(field, {}).get(term, 0)

    def _spelling(self, doubtful: Sequence[str]) -> Spelling:
        words, counted = sought(doubtful)
        ask = SpellingAsk(tuple(words), tuple(counted))
        return MergedSpelling(self.rounds.ask_willing("spelling", ask, Spellings))


def _as_shown(hit: Hit, showing: Showing) -> Hit:
    """A result with what only the front end knows."""
    if (hit.score, hit.similar) == (showing.score, showing.similar):
        return hit
    return msgspec.structs.replace(hit, score=showing.score, similar=showing.similar)

"""Answers that are given again while they are true: readers ask for the same things, and turn pages back.

An answer is true for one state: the commit of the index, the published rules of the search desk, the link ranks, the
vectors, and the day (best bets have dates). When any of them changes, all answers are forgotten. Everything else that
an answer depends on is its request, with two exceptions. If a reader asks for news, the age of pages counts by the
clock, so such an answer is given again for a minute only; so is every answer where clicks of readers count. And the
crawl says which page represents a cluster: so every answer is worked out again after an hour.

Nobody has rights of their own in a search: whoever sends the same request may see the same answer. The console tries
drafts of rules with a searcher that remembers nothing (`Searcher.under`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from sys import getsizeof
from threading import Lock
from typing import Any, NamedTuple

import msgspec

from gossamer.clock import Clock
from gossamer.index.folder import IndexFolder
from gossamer.search.clicks.evidence import Choices
from gossamer.search.desk.acting import NO_RULES, DeskRules, Rules
from gossamer.search.ordering import Leaders, Ranks, asks_for_news
from gossamer.search.query.language import parse
from gossamer.search.ranking import RankingConfig
from gossamer.search.results import Facets, Request, Results
from gossamer.search.searcher import Searcher
from gossamer.search.view import View

MEBIBYTE = 1024 * 1024
MEBIBYTES = 64
"""Of all remembered answers together, if nobody says otherwise: ten results take about 20 kB."""
KEPT = 3600.0
"""Seconds for which an answer is given again."""
KEPT_NEWS = 60.0
"""The same of an answer that depends on the time of day."""
_DAY = 86_400
_ANSWER, _HIT, _PART = 1_500, 1_100, 130
"""Bytes of an answer, of a hit and of a mark or a count, without their texts."""


class _State(NamedTuple):
    """All that answers depend on beside their requests."""

    view: View
    rules: Rules
    ranks: str
    vectors: Hashable
    day: int


class _Answer(NamedTuple):
    value: Any
    size: int
    given: float
    kept: float


class Answers:
    """Values by key, all of one state, in so many bytes; what nobody asked for longest goes first. Safe to share
    between threads."""

    def __init__(self, most: int) -> None:
        """`most`: bytes of all together; 0: nothing is remembered."""
        self._most = most
        self._lock = Lock()
        self._of: Hashable = None
        self._answers: OrderedDict[Hashable, _Answer] = OrderedDict()
        self.size = 0
        """Bytes of what is remembered."""

    def get(self, state: Hashable, key: Hashable, now: float) -> Any:
        """What is remembered for a key; None if there is nothing, or nothing of this state."""
        with self._lock:
            answer = self._answers.get(key) if self._of == state else None
            # A clock that was set back makes no answer younger.
            if answer is None or not 0 <= now - answer.given < answer.kept:
                return None
            self._answers.move_to_end(key)
            return answer.value

    def put(self, state: Hashable, key: Hashable, value: Any, size: int, given: float, kept: float) -> None:
        """Remember a value. `state`: that before it was worked out; if it changed meanwhile, nobody will ask for it."""
        if size > self._most:
            return
        with self._lock:
            if self._of != state:
                self._answers.clear()
                self._of, self.size = state, 0
            old = self._answers.pop(key, None)
            self._answers[key] = _Answer(value, size, given, kept)
            self.size += size - (old.size if old else 0)
            while self.size > self._most:
                _, oldest = self._answers.popitem(last=False)
                self.size -= oldest.size


class RememberingSearcher(Searcher):
    """A searcher that gives an answer again instead of working it out again; for servers."""

    def __init__(
        self, folder: IndexFolder, config: RankingConfig | None = None, ranks: Ranks | None = None,
        clock: Clock | None = None, leaders: Leaders | None = None, desk: DeskRules | None = None,
        most_bytes: int = MEBIBYTES * MEBIBYTE, choices: Choices | None = None,
    ) -> None:  # fmt: skip
        super().__init__(folder, config, ranks, clock, leaders, desk=desk, choices=choices)
        self._answers = Answers(most_bytes)

    def search(self, request: Request) -> Results:
        """The results of a request."""
        started = self._clock.now()
        state = self._state(started)
        found: Results | None = self._answers.get(state, request, started)
        if found is not None:
            return msgspec.structs.replace(found, seconds=self._clock.now() - started, remembered=True)
        results = super().search(request)
        self._views.read_ahead(state.view)
        kept = KEPT_NEWS if self._choices is not None or _is_of_the_moment(results) else KEPT
        self._answers.put(state, request, results, size_of(results), started, kept)
        return results

    def at_hand(self, request: Request) -> Results | None:
        """The results of a request, if they are remembered and nobody has to wait for a file or a database to say that
        they are still true."""
        started = self._clock.now()
        state = self._state_at_hand(started)
        found: Results | None = self._answers.get(state, request, started) if state is not None else None
        if found is None:
            return None
        return msgspec.structs.replace(found, seconds=self._clock.now() - started, remembered=True)

    def suggest(self, prefix: str, limit: int = 8, collection: str = "") -> list[str]:
        """How a query that is being typed may go on: words and titles of the index, or of a collection."""
        started = self._clock.now()
        state = self._state(started)
        found: list[str] | None = self._answers.get(state, (prefix, limit, collection), started)
        if found is not None:
            return found
        can_correct = self._views.has_vocabulary
        suggestions = super().suggest(prefix, limit, collection)
        if can_correct:  # later there may be more
            size = _ANSWER + sum(map(getsizeof, [prefix, *suggestions]))
            self._answers.put(state, (prefix, limit, collection), suggestions, size, started, KEPT)
        return suggestions

    def _state(self, now: float) -> _State:
        return _State(
            view=self._views.current(),
            rules=self._desk.current() if self._desk is not None else NO_RULES,
            ranks=getattr(self._ranks, "generation", ""),
            vectors=self._meaning.stamp() if self._meaning is not None else None,
            day=int(now // _DAY),
        )

    def _state_at_hand(self, now: float) -> _State | None:
        view = self._views.known()
        rules = NO_RULES if self._desk is None else _recent(self._desk)
        ranks = "" if self._ranks is None else _recent(self._ranks)
        if view is None or rules is None or ranks is None:
            return None
        vectors = self._meaning.stamp() if self._meaning is not None else None
        return _State(view, rules, ranks, vectors, int(now // _DAY))


def _recent(known: DeskRules | Ranks) -> Any:
    """What was read so shortly ago that it counts; None if it has to be read, or if nobody can tell."""
    recent: Callable[[], Any] | None = getattr(known, "recent", None)
    return recent() if recent is not None else None


def size_of(results: Results) -> int:
    """What an answer takes in memory, in bytes: its texts, and about so much for everything around them."""
    size = _ANSWER + getsizeof(results.request.query)
    for hit in results.hits:
        size += _HIT + getsizeof(hit.url) + getsizeof(hit.title.text) + getsizeof(hit.excerpt.text)
        size += _PART * (len(hit.title.marks) + len(hit.excerpt.marks))
        size += sum(_PART + getsizeof(one.url) for one in hit.alternates)
    return size + _PART * sum(len(getattr(results.facets, name)) for name in Facets.__struct_fields__)


def _is_of_the_moment(results: Results) -> bool:
    """Whether the same request may have another answer a moment later."""
    request, asked = results.request, [results.request.query]
    if results.attempt is not None:
        asked.append(results.attempt.query)
    return request.sort == "date" or any(asks_for_news(query, request) or query.newest for query in map(parse, asked))

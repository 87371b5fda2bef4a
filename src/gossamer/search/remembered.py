"""Answers that are given again while the index stays as it is: readers ask for the same things, and turn pages back.

An answer depends on more than the index: on the time (fresh pages), on link ranks, on the representatives of clusters,
on clicks of readers.
So it is given again for `KEPT` seconds at most, and only while the index has the same commit and the search desk the
same rules.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import NamedTuple

import msgspec

from gossamer.clock import Clock
from gossamer.index.folder import IndexFolder
from gossamer.search.clicks.evidence import Choices
from gossamer.search.desk.acting import NO_RULES, DeskRules, Rules
from gossamer.search.ordering import Leaders, Ranks
from gossamer.search.ranking import RankingConfig
from gossamer.search.results import Request, Results
from gossamer.search.searcher import Searcher
from gossamer.search.view import View

KEPT = 60.0
"""Seconds for which an answer is given again."""
MOST_HITS = 20_000
"""Hits of all remembered answers together; each takes about a kilobyte."""


class _Answer(NamedTuple):
    given: float
    results: Results

    @property
    def size(self) -> int:
        return 1 + len(self.results.hits)


class RememberingSearcher(Searcher):
    """A searcher that gives an answer again instead of working it out again; for servers."""

    def __init__(
        self, folder: IndexFolder, config: RankingConfig | None = None, ranks: Ranks | None = None,
        clock: Clock | None = None, leaders: Leaders | None = None, desk: DeskRules | None = None,
        most_hits: int = MOST_HITS, choices: Choices | None = None,
    ) -> None:  # fmt: skip
        super().__init__(folder, config, ranks, clock, leaders, desk=desk, choices=choices)
        self._most = most_hits
        self._lock = Lock()
        self._answers: OrderedDict[Request, _Answer] = OrderedDict()
        self._hits = 0
        self._of: tuple[View, Rules] | None = None
        """The state of the index and the desk's rules that all answers are of."""

    def search(self, request: Request) -> Results:
        """The results of a request."""
        started = self._clock.now()
        state = self._views.current(), self._desk.current() if self._desk is not None else NO_RULES
        found = self._remembered(state, request, started)
        if found is not None:
            return msgspec.structs.replace(found, seconds=self._clock.now() - started)
        results = super().search(request)
        self._views.read_ahead(state[0])
        self._remember(state, request, _Answer(started, results))
        return results

    def _remembered(self, state: tuple[View, Rules], request: Request, now: float) -> Results | None:
        with self._lock:
            answer = self._answers.get(request) if self._of == state else None
            # A clock that was set back makes no answer younger.
            if answer is None or not 0 <= now - answer.given < KEPT:
                return None
            self._answers.move_to_end(request)
            return answer.results

    def _remember(self, state: tuple[View, Rules], request: Request, answer: _Answer) -> None:
        """`state`: that before the search; if index or rules changed meanwhile, the next search has another one."""
        with self._lock:
            if self._of != state:
                self._answers.clear()
                self._of, self._hits = state, 0
            old = self._answers.pop(request, None)
            self._answers[request] = answer
            self._hits += answer.size - (old.size if old else 0)
            while self._hits > self._most:
                _, oldest = self._answers.popitem(last=False)
                self._hits -= oldest.size

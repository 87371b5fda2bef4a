"""What a trickle of updates does to a real index: the time of updates and queries, segments, rewritten documents.

Ways to merge take the same updates in turn, each on an index of its own, so that whatever else the machine does hits
all alike. Merges are waited for before the next way has its turn: what they take is told apart from what an update
takes, and which merges there are does not depend on the machine.

Pages are made up: 150 words each, as frequent as words are in a language.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from random import Random

import msgspec

from gossamer.index.document import IndexPage, build
from gossamer.search.results import Request
from gossamer.search.searcher import Searcher
from studies.merge.policies import Load, numbers
from studies.merge.ways import MOST_IN_ONE, WAYS, Documents

WORDS = 150
VOCABULARY = 30_000
_ROUNDS = 5
"""Times that all queries are asked at one look."""


class Step(msgspec.Struct, frozen=True):
    """One update."""

    documents: int
    """In the index afterwards."""
    searchable: float
    """Seconds from analysed documents to a commit that a reader can open."""
    settled: float
    """Seconds until all merges that it led to were done, too."""
    cpu: float
    """Of the process, merges included."""
    segments: int


class Look(msgspec.Struct, frozen=True):
    """Queries after some updates."""

    documents: int
    segments: int
    milliseconds: float


class Result(msgspec.Struct):
    """What one way did."""

    way: str
    steps: list[Step] = []
    looks: list[Look] = []
    written: int = 0
    rewritten: int = 0
    """Documents copied by merges."""


class Pages:
    """Made-up pages, the same for every way."""

    def __init__(self, load: Load, seed: int) -> None:
        self._load, self._seed = load, seed
        dice = Random(seed)
        syllables = [a + b for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u", "an", "er", "is")]
        self._words = ["".join(dice.choices(syllables, k=dice.randint(2, 4))) for _ in range(VOCABULARY)]
        weights = [1 / (rank + 3) for rank in range(VOCABULARY)]
        self._frequent = list(accumulate(weights))
        self._asked = list(accumulate(weight**0.5 for weight in weights))

    def update(self, number: int) -> Documents:
        """The pages of an update, analysed."""
        pages = (self._page(page, Random(f"{self._seed} {number} {page}")) for page in self.numbers(number))
        return {page.key: build(page) for page in pages}

    def numbers(self, number: int) -> list[int]:
        """Which pages an update has."""
        return numbers(self._load, number, self._seed)

    def queries(self, count: int) -> list[str]:
        """Two words each, frequent ones and rare ones."""
        dice = Random(self._seed + 1)
        return [" ".join(dice.choices(self._words, cum_weights=self._asked, k=2)) for _ in range(count)]

    def _page(self, number: int, dice: Random) -> IndexPage:
        words = dice.choices(self._words, cum_weights=self._frequent, k=WORDS)
        return IndexPage(
            url=f"https://www.site-{number % 50}.example/page-{number}.html",
            title=" ".join(words[:6]),
            text=" ".join(words),
            lang="en",
            fetched_at=1_700_000_000.0 + number,
        )


class Measuring(msgspec.Struct, frozen=True, kw_only=True):
    """How a run is done."""

    load: Load
    updates: int
    ways: tuple[str, ...] = tuple(WAYS)
    seldom: int = 10
    """`one segment` takes the updates in between together, untimed: one of so many is timed."""
    looks: int = 8
    """Times that queries are asked."""
    queries: int = 60
    seed: int = 1


def measure(root: Path, plan: Measuring, tell: Callable[[str], None] = lambda _text: None) -> list[Result]:
    """Let all ways take the updates in turn."""
    pages = Pages(plan.load, plan.seed)
    queries = pages.queries(plan.queries)
    runs = [_Run(name, root / name.replace(" ", "-"), plan) for name in plan.ways]
    every = max(1, plan.updates // plan.looks)
    try:
        for update in range(plan.updates):
            documents = pages.update(update)
            for run in runs[update % len(runs) :] + runs[: update % len(runs)]:
                run.take(documents, update)
            if (update + 1) % every == 0:
                for run in runs:
                    run.look(queries)
                tell(f"{update + 1} of {plan.updates} updates")
    finally:
        for run in runs:
            run.close()
    return [run.result for run in runs]


class _Run:
    """One way on its way."""

    def __init__(self, name: str, root: Path, plan: Measuring) -> None:
        self.result = Result(name)
        self._way = WAYS[name](root, plan.load)
        self._searcher = Searcher.open(root)
        self._seldom = plan.seldom if name == "one segment" else 1
        self._most = MOST_IN_ONE - plan.load.pages * self._seldom if name == "one segment" else None
        self._waiting: Documents = {}
        self._keys: set[int] = set()
        self._done = False

    def take(self, documents: Documents, update: int) -> None:
        """An update, timed where it is its turn."""
        if self._most is not None and len(self._keys) > self._most:
            self._done = True
            return
        self._keys |= documents.keys()
        self.result.written += len(documents)
        if (update + 1) % self._seldom:
            self._waiting |= documents
            return
        if self._waiting:
            self._way.apply(self._waiting, update)
            self._way.settle()
            self._waiting = {}
        cpu, start = time.process_time(), time.perf_counter()
        self._way.apply(documents, update)
        searchable = time.perf_counter() - start
        self._way.settle()
        settled, cpu = time.perf_counter() - start, time.process_time() - cpu
        self.result.steps.append(Step(len(self._keys), searchable, settled, cpu, self._way.segments))

    def look(self, queries: Sequence[str]) -> None:
        """Milliseconds of a query: the median, in the best of some rounds."""
        if not self._done:
            best = min(statistics.median(self._times(queries)) for _ in range(_ROUNDS))
            self.result.looks.append(Look(len(self._keys), self._way.segments, 1000 * best))

    def _times(self, queries: Sequence[str]) -> Iterator[float]:
        for query in queries:
            start = time.perf_counter()
            self._searcher.search(Request(query=query, facets=False))
            yield time.perf_counter() - start

    def close(self) -> None:
        """Stop."""
        self.result.rewritten = self._way.rewritten
        self._way.close()

"""Rules of the search desk tried before they count: what readers asked, and queries with known answers, under the rules
that count and under others, side by side.

Only queries that the two sets of rules treat differently are searched, so a trial of a synonym takes moments, however
much is asked. A trial ends after its time, too: it says how many queries it did not get to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from gossamer.errors import UsageError
from gossamer.evaluate.metrics import ndcg
from gossamer.evaluate.values import Collection
from gossamer.search.desk.acting import Rules
from gossamer.search.results import Hit, Request
from gossamer.search.searcher import Searcher

TOP = 10
"""Results that are compared."""
SHOWN = 50
"""Queries that are listed."""
MOST_JUDGED = 1_000


class Real(msgspec.Struct, frozen=True):
    """A query of readers, and how often it was asked."""

    query: str
    times: int = 1


class Move(msgspec.Struct, frozen=True):
    """A result that is elsewhere now."""

    url: str
    title: str
    before: int
    """Place among the first ten, from 1; 0: not there."""
    after: int

    @property
    def what(self) -> str:
        """In a word."""
        if not self.before:
            return "came"
        return "went" if not self.after else "rose" if self.after < self.before else "fell"


class Changed(msgspec.Struct, frozen=True):
    """A query whose results differ."""

    query: str
    times: int
    before: int
    """Results under the rules that count."""
    after: int
    moves: tuple[Move, ...]
    """By their new place; those that went come last."""
    rules: tuple[str, ...] = ()
    """The new rules that act on the query."""


class Judged(msgspec.Struct, frozen=True):
    """A query with known answers that is answered better or worse."""

    query: str
    before: float
    """nDCG@10 under the rules that count."""
    after: float


class JudgedTrial(msgspec.Struct, frozen=True):
    """How the queries with known answers did."""

    name: str
    queries: int
    before: float
    """Mean nDCG@10."""
    after: float
    changed: tuple[Judged, ...] = ()
    """The greatest difference first."""


class Trial(msgspec.Struct, frozen=True):
    """What other rules would change."""

    queries: int
    """Queries of readers that were looked at."""
    changed: tuple[Changed, ...]
    """Most asked first."""
    left: int = 0
    """Queries for which there was no time."""
    judged: JudgedTrial | None = None


class Published:
    """Rules that stay as they are (`search.searcher.DeskRules`)."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    def current(self) -> Rules:
        """The rules."""
        return self._rules


def try_rules(
    searcher: Searcher, before: Rules, after: Rules, asked: Sequence[Real], judged: Collection | None,
    goes_on: Callable[[], bool],
) -> Trial:  # fmt: skip
    """Hold two sets of rules against queries; `goes_on` says whether there is time left."""
    old, new = searcher.under(Published(before)), searcher.under(Published(after))
    changed, looked_at = [], 0
    for real in asked:
        if not goes_on():
            break
        looked_at += 1
        if (one := _compared(old, new, real)) is not None:
            changed.append(one)
    found = _judge(old, new, judged, goes_on) if judged is not None else None
    changed.sort(key=lambda one: (-one.times, one.query))
    return Trial(looked_at, tuple(changed), len(asked) - looked_at, found)


def check_judged(collection: Collection, name: str) -> Collection:
    """The collection, if it judges pages of a crawl."""
    if collection.documents:
        raise UsageError(f"{name} brings documents of its own: the desk needs queries with URLs of the crawl")
    return collection


def _compared(old: Searcher, new: Searcher, real: Real) -> Changed | None:
    request = Request(query=real.query, size=TOP, facets=False)
    effects = new.effects(request)
    if old.effects(request) == effects:
        return None
    before, after = old.search(request), new.search(request)
    moves = _moves(before.hits, after.hits)
    if not moves and before.total == after.total:
        return None
    return Changed(real.query, real.times, before.total, after.total, moves, effects.rules)


def _moves(before: Sequence[Hit], after: Sequence[Hit]) -> tuple[Move, ...]:
    was = {hit.url: place for place, hit in enumerate(before, 1)}
    now = {hit.url: place for place, hit in enumerate(after, 1)}
    titles = {hit.url: hit.title.text for hit in (*before, *after)}
    moves = [Move(url, titles[url], was.get(url, 0), place) for url, place in now.items() if was.get(url) != place]
    return (*moves, *(Move(url, titles[url], place, 0) for url, place in was.items() if url not in now))


def _judge(old: Searcher, new: Searcher, judged: Collection, goes_on: Callable[[], bool]) -> JudgedTrial:
    found: list[Judged] = []
    for id, text in list(judged.queries.items())[:MOST_JUDGED]:
        answers = judged.judgements.get(id, {})
        if not any(grade > 0 for grade in answers.values()):
            continue
        if not goes_on():
            break
        request = Request(query=text, similar=True, facets=False)
        before = after = ndcg(old.urls(request, TOP), answers)
        if old.effects(request) != new.effects(request):
            after = ndcg(new.urls(request, TOP), answers)
        found.append(Judged(text, before, after))
    count = max(len(found), 1)
    differing = sorted((one for one in found if one.before != one.after), key=lambda one: -abs(one.after - one.before))
    means = (sum(one.before for one in found) / count, sum(one.after for one in found) / count)
    return JudgedTrial(judged.name, len(found), *means, tuple(differing[:SHOWN]))

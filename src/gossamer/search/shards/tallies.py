"""Numbers of the shards that the front end remembers: to ask for them again and again would cost a round each time.

What is known of a shard counts for as long as it says that its index holds the same changes of the crawl, and for
`FRESH` seconds at most, since texts of links may come to a page without a change.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import is_not
from threading import Lock

import msgspec

from gossamer.index.analysis import Languages
from gossamer.model.fields import CustomFields
from gossamer.search.corpus import Frequencies, Place, Summary, Whole, added, whole_of
from gossamer.search.shards.rounds import Rounds
from gossamer.search.shards.values import Statistics, StatisticsAsk

FRESH = 10.0
"""Seconds."""
_REMEMBERED = 50_000
"""Terms of a shard that are remembered."""


class _Known:
    """What is known of one shard."""

    summary: Summary
    at: float

    def __init__(self) -> None:
        self.frequencies: Frequencies = {}
        self.terms = 0

    def lacks(self, places: Iterable[Place]) -> bool:
        """Whether some of the terms are not known."""
        return any(term not in self.frequencies.get(field, ()) for field, term in places)

    def of(self, places: Iterable[Place]) -> Frequencies:
        """The frequencies of some terms."""
        found: Frequencies = {}
        for field, term in places:
            found.setdefault(field, {})[term] = self.frequencies.get(field, {}).get(term, 0)
        return found


class Tallies:
    """What is known of all shards; safe to share between threads."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._now = monotonic
        self._lock = Lock()
        self._known: dict[int, _Known] = {}
        self._languages: Languages | None = None
        self._fields: CustomFields = ()
        self._sums: tuple[tuple[Summary, ...], Whole] | None = None
        """The last summaries and their sums: languages and lengths are the same for all queries."""

    def whole(self, rounds: Rounds, places_in: Callable[[Languages], list[Place]]) -> Whole:
        """The sums of all shards that answer, with the terms that a query looks at in pages of given languages."""
        if self._languages is None:
            self._ask(rounds, ())
        places = places_in(self._languages or Languages())
        known = self._fresh(rounds, places)
        if known is None:
            known = self._ask(rounds, places)
        frequencies = added(one.of(places) for one in known.values())
        return msgspec.structs.replace(self._sum(tuple(one.summary for one in known.values())), frequencies=frequencies)

    def _sum(self, summaries: tuple[Summary, ...]) -> Whole:
        sums = self._sums
        if sums is None or len(sums[0]) != len(summaries) or any(map(is_not, sums[0], summaries)):
            sums = self._sums = summaries, whole_of(summaries, ())
        return sums[1]

    def summaries(self, rounds: Rounds) -> list[Summary]:
        """What all shards that answer say of themselves now."""
        return [one.summary for one in self._ask(rounds, ()).values()]

    def fields(self, rounds: Rounds) -> CustomFields:
        """The operator's own fields; of shards that were asked before, by what they said then."""
        if self._languages is None:
            self._ask(rounds, ())
        return self._fields

    def note(self, positions: Mapping[int, int]) -> None:
        """Shards said how far their indexes are: what is known of another state is forgotten."""
        with self._lock:
            for shard, position in positions.items():
                known = self._known.get(shard)
                if known is not None and known.summary.position != position:
                    del self._known[shard]

    def _fresh(self, rounds: Rounds, places: Sequence[Place]) -> dict[int, _Known] | None:
        """What is known, where it is all that is needed."""
        now = self._now()
        with self._lock:
            known = {shard: one for shard, one in self._known.items() if now - one.at < FRESH}
            complete = len(known) == rounds.shards and not any(one.lacks(places) for one in known.values())
        return known if complete else None

    def _ask(self, rounds: Rounds, places: Sequence[Place]) -> dict[int, _Known]:
        answers = rounds.ask_all("statistics", StatisticsAsk(tuple(places)), Statistics)
        now = self._now()
        with self._lock:
            for shard in rounds.missing:
                self._known.pop(shard, None)
            known = {shard: self._take(shard, told, now) for shard, told in answers.items()}
            sums = self._sum(tuple(one.summary for one in known.values()))
            self._languages, self._fields = sums.languages, sums.fields
        return known

    def _take(self, shard: int, told: Statistics, now: float) -> _Known:
        known = self._known.get(shard)
        if known is None or known.summary.position != told.summary.position or known.terms > _REMEMBERED:
            known = self._known[shard] = _Known()
        known.summary, known.at = told.summary, now
        for field, counts in told.frequencies.items():
            known.frequencies.setdefault(field, {}).update(counts)
            known.terms += len(counts)
        return known

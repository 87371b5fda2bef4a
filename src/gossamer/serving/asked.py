"""Queries of readers on their way into the frontier database: `StoredAsked` listens to the server's answers.

Only the first page of results counts: who turns the page has asked already.
"""

from __future__ import annotations

import logging
from collections import Counter

from gossamer.clock import Clock
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.search.query.language import parse
from gossamer.search.results import Results
from gossamer.serving.tally import PAUSE, Tally
from gossamer.tables import asked
from gossamer.tables.asked import Times, day_of, normalised

log = logging.getLogger(__name__)

_Search = tuple[int, str, bool]
"""The day, the query, and whether it found nothing."""


class StoredAsked(Tally[_Search]):
    """Counts what is asked of the server of a data folder."""

    what = "queries of readers"

    def __init__(self, folder: DataFolder, clock: Clock, pause: float = PAUSE) -> None:
        super().__init__(folder, pause)
        self._clock = clock

    def answered(self, results: Results, via: str) -> None:
        """A search was answered; returns at once."""
        if parse(results.request.query).values("like"):  # a link of ours; nobody typed it
            return
        query = normalised(results.request.query)
        if query and results.request.page <= 1:
            # Where a part of the index did not answer, nothing can be said about what there is.
            self.count((day_of(self._clock.now()), query, results.in_vain))

    def record(self, db: Database, counts: Counter[_Search]) -> int:
        """A day after the other; returns how many queries there were."""
        queries = 0
        for today in sorted({day for day, _, _ in counts}):
            searches = {search: times for search, times in counts.items() if search[0] == today}
            of_day: dict[str, Times] = {}
            for (_, query, in_vain), times in searches.items():
                one = of_day.setdefault(query, Times())
                one.times += times
                one.in_vain += times * in_vain
            left_out = asked.record(db, today, of_day)
            for search in searches:
                del counts[search]
            if left_out:
                log.info("%d queries not counted: too many different queries today", left_out, extra={"day": today})
            queries += len(of_day)
        return queries

"""What readers chose: on its way into the frontier database, and back to the searcher.

`StoredChoices` is the server's `ChoiceService`: it writes counts every few seconds, and once a day learns how readers
look at results. `StoredEvidence` tells the searcher what the counts say. If the crawl cannot be asked, a search does
not fail: clicks do not count for a while.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from gossamer.clock import Clock
from gossamer.data.connection import SharedConnection
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.errors import GossamerError
from gossamer.model.site import key64
from gossamer.search.clicks.drafting import Trial
from gossamer.search.clicks.evidence import PRIOR, Chosen, Counted, Model, chosen
from gossamer.search.ranking import RankingConfig
from gossamer.serving.tally import PAUSE, Tally
from gossamer.tables import choices
from gossamer.tables.asked import day_of, normalised
from gossamer.tables.choices import KEPT_DAYS, SLICES, Seen, Times

SAMPLE = 50_000
"""Rows from which the model is learned: another part of them each day."""
_REST = 5.0
"""Seconds without questions after one that was not answered."""

log = logging.getLogger(__name__)


def name_of(query: str) -> int:
    """A query as it is counted: a hash of one spelling of it."""
    return key64(normalised(query))


class _Seen(NamedTuple):
    seen: Seen
    is_opened: bool


class _Preferred(NamedTuple):
    day: int
    outcome: str


class StoredChoices(Tally[_Seen | _Preferred]):
    """Counts of a data folder; safe to use from any thread."""

    what = "choices of readers"

    def __init__(self, folder: DataFolder, config: RankingConfig, clock: Clock, pause: float = PAUSE) -> None:
        super().__init__(folder, pause)
        self._clock = clock
        self.share = config.clicks_trial if config.clicks > 0 else 0.0
        self._learned = -1
        self._slice = int(clock.now()) % SLICES

    def name(self, query: str) -> int:
        """The query as it is counted."""
        return name_of(query)

    def shown(self, day: int, query: int, page: tuple[int, int], place: int) -> None:
        """One more reader was shown a page at a place."""
        self.count(_Seen(Seen(*page, query, day, place), False))

    def opened(self, day: int, query: int, page: tuple[int, int], place: int) -> None:
        """One more reader opened it there."""
        self.count(_Seen(Seen(*page, query, day, place), True))

    def preferred(self, day: int, outcome: str, times: int) -> None:
        """Readers preferred one of two orders."""
        self.count(_Preferred(day, outcome), times)

    def record(self, db: Database, counts: Counter[_Seen | _Preferred]) -> int:
        """In one transaction; then some old rows leave."""
        pages: dict[Seen, Times] = defaultdict(Times)
        preferred = {}
        for what, times in counts.items():
            if isinstance(what, _Preferred):
                preferred[what.day, what.outcome] = times
            elif what.is_opened:
                pages[what.seen].opened += times
            else:
                pages[what.seen].shown += times
        written = choices.record(db, pages, preferred)
        counts.clear()
        today = day_of(self._clock.now())
        choices.sweep(db, self._slice, today - KEPT_DAYS)
        self._slice += 1
        if self._learned != today:
            self._learned = today
            learn(db, today)
        return written


def learn(db: Database, today: int) -> Model:
    """Learn how readers look at results, and keep it."""
    from gossamer.search.clicks.estimating import Sum, estimated  # NumPy: servers that count no clicks go without

    start = key64(str(today))
    model = estimated([Sum(*row) for row in choices.sample(db, start, today - KEPT_DAYS, SAMPLE)])
    choices.keep_model(db, msgspec.json.encode(model).decode())
    return model


def known_model(db: Database) -> Model:
    """How readers look at results, as it was learned last."""
    try:
        text = choices.model(db)
        return msgspec.json.decode(text, type=Model) if text else PRIOR
    except msgspec.DecodeError:  # another version wrote it
        return PRIOR


def trial_of(db: Database, now: float) -> Trial:
    """Which order readers preferred while anything is remembered."""
    found = choices.preferences(db, day_of(now) - KEPT_DAYS)
    return Trial(found.get("with", 0), found.get("without", 0), found.get("tie", 0))


class StoredEvidence:
    """`search.clicks.evidence.Choices` of a data folder; safe to share between threads."""

    def __init__(self, folder: DataFolder, config: RankingConfig, clock: Clock) -> None:
        self._reader, self._config, self._clock = SharedConnection(folder.database), config, clock
        self._resting_until = 0.0

    def of(self, query: str, pages: Sequence[int]) -> Mapping[int, Chosen]:
        """What is known of some pages for a query; nothing where that cannot be told now."""
        now = self._clock.now()
        if not pages or now < self._resting_until:
            return {}
        today = day_of(now)

        def ask(db: Database) -> tuple[list[Counted], Model]:
            rows = choices.of_query(db, name_of(query), pages, today - KEPT_DAYS, max(self._config.clicks_readers, 1))
            return [Counted(*row) for row in rows], known_model(db) if rows else PRIOR

        try:
            rows, model = self._reader.ask(ask)
        except (GossamerError, OSError):
            self._resting_until = now + _REST
            return {}
        return chosen(rows, model, self._config, today)

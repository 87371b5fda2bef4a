"""What counted clicks say about a page for a query: the position-based model, shrunk where little is known.

A reader opens a result if they look at its place and find it attractive; the two do not depend on each other (Craswell
et al., "An experimental comparison of click position-bias models", 2008). So a click at the eighth place says more than
one at the first, where everybody looks. With a, the attractiveness of a page, and p, the chance that somebody looks at
the place where it was shown,

    a = (clicks + WEIGHT · usual) / (looks + WEIGHT),   looks = Σ clicks + (shown - clicks) · p (1 - a) / (1 - p a)

since whoever clicked had looked, and of the others some. `_judged` finds the a for which that is so. Clicks and looks
lose half of their weight every `clicks_half` days. A page gains by how much more attractive it is than results usually
are: nothing if it is not, 1 if everybody who looks at it opens it.

Nobody pushes a page up alone: a day's clicks count only if `LEAST` different readers opened the page for the query on
that day, and nothing counts before there are `clicks_days` such days with `clicks_readers` readers together. On other
days the page was shown all the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec

from gossamer.search.ranking import RankingConfig

PLACES = 10
"""Places of which is counted who was shown what: those of the first page of results."""
LEAST = 3
"""Different readers who must open a page for a query on one day, or the day does not count. The same number must ask a
query on one day before anything about it is written down."""
WEIGHT = 20.0
"""Looks that what is usual counts as much as."""
_ROUNDS = 20
"""Steps towards the attractiveness; each brings the rest of the way down to a half at least."""
_HALF_AT_MOST = 1_000
"""Halvings after which nothing is left to count."""


class Model(msgspec.Struct, frozen=True):
    """How readers look at results."""

    places: tuple[float, ...] = tuple(1 / place for place in range(1, PLACES + 1))
    """The chance that a reader looks at a place, against 1 for the first. By default it falls as 1/place, as in
    Joachims et al., "Unbiased learning-to-rank with biased feedback" (2017)."""
    usual: float = 0.3
    """The chance that a reader who looks at a result opens it."""


PRIOR = Model()
"""What is believed before anything was counted."""


class Counted(NamedTuple):
    """How many readers were shown a page at a place on a day, and how many of them opened it."""

    page: int
    day: int
    place: int
    shown: int
    opened: int


class Chosen(msgspec.Struct, frozen=True):
    """What readers think of a page for a query."""

    lift: float
    """From 0, as attractive as others or not enough known, to 1."""
    readers: int
    """Who opened it, each once a day, on the days that count."""
    days: int
    times: float
    """How many times as attractive as usual."""

    @property
    def detail(self) -> str:
        """In words."""
        return (
            f"{self.readers} readers on {self.days} days opened it for this query, "
            f"{self.times:.1f} times as often as usual at its places"
        )


class Choices(Protocol):
    """What readers chose, wherever it is counted."""

    def of(self, query: str, pages: Sequence[int]) -> Mapping[int, Chosen]:
        """What is known of some pages, by key, for a query; nothing of most."""
        ...


def chosen(rows: Iterable[Counted], model: Model, config: RankingConfig, today: int) -> dict[int, Chosen]:
    """What the counts of one query say, by page; only pages that gain."""
    by_page: dict[int, list[Counted]] = defaultdict(list)
    for row in rows:
        by_page[row.page].append(row)
    found = {page: _judged(counted, model, config, today) for page, counted in by_page.items()}
    return {page: one for page, one in found.items() if one is not None and one.lift > 0}


def _judged(rows: Sequence[Counted], model: Model, config: RankingConfig, today: int) -> Chosen | None:
    opened: dict[int, int] = defaultdict(int)
    for row in rows:
        opened[row.day] += row.opened
    counting = {day: readers for day, readers in opened.items() if readers >= LEAST}
    readers = sum(counting.values())
    if len(counting) < max(config.clicks_days, 1) or readers < config.clicks_readers:
        return None
    clicks = sum(fresh(today - day, config.clicks_half) * number for day, number in counting.items())
    passed: dict[float, float] = defaultdict(float)
    for row in rows:
        # On a day that does not count nobody clicked, and all were shown the page.
        others = row.shown - (row.opened if row.day in counting else 0)
        look = model.places[min(row.place, PLACES) - 1]
        passed[look] += fresh(today - row.day, config.clicks_half) * max(others, 0)
    attractive = model.usual
    for _ in range(_ROUNDS):
        missed = sum(
            times * look * (1 - attractive) / max(1 - look * attractive, 1e-9) for look, times in passed.items()
        )
        attractive = (clicks + WEIGHT * model.usual) / (clicks + missed + WEIGHT)
    lift = max(attractive - model.usual, 0.0) / (1 - model.usual) if model.usual < 1 else 0.0
    return Chosen(lift, readers, len(counting), attractive / model.usual if model.usual else 1.0)


def fresh(days: int, half: float) -> float:
    """What is left of a count after so many days; a day that has not come yet counts as today."""
    if days <= 0:
        return 1.0
    return float(0.5 ** min(days / half, _HALF_AT_MOST)) if half > 0 else 0.0


def gain(score: float, lift: float, config: RankingConfig) -> float:
    """What clicks add to a score: a share of it, `search.clicks` at most."""
    return max(score, 0.0) * config.clicks * lift

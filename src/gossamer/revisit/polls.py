"""When to ask a source for news again: a feed, a news sitemap, a page that lists what is new.

A source brings news at a rate r(t) that is learned from each poll; the dates of the news tell when
they came, not only how many. The rate is a mean, believed as a Gamma distribution (news over
seconds), times a profile over the hours of the day and the days of the week, because newsrooms
sleep. Both forget slowly; the mean forgets at once what is refuted: when far more comes than can be
chance, or when nothing comes for so long that the source may have died. News that come in batches
are no surprise where they always do.

The next poll is due when the waiting that must have piled up since the last one,

    W(t) = ∫ r(s) (t − s) ds  over the time since the last poll,

reaches a price that is the same for all sources. For constant rates the interval is √(2·price/r),
which gives the least mean delay from publication to poll for a given number of polls; asking in
proportion to the rate, or everybody alike, is worse. With a profile it comes within 3 % of the best
schedule there is (bench/feeds.py). The price follows from the budget of polls, but does not fall below
`LEAST_PRICE`. A large answer costs more: its price grows with its size beyond what is usual.
A source that shows only its last entries is also asked before half of them have scrolled away.

A source of unknown habits is first taken for a lively one, so it is asked every few minutes; each hour
without news is evidence against that, and the gaps grow with it.

Hours and days are UTC; a source's own zone is part of its profile. Pure: no clock, no I/O.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from heapq import nlargest

import msgspec

from gossamer.model.counts import counted

HOUR = 3600.0
DAY = 86_400.0
FLOOR = 240.0
"""Seconds; no source is polled more often. A minute is left to fetch and index what is new within five."""
CEILING = 7 * DAY
"""Seconds; no source is polled more rarely."""
LEAST_PRICE = 5.0
"""Seconds that the news of a source may wait together before a poll is worth it, however much budget there is: one with
ten pieces of news a day is asked every five minutes, one with a piece a day every quarter of an hour. With 5 s, 98 % of
the news of 100 feeds were known within five minutes, for 93 polls of a feed a day; 2 s took 118 polls for 99 %, 10 s 77
for 97 % (bench/feeds.py)."""

_PRIOR_NEWS = 0.5
"""Pieces of news that the first guess weighs as much as."""
_FIRST_GUESS = 2 * HOUR
"""Seconds between news of a source that nothing is known about: at the least price it is asked every 4.5 minutes."""
_QUIET_GUESS = 7 * DAY
"""The same for a list of all pages of a site, which most do not change for news."""
_USUAL_BYTES = 500_000
"""Answers up to this size cost the same; a larger one as much more as it is larger."""
_BUSIEST = 1 / 60.0
"""News a second; more is a mistake of dates."""
_MEMORY_NEWS = 12.0
_SHORTEST_MEMORY, _LONGEST_MEMORY = 10 * DAY, 120 * DAY
"""The belief remembers a dozen pieces of news, but at least and at most so long."""
_PROFILE_MEMORY = 42 * DAY
_SPREAD = 14 * DAY
"""Longer times without a poll tell nothing more about hours and weekdays."""
_HOUR_WEIGHT, _WEEKDAY_WEIGHT = 0.5, 3.0
"""News in an hour of the day, or on a weekday, from which on it weighs more than the mean does."""
_OWN = 4.0
"""An hour's own news weigh so much more than those of the hours beside it."""
_SURPRISE = 5.0
"""Standard deviations; what is further from the expected is no chance."""
_SILENCE = 8.0
"""Expected pieces of news that did not come, after which a source may have died."""
_LATE = DAY
"""News dated so long before the last poll are old; so long after now, a mistake."""
_MOST_DATES = 1_000


class Habit(msgspec.Struct, frozen=True, array_like=True):
    """What is known of a source; about 600 bytes when encoded."""

    news: float
    """Pieces of news, older ones counting less, and the first guess: the Gamma distribution's a."""
    seconds: float
    """The time in which they came: its b."""
    hours: tuple[float, ...] = (0.0,) * 24
    """News by the hour of the day."""
    hours_seen: tuple[float, ...] = (0.0,) * 24
    """Seconds watched, by the hour of the day."""
    days: tuple[float, ...] = (0.0,) * 7
    """News by the weekday, Thursday first (as 1970 was)."""
    days_seen: tuple[float, ...] = (0.0,) * 7
    polled_at: float = 0.0
    news_at: float = 0.0
    """When a poll last brought news; the first poll at least."""
    polls: int = 0
    hits: int = 0
    """Polls after the first that brought news."""
    brought: int = 0
    """News of these polls."""
    unchanged: int = 0
    """Polls in a row without news."""
    silence: float = 0.0
    """Pieces of news expected since the last hit."""
    listed: int = 0
    """Entries that the source showed last."""
    size: int = 0
    """Bytes of its last full answer."""

    @property
    def cost(self) -> float:
        """How many ordinary polls one of this source stands for."""
        return max(self.size / _USUAL_BYTES, 1.0)

    @property
    def rate(self) -> float:
        """News a second, in the mean over the week."""
        return self.news / self.seconds

    @property
    def batch(self) -> float:
        """News that come together: so many say as much as one where each comes for itself."""
        return max(self.brought / self.hits, 1.0) if self.hits else 1.0


def start(now: float, quiet: bool = False) -> Habit:
    """A source that was never polled; `quiet`: a list of all pages, not of what is new."""
    gap = _QUIET_GUESS if quiet else _FIRST_GUESS
    return Habit(_PRIOR_NEWS, _PRIOR_NEWS * gap, news_at=now)


# --- learning ------------------------------------------------------------------------------------------


def polled(habit: Habit, at: float, news: Sequence[float], listed: Sequence[float] = (), size: int = 0) -> Habit:
    """What is known after a poll that worked; `size` are the bytes of a full answer, 0 where there was none.

    `news` has the time of publication of each entry that is new to us, `listed` that of every entry the
    source shows; 0 where it is unknown. On the first poll only `listed` tells about the rate.
    """
    if habit.polls == 0:
        return msgspec.structs.replace(_first(habit, at, listed or news), size=size)
    at = max(at, habit.polled_at)
    since = _watched_from(habit, at, news, listed)
    dated, others = _sorted_out(news, since, habit.polled_at, at)
    count = len(dated) + others
    expected = _expected(habit, habit.polled_at, at)
    kept = news_kept = _kept(habit, at - since, count, expected)
    silence = 0.0 if count else habit.silence + expected
    enough = _SILENCE * habit.batch
    if silence > enough:
        news_kept *= math.exp(-min(expected, enough) / enough)
    profile = _profile(habit, since, at, dated, others)
    return msgspec.structs.replace(
        habit,
        news=max(habit.news * news_kept + count, 1e-9),
        seconds=max(habit.seconds * kept + (at - since), 60.0, count / _BUSIEST),
        **profile,
        polled_at=at,
        news_at=at if news else habit.news_at,
        polls=habit.polls + 1,
        hits=habit.hits + bool(news),
        brought=habit.brought + len(news),
        unchanged=0 if news else habit.unchanged + 1,
        silence=silence,
        listed=len(listed) or habit.listed,
        size=size or habit.size,
    )


def _first(habit: Habit, at: float, listed: Sequence[float]) -> Habit:
    """The entries that a source shows are its history."""
    dates = sorted(nlargest(_MOST_DATES, (min(date, at) for date in listed if 0 < date <= at + _LATE)))
    count, seconds = 0.0, 0.0
    known = {}
    if len(dates) > 1:
        # The oldest entry only tells where the others begin to be complete.
        oldest, *dates = dates
        span = max(at - oldest, HOUR)
        memory = _memory(len(dates) / span)
        count = sum(math.exp((date - at) / memory) for date in dates)
        seconds = max(memory * -math.expm1(-span / memory), count / _BUSIEST)
        known = _profile(habit, oldest, at, dates, 0)
    return msgspec.structs.replace(
        habit,
        news=habit.news + count,
        seconds=habit.seconds + seconds,
        **known,
        polled_at=at,
        news_at=at,
        polls=1,
        listed=len(listed),
    )


def _watched_from(habit: Habit, at: float, news: Sequence[float], listed: Sequence[float]) -> float:
    """Since when nothing can have been missed: where all that is shown is new, older news have scrolled away."""
    if len(news) >= len(listed) > 1:
        oldest = min(listed)
        if habit.polled_at < oldest < at:
            return oldest
    return habit.polled_at


def _sorted_out(news: Sequence[float], since: float, polled_at: float, at: float) -> tuple[list[float], int]:
    """The dates that can be true, and how many more pieces came at an unknown time.

    Dates long before the last poll are old entries shown again: all together they are one event.
    """
    dated = [date for date in news if since < date <= at]
    old = sum(0 < date < polled_at - _LATE for date in news)
    return dated, len(news) - len(dated) - old + min(old, 1)


def _memory(rate: float) -> float:
    return min(max(_MEMORY_NEWS / max(rate, 1e-12), _SHORTEST_MEMORY), _LONGEST_MEMORY)


def _kept(habit: Habit, passed: float, count: int, expected: float) -> float:
    """What the past still weighs."""
    kept = math.exp(-passed / _memory(habit.rate / habit.batch))
    if count > expected + _SURPRISE * math.sqrt((expected + 1) * habit.batch):
        # Far more than can be chance: the source has changed, so the past says less.
        kept *= max((expected + 1) / count, 0.1)
    return kept


def _profile(
    habit: Habit, since: float, at: float, dated: Iterable[float], others: int
) -> dict[str, tuple[float, ...]]:
    """The four tables of hours and weekdays, with a time that was watched and what came in it."""
    kept = math.exp(-(at - since) / _PROFILE_MEMORY)
    since = max(since, at - _SPREAD)
    hours, hours_seen = [x * kept for x in habit.hours], [x * kept for x in habit.hours_seen]
    days, days_seen = [x * kept for x in habit.days], [x * kept for x in habit.days_seen]
    for date in dated:
        if date >= since:
            hours[int(date // HOUR) % 24] += 1
            days[int(date // DAY) % 7] += 1
    pieces = list(_hours_between(since, at))
    shares = _shares(habit, pieces) if others else []
    for index, (begin, length) in enumerate(pieces):
        hour, day = int(begin // HOUR) % 24, int(begin // DAY) % 7
        hours_seen[hour] += length
        days_seen[day] += length
        if shares:
            hours[hour] += others * shares[index]
            days[day] += others * shares[index]
    return {
        "hours": tuple(hours), "hours_seen": tuple(hours_seen), "days": tuple(days), "days_seen": tuple(days_seen),
    }  # fmt: skip


def _shares(habit: Habit, pieces: list[tuple[float, float]]) -> list[float]:
    """How news without a date are spread over the time in which they came: as the profile expects them."""
    by_hour, by_day = factors(habit)
    weights = [by_hour[int(begin // HOUR) % 24] * by_day[int(begin // DAY) % 7] * length for begin, length in pieces]
    total = sum(weights)
    return [weight / total for weight in weights] if total > 0 else []


def _hours_between(since: float, until: float) -> Iterable[tuple[float, float]]:
    """Begin and length of the pieces of a time that lie in one hour each."""
    begin = since
    while begin < until:
        end = min((begin // HOUR + 1) * HOUR, until)
        yield begin, end - begin
        begin = end


# --- expecting -----------------------------------------------------------------------------------------


def factors(habit: Habit) -> tuple[list[float], list[float]]:
    """By how much an hour of the day and a weekday are busier than the mean, drawn to 1 where little is known."""
    rate = habit.rate
    news, seen = habit.hours, habit.hours_seen
    whole = _HOUR_WEIGHT * (_OWN + 2)
    by_hour = [
        (news[i - 1] + _OWN * news[i] + news[i - 23] + whole)
        / ((seen[i - 1] + _OWN * seen[i] + seen[i - 23]) * rate + whole)
        for i in range(24)
    ]
    by_day = [
        (came + _WEEKDAY_WEIGHT) / (seconds * rate + _WEEKDAY_WEIGHT)
        for came, seconds in zip(habit.days, habit.days_seen, strict=True)
    ]
    return by_hour, by_day


def _expected(habit: Habit, since: float, until: float) -> float:
    by_hour, by_day = factors(habit)
    begin = max(since, until - _SPREAD)
    total = sum(
        by_hour[int(start // HOUR) % 24] * by_day[int(start // DAY) % 7] * length
        for start, length in _hours_between(begin, until)
    )
    return habit.rate * (total + max(begin - since, 0.0))


def next_poll(habit: Habit, now: float, price: float, floor: float = FLOOR, ceiling: float = CEILING) -> float:
    """When to poll next: between `floor` and `ceiling` seconds after the last poll, and never before now."""
    if habit.polls == 0:
        return now
    begin = habit.polled_at
    due = begin + max(_due_after(habit, begin, price * habit.cost, ceiling), floor)
    return max(due, now)


def retry_after(habit: Habit | None, failed_at: float, floor: float = FLOOR, ceiling: float = CEILING) -> float:
    """Seconds after which to ask a source again that gave no answer: as long as it has given none, a day at most."""
    silent = failed_at - habit.polled_at if habit is not None and habit.polls else DAY
    return min(max(min(silent, DAY), floor), ceiling)


def _due_after(habit: Habit, begin: float, price: float, ceiling: float) -> float:
    """Seconds until the waiting reaches the price, or half of what the source shows has scrolled away."""
    by_hour, by_day = factors(habit)
    rate = habit.rate
    room = habit.listed / 2 if habit.listed else math.inf
    count = waiting = 0.0
    for start, length in _hours_between(begin, begin + ceiling):
        busy = rate * by_hour[int(start // HOUR) % 24] * by_day[int(start // DAY) % 7]
        after = waiting + count * length + busy * length * length / 2
        if after >= price or count + busy * length >= room:
            left = min(_reaches(busy, count, price - waiting), (room - count) / busy if busy > 0 else math.inf)
            return start - begin + min(max(left, 0.0), length)
        count += busy * length
        waiting = after
    return ceiling


def _reaches(rate: float, count: float, missing: float) -> float:
    """When count·x + rate·x²/2 = missing."""
    if missing <= 0:
        return 0.0
    root = math.sqrt(count * count + 2 * rate * missing)
    return 2 * missing / (count + root) if count + root > 0 else math.inf


# --- the end -------------------------------------------------------------------------------------------


def retirement(habit: Habit, polls: int = 8, seconds: float = 60 * DAY) -> str:
    """Why a source is given up, one sentence: so many polls in a row, over so long, brought nothing. Or empty."""
    quiet = habit.polled_at - habit.news_at
    if habit.unchanged < polls or quiet < seconds:
        return ""
    return f"unchanged in {counted(habit.unchanged, 'poll')} in a row, over {quiet / DAY:.0f} days"

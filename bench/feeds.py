"""How long news wait until a poll finds them: 500 feeds, a week of virtual time, the same number of polls for all.

    python bench/feeds.py                   6, 24 and 96 polls a day for each feed in the mean
    python bench/feeds.py --quick           24 only, 50 feeds
    python bench/feeds.py --classes         also by kind of feed
    python bench/feeds.py --defaults        only what the default settings do: polls, delays, news known in time

The feeds are made up, by the habits that feeds have: agencies (a piece every 5 to 15 minutes by day), newspapers
(20 to 80 a day, fewer at weekends), magazines (working hours only), blogs (1 to 5 a week), seldom ones (1 to 3 a
month), bursts (5 to 15 pieces within two hours, every few days), batches (once a day, at the same hour), and 30 % that
died more than a year ago. They live in different time zones. Each shows only its last 10 to 50 entries; what scrolls
away between two polls is missed for ever. One in seven gives no dates, one in twenty gives them three hours off.

In these comparisons no feed is polled twice in ten minutes, and each at least once a week. With `--defaults` the bounds
and the budget are those of `FeedConfig`, and the price does not fall below the least one, as in a crawl.

- `fixed`: every feed at the same interval;
- `step-wise`: a feed's interval is halved after news and grows by half after none; polls are given in turn to the feed
  that is most overdue by its interval, so that the number of polls is the same;
- `habits`: `gossamer.revisit.polls`, the price set anew every hour so that the budget is kept;
- `knows all`: the schedule with the least mean delay for the true rates of publication (not the true moments), found by
  dynamic programming on a grid of ten minutes. No policy can do better but on bursts, which have no rate.

`cold` counts from the first poll of feeds that nobody knew, `warm` after a week of learning. The delay is that of
pieces published in the week which were found, whenever that was; polls are those of the week. The number of polls of
`habits` is given to the others; `knows all` leaves some over where it polls every ten minutes whenever there can be
news at all.
"""

from __future__ import annotations

import argparse
import heapq
import math
import statistics
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from random import Random

import msgspec
import numpy as np

from _figures import Figure, add_usual, conclude
from gossamer.revisit import polls
from gossamer.revisit.config import FeedConfig
from gossamer.revisit.poll_budget import price_for

HOUR, DAY, WEEK = 3600.0, 86_400.0, 604_800.0
START = 1_728_000_000.0 + 4 * HOUR
HISTORY = 120 * DAY
GRID = 600.0
_SHOWN = 24
"""Polls a day whose delays are shown as figures."""
FLOOR = 600.0
PROMISE = 300.0
"""Seconds within which news are to be known."""
ZONES = (0, 1, 1, 3, 3, 3, 5, 8, 9, -5, -5, -6, -8)
OFFICE = [0.1] * 6 + [0.3, 0.7, 1, 1.4, 1.6, 1.6, 1.4, 1.5, 1.6, 1.6, 1.5, 1.3, 1.1, 0.9, 0.8, 0.6, 0.4, 0.2]
STRICT = [0.0] * 8 + [0.5, 1, 1.5, 1.5, 1, 1, 1.5, 1.5, 1, 0.5] + [0.0] * 6
EVENING = [0.3] * 7 + [0.6] * 10 + [1.5, 2, 2.2, 2.2, 2, 1.5, 0.8]
BATCH = [0.0] * 6 + [24.0] + [0.0] * 17
FLAT = [1.0] * 24


class Feed(msgspec.Struct):
    """One feed and all it will ever publish."""

    kind: str
    rates: list[float]
    """News a second in each hour of the week, from Thursday on."""
    room: int
    moments: list[float]
    dates: list[float]
    """What the feed says of them; 0 for nothing."""


# --- feeds ---------------------------------------------------------------------------------------------


def make_feeds(count: int, seed: int) -> list[Feed]:
    """Feeds of all kinds in the same shares whatever their number."""
    kinds = ["agency"] * 10 + ["newspaper"] * 60 + ["magazine"] * 30 + ["blog"] * 120
    kinds += ["seldom"] * 60 + ["bursts"] * 50 + ["batch"] * 20 + ["dead"] * 150
    random = Random(seed)
    return [_make(kinds[number * len(kinds) // count], random) for number in range(count)]


def _make(kind: str, random: Random) -> Feed:
    daily, hours, weekend = {
        "agency": (random.uniform(100, 250), OFFICE, 0.7),
        "newspaper": (random.uniform(20, 80), OFFICE, random.uniform(0.3, 0.6)),
        "magazine": (random.uniform(3, 10), STRICT, 0.0),
        "blog": (random.uniform(1, 5) / 7, EVENING, random.uniform(0.7, 1.5)),
        "seldom": (random.uniform(1, 3) / 30, FLAT, 1.0),
        "bursts": (random.uniform(1, 4), FLAT, 1.0),
        "batch": (random.uniform(5, 20), BATCH, random.choice((0.0, 1.0))),
        "dead": (0.0, FLAT, 1.0),
    }[kind]
    rates = _weekly(daily, hours, weekend, random.choice(ZONES))
    room = random.randint(20, 50) if kind == "agency" else random.randint(10, 30 if kind == "newspaper" else 20)
    if kind == "dead":
        last = START - random.uniform(400, 1500) * DAY
        moments = sorted(last - random.uniform(0, 300) * DAY for _ in range(room))
    elif kind == "bursts":
        moments = _bursts(daily, random)
    else:
        moments = list(_arrivals(rates, random))
    lie = random.random()
    dates = [0.0] * len(moments) if lie < 1 / 7 else [m + 3 * HOUR * (lie > 0.95) for m in moments]
    return Feed(kind, rates, room, moments, dates)


def _weekly(daily: float, hours: Sequence[float], weekend: float, zone: int) -> list[float]:
    """Rates by the hour of the week in UTC, 1970-01-01 being a Thursday."""
    shape = []
    for hour in range(168):
        local = (hour + zone) % 168
        shape.append(hours[local % 24] * (weekend if local // 24 in (2, 3) else 1.0))
    total = sum(shape)
    return [daily * 7 * x / total / HOUR for x in shape]


def _arrivals(rates: Sequence[float], random: Random) -> Iterator[float]:
    begin = START - HISTORY
    while begin < START + 4 * WEEK:
        rate = rates[int(begin // HOUR) % 168]
        moment = begin
        while rate > 0 and (moment := moment + random.expovariate(rate)) < begin + HOUR:
            yield moment
        begin += HOUR


def _bursts(daily: float, random: Random) -> list[float]:
    moments = []
    begin = START - HISTORY
    while (begin := begin + random.expovariate(daily / 10 / DAY)) < START + 4 * WEEK:
        moments += [begin + random.uniform(0, 2 * HOUR) for _ in range(random.randint(5, 15))]
    return sorted(moments)


# --- polling -------------------------------------------------------------------------------------------


class Watch:
    """What polls find, and when."""

    def __init__(self, feeds: Sequence[Feed], measured_from: float) -> None:
        self.feeds = feeds
        self.begin, self.end = measured_from, measured_from + WEEK
        self.seen: list[int | None] = [None] * len(feeds)
        self.delays: list[list[float]] = [[] for _ in feeds]
        self.missed = 0
        self.polls = 0

    def poll(self, number: int, at: float) -> tuple[list[float], list[float]]:
        """Dates of the news and of everything the feed shows."""
        feed = self.feeds[number]
        shown_to = bisect_right(feed.moments, at)
        shown_from = max(shown_to - feed.room, 0)
        before = self.seen[number]
        self.seen[number] = shown_to
        self.polls += self.begin <= at < self.end
        for index in range(shown_from if before is None else before, shown_to):
            moment = feed.moments[index]
            if self.begin <= moment < self.end:
                if index < shown_from:
                    self.missed += 1
                else:
                    self.delays[number].append(at - moment)
        news_from = shown_from if before is None else max(before, shown_from)
        return feed.dates[news_from:shown_to], feed.dates[shown_from:shown_to]

    def row(self, name: str) -> list[str]:
        """One line of the table."""
        delays = sorted(delay for feed in self.delays for delay in feed)
        found = len(delays)
        share = 100 * self.missed / max(found + self.missed, 1)
        return [
            name, f"{self.polls:,}", _time(delays[found // 2]), _time(delays[int(found * 0.95)]),
            _time(statistics.fmean(delays)), f"{self.missed:,} ({share:.1f} %)",
        ]  # fmt: skip


def fixed(feeds: Sequence[Feed], begin: float, measured_from: float, budget: float) -> Watch:
    """Every feed at the same interval, one after the other."""
    watch = Watch(feeds, measured_from)
    gap = 1 / budget
    for turn in range(math.ceil((measured_from + 2 * WEEK - begin) * budget)):
        watch.poll(turn % len(feeds), begin + turn * gap)
    return watch


def stepwise(feeds: Sequence[Feed], begin: float, measured_from: float, budget: float) -> Watch:
    """The interval of each feed in steps, the most overdue feed first."""
    watch = Watch(feeds, measured_from)
    gap = 1 / budget
    last = np.array([begin - gap * (len(feeds) - number) for number in range(len(feeds))])
    interval = np.full(len(feeds), len(feeds) * gap)
    for turn in range(math.ceil((measured_from + 2 * WEEK - begin) * budget)):
        at = begin + turn * gap
        waited = at - last
        number = int(np.argmax(np.where(waited < FLOOR, 0.0, waited / interval)))
        if waited[number] < FLOOR:
            continue
        news, _ = watch.poll(number, at)
        last[number] = at
        interval[number] = min(max(interval[number] * (0.5 if news else 1.5), FLOOR), polls.CEILING)
    return watch


def habits(feeds: Sequence[Feed], begin: float, measured_from: float, budget: float) -> Watch:
    """By what was learned of each feed; every hour the price is set anew, higher where too much was spent."""
    watch = Watch(feeds, measured_from)
    known = [polls.start(begin) for _ in feeds]
    price, correction, spent, adjust_at = 1.0, 1.0, 0.0, begin
    queue = [(begin + number / budget, number) for number in range(len(feeds))]
    while queue[0][0] < measured_from + 2 * WEEK:
        at, number = queue[0]
        while at >= adjust_at:
            correction *= math.exp((spent / (budget * HOUR) - 1) / 12) if adjust_at > begin else 1.0
            price = price_for(known, budget, FLOOR) * correction
            spent, adjust_at = 0.0, adjust_at + HOUR
        news, listed = watch.poll(number, at)
        spent += 1
        known[number] = polls.polled(known[number], at, news, listed)
        heapq.heapreplace(queue, (polls.next_poll(known[number], at, price, FLOOR), number))
    return watch


def by_default(feeds: Sequence[Feed], measured_from: float, config: FeedConfig) -> tuple[Watch, list[int]]:
    """As a crawl with these settings does it; also the polls of each feed."""
    watch = Watch(feeds, measured_from)
    known = [polls.start(START) for _ in feeds]
    counts = [0] * len(feeds)
    budget, price, price_at = len(feeds) * config.per_day / DAY, 0.0, START
    queue = [(START + number, number) for number in range(len(feeds))]
    while queue[0][0] < watch.end + DAY:
        at, number = queue[0]
        if at >= price_at:
            price = max(polls.LEAST_PRICE, price_for(known, budget, config.floor, config.ceiling))
            price_at = at + HOUR
        news, listed = watch.poll(number, at)
        counts[number] += watch.begin <= at < watch.end
        known[number] = polls.polled(known[number], at, news, listed)
        heapq.heapreplace(queue, (polls.next_poll(known[number], at, price, config.floor, config.ceiling), number))
    return watch, counts


# --- knowing all ---------------------------------------------------------------------------------------


def knows_all(feeds: Sequence[Feed], measured_from: float, count: int) -> Watch:
    """The best schedule for the true rates with so many polls in the week, within 0.5 %."""
    price = 8.0
    for _ in range(20):
        schedules = [_best(feed.rates, measured_from, math.exp(price)) for feed in feeds]
        made = sum(measured_from <= at < measured_from + WEEK for schedule in schedules for at in schedule)
        if abs(made - count) < 0.005 * count:
            break
        price += 1.5 * math.log(made / count)
    watch = Watch(feeds, measured_from)
    for number, schedule in enumerate(schedules):
        for at in schedule:
            watch.poll(number, at)
    return watch


class Hull:
    """Lines of falling slope; finds the lowest at places that only grow."""

    def __init__(self) -> None:
        self.lines: list[tuple[float, float, int]] = []
        self.lowest = 0

    def add(self, slope: float, offset: float, owner: int) -> None:
        """One more line, the steepest so far, and away with those that are nowhere lowest any more."""
        lines = self.lines
        while lines:
            last_slope, last_offset, _ = lines[-1]
            if slope == last_slope:
                if offset >= last_offset:
                    return
            elif len(lines) == 1:
                break
            else:
                first_slope, first_offset, _ = lines[-2]
                left = (offset - first_offset) * (first_slope - last_slope)
                if left > (last_offset - first_offset) * (first_slope - slope):
                    break
            lines.pop()
        lines.append((slope, offset, owner))

    def least(self, at: float) -> tuple[float, int]:
        """The value of the lowest line, and whose it is."""
        lines = self.lines
        place = min(self.lowest, len(lines) - 1)
        slope, offset, owner = lines[place]
        value = slope * at + offset
        while place + 1 < len(lines):
            slope, offset, following = lines[place + 1]
            if slope * at + offset > value:
                break
            value, owner, place = slope * at + offset, following, place + 1
        self.lowest = place
        return value, owner


def _best(rates: Sequence[float], begin: float, price: float) -> list[float]:
    """Polls from a week before to a week after the measured one that make waiting + price · polls least.

    Waiting between two polls i < j is t(j)·(N(j) − N(i)) − (M(j) − M(i)), N being the news until then and M the sum
    of their moments. So the best i for a j is the lowest of lines in t(j), one for each i.
    """
    if not any(rates):
        return [begin - WEEK, begin, begin + WEEK]
    steps = int(3 * WEEK / GRID)
    first = begin - WEEK
    arriving = [rates[int((first + step * GRID) // HOUR) % 168] * GRID for step in range(steps)]
    hull = Hull()
    hull.add(0.0, 0.0, 0)
    before = [0]
    news = moments = 0.0
    for step in range(1, steps + 1):
        at = step * GRID
        news += arriving[step - 1]
        moments += arriving[step - 1] * (at - GRID / 2)
        value, last = hull.least(at)
        before.append(last)
        hull.add(-news, value + at * news + price, step)
    chosen, step = [], steps
    while step > 0:
        chosen.append(first + step * GRID)
        step = before[step]
    return chosen[::-1]


# --- tables --------------------------------------------------------------------------------------------


def _time(seconds: float) -> str:
    if seconds < 2 * HOUR:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / HOUR:.1f} h"


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    print(f"\n{title}\n")
    for row in (head, *rows):
        print(
            "  ".join(
                cell.ljust(width) if not i else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
        )


def by_class(feeds: Sequence[Feed], watches: dict[str, Watch]) -> None:
    """The mean delay of each kind of feed."""
    rows = []
    for kind in dict.fromkeys(feed.kind for feed in feeds):
        row = [kind, str(sum(feed.kind == kind for feed in feeds))]
        for watch in watches.values():
            delays = [
                delay for feed, found in zip(feeds, watch.delays, strict=True) if feed.kind == kind for delay in found
            ]
            row.append(_time(statistics.fmean(delays)) if delays else "-")
        rows.append(row)
    _table("mean delay by kind", ["kind", "feeds", *watches], rows)


def defaults(feeds: Sequence[Feed]) -> None:
    """What a crawl without settings of its own does, by kind of feed."""
    for name, learning in (("cold", 0.0), ("warm", WEEK)):
        watch, counts = by_default(feeds, START + learning, FeedConfig())
        rows = []
        for kind in ("all", *dict.fromkeys(feed.kind for feed in feeds)):
            numbers = [number for number, feed in enumerate(feeds) if kind in ("all", feed.kind)]
            delays = sorted(delay for number in numbers for delay in watch.delays[number])
            daily = sum(counts[number] for number in numbers) / len(numbers) / 7
            times = ["-"] * 4
            if delays:
                known = sum(delay <= PROMISE for delay in delays) / len(delays)
                times = [
                    _time(delays[len(delays) // 2]), _time(delays[int(0.95 * len(delays))]),
                    _time(statistics.fmean(delays)), f"{100 * known:.1f} %",
                ]  # fmt: skip
            rows.append([kind, str(len(numbers)), f"{daily:.1f}", *times])
        head = ["kind", "feeds", "polls a day", "median", "95 %", "mean", "in 5 min"]
        _table(f"default settings, {name}", head, rows)


def main() -> None:
    """Prints a table for each budget and start."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_usual(parser, "24 polls a day only, 50 feeds")
    parser.add_argument("--classes", action="store_true")
    parser.add_argument("--defaults", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--daily", type=float, nargs="*", default=[6, 24, 96])
    options = parser.parse_args()
    feeds = make_feeds(50 if options.quick else 500, options.seed)
    news = sum(START <= moment < START + WEEK for feed in feeds for moment in feed.moments)
    print(f"{len(feeds)} feeds, {news:,} pieces of news a week, seed {options.seed}")
    if options.defaults:
        defaults(feeds)
        return
    figures: list[Figure] = []
    for daily in [24] if options.quick else options.daily:
        budget = len(feeds) * daily / DAY
        for name, learning in (("cold", 0.0), ("warm", WEEK)):
            measured_from = START + learning
            ours = habits(feeds, START, measured_from, budget)
            watches = {
                "fixed": fixed(feeds, START, measured_from, ours.polls / WEEK),
                "step-wise": stepwise(feeds, START, measured_from, ours.polls / WEEK),
                "habits": ours,
                "knows all": knows_all(feeds, measured_from, ours.polls),
            }
            head = ["", "polls", "median", "95 %", "mean", "missed"]
            _table(f"{daily:g} polls a day for each feed, {name}", head, [w.row(n) for n, w in watches.items()])
            if options.classes:
                by_class(feeds, watches)
            if daily == _SHOWN:
                figures += _figures(name, watches)
    conclude(options, figures, {"feeds": len(feeds), "news": news})


def _figures(name: str, watches: dict[str, Watch]) -> list[Figure]:
    """Median and 95th percentile of the delay, ours beside the others."""
    minutes = {key: sorted(d / 60 for found in watch.delays for d in found) for key, watch in watches.items()}
    shown = []
    for title, share in (("median", 0.5), ("95 %", 0.95)):
        at = {key: delays[int(share * len(delays))] for key, delays in minutes.items()}
        others = {key: value for key, value in at.items() if key != "habits"}
        shown.append(Figure(f"delay of news, {title}, {name}", at["habits"], "min", beside=others, most=100_000))
    return shown


if __name__ == "__main__":
    main()

"""Charts of the crawl's past: what happened between each two samples, ready for `charts.js`.

A chart is `at` (seconds since 1970) and, by name, as many values; None is a gap. Counters become speeds; where no
sample was taken for long the crawl did not run, and the line breaks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Literal

import msgspec

from gossamer.database.database import Database
from gossamer.frontier.extraction import Day
from gossamer.tables import delays, samples
from gossamer.tables.samples import DAY, HOUR, MINUTE, Figures

Values = list[float | None]
Kind = Literal["line", "area", "bars"]
Between = Callable[[Figures, Figures], float | None]
"""A value from a sample and the one before it."""

STEPS = {"hour": (HOUR, MINUTE), "day": (DAY, 5 * MINUTE), "week": (7 * DAY, HOUR), "year": (365 * DAY, DAY)}
"""How far back a chart goes, and seconds between its points, by name of the window."""
_NEWS_STEPS = {"hour": 5 * MINUTE, "day": 30 * MINUTE, "week": 3 * HOUR, "year": DAY}
"""The same for announced documents: there are few of them, and a quantile of three says nothing."""
_BREAK = 3
"""Steps without a sample after which a line breaks."""


class Chart(msgspec.Struct, frozen=True):
    """What a chart is drawn from."""

    at: list[float]
    series: dict[str, Values]
    unit: str = ""
    """What the values are: s, bytes, share, /s; empty: numbers of something."""
    kind: Kind = "line"
    goal: float | None = None
    """A level that values should stay below."""


def window_of(db: Database, wanted: str, now: float) -> str:
    """The window that somebody asks for; without one a day, or an hour where the crawl is no older."""
    if wanted in STEPS:
        return wanted
    return "hour" if samples.is_young(db, now) else "day"


def chart(db: Database, name: str, window: str, now: float, goal: float) -> Chart | None:
    """A chart of the overview by its name; None where there is no such chart."""
    draw = _CHARTS.get(name)
    if draw is None or window not in STEPS:
        return None
    length, step = STEPS[window]
    if name in ("news", "announced"):
        step = _NEWS_STEPS[window]
    found = samples.history(db, now - length - step, now, step)
    return draw(found, step, goal)


def _speed(found: Sequence[Figures], step: int, goal: float) -> Chart:
    return Chart(
        *_between(
            found, step, {
                "fetched": lambda a, b: _rate(a, b, "fetched"),
                "kept": lambda a, b: _rate(a, b, "pages"),
                "errors": lambda a, b: _rate(a, b, "errors"),
            },
        ),
        unit="/s",
    )  # fmt: skip


def _news(found: Sequence[Figures], step: int, goal: float) -> Chart:
    def quantile(name: str) -> Callable[[Figures, Figures], float | None]:
        def value(a: Figures, b: Figures) -> float | None:
            new = delays.summary(samples.grown(a.delays, b.delays))
            return float(getattr(new, name)) if new.documents else None

        return value

    at, series = _between(found, step, {"p50": quantile("median"), "p95": quantile("p95")})
    return Chart(at, series, unit="s", goal=goal)


def _announced(found: Sequence[Figures], step: int, goal: float) -> Chart:
    at, series = _between(found, step, {"documents": lambda a, b: max(0.0, float(b.announced - a.announced))})
    return Chart(at, series, kind="bars")


def _gauges(unit: str, kind: Kind, **fields: str) -> Callable[[Sequence[Figures], int, float], Chart]:
    def now_is(field: str) -> Between:
        return lambda _, b: float(getattr(b, field))

    def draw(found: Sequence[Figures], step: int, goal: float) -> Chart:
        at, series = _between(found, step, {label: now_is(field) for label, field in fields.items()})
        return Chart(at, series, unit, kind)

    return draw


def _rate(a: Figures, b: Figures, field: str) -> float | None:
    passed = b.taken_at - a.taken_at
    return max(0.0, (getattr(b, field) - getattr(a, field)) / passed) if passed > 0 else None


def _between(found: Sequence[Figures], step: int, values: dict[str, Between]) -> tuple[list[float], dict[str, Values]]:
    """The points of a chart: one for each sample but the first, and a gap where the crawl did not run."""
    at: list[float] = []
    series: dict[str, Values] = {name: [] for name in values}
    for a, b in pairwise(found):
        if b.taken_at - a.taken_at > _BREAK * step:
            at.append(a.taken_at + step)
            for line in series.values():
                line.append(None)
            continue
        at.append(b.taken_at)
        for name, value in values.items():
            series[name].append(value(a, b))
    return at, series


_CHARTS: dict[str, Callable[[Sequence[Figures], int, float], Chart]] = {
    "speed": _speed,
    "news": _news,
    "announced": _announced,
    "collection": _gauges("", "area", documents="pages"),
    "queue": _gauges("", "area", due="urls_due"),
    "sites": _gauges("", "line", active="sites_active", waiting="sites_waiting", resting="sites_blocked"),
    "freshness": _gauges("share", "line", fresh="fresh"),
    "age": _gauges("s", "line", age="age"),
    "disk": _gauges("bytes", "line", free="disk_free", segments="segment_bytes"),
}


def extraction_chart(days: Sequence[Day]) -> Chart:
    """Share of a site's pages without text, day by day."""
    return Chart(
        [float(one.day * DAY) for one in days],
        {"without text": [one.empty / one.pages for one in days]},
        unit="share", kind="bars",
    )  # fmt: skip

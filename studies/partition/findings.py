"""Tables and figures of the splits of many sites: cumulative curves over sites, as in the seed's figures 1 to 4."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec
import numpy as np

from gossamer.lab.tables import Cell, Table
from gossamer.partition.measures import ALONE, Measures
from studies.partition.splits import SHOWN, FirstCrawl, SiteSplits, Split
from studies.reports.report import Figure, Panel, Series

SEED, PATHS, URLS = "the seed's", "ours, by paths", "ours, by hash of URLs"
RULES: dict[str, Callable[[Split], Measures]] = {
    SEED: lambda split: split.seed,
    PATHS: lambda split: split.paths,
    URLS: lambda split: split.urls,
}
_CROSSING: dict[str, Callable[[Split], float]] = {
    PATHS: lambda split: split.paths_crossing,
    URLS: lambda split: split.urls_crossing,
}
Value = Callable[[Measures], float]
_PANELS: tuple[tuple[str, str, Value], ...] = (
    ("total measure", "total measure; one crawler: 0.45", lambda one: one.total),
    ("acceleration", "times as fast as one crawler", lambda one: one.acceleration),
    ("coverage", "share of the site's pages fetched, %", lambda one: 100 * one.coverage),
    ("overlap", "share of the downloads made in vain, %", lambda one: 100 * one.overlap),
)


class Spread(msgspec.Struct, frozen=True):
    """Mean, median and extremes over sites."""

    mean: float
    median: float
    least: float
    most: float


def spread(values: Iterable[float]) -> Spread:
    """Of some values; at least one."""
    found = np.fromiter(values, float)
    return Spread(float(found.mean()), float(np.median(found)), float(found.min()), float(found.max()))


def cumulative(values: Sequence[float], ends: tuple[float, float] | None = None) -> tuple[list[float], list[float]]:
    """Steps of the share of values that are at most x; from one end to the other where ends are given."""
    places, counts = np.unique(np.asarray(values, float), return_counts=True)
    x, y = places.tolist(), (np.cumsum(counts) / len(values)).tolist()
    low, high = ends or (x[0], x[-1])
    return [low, *x, high], [0.0, *y, 1.0]


def curves(sites: Sequence[SiteSplits], rule: str, name: str) -> Figure:
    """The four measures over all sites by one rule."""
    panels = []
    for title, x, value in _PANELS:
        ends = _ends(value, sites) if x.endswith("%") else None
        found = {parts: [value(RULES[rule](site.split(parts))) for site in sites] for parts in SHOWN}
        series = [Series(f"{parts} parts", *cumulative(some, ends), "step") for parts, some in found.items()]
        panels.append(Panel(x, "sites with at most that", series, title=title, percent=True, y_from=0.0, y_to=1.0))
    return Figure(name, f"Splits of {len(sites)} sites, rule: {rule}", panels)


def _ends(value: Value, sites: Sequence[SiteSplits]) -> tuple[float, float]:
    """Of the axes of shares: the same for both rules, also where all sites have the same."""
    splits = [site.split(parts) for site in sites for parts in SHOWN]
    found = [value(one) for split in splits for one in (split.seed, split.paths)]
    return min(found), max(found)


def acceleration_figure(sites: Sequence[SiteSplits]) -> Figure:
    """Acceleration against the number of parts: median and worst site by each rule."""
    series = []
    for rule in (SEED, PATHS):
        found = {
            split.parts: [RULES[rule](site.split(split.parts)).acceleration for site in sites]
            for split in sites[0].splits
        }
        series += _middle_and_worst(rule, found)
    first = {parts: [site.first[place].live.acceleration for site in sites] for place, parts in enumerate(SHOWN)}
    series += _middle_and_worst("ours, first crawl", first)
    panel = Panel("parts", "times as fast as one crawler", series, y_from=0.0)
    return Figure("acceleration", f"Acceleration, median and worst of {len(sites)} sites", [panel])


def _middle_and_worst(label: str, found: dict[int, list[float]]) -> list[Series]:
    spreads = [spread(values) for values in found.values()]
    return [
        Series(f"{label}: median", list(found), [one.median for one in spreads]),
        Series(f"{label}: worst", list(found), [one.least for one in spreads]),
    ]


def site_table(sites: Sequence[SiteSplits]) -> Table:
    """What each site looks like, its splits into two and three parts, and what is picked."""
    columns = (
        "site", "pages", "links", "paths", "paths with 90 % of pages, %", "links in own path, %",
        *(f"{rule} {what}" for rule in ("seed", "ours") for what in ("A, N=2", "A, N=3")),
        "seed C, N=2, %", "seed O, N=2, %", "links between parts, N=2, %", "seed picks", "ours picks",
        "ours picks live",
    )  # fmt: skip
    return Table("sites", "Sites, and their splits into two and three parts", columns, [*map(_site_row, sites)])


def _site_row(site: SiteSplits) -> tuple[Cell, ...]:
    facts, two, three = site.facts, site.split(2), site.split(3)
    return (
        facts.name, facts.pages, facts.links, facts.paths, _percent(facts.key_share), _percent(facts.same_path),
        *(round(one.acceleration, 2) for one in (two.seed, three.seed, two.paths, three.paths)),
        _percent(two.seed.coverage), _percent(two.seed.overlap), _percent(two.paths_crossing),
        site.picked_by_seed, site.picked, site.picked_live,
    )  # fmt: skip


def summary_table(sites: Sequence[SiteSplits]) -> Table:
    """For each number of parts and rule: the measures over all sites."""
    columns = (
        "parts", "rule", "A mean", "A median", "A worst", "C mean, %", "C worst, %", "O mean, %", "O worst, %",
        "total mean", "sites better than unsplit", "unfit sites", "links between parts, mean %",
    )  # fmt: skip
    rows = [
        _summary_row(rule, [site.split(split.parts) for site in sites]) for split in sites[0].splits for rule in RULES
    ]
    return Table("parts", "Measures over all sites, for each number of parts", columns, rows)


def _summary_row(rule: str, splits: Sequence[Split]) -> tuple[Cell, ...]:
    found = [RULES[rule](split) for split in splits]
    crossing = spread(map(_CROSSING[rule], splits)).mean if rule in _CROSSING else None
    a, c, o = (spread(getattr(one, name) for one in found) for name in ("acceleration", "coverage", "overlap"))
    return (
        splits[0].parts, rule, round(a.mean, 2), round(a.median, 2), round(a.least, 2), _percent(c.mean),
        _percent(c.least), _percent(o.mean), _percent(o.most), round(spread(one.total for one in found).mean, 2),
        sum(one.total > ALONE.total + 1e-9 for one in found), sum(one.total == 0.0 for one in found),
        None if crossing is None else _percent(crossing),
    )  # fmt: skip


def first_table(sites: Sequence[SiteSplits]) -> Table:
    """Sites split when a fifth of them had been seen."""
    columns = (
        "parts", "A mean", "A median", "A worst", "C worst, %", "predicted A mean", "A by paths, mean",
        "by paths and mended, mean", "times mended, mean", "URLs moved, mean %",
    )  # fmt: skip
    rows = [_first_row(parts, [site.first[place] for site in sites]) for place, parts in enumerate(SHOWN)]
    return Table("first-crawl", "Split when a fifth of the pages was seen, judged on the whole site", columns, rows)


def _first_row(parts: int, found: Sequence[FirstCrawl]) -> tuple[Cell, ...]:
    live = spread(one.live.acceleration for one in found)
    foretold, paths, mended, times, moved = (
        spread(map(value, found)).mean
        for value in (
            lambda one: one.foretold,
            lambda one: one.paths.acceleration,
            lambda one: one.mended.acceleration,
            lambda one: one.mended.times,
            lambda one: one.mended.moved,
        )
    )
    return (
        parts, round(live.mean, 2), round(live.median, 2), round(live.least, 2),
        _percent(min(one.live.coverage for one in found)), round(foretold, 2), round(paths, 2), round(mended, 2),
        round(times, 1), _percent(moved),
    )  # fmt: skip


def _percent(share: float) -> float:
    return round(100 * share, 2)

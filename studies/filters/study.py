"""How much smaller do automatic filters make the URL table, and is a useful page lost? (S0.9)

Two questions to each web. *What the rules remove*: at several points of a crawl without filters, the filters that the
seed's rule alone and all our rules with their checks would make, held against the complete crawl. *Crawls with
filters*: the web crawled anew, filters made, tried and put in force on the way.

Only webs on which no page is born meanwhile: a crawl that is over sooner would have found fewer pages for that alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from gossamer.lab.tables import Cell, Table
from gossamer.lab.webs.web import RecordedWeb
from studies.filters.filtered_tables import LOOKS, STRATEGY, Course
from studies.filters.findings import Filtered, Point, Sum, measure
from studies.reports.report import Figure, Goal, Panel, Report, Series
from studies.study import Options
from studies.webs.made_up.news import news_web
from studies.webs.material import list_of, ruled_webs

SEED, GOAL = 0.16, 0.25
_DRAWN = 200
"""Points of a curve."""


def run(options: Options) -> Report:
    """Run the study."""
    real = [web for web in ruled_webs(options) if not (web.born > web.facts.started_at).any()]
    made_up = news_web(4 if options.quick else 40, 0.0, seed=options.seed, archive=60 if options.quick else 200)
    webs = [*real, made_up]
    return report(webs, measure(webs, options), {made_up.name})


def report(webs: Sequence[RecordedWeb], found: Sequence[Filtered], made_up: Collection[str] = ()) -> Report:
    """The tables, figures and sentences; real sites are also summed up without those that are made up."""
    sums = _sums(found, made_up)
    lost = sum(max(at.ours.lost for at in one.points) for one in found)
    missed = sum(one.missed for one in found)
    return Report(
        name="filters",
        title="Filters that the crawler makes itself",
        question="How much smaller do automatic filters make the URL table, and is a useful page lost?",
        seed=(
            "One rule (a prefix without a useful URL that has more URLs than the whole domain has useful ones) had "
            "made the table of a running crawl of news sites 16 % smaller; whether it lost useful pages was not "
            "measured."
        ),
        ours=_ours(found, sums, lost, missed),
        data=_data(webs, found),
        differs=_differs(found, sums),
        tables=[_points_table(found, sums), _crawls_table(found, sums)],
        figures=[_removed_figure(found, sums), _growth_figure(found)],
        goals=[
            Goal(
                f"table smaller by {GOAL:.0%}, by the filters of the complete crawl",
                f"{_each(sums, 'ours')}; with filters made on the way {_each(sums, 'shrunk')}",
                all(one.ours >= GOAL for one in sums),
            ),
            Goal(
                "no useful page lost",
                f"{lost} by the links of the complete crawls, {missed} in crawls with filters",
                not lost and not missed,
            ),
        ],
    )


def _sums(found: Sequence[Filtered], made_up: Collection[str]) -> list[Sum]:
    real = [one for one in found if one.web not in made_up]
    sums = [Sum("all together", found)]
    return [Sum("real sites together", real), *sums] if 0 < len(real) < len(found) else sums


def _each(sums: Sequence[Sum], figure: str) -> str:
    return " and ".join(f"{getattr(one, figure):.1%} ({one.name})" for one in sums)


def _change(before: int, after: int) -> float:
    return after / before - 1 if before else 0.0


def _signed(share: float) -> str:
    return f"{share:+.1%}".replace("-", "−")


def _ours(found: Sequence[Filtered], sums: Sequence[Sum], lost: int, missed: int) -> str:
    each_one = ", ".join(f"{one.share(one.end.ours):.1%} ({one.web})" for one in found)
    saved = ", ".join(f"{_signed(_change(one.without.requests, one.with_.requests))} ({one.web})" for one in found)
    pages = sum(len(one.without.useful) for one in found)
    return (
        f"The filters that our rules find at the end of a crawl remove {_each(sums, 'ours')} of its URLs, those of the "
        f"seed's rule alone {_each(sums, 'seed')}; by web, ours: {each_one}. By the links of the complete crawls "
        f"{_count(lost)} lost, whenever the filters were found. Where filters are made on the way, the table ends "
        f"smaller by {_each(sums, 'shrunk')}, and requests change by {saved}; of {pages:,} useful "
        f"pages these crawls miss {missed:,}."
    )


def _count(pages: int) -> str:
    return "no useful page is" if not pages else f"{pages:,} useful page{'s are' if pages > 1 else ' is'}"


def _data(webs: Sequence[RecordedWeb], found: Sequence[Filtered]) -> str:
    looks = sorted(one.without.seconds / LOOKS for one in found)
    return (
        f"{list_of(webs)} Crawled by `{STRATEGY}`, one request a second and site. These crawls are short, so filters "
        f"are looked for {LOOKS} times in what the crawl without filters takes (every {looks[0]:.0f} to "
        f"{looks[-1]:.0f} s), not every ten minutes, and as in a live crawl only on sites that grew meanwhile."
    )


def _differs(found: Sequence[Filtered], sums: Sequence[Sum]) -> str:
    text = (
        "The seed's figure is of one moment of an unfinished crawl; ours are of whole sites, with rules that tell "
        "their articles. "
    )
    early = [(one.web, at.share) for one in found for at in one.points if at.ours.removed < at.seed.removed]
    if early:
        names = ", ".join(dict.fromkeys(web for web, _ in early))
        text += (
            f"Worse than the seed's rule at {_list_of({share for _, share in early})} of the crawl ({names}): ours "
            "makes no filter before enough of a group's pages were visited in vain, because a way may lead by them. "
        )
    if weak := [one.web for one in found if one.share(one.end.ours) < SEED]:
        text += f"Under the seed's 16 %: {', '.join(weak)}. "
    if any(one.shrunk < one.ours for one in sums):
        text += (
            "A crawl with filters saves less than the rules remove at its end: a filter comes when part of its URLs "
            "were fetched, and lets one in 50 pass. "
        )
    if small := [one for one in sums if one.shrunk < GOAL]:
        text += f"So made on the way they stay under the goal of {GOAL:.0%}: {_each(small, 'shrunk')}. "
    return text + (
        "URLs that a filter refuses are not counted as known, but the table keeps a row of each that says why."
    )


def _list_of(shares: set[float]) -> str:
    return ", ".join(f"{share:.0%}" for share in sorted(shares))


def _points_table(found: Sequence[Filtered], sums: Sequence[Sum]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        for at in one.points:
            shares = one.share(at.seed), one.share(at.ours)
            rows.append((one.web, _percent(at.share), at.known, at.useful, *_sides([at], *shares)))
    for total in sums:
        ends = [one.end for one in total.webs]
        counts = sum(at.known for at in ends), sum(at.useful for at in ends)
        rows.append((total.name, 100.0, *counts, *_sides(ends, total.seed, total.ours)))
    heads = (
        "web", "crawled (%)", "URLs known", "of them useful", "seed's rule: filters", "it removes (%)", "it loses",
        "our rules: filters", "they remove (%)", "they lose",
    )  # fmt: skip
    return Table("removed", "Filters found at a point of the crawl, held against the complete crawl", heads, rows)


def _sides(points: Sequence[Point], seed: float, ours: float) -> tuple[Cell, ...]:
    """Number of filters, share removed and pages lost by the seed's rule, then by ours."""
    return (
        sum(at.seed.filters for at in points), _percent(seed), sum(at.seed.lost for at in points),
        sum(at.ours.filters for at in points), _percent(ours), sum(at.ours.lost for at in points),
    )  # fmt: skip


def _crawls_table(found: Sequence[Filtered], sums: Sequence[Sum]) -> Table:
    rows = [_crawls_row(one) for one in (*(Sum(one.web, [one]) for one in found), *sums)]
    heads = (
        "web", "requests without filters", "requests with", "requests changed by (%)", "URLs known without filters",
        "known with", "known changed by (%)", "useful pages without filters", "useful with", "missed", "filters live",
        "withdrawn",
    )  # fmt: skip
    return Table("crawls", "Crawls without filters and with filters made on the way", heads, rows)


def _crawls_row(total: Sum) -> tuple[Cell, ...]:
    pairs = [(one.without, one.with_) for one in total.webs]
    requests = sum(old.requests for old, _ in pairs), sum(new.requests for _, new in pairs)
    known = sum(old.known for old, _ in pairs), sum(new.known for _, new in pairs)
    return (
        total.name, *requests, _percent(_change(*requests)), *known, _percent(_change(*known)),
        sum(len(old.useful) for old, _ in pairs), sum(len(new.useful) for _, new in pairs),
        sum(one.missed for one in total.webs), sum(len(new.live) for _, new in pairs),
        sum(len(new.withdrawn) for _, new in pairs),
    )  # fmt: skip


def _percent(share: float) -> float:
    return round(100 * share, 1)


def _removed_figure(found: Sequence[Filtered], sums: Sequence[Sum]) -> Figure:
    bars = [*(Sum(one.web, [one]) for one in found), *sums]
    names = [one.name for one in bars]
    series = [
        Series("the seed's rule", names, [one.seed for one in bars], kind="bars"),
        Series("our rules", names, [one.ours for one in bars], kind="bars"),
    ]
    panel = Panel("web", "share of the URLs removed", series, percent=True, y_from=0.0, y_to=1.0)
    return Figure("removed", "What filters found at the end of a crawl remove from its table", [panel])


def _growth_figure(found: Sequence[Filtered]) -> Figure:
    panels = []
    for one in found:
        series = [_curve("without filters", one.without), _curve("with filters", one.with_)]
        panels.append(Panel("requests", "URLs known", series, title=one.web, y_from=0.0))
    return Figure("table", "The URL table along the crawl", panels)


def _curve(label: str, course: Course) -> Series:
    places = np.unique(np.linspace(0, course.requests - 1, _DRAWN).round().astype(int))
    return Series(label, (places + 1).tolist(), course.known_at[places].tolist())

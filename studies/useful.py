"""How much of what is downloaded is useful, and from when on? (S0.3, the seed's figure 4.1)

Each strategy crawls each web in the simulator, with the same document rules and without filters, to its end. A download
is useful when it is the first to bring the text of a page that fits a rule. No order can keep the share up when no
useful page is left, so the share that counts is that from 5 % of the crawl on until 90 % of the useful pages are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec
import numpy as np

from gossamer.lab.parallel import each
from gossamer.lab.simulation.measures import first_useful
from gossamer.lab.simulation.simulator import simulate
from gossamer.lab.tables import Cell, Table
from gossamer.lab.webs.web import NOWHERE, RecordedWeb
from studies.one_pass import one_pass
from studies.reports.report import Figure, Goal, Panel, Report, Series
from studies.study import Options
from studies.webs.made_up.news import news_web
from studies.webs.material import list_of, ruled_webs

PLAIN, OURS = "breadth", "fit * breadth"
STRATEGIES = (PLAIN, "opic", "fit", OURS, "fit * opic")
GOAL, SEED, SEED_PLAIN = 0.9, 0.8, 0.1
CYCLES = 20
_FROM, _FOUND = 0.05, 0.9
_ARCHIVE = 200
"""Articles of a made-up site, on the average."""


class Course(msgspec.Struct, frozen=True):
    """One strategy on one web."""

    web: str
    strategy: str
    requests: int
    found: int
    """Useful pages."""
    cycles: list[float]
    """Useful share in each twentieth of the crawl."""
    early: float
    """Useful share from 5 % of the crawl on until 90 % of the useful pages are there."""
    window: tuple[int, int]
    """The same as useful downloads, and downloads."""
    at: float
    """Share of the crawl after which 90 % of the useful pages are there."""
    hours: float
    """The same in hours of the crawl."""


def run(options: Options) -> Report:
    """Run the study."""
    real = ruled_webs(options)
    sites = 4 if options.quick else 40
    webs = [*real, news_web(sites, 0.0, seed=options.seed, archive=_ARCHIVE)] if options.webs else real
    pieces = [(web, strategy) for web in webs for strategy in STRATEGIES]
    options.tell(f"{len(pieces)} crawls of {len(webs)} webs")
    return _report(webs, each(lambda piece: _crawl(*piece, options.seed), pieces))


def _crawl(web: RecordedWeb, strategy: str, seed: int) -> Course:
    done = simulate(web, one_pass(web, strategy), seed=seed)
    useful = first_useful(web, done.row) & (done.row != NOWHERE)
    n = len(useful)
    if not useful.any():
        return Course(web.name, strategy, n, 0, [0.0], 0.0, (0, 1), 1.0, 0.0)
    so_far = np.cumsum(useful)
    end = int(np.searchsorted(so_far, _FOUND * so_far[-1])) + 1
    begin = min(round(_FROM * n), end - 1)
    cuts = np.linspace(0, n, CYCLES + 1).round().astype(int)
    cycles = [float(useful[low:high].mean()) for low, high in pairwise(cuts) if high > low]
    return Course(
        web.name, strategy, n, int(so_far[-1]), cycles, float(useful[begin:end].mean()),
        (int(useful[begin:end].sum()), end - begin), end / n,
        float(done.at[end - 1] - done.started_at) / 3600,
    )  # fmt: skip


def _report(webs: Sequence[RecordedWeb], courses: Sequence[Course]) -> Report:
    of = {(one.web, one.strategy): one for one in courses}
    ours, plain = ([of[web.name, name] for web in webs] for name in (OURS, PLAIN))
    lowest = min(ours, key=_early)
    real = [one for one in ours if not one.web.startswith("news-")] or ours
    together = sum(one.window[0] for one in real) / sum(one.window[1] for one in real)
    same = all(of[web.name, name].found == of[web.name, PLAIN].found for web in webs for name in STRATEGIES)
    lost = sum(int(web.useful.sum()) - of[web.name, PLAIN].found for web in webs)
    return Report(
        name="useful",
        title="Useful pages first",
        question="Which share of the downloads is useful, and from when on?",
        seed=(
            "40 large news sites, 20,000 URLs a cycle: about 10 % of the downloads were useful with the usual scoring, "
            "about 80 % from early cycles on with `fit` (figure 4.1)."
        ),
        ours=(
            "From 5 % of the crawl on until 90 % of the useful pages are there, the useful share with "
            f"`{OURS}` is {together:.1%} over {len(real)} {_kind(real)} web{'s' if len(real) > 1 else ''}: "
            f"{_each(ours)}; "
            f"breadth first it is {_each(plain)}. "
            + _completeness(same, lost)
        ),
        data=f"{list_of(webs)} Crawled to the end, one request a second and site.",
        differs=_differs(ours, plain),
        tables=[_table(courses)],
        figures=[_figure(webs, of)],
        goals=[
            Goal(
                f"useful share of {GOAL:.0%}, from {_FROM:.0%} of the crawl on until {_FOUND:.0%} are found",
                f"{together:.1%} over the {_kind(real)} webs; lowest {lowest.early:.1%} ({lowest.web})",
                together >= GOAL,
            ),
            Goal(
                f"the same on each {_kind(real)} web",
                f"lowest {min(real, key=_early).early:.1%} ({min(real, key=_early).web})",
                min(real, key=_early).early >= GOAL,
            ),
        ],
    )  # fmt: skip


def _early(course: Course) -> float:
    return course.early


def _completeness(same: bool, lost: int) -> str:
    if not same:
        return "Not every strategy finds as many useful pages; see the table."
    if lost > 0:
        return f"Every strategy finds the same number of useful pages; {lost:,} are out of reach of all."
    return "Every strategy finds all useful pages."


def _kind(courses: Sequence[Course]) -> str:
    return "made-up" if courses[0].web.startswith("news-") else "real"


def _each(courses: Sequence[Course]) -> str:
    return ", ".join(f"{one.early:.1%} ({one.web})" for one in courses)


def _differs(ours: Sequence[Course], plain: Sequence[Course]) -> str:
    high = float(np.mean([one.early for one in plain]))
    useful = sum(one.found for one in plain) / sum(one.requests for one in plain)
    text = f"Our breadth-first share is {high:.0%} on the average, the seed's was about 10 %"
    text += (
        f": these are whole sites, crawled to their end, on which {useful:.0%} of all downloads are useful; the seed's "
        "sites had far more other pages than it ever fetched."
        if high > 2 * SEED_PLAIN
        else "."
    )
    if behind := [one.web for one, other in zip(ours, plain, strict=True) if one.early < other.early]:
        text += f" On {', '.join(behind)}, `{OURS}` is no better than breadth first by this measure."
    if under := [one.web for one in ours if one.early < GOAL]:
        text += (
            f" Under the goal: {', '.join(under)}. Fitting URLs that bring errors or copies count as useless "
            "downloads; and where the next useful URLs stand on lists, the lists come first, among other pages that do "
            "not fit: which of those lead to useful ones, no strategy learns yet."
        )
    worse = [one.web for one in ours if one.early < SEED]
    return text + (f" Worse than the seed's 80 %: {', '.join(worse)}." if worse else "")


def _table(courses: Sequence[Course]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (one.web, one.strategy, one.requests, one.found, round(100 * one.early, 1), round(100 * one.cycles[0], 1),
         round(100 * one.found / one.requests, 1), round(100 * one.at, 1), round(one.hours, 2))
        for one in courses
    ]  # fmt: skip
    heads = (
        "web", "strategy", "requests", "useful pages", "useful, 5 % to 90 % found (%)", "in the first twentieth (%)",
        "over all (%)", "90 % found after (% of the crawl)", "after (h)",
    )  # fmt: skip
    return Table("shares", "Useful share of the downloads", heads, rows)


def _figure(webs: Sequence[RecordedWeb], of: dict[tuple[str, str], Course]) -> Figure:
    panels = []
    for web in webs:
        series = []
        for name in STRATEGIES:
            cycles = of[web.name, name].cycles
            series.append(Series(name, [100 * (n + 1) / len(cycles) for n in range(len(cycles))], cycles))
        panels.append(
            Panel("% of the crawl", "useful share of the downloads", series, title=web.name, percent=True,
                  y_from=0.0, y_to=1.0)
        )  # fmt: skip
    return Figure("per-cycle", "Useful share of each twentieth of the crawl", panels)

"""Which order of downloads brings the important pages first? (S4.4, S4.7)

Each strategy crawls each web in the simulator, politely and to its end, and is judged by the PageRank of the complete
web: the mean rank of the pages downloaded so far, against their number. *Omniscient* orders the URLs it knows by their
true rank; it must find them by links like everybody else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from gossamer.lab.parallel import each
from gossamer.lab.simulation.simulator import simulate
from gossamer.lab.tables import Cell, Table
from gossamer.lab.webs.web import Floats, RecordedWeb
from gossamer.priority.earlier import Earlier, EarlierOrParent
from gossamer.priority.product import Product
from studies.measures import area, mean_rank
from studies.one_pass import one_pass
from studies.reports.report import Figure, Goal, Panel, Report, Series
from studies.study import Options
from studies.webs.material import graph_webs, list_of
from studies.webs.pagerank_of import keyed, pagerank, seen_after

BEST, AGAIN = "omniscient", "earlier"
LIVE = (AGAIN, "opic", "backlinks", "fica", "breadth", "qrank-links", "qrank", "random")
"""Strategies that a live crawl can use; `earlier` knows the ranks of a crawl of half the pages."""
LEARNT = ("learningischange", "itw66", "mircsgo", "postgresql", "cmake", "python")
"""Sites whose graph the network behind `qrank` has learnt from (`training/qrank_sites.toml`, and the graph data)."""
GOAL = 0.9
_POINTS = 200
_SEEN = 0.5


class Course(msgspec.Struct, frozen=True):
    """One strategy on one web."""

    web: str
    strategy: str
    curve: Floats
    """Mean rank of the first 1, 2, … pages."""


class Oracle(Earlier):
    """Known pages by their earlier rank, the others by their true one."""

    def __init__(self, ranks: Mapping[int, float], truth: Mapping[int, float]) -> None:
        super().__init__({**truth, **ranks})


class Omniscient(Earlier):
    """All pages by their true rank."""

    def __init__(self, truth: Mapping[int, float]) -> None:
        super().__init__(truth)


def run(options: Options) -> Report:
    """Run the study."""
    webs = graph_webs(options)
    pieces = [(web, strategy) for web in webs for strategy in (BEST, *LIVE)]
    options.tell(f"{len(pieces)} crawls of {len(webs)} webs")
    courses = each(lambda piece: _crawl(*piece, options.seed), pieces)
    return _report(webs, courses)


def _crawl(web: RecordedWeb, name: str, seed: int) -> Course:
    ranks, strategy = pagerank(web), None
    if name == BEST:
        strategy = Product([Omniscient(keyed(web, ranks))], names=[BEST])
    elif name == AGAIN:
        strategy = Product([], EarlierOrParent(_earlier_ranks(web, seed)), links_name=AGAIN)
    settings = one_pass(web, "breadth" if strategy else name)
    done = simulate(web, settings, seed=seed, strategy=strategy)
    return Course(web.name, name, mean_rank(done.first, ranks))


def _earlier_ranks(web: RecordedWeb, seed: int) -> dict[int, float]:
    """What `gossamer rank` would say after a breadth-first crawl of half the pages."""
    half = simulate(web, one_pass(web, "breadth"), seed=seed, pages=round(_SEEN * int(web.fetched.sum())))
    read, known = seen_after(web, half.first)
    return keyed(web, pagerank(web, read), known)


def _report(webs: Sequence[RecordedWeb], courses: Sequence[Course]) -> Report:
    best = {course.web: course.curve for course in courses if course.strategy == BEST}
    shares = {(one.web, one.strategy): area(one.curve, best[one.web]) for one in courses}
    means = {name: float(np.mean([shares[web.name, name] for web in webs])) for name in (BEST, *LIVE)}
    order = sorted(LIVE, key=lambda name: -means[name])
    plain = [name for name in order if name != AGAIN]
    return Report(
        name="priority",
        title="What is fetched first",
        question="Which order of downloads brings the important pages first?",
        seed=(
            "Crawls of 25,000 pages of many sites: by Google's PageRank of what was downloaded, the network on URL "
            "features was better than breadth-first search, and that better than a random order; network and network "
            "with graph were about equal (figure 3.2)."
        ),
        ours=_found(means, plain, shares, webs),
        data=list_of(webs),
        differs=explained(means, [web.name for web in webs]),
        tables=[_table(webs, order, shares, means)],
        figures=[_mean_figure(webs, courses, order), _site_figure(webs, courses, order)],
        goals=[
            Goal(
                f"a strategy usable live reaches {GOAL:.0%} of omniscient's area",
                f"{plain[0]} {means[plain[0]]:.1%} without, {AGAIN} {means[AGAIN]:.1%} with ranks of an earlier crawl",
                max(means[plain[0]], means[AGAIN]) >= GOAL,
            )
        ],
    )


def _found(
    means: dict[str, float], plain: Sequence[str], shares: dict[tuple[str, str], float], webs: Sequence[RecordedWeb]
) -> str:
    first = plain[0]
    lowest = min(webs, key=lambda web: shares[web.name, first])
    rest = ", ".join(f"{name} {means[name]:.1%}" for name in plain[1:])
    return (
        f"Mean area under the curve as a share of omniscient's: {AGAIN} {means[AGAIN]:.1%} (a second crawl, which has "
        f"the ranks of half of the first), {first} {means[first]:.1%} (lowest on {lowest.name}, "
        f"{shares[lowest.name, first]:.1%}), {rest}."
    )


def explained(means: dict[str, float], webs: Sequence[str]) -> str:
    """Why ours differs from the seed's, by the mean shares of the strategies and the names of the webs."""
    url, graph, plain = means["qrank"], means["qrank-links"], means["breadth"]
    if url < plain:
        with_graph = "beats it" if graph > plain else "mends it only in part" if graph > url else "does not mend it"
        text = (
            f"Ours is worse where the seed's was best: importance told from the URL alone ({url:.1%}) loses to "
            f"breadth-first search ({plain:.1%}), and the graph on top ({graph:.1%}) {with_graph}. The seed's measure "
            "of importance was that of the whole web, where start pages stand out; here it is that of a page within "
            "its web, where what is near the start page is what everything links to, which favours breadth."
        )
    else:
        text = (
            f"As in the seed, importance told from the URL ({url:.1%}) is no worse than breadth-first search "
            f"({plain:.1%})."
        )
    counting = max(("opic", "backlinks", "fica"), key=lambda name: means[name])
    if means[counting] > max(url, graph, plain):
        text += f" Counting links while they are found is better still ({counting} {means[counting]:.1%})."
    if known := [name for name in webs if name in LEARNT]:
        text += (
            f" The network has learnt from the graphs of {', '.join(known)}: there it "
            "meets pages that it knows, as the seed's did."
        )
    return text


def _table(
    webs: Sequence[RecordedWeb], order: Sequence[str], shares: dict[tuple[str, str], float], means: dict[str, float]
) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (web.name, int(web.fetched.sum()), *(round(shares[web.name, name], 3) for name in order)) for web in webs
    ]
    rows.append(("mean", None, *(round(means[name], 3) for name in order)))
    return Table("areas", "Area under the curve, omniscient = 1", ("web", "URLs", *order), rows)


def _mean_figure(webs: Sequence[RecordedWeb], courses: Sequence[Course], order: Sequence[str]) -> Figure:
    grid = np.geomspace(0.002, 1.0, _POINTS)
    series = []
    for name in (BEST, *order):
        curves = [_resampled(course.curve, grid) for course in courses if course.strategy == name]
        series.append(Series(name, (100 * grid).tolist(), np.mean(curves, axis=0).tolist()))
    panel = Panel(
        "downloaded, % of the web's URLs", "mean PageRank of the downloads (web's mean = 1)", series, log_x=True
    )
    return Figure("mean-rank", f"Mean PageRank of the pages downloaded so far, mean of {len(webs)} webs", [panel])


def _resampled(curve: Floats, grid: Floats) -> Floats:
    places = np.clip(grid * len(curve) - 1, 0, len(curve) - 1)
    return np.interp(places, np.arange(len(curve)), curve)


def _site_figure(webs: Sequence[RecordedWeb], courses: Sequence[Course], order: Sequence[str]) -> Figure:
    shown = [BEST, *order[:3], "breadth", "qrank", "random"]
    panels = []
    for web in sorted(webs, key=len, reverse=True)[:4]:
        mine = {course.strategy: course.curve for course in courses if course.web == web.name}
        series = [
            Series(name, list(range(1, len(mine[name]) + 1)), mine[name].tolist()) for name in dict.fromkeys(shown)
        ]
        panels.append(Panel("pages downloaded", "mean PageRank so far", series, title=web.name, log_x=True))
    return Figure("single-webs", "The same on the largest webs", panels)

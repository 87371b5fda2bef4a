"""Is one site fetched faster by several crawlers, and what is lost? (S1.1 to S1.7)

The seed's study on other sites, by the objects that plan and predict in a live crawl: the four measures for 1 to 10
parts, and the two observations that the rule stands on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gossamer.lab.parallel import each
from gossamer.partition.config import PartitionConfig
from gossamer.partition.decision import MOST_COMPARED
from gossamer.partition.links import SiteGraph
from gossamer.partition.measures import Measures
from studies.partition.findings import (
    PATHS,
    SEED,
    acceleration_figure,
    curves,
    first_table,
    site_table,
    spread,
    summary_table,
)
from studies.partition.splits import SEEN, SHOWN, SiteSplits, Split, measure, site_graphs
from studies.reports.report import Goal, Report
from studies.study import Options
from studies.webs.catalogue import site_webs
from studies.webs.made_up.news import news_web

GOALS = {2: 1.9, 3: 2.7}
"""Parts → acceleration."""
COVERAGE = 0.98
SEED_SAME_PATH, SEED_KEY_SHARE = 0.7436, 0.1915
QUICK = (
    *("learningischange", "itw66", "mircsgo", "openoffice", "apache", "boost", "cinder", "cmake", "postgresql"),
    *("python", "racket", "sqlite"),
)
"""Sites of the quick run: of all kinds, from one directory to hundreds."""
_QUICK_PAGES, _MOST_PAGES, _MADE_UP = 2000, 6000, 12


def run(options: Options) -> Report:
    """Run the study."""
    graphs = real_graphs(options) if options.webs else {}
    real = bool(graphs)
    if not real:
        graphs = dict(site_graphs(news_web(_MADE_UP, 1.0, seed=options.seed, archive=100)))
    options.tell(f"{len(graphs)} sites, {sum(graph.pages for graph in graphs.values()):,} pages")
    return report(measure_all(graphs), real)


def real_graphs(options: Options) -> dict[str, SiteGraph]:
    """The graphs of the sites at hand; of a dozen of them if it is to be quick."""
    names, most = (QUICK, _QUICK_PAGES) if options.quick else (None, _MOST_PAGES)
    return {name: graph for web in site_webs(options, names, most_pages=most) for name, graph in site_graphs(web)}


def measure_all(graphs: dict[str, SiteGraph]) -> list[SiteSplits]:
    """Splits of all sites, in their order."""
    # The largest first, so that no process is left alone with it at the end.
    order = sorted(graphs, key=lambda name: -graphs[name].links)
    found = dict(zip(order, each(lambda name: measure(name, graphs[name]), order), strict=True))
    return [found[name] for name in graphs]


def report(sites: Sequence[SiteSplits], real: bool) -> Report:
    """What the splits of some sites say."""
    return Report(
        name="partition",
        title="One site in several parts",
        question="How much faster is a site fetched in several parts, and what is fetched twice or never?",
        seed=(
            "211 sites, crawled breadth first to depth 10, then split by first directories in a simulation: 74.36 % of "
            "a page's links stay in its own path, and 19.15 % of the paths hold 90 % of the URLs. Two crawlers are 1.5 "
            "to 2 times as fast as one and mostly fetch at most 10 % in vain; three are 2.2 to 2.6 times as fast; "
            "coverage is mostly above 90 %. With ten, only 20 % of the sites stay below 50 % overlap, accelerations "
            "scatter, and more splits are unfit: more crawlers are not always better."
        ),
        ours=f"{_observations(sites)} {_by_seed(sites)} {_by_ours(sites)} {_first(sites)} {_picks(sites)}",
        data=_data(sites, real),
        differs=_differs(sites),
        tables=[site_table(sites), summary_table(sites), first_table(sites)],
        figures=[curves(sites, SEED, "curves-seed"), curves(sites, PATHS, "curves-ours"), acceleration_figure(sites)],
        goals=[_goal(sites, parts, least) for parts, least in GOALS.items()],
    )


def _observations(sites: Sequence[SiteSplits]) -> str:
    same, key = (spread(getattr(one.facts, name) for one in sites) for name in ("same_path", "key_share"))
    return (
        f"{_percent(same.mean)} of a page's links stay in its own path (mean over sites; median "
        f"{_percent(same.median)}), and {_percent(key.mean)} of the paths hold 90 % of the pages (median "
        f"{_percent(key.median)})."
    )


def _by_seed(sites: Sequence[SiteSplits]) -> str:
    said = []
    for parts in GOALS:
        found = [site.split(parts).seed for site in sites]
        c, o = (spread(getattr(one, name) for one in found) for name in ("coverage", "overlap"))
        fit = [one.acceleration for one in found if one.total]
        said.append(
            f"at N = {parts} C is {_percent(c.mean)} and O {_percent(o.mean)} on average, and A {_three(fit)} on the "
            f"{len(fit)} of {len(sites)} sites whose split is fit"
        )
    ten = [site.split(MOST_COMPARED).seed for site in sites]
    low, unfit = sum(one.overlap <= 0.5 for one in ten), sum(one.total == 0.0 for one in ten)
    return (
        f"By the seed's rule {'; '.join(said)}; at N = {MOST_COMPARED} overlap is at most 50 % on {low} sites, and "
        f"{unfit} splits are unfit."
    )


def _by_ours(sites: Sequence[SiteSplits]) -> str:
    said = [
        f"{_three(site.split(parts).paths.acceleration for site in sites)} at N = {parts}"
        for parts in (*GOALS, MOST_COMPARED)
    ]
    every = [split.paths for site in sites for split in site.splits]
    coverage, overlap = min(one.coverage for one in every), max(one.overlap for one in every)
    paths, urls = (spread(getattr(site.split(2), f"{rule}_crossing") for site in sites) for rule in ("paths", "urls"))
    return (
        f"By ours A is {', '.join(said)}, with C at least {_percent(coverage)} and O at most {_percent(overlap)} for "
        f"every site and N. What it costs is links handed from part to part: at N = 2 {_percent(paths.mean)} of them "
        f"along directories, {_percent(urls.mean)} by the hash of URLs."
    )


def _first(sites: Sequence[SiteSplits]) -> str:
    said = [
        f"{_three(site.first[SHOWN.index(parts)].live.acceleration for site in sites)} at N = {parts}"
        for parts in GOALS
    ]
    hashed = sum(site.first[0].rule == "urls" for site in sites)
    return (
        f"Planned when {100 * SEEN:.0f} % of the pages were seen, as in a first crawl (by the hash of URLs on "
        f"{hashed} of {len(sites)} sites), A on the whole site is {', '.join(said)}."
    )


def _picks(sites: Sequence[SiteSplits]) -> str:
    ours, seed = spread(site.picked for site in sites), spread(site.picked_by_seed for site in sites)
    alone, allowed = sum(site.picked_by_seed == 1 for site in sites), PartitionConfig().most_parts
    full = sum(site.picked_live == allowed for site in sites)
    return (
        f"Of up to {MOST_COMPARED} parts the decision picks {ours.mean:.1f} on average with our plans and "
        f"{seed.mean:.1f} with the seed's, which leaves {alone} sites unsplit; of the {allowed} that the settings "
        f"allow by default, since each part is another load on the server, it takes all on {full} of {len(sites)} "
        "sites."
    )


def _data(sites: Sequence[SiteSplits], real: bool) -> str:
    pages, links = (sum(getattr(one.facts, name) for one in sites) for name in ("pages", "links"))
    sizes = spread(one.facts.pages for one in sites)
    kind = "real sites (archives of sites and documentation packages)" if real else "made-up news sites"
    return (
        f"{len(sites)} {kind} with {pages:,} pages and {links:,} links; {sizes.least:,.0f} to {sizes.most:,.0f} pages "
        f"a site, median {sizes.median:,.0f}."
    )


def _differs(sites: Sequence[SiteSplits]) -> str:
    same, key = (spread(getattr(one.facts, name) for one in sites).mean for name in ("same_path", "key_share"))
    more, spread_out = same > SEED_SAME_PATH, key > SEED_KEY_SHARE
    several = [site for site in sites if site.facts.key_paths >= 2]
    flat = len(sites) - len(several)
    fit = [site.split(2).seed.acceleration for site in several if site.split(2).seed.total]
    return " ".join(
        [
            f"Links stay in their path {'more' if more else 'less'} often than on the seed's sites, and "
            f"{'more' if spread_out else 'fewer'} of the paths are needed for 90 % of the pages: these sites have "
            f"{spread(one.facts.paths for one in sites).median:.0f} paths (median).",
            f"Sites with 90 % of their pages in one path, which the seed's rule cannot split: {flat} of "
            f"{len(sites)}; on the others, where its split is fit, its A at N = 2 is {_three(fit)}.",
            "The seed's A counts downloads as if no crawler ever waited for links; ours counts the waiting, too.",
            _worse(sites),
        ]
    )


def _worse(sites: Sequence[SiteSplits]) -> str:
    slower = [site for site in sites if any(_is_slower(site.split(parts)) for parts in GOALS)]
    if not slower:
        return "On no site is ours slower than the seed's rule at N = 2 or 3."
    lossy = [site for site in slower if all(site.split(parts).seed.total == 0.0 for parts in GOALS)]
    named = ", ".join(site.facts.name for site in slower[:5])
    return (
        f"Sites on which ours is slower than the seed's rule at N = 2 or 3, by A alone: {len(slower)} ({named}"
        f"{', …' if len(slower) > 5 else ''}), of which {len(lossy)} because the seed's crawlers miss over a fifth of "
        "the pages, and what is missed takes no time."
    )


def _is_slower(split: Split) -> bool:
    return split.paths.acceleration < split.seed.acceleration - 0.005


def _goal(sites: Sequence[SiteSplits], parts: int, least: float) -> Goal:
    found = [site.split(parts).paths for site in sites]
    a, c = spread(one.acceleration for one in found), spread(one.coverage for one in found)
    reached = sum(_meets(one, least) for one in found)
    place = SHOWN.index(parts)
    first = sum(_meets(site.first[place].live, least) for site in sites)
    return Goal(
        f"A ≥ {least} at N = {parts} with C ≥ {100 * COVERAGE:.0f} %",
        f"A median {a.median:.2f}, mean {a.mean:.2f}, worst {a.least:.2f}; C worst {_percent(c.least)}; both on "
        f"{reached} of {len(sites)} sites (first crawls: {first})",
        min(a.mean, a.median) >= least and c.least >= COVERAGE,
    )


def _three(values: Iterable[float]) -> str:
    some = list(values)
    if not some:
        return "unknown"
    found = spread(some)
    return f"{found.median:.2f} (median; mean {found.mean:.2f}, worst {found.least:.2f})"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _meets(one: Measures, least: float) -> bool:
    return one.acceleration >= least and one.coverage >= COVERAGE

"""Pages per second of Gossamer, Scrapy and wget2 on the same pages of real sites.

    python bench/crawl.py                    every site, then all at once; under 15 minutes
    python bench/crawl.py --quick            three sites of 150 pages; about a minute
    python bench/crawl.py --only gossamer --sites rust --profile out.txt

Scrapy and wget2 do here as little as they can: the bound for speed alone. `bench/peers.py` compares equal
work. Everything is served by nginx on loopback. `bench/README.md` says how to read the tables.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from _crawlers import (
    Crawler,
    Gossamer,
    Scrapy,
    Wget2,
    become_reaper,
    end_cleanly_when_told,
    find_gossamer,
    folder_for,
    installed,
)
from _data import ARCHIVES
from _figures import Figure, add_usual, conclude
from _nginx import Nginx
from _profile import print_profile
from _report import MIX, Run, SiteFacts, median_run, print_report
from _runs import run_once
from _sites import QUICK, SOURCES, Served, cache_folder, prepare

CRAWLERS = ("gossamer", "scrapy", "wget2")
MIX_GOAL, WGET2_GOAL, LIGHTEST_GOAL, CPU_GOAL = 20.0, 0.20, 10.0, 2.0
_STRAYS = 0.05
"""Share of a site's pages that may be missing: parsers read malformed HTML differently."""


def main() -> None:
    """Runs what was asked for and prints it."""
    options = _options()
    cache = cache_folder(options.cache)
    names = options.sites or (QUICK if options.quick else tuple(s.name for s in SOURCES))
    pages = options.pages or (150 if options.quick else 2000)
    sites = prepare(names, pages, options.port, cache, options.archives)
    sites = sites if options.sites or not options.quick else sites[:3]
    if not sites:
        raise SystemExit("no site is left to crawl")
    crawlers = _crawlers(options, cache)
    become_reaper()
    end_cleanly_when_told()
    runs: list[Run] = []
    with Nginx(sites) as server:
        groups = [[s] for s in sites] if options.mix != "only" else []
        if len(sites) > 1 and options.mix != "no":
            groups.append(sites)
        for group in groups:
            for crawler in crawlers:
                repeats = [_run(crawler, group, server) for _ in range(options.repeat)]
                runs.append(median_run(repeats))
    facts = [SiteFacts(s.name, len(s.cut.paths), s.cut.mean_bytes, s.cut.mean_links) for s in sites]
    print_report(facts, runs, options.repeat)
    if options.profile and Path(options.profile).suffix not in (".svg", ".json"):
        print_profile(Path(options.profile))
    if any(run.crawler == "gossamer" for run in runs):
        conclude(options, _figures(runs, sites), {"sites": facts, "runs": runs}, _problems(runs))


def _figures(runs: list[Run], sites: list[Served]) -> list[Figure]:
    """The mix, or the only site."""
    mix = {run.crawler: run for run in runs if run.site == (MIX if len(sites) > 1 else sites[0].name)}
    whole = mix or {run.crawler: run for run in runs}
    ours = whole["gossamer"]
    rates = {name: run.per_second for name, run in whole.items() if name != "gossamer" and run.pages}
    goals = {"scrapy": MIX_GOAL, "wget2": WGET2_GOAL}
    ratios = [
        Figure(f"÷ {name}", ours.per_second / rate, "×", goals[name], by_clock=True) for name, rate in rates.items()
    ]
    cpu = Figure("CPU of a page", 1000 / ours.per_cpu if ours.pages else 0.0, "ms", CPU_GOAL, True,
                 {name: 1000 / run.per_cpu for name, run in whole.items() if name in rates}, 0.05, 1000)  # fmt: skip
    speed = Figure(
        "pages a second, all sites at once", ours.per_second, "pages/s", beside=rates, least=0.5, by_clock=True
    )
    return [speed, *ratios, *_lightest(runs, sites), cpu]


def _lightest(runs: list[Run], sites: list[Served]) -> list[Figure]:
    site = min(sites, key=lambda one: one.cut.mean_bytes).name
    found = {run.crawler: run.per_second for run in runs if run.site == site}
    if not all(found.get(name) for name in ("gossamer", "scrapy")):
        return []
    return [
        Figure(
            f"{site}, the lightest site, ÷ scrapy",
            found["gossamer"] / found["scrapy"],
            "×",
            LIGHTEST_GOAL,
            by_clock=True,
        )
    ]


def _problems(runs: list[Run]) -> list[str]:
    """Ours must fetch what it was given."""
    return [
        f"{run.site}: {run.missing} of {run.pages + run.missing} pages not fetched, exit code {run.code}"
        for run in runs
        if run.crawler == "gossamer" and (run.code or run.missing > _STRAYS * run.pages)
    ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add_usual(parser, "the first three sites that are there, 150 pages each")
    add("--sites", type=lambda text: tuple(text.split(",")), help=f"of {','.join(s.name for s in SOURCES)}")
    add("--pages", type=int, help="pages a site at most (2000; 150 with --quick)")
    add("--only", type=lambda text: tuple(text.split(",")), default=CRAWLERS, help="crawlers to run, by comma")
    add("--mix", choices=("yes", "no", "only"), default="yes", help="all sites at once after each alone")
    add("--repeat", type=int, default=1, help="runs of each crawl; the median counts")
    add("--workers", type=int, default=os.cpu_count(), help="Gossamer's workers (the cores)")
    add("--no-archive", action="store_true", help="Gossamer without WARC files")
    add("--gossamer", default="", help="the command, if not the one of this environment")
    add(
        "--profile",
        default="",
        metavar="FILE",
        help="py-spy of Gossamer's last crawl: .svg, .json (speedscope) or text",
    )
    add("--archives", type=Path, default=ARCHIVES, help="folder of NAME.tar.zst sites")
    add("--cache", default="", help="folder for unpacked sites ($XDG_CACHE_HOME/gossamer-bench)")
    add("--port", type=int, default=8088)
    options = parser.parse_args()
    if set(options.only) - set(CRAWLERS):
        parser.error(f"--only takes {', '.join(CRAWLERS)}")
    return options


def _crawlers(options: argparse.Namespace, cache: Path) -> list[Crawler]:
    found: list[Crawler] = []
    there = installed(options.only, cache, options.quick)
    if "gossamer" in options.only:
        program = find_gossamer(options.gossamer)
        found.append(Gossamer(program, options.workers, not options.no_archive, options.profile))
    if "scrapy" in there:
        found.append(Scrapy(cache))
    if "wget2" in there:
        found.append(Wget2())
    return found


def _run(crawler: Crawler, sites: list[Served], server: Nginx) -> Run:
    with folder_for(crawler.name) as folder:
        return run_once(crawler, sites, server, Path(folder))[0]


if __name__ == "__main__":
    main()

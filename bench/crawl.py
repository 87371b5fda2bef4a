"""Pages per second of Gossamer, Scrapy and wget2 on the same pages of real sites.

    python bench/crawl.py                    every site, then all at once; under 15 minutes
    python bench/crawl.py --quick            six smaller sites; under 3 minutes
    python bench/crawl.py --only gossamer --sites rust --profile out.txt

Scrapy and wget2 do here as little as they can: the bound for speed alone. `bench/peers.py` compares equal
work. Everything is served by nginx on loopback. `bench/README.md` says how to read the tables.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import msgspec

from _crawlers import (
    Crawler,
    Gossamer,
    Scrapy,
    Wget2,
    become_reaper,
    end_cleanly_when_told,
    find_gossamer,
    folder_for,
)
from _nginx import Nginx
from _profile import print_profile
from _report import Run, SiteFacts, median_run, print_report
from _runs import run_once
from _sites import ARCHIVES, QUICK, SOURCES, Served, cache_folder, prepare

CRAWLERS = ("gossamer", "scrapy", "wget2")


def main() -> None:
    """Runs what was asked for and prints it."""
    options = _options()
    cache = cache_folder(options.cache)
    names = options.sites or (QUICK if options.quick else tuple(s.name for s in SOURCES))
    sites = prepare(names, options.pages or (400 if options.quick else 2000), options.port, cache, options.archives)
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
    if options.json:
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode({"sites": facts, "runs": runs})))
    if options.profile and Path(options.profile).suffix not in (".svg", ".json"):
        print_profile(Path(options.profile))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--quick", action="store_true", help="six sites of 400 pages")
    add("--sites", type=lambda text: tuple(text.split(",")), help=f"of {','.join(s.name for s in SOURCES)}")
    add("--pages", type=int, help="pages a site at most (2000; 400 with --quick)")
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
    add("--json", type=Path, metavar="FILE", help="the figures for programs")
    add("--archives", type=Path, default=ARCHIVES, help="folder of NAME.tar.zst sites")
    add("--cache", default="", help="folder for unpacked sites ($XDG_CACHE_HOME/gossamer-bench)")
    add("--port", type=int, default=8088)
    options = parser.parse_args()
    if set(options.only) - set(CRAWLERS):
        parser.error(f"--only takes {', '.join(CRAWLERS)}")
    return options


def _crawlers(options: argparse.Namespace, cache: Path) -> list[Crawler]:
    found: list[Crawler] = []
    if "gossamer" in options.only:
        program = find_gossamer(options.gossamer)
        found.append(Gossamer(program, options.workers, not options.no_archive, options.profile))
    if "scrapy" in options.only:
        found.append(Scrapy(cache))
    if "wget2" in options.only:
        found.append(Wget2())
    return found


def _run(crawler: Crawler, sites: list[Served], server: Nginx) -> Run:
    with folder_for(crawler.name) as folder:
        return run_once(crawler, sites, server, Path(folder))[0]


if __name__ == "__main__":
    main()

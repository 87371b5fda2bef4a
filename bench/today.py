"""Pages of today over TLS: pages per second and core with everything on, the share of TLS, and that of parsing.

    python bench/today.py                    all pages of WCXB's development set, three rounds: some ten minutes
    python bench/today.py --quick            100 pages, one round
    python bench/today.py --only gossamer --pages 500

The pages are those of 1,301 real hosts, served on loopback as eight sites (`--sites`; `_today_web.py` says how
and why), each with one connection and no delay, so that work is the limit and not politeness. Everything runs three
times: over plain HTTP, over TLS on connections that stay open (*reused*), and over TLS with a server that closes after
each answer, so that each page takes a handshake (*new*). A test authority signs the certificate (`--ca-file`).

- *pages per CPU second*: of the whole process tree, without what a crawl of a single page takes (start and end). It is
  the figure for the goal: on one core, so many pages a second at most. (A quick run counts start and end, too.)
- *pages per second and core*: by the clock, from the first request to the end of the command, ÷ cores. nginx is not
  taken off, nor what else the machine does.
- *TLS*: CPU of the crawl over TLS minus that over plain HTTP, of the former. Differences of two runs are noisy.
- *parsing*: CPU of the parser alone over the same pages in one process, of the crawl over TLS on reused connections.

Gossamer does all it does by default; with its index it has a row of its own. Scrapy and Crawlee store address, title
and text, as in `peers.py`. Scrapy checks no certificate by default; Crawlee is told not to.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from _crawlers import Crawlee, Crawler, Gossamer, Scrapy, become_reaper, end_cleanly_when_told, find_gossamer, installed
from _data import WCXB
from _extraction_data import Sample, read_samples
from _figures import Figure, add_usual, conclude
from _nginx import Nginx, Tls
from _real_pages import new_reader
from _report import Run
from _runs import run_once
from _sites import Served, cache_folder
from _today_web import file_of, make_certificate, make_sites, make_start
from gossamer.model.records import Kind, ParseJob

GOAL = 150.0
NAMES = ("gossamer", "gossamer+index", "scrapy", "crawlee")
QUICK = ("gossamer", "scrapy", "crawlee")
PLAIN, REUSED, NEW = "plain", "reused", "new"


class Way(msgspec.Struct, frozen=True):
    """How the pages are served."""

    name: str
    scheme: str
    keep_alive: bool


WAYS = (Way(PLAIN, "http", True), Way(REUSED, "https", True), Way(NEW, "https", False))


class Cost(msgspec.Struct, frozen=True):
    """The median of the rounds of one crawler, served in one way."""

    crawler: str
    way: str
    pages: int
    cpu: float
    """CPU seconds without those of start and end; with them in a quick run, of which they are most."""
    start: float
    crawling: float
    """Seconds from the first request to the end of the command."""
    missing: int
    code: int

    @property
    def per_cpu(self) -> float:
        """Pages a CPU second."""
        return self.pages / self.cpu if self.cpu > 0 else 0.0

    @property
    def per_core(self) -> float:
        """Pages a second and core."""
        return self.pages / self.crawling / (os.cpu_count() or 1) if self.crawling else 0.0


def main() -> None:
    """Serves, crawls, prints."""
    options = _options()
    become_reaper()
    end_cleanly_when_told()
    samples = list(read_samples(options.data))
    samples = samples[:: max(1, len(samples) // options.pages)][: options.pages] if options.pages else samples
    with tempfile.TemporaryDirectory(prefix="bench-today-") as scratch:
        sites = make_sites(samples, options.sites, options.port, Path(scratch))
        start = make_start(options.port, Path(scratch))
        authority, tls = make_certificate([site.address for site in (*sites, start)], Path(scratch))
        makers = _makers(options, authority)
        costs = _measure(makers, sites, start, tls, options)
        parsing = parse_alone(samples, sites)
        sizes = [file_of(site, path).stat().st_size / 1000 for site in sites for path in site.cut.paths]
    _print(costs, sites)
    problems = [
        f"{one.crawler}, {one.way}: {one.missing} pages not fetched, exit code {one.code}"
        for one in costs
        if one.crawler.startswith("gossamer") and (one.missing or one.code)
    ]
    conclude(options, _figures(costs, parsing, sizes), {"costs": costs, "parsing": parsing}, problems)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add_usual(parser, "100 pages on three sites, one round, no index")
    add("--data", type=Path, default=WCXB, help="wcxb-dev.tar.zst")
    add("--pages", type=int, help="pages, spread over the set (all; 100 with --quick)")
    add("--sites", type=int, help="sites that the hosts are dealt to (8; 3 with --quick)")
    add("--only", type=lambda text: tuple(text.split(",")), help=f"of {','.join(NAMES)}")
    add("--repeat", type=int, help="rounds; the median counts (3; 1 with --quick)")
    add("--workers", type=int, default=os.cpu_count(), help="Gossamer's workers (the cores)")
    add("--gossamer", default="", help="the command, if not the one of this environment")
    add("--cache", default="", help="folder of Crawlee's environment ($XDG_CACHE_HOME/gossamer-bench)")
    add("--port", type=int, default=8443)
    options = parser.parse_args()
    options.only = options.only or (QUICK if options.quick else NAMES)
    options.pages = options.pages or (100 if options.quick else 0)
    options.sites = options.sites or (3 if options.quick else 8)
    options.repeat = options.repeat or (1 if options.quick else 3)
    if not options.data.exists():
        raise SystemExit(f"{options.data} is not there: name WCXB's development set with --data")
    if set(options.only) - set(NAMES):
        parser.error(f"--only takes {', '.join(NAMES)}")
    return options


def _makers(options: argparse.Namespace, authority: Path) -> dict[str, Crawler]:
    cache, program = cache_folder(options.cache), find_gossamer(options.gossamer)
    trust = ("--ca-file", str(authority))
    makers: dict[str, Callable[[], Crawler]] = {
        "gossamer": lambda: Gossamer(program, options.workers, more=trust),
        "gossamer+index": lambda: Gossamer(program, options.workers, index=True, more=trust),
        "scrapy": lambda: Scrapy(cache, keep=True),
        "crawlee": lambda: Crawlee(cache, insecure=True),
    }
    return {name: makers[name]() for name in installed(options.only, cache, options.quick)}


def _measure(
    crawlers: dict[str, Crawler], sites: list[Served], start: Served, tls: Tls, options: argparse.Namespace
) -> list[Cost]:
    """All crawlers in turn, round by round; each way is served by a server of its own."""
    runs: dict[tuple[str, str], list[Run]] = {}
    starts: dict[tuple[str, str], list[float]] = {}
    for _ in range(options.repeat):
        for way in WAYS:
            there = [msgspec.structs.replace(site, scheme=way.scheme) for site in sites]
            alone = msgspec.structs.replace(start, scheme=way.scheme)
            with Nginx([*there, alone], tls if way.scheme == "https" else None, way.keep_alive) as server:
                for name, crawler in crawlers.items():
                    starts.setdefault((name, way.name), []).append(_run(name, crawler, [alone], server).cpu)
                    runs.setdefault((name, way.name), []).append(_run(name, crawler, there, server))
    return [_cost(name, way, found, starts[name, way], options.quick) for (name, way), found in runs.items()]


def _run(name: str, crawler: Crawler, sites: list[Served], server: Nginx) -> Run:
    with tempfile.TemporaryDirectory(prefix=f"bench-{name}-", ignore_cleanup_errors=True) as folder:
        return run_once(crawler, sites, server, Path(folder))[0]


def _cost(name: str, way: str, runs: list[Run], starts: list[float], quick: bool) -> Cost:
    start, whole = statistics.median(starts), statistics.median(run.cpu for run in runs)
    return Cost(
        crawler=name,
        way=way,
        pages=runs[0].pages,
        cpu=whole if quick else whole - start,
        start=start,
        crawling=statistics.median(run.crawling for run in runs),
        missing=max(run.missing for run in runs),
        code=max(run.code for run in runs),
    )


def parse_alone(samples: list[Sample], sites: list[Served]) -> float:
    """CPU seconds that the parser takes for the pages as they are served, and nothing else."""
    reader = new_reader()
    reader.read(ParseJob("https://site.example/", Kind.PAGE, "text/html", samples[0].html))  # loads what it needs
    seconds = 0.0
    for site in sites:
        for path in site.cut.paths:
            body = file_of(site, path).read_bytes()
            job = ParseJob(f"https://{site.address}:{site.port}{path}", Kind.PAGE, "text/html", body)
            began = time.process_time()
            reader.read(job)
            seconds += time.process_time() - began
    return seconds


def _figures(costs: list[Cost], parsing: float, sizes: list[float]) -> list[Figure]:
    found = {(one.crawler, one.way): one for one in costs if one.pages}
    figures = []
    for way in (NEW, REUSED):
        if ("gossamer", way) not in found:
            continue
        others = {name: found[name, way] for name in NAMES[1:] if (name, way) in found}
        ours, cpu = found["gossamer", way], {name: one.per_cpu for name, one in others.items()}
        clock = {name: one.per_core for name, one in others.items()}
        figures += [
            Figure(f"pages per CPU second, {way} connections", ours.per_cpu, "pages/s", GOAL, beside=cpu, least=0.1),
            Figure(f"pages per second and core, {way} connections", ours.per_core, "pages/s", GOAL, beside=clock,
                   by_clock=True),
            Figure(f"share of TLS, {way} connections", _tls_share(found, way), "%", least=-1000, most=100),
        ]  # fmt: skip
    if ("gossamer", REUSED) in found:
        whole = found["gossamer", REUSED]
        figures.append(Figure("share of parsing", 100 * parsing / whole.cpu, "%", most=200))
        figures.append(Figure("CPU of start and end", whole.start, "s", most=600))
    middle = {"median": statistics.median(sizes)}
    return [*figures, Figure("size of a page, mean", statistics.fmean(sizes), "KB", beside=middle)]


def _tls_share(found: dict[tuple[str, str], Cost], way: str) -> float:
    plain, secure = found["gossamer", PLAIN].cpu, found["gossamer", way].cpu
    return 100 * (secure - plain) / secure if secure > 0 else 0.0


def _print(costs: list[Cost], sites: list[Served]) -> None:
    pages = sum(len(site.cut.paths) for site in sites)
    print(f"\n{pages} pages on {len(sites)} sites\n")
    print("| | served | pages | CPU ms a page | pages per CPU s | pages per s and core | start, CPU s | not fetched |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for one in costs:
        each = 1000 * one.cpu / max(1, one.pages)
        print(
            f"| {one.crawler} | {one.way} | {one.pages} | {each:.2f} | {one.per_cpu:.0f} | {one.per_core:.0f} | "
            f"{one.start:.2f} | {one.missing} |"
        )
    for one in costs:
        if one.code:
            print(f"{one.crawler}, {one.way}: exit code {one.code}", file=sys.stderr)


if __name__ == "__main__":
    main()

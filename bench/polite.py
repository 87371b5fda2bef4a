"""How close a polite crawl of many hosts comes to the shortest time politeness allows.

    python bench/polite.py              60 hosts of 10 to 600 pages, 0.1 s between requests: about a minute
    python bench/polite.py --quick      12 hosts of 5 to 100 pages

A host with n requests, robots.txt counted, and a delay d between them cannot be
crawled in less than about n × d; the largest host bounds the whole crawl. A crawler
comes near only if that host never waits for another one. The server's own log gives
the requests and the politeness observer judges them.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

import msgspec

from _crawlers import CONTACT, Job, Usage, become_reaper, end_cleanly_when_told, find_gossamer, measure
from _figures import Figure, add_usual, conclude
from gossamer.testing.log import Log, Request
from gossamer.testing.observer import Violation, violations
from gossamer.testing.web import FakeWeb

GOAL = 1.03
LONGEST_FACTOR = 5
"""A crawl that takes this many times the bound is stopped."""


class Host(msgspec.Struct, frozen=True):
    """One host after the crawl."""

    name: str
    pages: int
    requests: int
    fetched: int
    """Different pages answered with 200."""
    span: float
    """Seconds from its first to its last request."""


class Figures(msgspec.Struct, frozen=True):
    """The result."""

    delay: float
    bound: float
    """max(requests × delay) over the hosts, seconds."""
    wall: float
    """Seconds of the command, with start and stop."""
    crawling: float
    """Seconds from the first to the last request, plus one delay for the last."""
    cpu: float
    ratio: float
    ratio_crawling: float
    missing: int
    violations: int
    shortest_gap: float
    """The shortest time between two requests to a host, seconds."""
    hosts: list[Host]


def main() -> None:
    """Runs the crawl and prints the table; exit code 1 when a page is missing or a request was rude."""
    options = _options()
    become_reaper()
    end_cleanly_when_told()
    sizes = _sizes(options.hosts, options.smallest, options.largest)
    with tempfile.TemporaryDirectory(prefix="bench-polite-") as folder:
        web = FakeWeb("127.0.3", process=True, log=Path(folder) / "requests.jsonl")
        for number, pages in enumerate(sizes, start=1):
            web.site(f"h{number:02}.test", pages=pages, links=10, seed=number)
        with web:
            bound = (max(sizes) + 1) * options.delay
            usage = measure(_job(web, options, Path(folder)), Path(folder), bound * LONGEST_FACTOR + 60)
            log = web.log()
            pages_by_site = {site.name: site.content.graph.pages for site in web.sites.values()}
    if usage.code:
        print(f"gossamer: exit code {usage.code}\n{usage.said}", file=sys.stderr)
    found = violations(log, options.delay, options.delay, options.tolerance, robots_first=True)
    figures = _figures(log, pages_by_site, options.delay, usage, len(found))
    _print(figures, found)
    shown = [
        Figure(
            "first to last request ÷ shortest time", figures.ratio_crawling, "×", least=0.9, most=100, by_clock=True
        ),
        Figure("whole command ÷ shortest time", figures.ratio, "×", GOAL, True, least=0.9, most=100, by_clock=True),
        Figure("rude requests", figures.violations, goal=0, at_most=True),
    ]
    problems = [f"{len(found)} requests were rude"] if found else []
    problems += [f"{figures.missing} pages are missing"] if figures.missing else []
    conclude(options, shown, figures, [*problems, f"the crawl ended with {usage.code}"] if usage.code else problems)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add_usual(parser, "12 hosts of 5 to 100 pages")
    add("--hosts", type=int, help="(60; 12 with --quick)")
    add("--smallest", type=int, help="pages of the smallest host (10; 5 with --quick)")
    add("--largest", type=int, help="pages of the largest host (600; 100 with --quick)")
    add("--delay", type=float, default=0.1, help="seconds between two requests to a host")
    add("--tolerance", type=float, default=0.0, help="seconds of delay the observer forgives")
    add("--workers", type=int, default=os.cpu_count())
    add("--gossamer", default="", help="the command, if not the one of this environment")
    options = parser.parse_args()
    options.hosts = options.hosts or (12 if options.quick else 60)
    options.smallest = options.smallest or (5 if options.quick else 10)
    options.largest = options.largest or (100 if options.quick else 600)
    return options


def _sizes(hosts: int, smallest: int, largest: int) -> list[int]:
    """Pages of each host: from the smallest to the largest by equal factors, as real sites are spread."""
    step = (largest / smallest) ** (1 / max(1, hosts - 1))
    return [round(smallest * step**i) for i in range(hosts)]


def _job(web: FakeWeb, options: argparse.Namespace, folder: Path) -> Job:
    # The largest host comes last: a crawler that takes hosts in the order of seeds must not gain by it.
    seeds = [site.url("/") for site in web.sites.values()]
    command = [find_gossamer(options.gossamer), "crawl", *seeds, "--no-index", "--data", str(folder / "data")]
    command += ["--contact", CONTACT, "--scope", "host", "--delay", str(options.delay)]
    command += ["--workers", str(options.workers), "--allow-network", "127.0.0.0/8", "--quiet"]
    for host, address in web.resolve.items():
        command += ["--resolve", f"{host}={address}"]
    return Job(command)


def _figures(log: Log, pages: dict[str, int], delay: float, usage: Usage, rude: int) -> Figures:
    sites = log.sites()
    gaps = [b.arrived - a.arrived for requests in sites.values() for a, b in pairwise(requests)]
    hosts = [_host(name, count, sites.get(name, [])) for name, count in pages.items()]
    bound = max(host.requests for host in hosts) * delay
    crawling = log[-1].arrived - log[0].arrived + delay if log else 0.0
    return Figures(
        delay=delay,
        bound=bound,
        wall=usage.wall,
        crawling=crawling,
        cpu=usage.cpu,
        ratio=usage.wall / bound if bound else 0.0,
        ratio_crawling=crawling / bound if bound else 0.0,
        missing=sum(host.pages - host.fetched for host in hosts),
        violations=rude,
        shortest_gap=min(gaps, default=0.0),
        hosts=hosts,
    )


def _host(name: str, pages: int, requests: list[Request]) -> Host:
    fetched = {r.path for r in requests if r.status == 200 and r.path != "/robots.txt"}
    span = requests[-1].arrived - requests[0].arrived if requests else 0.0
    return Host(name, pages, len(requests), len(fetched), span)


def _print(figures: Figures, found: list[Violation]) -> None:
    print(f"{'host':18}{'pages':>7}{'fetched':>9}{'requests':>10}{'seconds':>9}{'÷ requests × delay':>20}")
    by_size = sorted(figures.hosts, key=lambda h: -h.pages)
    for host in by_size[:5] + by_size[len(by_size) // 2 : len(by_size) // 2 + 3] + by_size[-3:]:
        own = (host.span + figures.delay) / (host.requests * figures.delay) if host.requests else 0.0
        print(f"{host.name:18}{host.pages:7}{host.fetched:9}{host.requests:10}{host.span:9.2f}{own:20.3f}")
    requests, pages = sum(h.requests for h in by_size), sum(h.pages for h in by_size)
    label, fetched = f"{len(by_size)} hosts", pages - figures.missing
    print(f"{label:18}{pages:7}{fetched:9}{requests:10}{figures.crawling:9.2f}")
    bound = f"lower bound, max(requests × {figures.delay:g} s)"
    print(f"\n{bound:40}{figures.bound:8.2f} s")
    print(f"{'first to last request':40}{figures.crawling:8.2f} s   ratio {figures.ratio_crawling:.3f}")
    whole = f"ratio {figures.ratio:.3f}   goal {GOAL}"
    print(f"{'with start and stop of the command':40}{figures.wall:8.2f} s   {whole}")
    print(f"{'CPU of the whole process tree':40}{figures.cpu:8.2f} s")
    print(f"{'shortest time between two requests':40}{figures.shortest_gap:10.4f} s")
    print(f"\nrude requests: {figures.violations}; pages missing: {figures.missing}")
    for violation in found[:10]:
        print(f"  {violation.kind}: {violation}")


if __name__ == "__main__":
    main()

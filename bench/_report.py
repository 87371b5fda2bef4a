"""The figures of a crawl benchmark and their tables."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import msgspec

MIX = "all at once"


class SiteFacts(msgspec.Struct, frozen=True):
    """What a site is like."""

    name: str
    pages: int
    mean_bytes: float
    mean_links: float


class Run(msgspec.Struct, frozen=True):
    """One crawl, as the server and the operating system saw it."""

    crawler: str
    site: str
    pages: int
    """Different URLs answered with 200 and HTML."""
    requests: int
    wall: float
    """Seconds from start to end of the command, with start-up."""
    crawling: float
    """Seconds from the server's first answer to the end of the command: all but start-up."""
    requesting: float
    """Seconds from the server's first to its last answer: what a crawler does after it is not in it."""
    cpu: float
    """CPU seconds of the whole process tree."""
    nginx_cpu: float
    others_cpu: float
    """CPU seconds of everything else on the machine meanwhile: noise, best near 0."""
    missing: int
    """Pages of the cut that were not fetched."""
    extra: int
    """Pages fetched that are not in the cut."""
    repeated: int
    """Fetches of a page beyond the first."""
    failed: int
    """Answers of 400 and more, robots.txt apart."""
    code: int
    own: dict[str, Any] = {}
    """The crawler's own counters."""
    memory: int = 0
    """The most bytes that the process tree held, where it was watched."""

    @property
    def per_second(self) -> float:
        """Pages a second of crawling."""
        return _over(self.pages, self.crawling)

    @property
    def per_wall(self) -> float:
        """Pages a second with start-up."""
        return _over(self.pages, self.wall)

    @property
    def per_cpu(self) -> float:
        """Pages a CPU second."""
        return _over(self.pages, self.cpu)


Cost = Callable[[Run], float]

TABLES: tuple[tuple[str, Cost], ...] = (
    ("Pages per second, from the first request to the end of the command (the headline)", lambda r: r.crawling),
    ("Pages per second, from the first to the last request", lambda r: r.requesting),
    ("Pages per second, with start-up", lambda r: r.wall),
    ("Pages per CPU second of the whole process tree", lambda r: r.cpu),
)


def median_run(runs: list[Run]) -> Run:
    """The run whose crawling time is the median."""
    return sorted(runs, key=lambda r: r.crawling)[len(runs) // 2]


def print_report(sites: list[SiteFacts], runs: list[Run], repeat: int) -> None:
    """Prints every table."""
    if repeat > 1:
        print(f"Median of {repeat} runs each.")
    for title, cost in TABLES:
        _print_speed(title, cost, sites, runs)
    _print_sameness(sites, runs)


def _print_speed(title: str, cost: Cost, sites: list[SiteFacts], runs: list[Run]) -> None:
    crawlers = list(dict.fromkeys(r.crawler for r in runs))
    peers = [c for c in crawlers if c != "gossamer"] if "gossamer" in crawlers else []
    print(f"\n{title}\n")
    heads = "".join(f"{c:>10}" for c in crawlers) + "".join(f"{'÷ ' + c:>10}" for c in peers)
    print(f"{'':21}{'pages':>6}{'KB':>6}{'links':>6}{heads}")
    found = {(r.crawler, r.site): r for r in runs}
    ratios: dict[str, list[float]] = {peer: [] for peer in peers}
    for site in sites:
        rates = {c: _rate(found.get((c, site.name)), cost) for c in crawlers}
        if any(rates.values()):
            facts = f"{site.name:21}{site.pages:6}{site.mean_bytes / 1000:6.1f}{site.mean_links:6.0f}"
            print(facts + _cells(rates, peers))
        for peer in peers:
            ratios[peer].append(_over(rates["gossamer"], rates[peer]))
    alone = [r for r in runs if r.site != MIX]
    if alone:
        sums = {c: _total(alone, c, cost) for c in crawlers}
        print(f"{'one after the other':21}{sum(s.pages for s in sites):6}{'':12}" + _cells(sums, peers))
        means = "".join(f"{_geometric(ratios[peer]):10.3g}" for peer in peers)
        print(f"{'geometric mean':39}{'':{10 * len(crawlers)}}{means}")
    mix = {c: _rate(found.get((c, MIX)), cost) for c in crawlers}
    if any(mix.values()):
        print(f"{MIX:21}{sum(s.pages for s in sites):6}{'':12}" + _cells(mix, peers))


def _cells(rates: dict[str, float], peers: list[str]) -> str:
    cells = "".join(f"{rate:10.0f}" for rate in rates.values())
    return cells + "".join(f"{_over(rates['gossamer'], rates[peer]):10.3g}" for peer in peers)


def _print_sameness(sites: list[SiteFacts], runs: list[Run]) -> None:
    print("\nWhat each fetched, from the server's log (missing and extra: against the pages of the cut)\n")
    heads = (
        "requests",
        "pages",
        "missing",
        "extra",
        "repeated",
        "failed",
        "wall s",
        "CPU s",
        "nginx s",
        "others s",
    )
    print(f"{'':21}{'':10}" + "".join(f"{head:>9}" for head in heads))
    for r in sorted(runs, key=lambda r: [s.name for s in sites].index(r.site) if r.site != MIX else len(sites)):
        counts = (r.requests, r.pages, r.missing, r.extra, r.repeated, r.failed)
        seconds = (r.wall, r.cpu, r.nginx_cpu, r.others_cpu)
        line = "".join(f"{n:9}" for n in counts) + "".join(f"{s:9.2f}" for s in seconds)
        own = {k: r.own[k] for k in ("pages", "fetched", "duplicates", "errors", "urls_known") if k in r.own}
        print(f"{r.site:21}{r.crawler:10}{line}  {own or ''}{f' EXIT CODE {r.code}' if r.code else ''}")
    differ = sorted({r.site for r in runs if r.missing or r.extra})
    noisy = sum(r.others_cpu for r in runs) / (sum(r.wall for r in runs) or 1)
    if noisy > 0.1:
        print(f"\nOther processes kept {noisy:.2f} cores busy: trust pages per CPU second only.")
    if differ:
        print(f"\nNot the same pages on {', '.join(differ)}: there each rate is by the crawler's own count.")
    else:
        print("\nEvery crawler fetched exactly the same pages.")


def _rate(run: Run | None, cost: Cost) -> float:
    """Pages per unit of cost; 0 for a crawl that broke off, which would look fast or slow by chance."""
    return _over(run.pages, cost(run)) if run and run.pages > run.missing else 0.0


def _total(runs: list[Run], crawler: str, cost: Cost) -> float:
    mine = [r for r in runs if r.crawler == crawler and r.pages > r.missing]
    return _over(sum(r.pages for r in mine), sum(map(cost, mine)))


def _over(a: float, b: float) -> float:
    return a / b if b else 0.0


def _geometric(values: list[float]) -> float:
    positive = [v for v in values if v > 0]
    return math.exp(sum(map(math.log, positive)) / len(positive)) if positive else 0.0

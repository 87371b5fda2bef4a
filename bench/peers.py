"""Gossamer beside Scrapy, Crawlee and wget2 doing the same work: speed, cost, and what each does of itself.

    python bench/peers.py                    six sites of 400 pages; under 15 minutes
    python bench/peers.py --quick            two sites of 60 pages, three crawlers; about a minute
    python bench/peers.py --only gossamer,scrapy --sites cmake,rust

Each crawls all sites at once and stores what it fetched on disk; then a small site that shows what
it does unasked; then a larger one, on which it is killed half-way and started again. Nothing in
the table is taken from a manual: it is what the server's log and the stored documents show.
`bench/README.md` says how to read it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _crawlers import (
    Crawlee,
    Crawler,
    Gossamer,
    Scrapy,
    Wget2,
    become_reaper,
    end_cleanly_when_told,
    find_gossamer,
    installed,
)
from _data import ARCHIVES
from _figures import Figure, add_usual, conclude
from _nginx import Hit, Nginx
from _peer_report import Crawled, Killed, Peer, print_peers
from _probe_site import QUERY, Seen, look, make_probe
from _report import Run, SiteFacts, median_run
from _runs import run_once
from _sites import SOURCES, Served, cache_folder, prepare
from _stored import Document, as_file

SITES = ("lazarus", "postgresql", "cmake", "linuxcn", "itw66", "rust")
QUICK = ("lazarus", "postgresql", "linuxcn", "itw66", "learning")
KILL_SITE = "postgresql"
AGAIN_GOAL, MEMORY_GOAL, START_GOAL = 0.05, 450.0, 1.0
"""Share of the pages fetched again after a kill; MB over all processes; CPU seconds of a crawl of a few pages."""
NAMES = ("gossamer", "gossamer+index", "scrapy", "scrapy+job", "crawlee", "crawlee+disk", "wget2")
QUICK_NAMES = ("gossamer", "gossamer+index", "scrapy", "crawlee", "wget2")
WATCH = 0.1
"""Seconds between two looks at a crawler's memory."""


def main() -> None:
    """Runs what was asked for and prints it."""
    options = _options()
    sites, to_kill = _sites(options)
    makers = _makers(options)
    there = installed(options.only, cache_folder(options.cache), options.quick)
    crawlers = {name: makers[name]() for name in NAMES if name in there}
    become_reaper()
    end_cleanly_when_told()
    with tempfile.TemporaryDirectory(prefix="bench-probe-") as folder:
        probe = make_probe(Path(folder) / "www", options.port)
        with Nginx([*sites, probe]) as server:
            crawled = {n: _crawl(n, c, sites, server, options.repeat) for n, c in crawlers.items()}
            seen = {n: _probe(n, c, probe, server) for n, c in crawlers.items()}
    with Nginx([to_kill]) as server:
        killed = {n: _kill(n, c, to_kill, server) for n, c in crawlers.items()}
    peers = [Peer(n, crawled[n], seen[n], killed[n]) for n in crawlers]
    facts = [_facts(site) for site in sites]
    print_peers(facts, _facts(to_kill), peers)
    details = {"sites": facts, "killed_on": _facts(to_kill), "peers": peers}
    conclude(options, _figures(peers), details, _problems(peers))


def _figures(peers: list[Peer]) -> list[Figure]:
    """Each crawler's figures beside ours; ours with its index, which nobody else has, apart."""
    runs = {peer.name: peer.crawled.run for peer in peers if peer.crawled.run.pages}
    killed = {p.name: p.killed.again / max(1, p.killed.until_kill) for p in peers if not p.killed.finished_first}
    figures = [
        _beside("pages a second, stored on disk", {n: r.per_second for n, r in runs.items()}, "pages/s", by_clock=True),
        _beside("CPU of 1,000 pages", {n: 1000 / r.per_cpu for n, r in runs.items()}, "s", most=1000),
        _beside("peak of memory", {n: r.memory / 1e6 for n, r in runs.items()}, "MB", most=50_000),
        _beside("CPU of a crawl of seven pages", {p.name: p.seen.cpu for p in peers}, "s", START_GOAL, most=1000),
        _beside("share fetched again after a kill half-way", killed, goal=AGAIN_GOAL, most=1),
    ]
    index = runs.get("gossamer+index")
    if index:
        figures.append(Figure("peak of memory, indexing", index.memory / 1e6, "MB", MEMORY_GOAL, True, {}, 1, 50_000))
    return [figure for figure in figures if figure]


def _beside(
    name: str,
    values: dict[str, float],
    unit: str = "",
    goal: float | None = None,
    most: float = 1e12,
    by_clock: bool = False,
) -> Any:
    """Ours with the others beside it; none if ours has no such figure."""
    others = {other: value for other, value in values.items() if other != "gossamer"}
    ours = values.get("gossamer")
    return None if ours is None else Figure(name, ours, unit, goal, True, others, 0, most, by_clock)


def _problems(peers: list[Peer]) -> list[str]:
    """Ours must fetch everything, lose nothing, and be polite unasked."""
    ours = [peer for peer in peers if peer.name.startswith("gossamer")]
    return [
        f"{peer.name}: {what}"
        for peer in ours
        for what, wrong in (
            ("not every page was fetched", peer.crawled.run.missing),
            ("pages were lost by a kill", peer.killed.lost),
            ("robots.txt was not obeyed", not peer.seen.robots),
            ("the main text holds the footer", not peer.seen.main_text),
        )
        if wrong
    ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add_usual(parser, "the first two sites that are there, 60 pages each; no crawler twice but ours")
    add("--sites", type=lambda text: tuple(text.split(",")), help=f"of {','.join(s.name for s in SOURCES)}")
    add("--pages", type=int, help="pages a site at most (400; 60 with --quick)")
    add("--kill-site", default=KILL_SITE, help="where they are killed")
    add("--kill-pages", type=int, help="its pages at most (1000; 100 with --quick)")
    add("--only", type=lambda text: tuple(text.split(",")), help=f"of {','.join(NAMES)}")
    add("--repeat", type=int, default=1, help="crawls of the sites by each; the median counts")
    add("--workers", type=int, default=os.cpu_count(), help="Gossamer's workers (the cores)")
    add("--gossamer", default="", help="the command, if not the one of this environment")
    add("--archives", type=Path, default=ARCHIVES, help="folder of NAME.tar.zst sites")
    add("--cache", default="", help="folder for unpacked sites ($XDG_CACHE_HOME/gossamer-bench)")
    add("--port", type=int, default=8088)
    options = parser.parse_args()
    options.only = options.only or (QUICK_NAMES if options.quick else NAMES)
    if set(options.only) - set(NAMES):
        parser.error(f"--only takes {', '.join(NAMES)}")
    return options


def _sites(options: argparse.Namespace) -> tuple[list[Served], Served]:
    """The sites to crawl, and the one to be killed on."""
    cache = cache_folder(options.cache)
    names = options.sites or (QUICK if options.quick else SITES)
    sites = prepare(names, options.pages or (60 if options.quick else 400), options.port, cache, options.archives)
    sites = sites if options.sites or not options.quick else sites[:2]
    if not sites:
        raise SystemExit("no site is left to crawl")
    pages = options.kill_pages or (100 if options.quick else 1000)
    found = prepare((options.kill_site,), pages, options.port, cache, options.archives)
    return sites, found[0] if found else max(sites, key=lambda s: len(s.cut.paths))


def _makers(options: argparse.Namespace) -> dict[str, Callable[[], Crawler]]:
    cache = cache_folder(options.cache)
    return {
        "gossamer": lambda: Gossamer(find_gossamer(options.gossamer), options.workers),
        "gossamer+index": lambda: Gossamer(find_gossamer(options.gossamer), options.workers, index=True),
        "scrapy": lambda: Scrapy(cache, keep=True),
        "scrapy+job": lambda: Scrapy(cache, keep=True, durable=True),
        "crawlee": lambda: Crawlee(cache),
        "crawlee+disk": lambda: Crawlee(cache, durable=True),
        "wget2": lambda: Wget2(durable=True),
    }


def _folder(name: str) -> tempfile.TemporaryDirectory[str]:
    # On disk for all: who keeps things in memory does not keep them.
    return tempfile.TemporaryDirectory(prefix=f"bench-{name}-", ignore_cleanup_errors=True)


def _crawl(name: str, crawler: Crawler, sites: list[Served], server: Nginx, repeat: int) -> Crawled:
    """All sites at once: speed, cost, and what was stored."""
    runs: list[Run] = []
    documents: list[Document] = []
    for _ in range(repeat):
        with _folder(name) as folder:
            runs.append(run_once(crawler, sites, server, Path(folder), WATCH)[0])
            documents = crawler.documents(sites, Path(folder))
    texts = Counter(d.text for d in documents if not d.recorded)
    return Crawled(median_run(runs), texts.total(), texts.total() - len(texts))


def _probe(name: str, crawler: Crawler, probe: Served, server: Nginx) -> Seen:
    """The small site that shows what a crawler does unasked."""
    with _folder(name) as folder:
        run, hits = run_once(crawler, [probe], server, Path(folder))
        searchable = isinstance(crawler, Gossamer) and crawler.finds(QUERY, Path(folder))
        documents = crawler.documents([probe], Path(folder))
        return look(hits, documents, isinstance(crawler, Wget2), searchable, run.cpu)


def _kill(name: str, crawler: Crawler, site: Served, server: Nginx) -> Killed:
    """Kills a crawl when half of the site has been served, and starts it again."""
    half = len(site.cut.paths) // 2
    with _folder(name) as folder:
        print(f"{name}: to be killed", file=sys.stderr)
        before, first = run_once(crawler, [site], server, Path(folder), stop=lambda: server.answered() >= half)
        _after, second = run_once(crawler, [site], server, Path(folder))
        documents = crawler.documents([site], Path(folder))
    wanted = {(site.host, as_file(path)) for path in site.cut.paths}
    places = [d.place for d in documents]
    return Killed(
        pages=len(site.cut.paths),
        until_kill=before.pages,
        finished_first=before.code == 0,
        never_fetched=len(set(site.cut.paths) - _pages(first) - _pages(second)),
        lost=len(wanted - set(places)),
        again=len(_pages(first) & _pages(second)),
        asked_again=len(_pages(first) & {hit.path for hit in second}),
        stored_twice=len(places) - len(set(places)),
    )


def _pages(hits: list[Hit]) -> set[str]:
    return {hit.path for hit in hits if hit.is_page}


def _facts(site: Served) -> SiteFacts:
    return SiteFacts(site.name, len(site.cut.paths), site.cut.mean_bytes, site.cut.mean_links)


if __name__ == "__main__":
    main()

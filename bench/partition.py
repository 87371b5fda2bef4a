"""One site in several parts: what a split is predicted to bring on real sites, and what it brings.

    python bench/partition.py                       predictions on eleven sites; two minutes, then seconds (cached)
    python bench/partition.py --sites itw66,cmake   some of them
    python bench/partition.py --live                also crawls cuts of six sites on loopback, half an hour

Tables:

- *sites*: how far the seed's two observations hold (74 % of a page's links stay in its path, 19 % of the paths hold
  90 % of the pages);
- *a site that is known*: planned on its whole graph, by the seed's rule, by our paths, and by the hash of URLs.
  A: times as fast, C: coverage, O: overlap; crossing: share of links that lead from one part to another. Ours have
  C = 100 % and O = 0 by construction, which the simulated crawl counts all the same;
- *means for 1 to 10 parts*, and how many parts each rule would pick for each site;
- *a site that is not known*: planned on what its first pages link to and crawled to the end: by paths
  with nothing moved on the way, by paths and mended as soon as the parts have grown apart (`partition.drift`), and by
  the hash of URLs, for which nothing need be known.

With `--live`, `gossamer crawl` runs in 1, 2, … parts, and the server's log tells how long it took, which pages came
twice or never, and how close together the requests of a part were.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from _partition_graphs import SITES, load_graphs
from _partition_mending import Mended, crawl_mending
from _sites import ARCHIVES, QUICK, cache_folder
from gossamer.partition.config import PartitionConfig
from gossamer.partition.decision import pick, predict
from gossamer.partition.links import SiteGraph
from gossamer.partition.measures import Measures
from gossamer.partition.paths import key_paths
from gossamer.partition.planning import Rule, plan
from gossamer.partition.simulate import by_seed_rule, in_parts
from gossamer.partition.sizes import Sizes

PARTS = (2, 3, 4)
GOALS = {2: 1.9, 3: 2.7, 4: 3.4}


class Site(msgspec.Struct, frozen=True):
    """What a site looks like."""

    name: str
    pages: int
    links: int
    paths: int
    key_paths: int
    same_path: float


class Known(msgspec.Struct, frozen=True):
    """Splits of a site whose graph is known."""

    name: str
    parts: int
    seed: Measures
    paths: Measures
    paths_crossing: float
    urls: Measures
    urls_crossing: float
    lines: int
    """Directories in the plan by paths."""


class Unknown(msgspec.Struct, frozen=True):
    """Splits of a site of which some pages were seen."""

    name: str
    parts: int
    seen: int
    """URLs known from the sample."""
    paths: float
    mended: Mended
    """By paths, the plan mended on the way."""
    urls: float


def main() -> None:
    """Prints what was asked for."""
    options = _options()
    graphs = load_graphs(options.sites, options.pages, cache_folder(options.cache), options.archives)
    sites = [_site(name, graph) for name, graph in graphs.items()]
    _print_sites(sites)
    known = [_known(name, graph, parts) for name, graph in graphs.items() for parts in PARTS]
    _print_known(known)
    _print_means(graphs)
    unknown = [_unknown(name, graph, parts, options.sample) for name, graph in graphs.items() for parts in PARTS]
    _print_unknown(unknown, options.sample)
    figures = {"sites": sites, "known": known, "unknown": unknown}
    if options.live:
        from _partition_live import live, print_live

        runs = live(options)
        print_live(runs)
        figures["live"] = runs
    if options.json:
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(figures)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    names = [source.name for source in SITES]
    add("--sites", type=lambda text: text.split(","), default=names, help=f"of {','.join(names)}")
    add("--pages", type=int, default=50_000, help="pages of a site at most")
    add("--sample", type=int, default=500, help="pages seen of a site that is not known")
    add("--archives", type=Path, default=ARCHIVES, help="folder of NAME.tar.zst sites")
    add("--cache", default="", help="folder for graphs and unpacked sites ($XDG_CACHE_HOME/gossamer-bench)")
    add("--live", action="store_true", help="crawl, too")
    add("--live-sites", type=lambda text: text.split(","), default=list(QUICK), help="sites that are crawled")
    add("--live-pages", type=int, default=600, help="pages of their cuts")
    add("--live-parts", type=lambda text: [int(one) for one in text.split(",")], default=[1, *PARTS])
    add("--delay", type=float, default=0.1, help="seconds between two requests of a part")
    add("--workers", type=int, default=2)
    add("--gossamer", default="", help="the command, if not the one of this environment")
    add("--port", type=int, default=8190)
    add("--json", type=Path, metavar="FILE", help="the figures for programs")
    return parser.parse_args()


def _site(name: str, graph: SiteGraph) -> Site:
    sizes = graph.path_sizes
    return Site(name, graph.pages, graph.links, len(sizes), len(key_paths(sizes)), graph.same_path())


def _known(name: str, graph: SiteGraph, parts: int) -> Known:
    sizes = Sizes(graph.urls)
    by_paths, by_urls = (plan(sizes, parts, rule) for rule in _rules())
    return Known(
        name=name,
        parts=parts,
        seed=by_seed_rule(graph, parts),
        paths=in_parts(graph, by_paths).measures,
        paths_crossing=graph.crossing(by_paths.parts_of(graph.urls)),
        urls=in_parts(graph, by_urls).measures,
        urls_crossing=graph.crossing(by_urls.parts_of(graph.urls)),
        lines=len(by_paths.table),
    )


def _unknown(name: str, graph: SiteGraph, parts: int, sample: int) -> Unknown:
    seen = np.argsort(graph.depth, kind="stable")[:sample]
    found = [graph.targets[graph.starts[page] : graph.starts[page + 1]] for page in seen]
    known = np.unique(np.concatenate([seen, *found]))
    sizes = Sizes([graph.urls[page] for page in known])
    by_paths, by_urls = (plan(sizes, parts, rule) for rule in _rules())
    fixed, hashed = (in_parts(graph, made, seeded=False).measures.acceleration for made in (by_paths, by_urls))
    return Unknown(name, parts, len(known), fixed, crawl_mending(graph, by_paths, PartitionConfig().drift), hashed)


def _rules() -> Iterator[Rule]:
    yield "paths"
    yield "urls"


def _print_sites(sites: list[Site]) -> None:
    print("\nSites\n")
    print("| site | pages | links | paths | hold 90 % | share of paths | links in the same path |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for one in sites:
        share = one.key_paths / one.paths
        print(
            f"| {one.name} | {one.pages} | {one.links} | {one.paths} | {one.key_paths} | {share:.1%} | "
            f"{one.same_path:.1%} |"
        )
    shares, same = _mean(sites, lambda one: one.key_paths / one.paths), _mean(sites, lambda one: one.same_path)
    print(f"| mean (the seed: 19.15 %, 74.36 %) | | | | | {shares:.1%} | {same:.1%} |")


def _print_known(rows: list[Known]) -> None:
    print("\nA site that is known\n")
    print(
        "| site | parts | seed: A | C | O | total | by paths: A | C | O | total | crossing | lines | by URLs: A | "
        "crossing | goal |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|")
    for one in rows:
        seed, ours = (
            f"{m.acceleration:.2f} | {m.coverage:.1%} | {m.overlap:.1%} | {m.total:.2f}" for m in (one.seed, one.paths)
        )
        met = _met(one.paths.acceleration, one.parts) and one.paths.coverage >= 0.99 and not one.paths.overlap
        print(
            f"| {one.name} | {one.parts} | {seed} | {ours} | {one.paths_crossing:.0%} | {one.lines} | "
            f"{one.urls.acceleration:.2f} | {one.urls_crossing:.0%} | {'met' if met else 'missed'} |"
        )


def _print_means(graphs: dict[str, SiteGraph]) -> None:
    print("\nMeans over the sites\n")
    config = PartitionConfig()
    found = {name: predict(graph, Sizes(graph.urls), "paths", config, 1.0) for name, graph in graphs.items()}
    print("| parts | seed: A | C | O | total | unfit | ours: A | C | O | total |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for rows in zip(*found.values(), strict=True):
        seed, ours = ([getattr(row, name) for row in rows] for name in ("seed", "ours"))
        unfit = sum(not one.total for one in seed)
        print(f"| {rows[0].parts} | {_means(seed)} | {unfit} | {_means(ours)} |")
    picks = {
        name: tuple(pick([getattr(row, rule) for row in rows], len(rows)) for rule in ("seed", "ours"))
        for name, rows in found.items()
    }
    print("\nPicked of up to 10, the seed's rule and ours: ", end="")
    print(", ".join(f"{name} {seed} and {ours}" for name, (seed, ours) in picks.items()))


def _means(rows: list[Measures]) -> str:
    names = ("acceleration", "coverage", "overlap", "total")
    a, c, o, total = (_mean([getattr(one, name) for one in rows], float) for name in names)
    return f"{a:.2f} | {c:.1%} | {o:.1%} | {total:.2f}"


def _print_unknown(rows: list[Unknown], sample: int) -> None:
    print(f"\nA site that is not known: planned on its first {sample} pages, crawled to the end\n")
    print("| site | URLs seen | parts | by paths: A | mended: A | times | moved | by URLs: A | goal |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---|")
    for one in rows:
        goal, again = "met" if _met(one.urls, one.parts) else "missed", one.mended
        print(
            f"| {one.name} | {one.seen} | {one.parts} | {one.paths:.2f} | {again.acceleration:.2f} | {again.times} | "
            f"{again.moved:.0%} | {one.urls:.2f} | {goal} |"
        )


def _met(acceleration: float, parts: int) -> bool:
    return acceleration >= GOALS[parts]


def _mean(rows: list[Any], value: Callable[[Any], float]) -> float:
    return sum(map(value, rows)) / max(len(rows), 1)


if __name__ == "__main__":
    main()

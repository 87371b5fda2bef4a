"""What single parts of the frontier cost a page: statistics of the table, automatic filters, revisits, fit, strategies.

    python bench/frontier_cost.py --size 1000000 --pages 8000
    python bench/frontier_cost.py --quick                        20,000 URLs, 400 pages

The load is that of `python -m studies growth`. Each variant works on a copy of the same database; they take turns
batch by batch in one process, in an order that changes each round, so that whatever else the machine does hits all
alike.

- `all`: as a crawl is by default: statistics kept, visits planned, two document rules per site asked;
- `no statistics`: nothing is counted by prefix;
- `no revisits`: nothing is planned, nothing learned of changes is used (`revisit.policy = "none"`);
- `no rules`: no domain has document rules;
- `opic`: a strategy that goes by links: each of the 80 links is looked up and may move.

Filters cost nothing in the frontier: they are a rule of the scope, asked in the parsers. Their cost is measured apart:
microseconds for the links of a page, with 50 active filters for each of 100 sites and without, the chain's memory of
links that it has seen included.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from unittest import mock

from _figures import Figure, add_usual, conclude
from gossamer.frontier import prefixes, sql
from gossamer.frontier.contract import Visit
from gossamer.frontier.guidance import Guidance
from gossamer.model.records import Task
from gossamer.model.site import key64
from gossamer.parse.rules import DocumentRule, RuleBook
from gossamer.plugins import STRATEGIES
from gossamer.priority.product import build
from gossamer.priority.strategy import Context
from gossamer.revisit.config import RevisitConfig
from gossamer.scope.automatic import AutomaticFilter, AutomaticRule
from gossamer.scope.chain import REMEMBERED_URLS, Chain
from studies.growth.frontier_load import BATCH, WARM_UP, Load
from studies.growth.made_up_frontier import make_sites
from studies.growth.table_growth import filled

GOAL = 1.0
"""Per cent of a page."""
_ROUNDS = 40
"""Times the links are held against the filters."""


@contextlib.contextmanager
def _no_statistics() -> Iterator[None]:
    with (
        mock.patch.object(prefixes.PrefixTally, "entered", lambda *_args: None),
        mock.patch.object(sql, "count_prefixes", lambda *_args: None),
    ):
        yield


def _guidance(strategy: str, rules: bool, policy: str = "age") -> Guidance:
    patterns = ("/section-{id}/topic-{id}/other-{slug}", "/section-{id}/topic-{id}/some-{slug}.html")
    names = [site.name for site in make_sites(1)] if rules else []
    book = RuleBook(DocumentRule(name, (pattern,), f"n{n}") for name in names for n, pattern in enumerate(patterns))
    fits = lru_cache(maxsize=8192)(book.fits)  # as `crawl.guidance` does
    context = Context(fits=fits)
    revisit = RevisitConfig(policy=policy)
    return Guidance(build(strategy, lambda name: STRATEGIES.get(name)(context)), fits, revisit)


VARIANTS: dict[str, tuple[Guidance, Callable[[], contextlib.AbstractContextManager[None]]]] = {
    "all": (_guidance("fit * breadth", True), contextlib.nullcontext),
    "no statistics": (_guidance("fit * breadth", True), _no_statistics),
    "no revisits": (_guidance("fit * breadth", True, "none"), contextlib.nullcontext),
    "no rules": (_guidance("fit * breadth", False), contextlib.nullcontext),
    "opic": (_guidance("fit * opic", True), contextlib.nullcontext),
}


class _LinkLoad(Load):
    """The same load, with the links that a strategy wants to see."""

    def visit(self, site: str, task: Task) -> Visit:
        """With the page's links."""
        visit = super().visit(site, task)
        if self.frontier.guidance.strategy.links is not None:
            known = self.sites[site]
            numbers = [self.random.randrange(known.size) for _ in range(80)]
            visit.outlinks = [(key64(site), key64(known.url(number))) for number in numbers]
        return visit


def measure(database: Path, folder: Path, size: int, pages: int) -> dict[str, float]:
    """Median microseconds of CPU per page of each variant."""
    loads = {}
    for place, (name, (guidance, _)) in enumerate(VARIANTS.items()):
        copy = folder / f"variant-{place}.db"
        shutil.copyfile(database, copy)
        loads[name] = _LinkLoad(copy, size, guidance=guidance)
    times: dict[str, list[float]] = {name: [] for name in VARIANTS}
    names = list(VARIANTS)
    for round_ in range(WARM_UP + pages // BATCH):
        for name in names[round_ % len(names) :] + names[: round_ % len(names)]:
            with VARIANTS[name][1]():
                step = loads[name].step()
            if round_ >= WARM_UP:
                times[name].append(sum(step.cpu.values()) / BATCH * 1e6)
    for load in loads.values():
        load.close()
    return {name: statistics.median(mine) for name, mine in times.items()}


def filters_cost(size: int) -> tuple[float, float]:
    """Microseconds for the 80 links of a page, of which 7 are new, without filters and with them."""
    sites = make_sites(size)[:100]
    filters = [AutomaticFilter(site.name, "prefix", f"/useless-{n}/") for site in sites for n in range(50)]
    chains = [Chain([], REMEMBERED_URLS), Chain([AutomaticRule(filters, lambda _url: None, 50)], REMEMBERED_URLS)]
    times: list[list[float]] = [[], []]
    for round_ in range(_ROUNDS):
        pages = [
            [site.url(number) for number in (*range(73), *range(1000 + 7 * round_, 1007 + 7 * round_))]
            for site in sites
        ]
        for chain, mine in zip(chains, times, strict=True):
            started = time.process_time()
            for urls in pages:
                chain.split(urls, 0.0)
            mine.append((time.process_time() - started) / len(pages) * 1e6)
    without, with_ = (statistics.median(mine[1:]) for mine in times)
    return without, with_


def main() -> None:
    """Fill, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_usual(parser, "20,000 URLs, 400 pages")
    parser.add_argument("--size", type=int, help="known URLs (1,000,000; 20,000 with --quick)")
    parser.add_argument("--pages", type=int, help="pages measured per variant (8,000; 400 with --quick)")
    parser.add_argument("--page-cost", type=float, default=2900.0, help="CPU µs of a page in all processes of a crawl")
    parser.add_argument("--data", type=Path, help="keep the filled database in this folder and use it again")
    options = parser.parse_args()
    options.size = options.size or (20_000 if options.quick else 1_000_000)
    options.pages = options.pages or (400 if options.quick else 8_000)
    with tempfile.TemporaryDirectory(prefix="frontier-cost-", dir=options.data) as made:
        folder = Path(made)
        database = filled(options.data or folder, options.size, print)
        cost = measure(database, folder, options.size, options.pages)
    whole, every = cost["all"], options.page_cost
    print(f"{'variant':>14} {'cpu µs/page':>12} {'all costs more':>15} {'of the frontier':>16} {'of a page':>10}")
    for name, mine in cost.items():
        more = whole - mine
        print(f"{name:>14} {mine:12.1f} {more:12.1f} µs {more / whole:15.1%} {more / every:10.2%}")
    without, with_ = filters_cost(options.size)
    more = with_ - without
    print(f"\n80 links, 7 of them new, against 50 filters of their site: {more:.1f} µs, {more / every:.2%} of a page")
    statistics_cost = whole - cost["no statistics"] + more
    bounds = {"least": -100.0, "most": 100.0}  # a difference of two measurements
    conclude(options, [
        Figure("frontier, CPU of a page", whole, "µs", least=1, most=100_000),
        Figure("statistics and filters, share of a page", 100 * statistics_cost / every, "%", GOAL, True, **bounds),
    ], cost)  # fmt: skip


if __name__ == "__main__":
    main()

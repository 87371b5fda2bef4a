"""What it saves to tell copies before they are indexed, and how many slip through (S0.6)."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from itertools import chain, zip_longest
from pathlib import Path

import msgspec

from studies.early.claim_races import race_frontier, race_lookup
from studies.early.findings import Raced, report
from studies.early.removal import Work, index_both_ways, make_crawl
from studies.early.site_texts import MADE_UP, SiteText, site_texts
from studies.reports.report import Report
from studies.scratch import in_memory
from studies.study import Options


class _Size(msgspec.Struct, frozen=True):
    """How much is done."""

    shares: tuple[float, ...]
    """Of copies in the crawls."""
    sites: tuple[str, ...]
    files: int
    """Read of each site, at most."""
    pages: int
    """Of one crawl."""
    rounds: int
    workers: int
    texts: int
    """That the workers of a race meet."""


QUICK = _Size((0.0, 0.2, 0.4, 0.6), ("itw66", "mircsgo"), 600, 800, 3, 4, 500)
FULL = _Size(
    (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6), ("itw66", "mircsgo", "learningischange", "linuxcn"), 2500, 3000, 3, 8, 3000
)


def run(options: Options) -> Report:
    """Index crawls with copies in both ways, and let workers race."""
    size = QUICK if options.quick else FULL
    sites = site_texts(options, size.sites, size.files)
    pool = distinct(sites)
    size = msgspec.structs.replace(size, pages=min(size.pages, len(pool)))
    return report(_data(sites, size), _works(options, size, pool), _real(options, size, sites), _races(options, size))


def distinct(sites: dict[str, list[SiteText]]) -> list[SiteText]:
    """Pages whose texts differ within each site, one of each site in turn."""
    firsts = [list({page.content_hash: page for page in reversed(pages)}.values())[::-1] for pages in sites.values()]
    return [page for page in chain.from_iterable(zip_longest(*firsts)) if page is not None]


def _works(options: Options, size: _Size, pool: Sequence[SiteText]) -> list[Work]:
    """One for each share; the first crawl warms up what analysis remembers, and does not count."""
    _index(pool[: size.pages], 1)
    works = []
    for share in size.shares:
        works.append(_index(make_crawl(pool, size.pages, share, options.seed), size.rounds))
        options.tell(f"{share:.0%} copies: {works[-1].saved:.1%} saved")
    return works


def _real(options: Options, size: _Size, sites: dict[str, list[SiteText]]) -> dict[str, Work]:
    """The sites with the copies that they have."""
    real = {name: _index(pages, size.rounds) for name, pages in sites.items() if name != MADE_UP}
    for name, work in real.items():
        options.tell(f"{name}: {work.share:.1%} copies, {work.saved:.1%} saved")
    return real


def _index(crawl: Sequence[SiteText], rounds: int) -> Work:
    with in_memory("early") as scratch:
        return index_both_ways(scratch, crawl, rounds)


def _races(options: Options, size: _Size) -> list[Raced]:
    texts = [f"{number:032x}" for number in range(size.texts)]
    raced = []
    for way, race in {"frontier": race_frontier, "look up, then write": race_lookup}.items():
        for order, same in {"the same": True, "each its own": False}.items():
            with tempfile.TemporaryDirectory(prefix="gossamer-race-") as scratch:
                raced.append(Raced(way, order, race(Path(scratch), texts, size.workers, same, options.seed)))
            options.tell(f"{way}, order {order}: {raced[-1].race.copies} copies let through")
    return raced


def _data(sites: dict[str, list[SiteText]], size: _Size) -> str:
    texts = (
        f"{size.pages:,} made-up texts"
        if MADE_UP in sites
        else f"{size.pages:,} pages of {', '.join(sites)}, read by the live parser"
    )
    return (
        f"{texts}, of which a share is replaced by copies at other addresses of the same site, and sites with the "
        f"copies they have, {size.files:,} pages of each at most; the live index writer, analysis and merges included, "
        f"and the live frontier on SQLite. CPU seconds, both ways in turn, the least of {size.rounds} for each batch. "
        f"Races: {size.workers} threads, each with a connection of its own and the same {size.texts:,} texts."
    )

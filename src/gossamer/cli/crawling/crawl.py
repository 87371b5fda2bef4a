"""`gossamer crawl`: start a crawl, or continue one."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from gossamer import settings as settings_file
from gossamer.cli.common import (
    DEFAULT_DATA,
    Data,
    Database,
    Debug,
    Json,
    Seeds,
    Segments,
    check_seeds,
    err,
    out,
    print_json,
    seconds,
)
from gossamer.cli.crawling.ending import Run, last_lines
from gossamer.cli.crawling.progress import Progress, summary
from gossamer.cli.crawling.seed_lines import as_json, commands_for, print_verdict, sum_of_requests
from gossamer.cli.crawling.seed_watch import SeedWatch
from gossamer.cli.signals import told_to_end
from gossamer.compose.crawl import CrawlOrder, Ended, crawl_verdict, open_crawl, server_beside
from gossamer.data.folder import DataFolder
from gossamer.data.storage import remember_storage
from gossamer.discover.seeds import Seed, read_seeds
from gossamer.errors import OperationError, UsageError
from gossamer.indexer.indexed import index_damage
from gossamer.model.url import Canonicalizer
from gossamer.scope.reach import Sitemaps
from gossamer.settings import Settings
from gossamer.supervise.schemes import choose_schemes

Many = Annotated[list[str] | None, Parameter(negative="", consume_multiple=False)]


def command(
    *seeds: Seeds,
    data: Data = DEFAULT_DATA,
    seeds_from: Annotated[list[Path] | None, Parameter(name="--seeds", negative="", consume_multiple=False)] = None,
    pages: int | None = None,
    duration: Annotated[str | None, Parameter(name="--for")] = None,
    watch: Annotated[bool, Parameter(negative="")] = False,
    scope: Literal["host", "domain", "list"] | None = None,
    host: Many = None,
    depth: int | None = None,
    sitemaps: Sitemaps | None = None,
    workers: int | None = None,
    delay: float | None = None,
    contact: str | None = None,
    allow_network: Many = None,
    resolve: Many = None,
    ca_file: Path | None = None,
    javascript: Literal["off", "auto", "on"] | None = None,
    strategy: str | None = None,
    database: Database = None,
    segments: Segments = None,
    archive: bool = True,
    index: bool = True,
    serve: Annotated[bool, Parameter(negative="")] = False,
    port: int | None = None,
    accept_clock: Annotated[bool, Parameter(negative="")] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative="")] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Crawl the sites of SEEDS. Without seeds, continue the last crawl.

    Exit code 1: a seed failed, that is, the crawl kept no page of it.

    Parameters
    ----------
    seeds
        URLs or host names to start from; `-` reads them from standard input.
    seeds_from
        A file with one seed per line.
    pages
        Stop after this many page requests.
    duration
        Stop after this time: 90s, 10m, 2h.
    watch
        Do not end when nothing is left to fetch: visit pages again and poll feeds until Ctrl-C, or for the time of
        --for.
    scope
        host: the hosts of the seeds; domain: their registrable domains; list: the hosts of --host and of the seeds.
    host
        A further host to crawl; `*.example.org` includes all its subdomains.
    depth
        How many links to follow from a seed: 0 fetches only the seeds, 1 also the pages they link to; default: no
        limit.
    sitemaps
        yes: follow sitemaps and links; no: read no sitemaps; only: fetch the pages that sitemaps list, follow no links.
    workers
        Worker processes; default: one per core.
    delay
        Seconds between two requests to a site.
    contact
        Your mail address, or the URL of a page about your crawl. Every request carries it.
    allow_network
        A private network that the crawl may enter, such as 127.0.0.0/8.
    resolve
        HOST=IP: use this address for a host instead of asking the DNS.
    ca_file
        A PEM file of certificate authorities to trust in addition to the system's.
    javascript
        Run the scripts of pages in a browser. auto: only if a page is empty without them; on: always (see
        docs/javascript.md).
    strategy
        Which URLs to fetch first: "fit * breadth", opic, qrank, … (see docs/priority.md). `*` multiplies scores.
    archive
        Keep raw responses as WARC.
    index
        Make pages searchable while the crawl runs.
    serve
        Serve the search page while the crawl runs.
    port
        Port of the search page; 0: any free port.
    accept_clock
        Crawl even if the system clock is behind the last crawl.
    quiet
        Do not show progress.
    """
    check_seeds(seeds, "crawl")
    changes = _changes(
        crawl={
            "contact": contact,
            "workers": workers,
            "archive": None if archive else False,
            "index": None if index else False,
            "strategy": strategy,
            "watch": watch or None,
        },
        scope={"mode": scope, "hosts": host, "depth": depth, "sitemaps": sitemaps},
        politeness={"delay": delay},
        network={"allow": allow_network, "resolve": _resolve(resolve)},
        fetch={"ca_file": str(ca_file.absolute()) if ca_file else None},
        browser={"mode": javascript},
    )
    remember_storage(data, database, segments)
    settings = settings_file.load(data, changes)
    found = _read_seeds(seeds, seeds_from or [], settings, quiet or json)
    until = seconds(duration) if duration else None
    if pages is not None and pages < 1:
        raise UsageError("--pages must be at least 1")
    companions = [server_beside(data, port)] if serve else []
    order = CrawlOrder(settings, data, found, pages, until, accept_clock, changes, companions, debug)
    _conclude(order, run_crawl(order, quiet or json), quiet, json)


def _read_seeds(named: Sequence[str], files: Sequence[Path], settings: Settings, quiet: bool) -> list[Seed]:
    found, said = choose_schemes(read_seeds(named, files, sys.stdin, Canonicalizer(settings.urls)), settings)
    for line in () if quiet else said:
        out.print(line, style="dim", markup=False)
    return found


def run_crawl(order: CrawlOrder, quiet: bool = False) -> Ended:
    """Crawl until it is over, and show a person how it goes."""

    def tell(line: str) -> None:
        if not quiet:
            out.print(line, style="dim", markup=False)

    commands = commands_for(order.data, order.options)
    with open_crawl(order, tell) as crawl:
        warn_of_damage(crawl.folder, order.settings)
        phase, now = lambda: crawl.phase, crawl.clock.now
        progress = Progress(crawl.folder, order.pages, crawl.until, not quiet, phase, crawl.backlogs, now)
        watch = SeedWatch(crawl.db, order.settings, commands, crawl.clock, enabled=not quiet)
        with told_to_end(crawl.stop), progress:
            ended = crawl.run(watch.beside(progress.show))
    if not quiet:
        summary(ended.standing)
        index = order.settings.crawl.index
        run = Run(ended.seconds, ended.pages_before, ended.early, index, order.data, commands.crawl())
        for line in last_lines(ended.standing, run, ended.at):
            out.print(line, markup=False)
    return ended


def _conclude(order: CrawlOrder, ended: Ended, quiet: bool, json: bool) -> None:
    """Print the pages of each seed; an error if a seed failed."""
    warn_of_damage(DataFolder(order.data), order.settings)
    commands = commands_for(order.data, order.options)
    verdict = crawl_verdict(order, ended, commands)
    if json:
        print_json({**ended.standing.as_dict(), "verdict": as_json(verdict)})
    elif not quiet:
        out.print(f"Requests: {sum_of_requests(ended.standing)}.", markup=False)
        print_verdict(verdict, commands, ended.at)
    if verdict.sentence and not (order.settings.crawl.watch and ended.was_told):
        # A person has just read the causes; a log or a script has not.
        raise OperationError(verdict.sentence if quiet or json else verdict.headline)


def warn_of_damage(folder: DataFolder, settings: Settings) -> None:
    """Say that the index is damaged: the crawl goes on and keeps every page, but readers may not find them."""
    problem = index_damage(folder) if settings.crawl.index else ""
    if problem:
        err.print(f"{problem[0].upper()}{problem[1:]}. The crawl itself is not affected.", style="yellow", markup=False)


def _changes(**sections: dict[str, Any]) -> dict[str, dict[str, Any]]:
    given = {
        name: {key: value for key, value in values.items() if value is not None} for name, values in sections.items()
    }
    return {name: values for name, values in given.items() if values}


def _resolve(pairs: list[str] | None) -> dict[str, str] | None:
    if pairs is None:
        return None
    mapping = {}
    for pair in pairs:
        host, found, address = pair.partition("=")
        if not found or not host or not address:
            raise UsageError(f"--resolve {pair}: write HOST=IP")
        mapping[host.lower()] = address
    return mapping

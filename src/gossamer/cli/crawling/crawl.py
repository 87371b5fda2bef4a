"""`gossamer crawl`: start a crawl, or go on with one."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

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
from gossamer.cli.crawling.seed_lines import as_json, commands_for, print_verdict, read_verdict, sum_of_requests
from gossamer.cli.crawling.seed_watch import SeedWatch
from gossamer.cli.signals import told_to_end
from gossamer.clock import CorrectedClock, SystemClock
from gossamer.crawl.heartbeat import set_by_database
from gossamer.data.folder import DataFolder, check_clock, note_settings, remember_storage
from gossamer.data.stored_links import stored_in
from gossamer.data.stored_ranks import check_reachable_ranks
from gossamer.discover.seeds import Seed, read_seeds
from gossamer.errors import BusyError, OperationError, UsageError
from gossamer.frontier.politeness import LONGEST_PACE
from gossamer.frontier.views.backlog import Backlog, slowest
from gossamer.frontier.views.inspect import Status, status
from gossamer.indexer.indexed import index_damage
from gossamer.model.url import Canonicalizer
from gossamer.operate.takedown import carry_on
from gossamer.scope.reach import Sitemaps
from gossamer.supervise.children import Child
from gossamer.supervise.rejudging import rejudge
from gossamer.supervise.schemes import choose_schemes
from gossamer.supervise.seeding import add_seeds, check_reachable, earlier_seeds, readmit
from gossamer.supervise.supervisor import Supervisor
from gossamer.upkeep.splitting import split_sites

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
    """Crawl the sites of the SEEDs; without seeds, go on where the last crawl stopped. Exit code 1: a seed brought
    nothing.

    Parameters
    ----------
    seeds
        URLs or host names to start from; `-` reads them from standard input.
    seeds_from
        A file with seeds, one a line.
    pages
        Stop after this many page requests.
    duration
        Stop after this time: 90s, 10m, 2h.
    watch
        Do not end when nothing is due: keep pages fresh and poll feeds until Ctrl-C, or for the time given.
    scope
        host: the seeds' hosts; domain: their registrable domains; list: the hosts given with --host, and the
        seeds' own.
    host
        A host that belongs to the crawl; `*.example.org` includes all below.
    depth
        Links to follow from a seed: 0 fetches only the seeds, 1 also the pages they link to; default: no limit.
    sitemaps
        yes: follow sitemaps and links; no: read no sitemap; only: follow no link, take the pages from sitemaps.
    workers
        Worker processes; default: as many as cores.
    delay
        Seconds between two requests to a site.
    contact
        Your mail address or a URL about your crawl, sent with every request.
    allow_network
        A private network that may be crawled, such as 127.0.0.0/8.
    resolve
        HOST=IP: the address of a host, instead of asking the DNS.
    ca_file
        A file with certificates of authorities to trust beside the usual ones, such as your own.
    javascript
        Run the scripts of pages in a browser: auto: where a page is empty without them; on: always (see
        docs/javascript.md).
    strategy
        What is fetched first: "fit * breadth", opic, qrank, … (see docs/priority.md); scores multiply.
    archive
        Keep raw responses as WARC.
    index
        Make pages searchable while the crawl runs.
    serve
        Serve the search page while the crawl runs.
    port
        Port of the search page; 0 for any free one.
    accept_clock
        Go on although the system clock is behind the last crawl.
    quiet
        No progress display.
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
    named = read_seeds(seeds, seeds_from or [], sys.stdin, Canonicalizer(settings.urls))
    found, said = choose_schemes(named, settings)
    for line in () if quiet or json else said:
        out.print(line, style="dim", markup=False)
    until = seconds(duration) if duration else None
    if pages is not None and pages < 1:
        raise UsageError("--pages must be at least 1")
    companions = [server(data, port)] if serve else []
    ended = run_crawl(settings, data, found, pages, until, accept_clock, quiet or json, debug, changes, companions)
    _conclude(ended, settings, data, changes, [seed.url for seed in found], quiet, json)


def _conclude(
    ended: Ended,
    settings: settings_file.Settings,
    data: Path,
    options: dict[str, dict[str, Any]],
    named: Sequence[str],
    quiet: bool,
    json: bool,
) -> None:
    """Say what each seed brought; an error where one brought nothing."""
    warn_of_damage(DataFolder(data), settings)
    commands = commands_for(data, options)
    db = DataFolder(data).read()
    try:
        verdict = read_verdict(db, settings, commands, ended.standing, named)
    finally:
        db.close()
    if json:
        print_json({**ended.standing.as_dict(), "verdict": as_json(verdict)})
    elif not quiet:
        out.print(f"Requests: {sum_of_requests(ended.standing)}.", markup=False)
        print_verdict(verdict, commands, ended.at)
    if verdict.sentence and not (settings.crawl.watch and ended.was_told):
        # A person has just read the causes; a log or a script has not.
        raise OperationError(verdict.sentence if quiet or json else verdict.headline)


def warn_of_damage(folder: DataFolder, settings: settings_file.Settings) -> None:
    """Say that the index is damaged: the crawl goes on and keeps every page, but readers may not find them."""
    problem = index_damage(folder) if settings.crawl.index else ""
    if problem:
        err.print(f"{problem[0].upper()}{problem[1:]}. The crawl itself is not affected.", style="yellow", markup=False)


class Ended(NamedTuple):
    """How a crawl ended."""

    standing: Status
    at: float
    was_told: bool
    """Whether somebody stopped it."""


def run_crawl(
    settings: settings_file.Settings,
    data: Path,
    seeds: Sequence[Seed],
    pages: int | None = None,
    lasting: float | None = None,
    accept_clock: bool = False,
    quiet: bool = False,
    debug: bool = False,
    options: dict[str, dict[str, Any]] | None = None,
    companions: Sequence[Child] = (),
) -> Ended:
    """Crawl in this process tree until it is over; returns how it stood then.

    `options` are what differs from `gossamer.toml`: verbs that speak of this crawl want to know.
    """
    folder, clock = DataFolder(data), CorrectedClock(SystemClock())
    check_reachable(seeds, settings)
    if not (seeds or folder.is_shared or folder.has_crawl()):
        raise _nothing_to_crawl(data)
    if folder.is_shared:
        check_reachable_ranks(data, settings)
    folder.create()
    with folder.crawl_lock():
        frontier = folder.open_frontier(settings, founding=True)
        try:
            if not frontier.db.only_one("crawl"):
                raise BusyError(
                    f"another `gossamer crawl` is running on {frontier.db.where}: "
                    "start `gossamer work` on further machines, or give each crawl a database of its own"
                )
            set_by_database(clock, frontier.db)
            check_clock(frontier, clock.now(), accept_clock)
            check_reachable(earlier_seeds(frontier.db), settings)
            readmit(frontier, settings, clock.now())
            done = rejudge(folder, frontier, settings, clock.now())
            note_settings(frontier, settings, options or {})
            for line in (*done, *folder.recover(frontier, clock.now())):
                if not quiet:
                    out.print(line, style="dim", markup=False)
            carry_on(folder, frontier.db, settings, clock.now())
            add_seeds(frontier, settings, seeds, clock.now())
            if not frontier.db.execute("SELECT 1 FROM seeds LIMIT 1"):
                raise _nothing_to_crawl(data)
            split_sites(stored_in(folder), frontier.db, settings, clock.now())
            frontier.split_anew(clock.now())
            frontier.replan_polls(clock.now())
            frontier.limit_pages(pages)
            warn_of_damage(folder, settings)
            supervisor = Supervisor(settings, folder, frontier, clock, debug, companions)
            started, kept = clock.now(), status(frontier.db, clock.now()).pages
            until = started + lasting if lasting is not None else None
            progress = Progress(
                folder, pages, until, not quiet, lambda: supervisor.phase,
                lambda: _waited_for(slowest(frontier.db, settings.polite), settings, clock.now()), clock.now,
            )  # fmt: skip
            watch = SeedWatch(frontier.db, settings, commands_for(data, options or {}), clock, enabled=not quiet)
            with told_to_end(supervisor.stop), progress:
                final = supervisor.run(until, watch.beside(progress.show))
            check_clock(frontier, clock.now(), accept=True)
        finally:
            frontier.db.close()
    if not quiet:
        summary(final)
        again = commands_for(data, options or {}).crawl()
        run = Run(clock.now() - started, kept, supervisor.ended_early, settings.crawl.index, data, again)
        for line in last_lines(final, run, clock.now()):
            out.print(line, markup=False)
    return Ended(final, clock.now(), supervisor.was_told)


def _nothing_to_crawl(data: Path) -> UsageError:
    example = "gossamer crawl https://example.org/ --contact you@example.org"
    return UsageError(f"nothing to crawl in {data}: name a seed, such as {example}")


def _waited_for(backlogs: Sequence[Backlog], settings: settings_file.Settings, now: float) -> list[Backlog]:
    """Those that the crawl does not end without: a site that rests for longer than it lingers, and than its pace asks
    for, is left to the next."""
    latest = math.inf if settings.crawl.watch else now + settings.crawl.linger
    return [one for one in backlogs if one.ready_at <= max(latest, now + min(one.gap, LONGEST_PACE))]


def server(data: Path, port: int | None = None) -> Child:
    """A server of the search page that ends with the crawl."""
    arguments = ["serve", "--data", str(data), "--until-stdin-ends"]
    return Child("server", "gossamer.cli", arguments + (["--port", str(port)] if port is not None else []), speaks=True)


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

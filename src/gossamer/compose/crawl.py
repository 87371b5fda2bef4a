"""A crawl of a data folder from its first check to its last: `with open_crawl(order) as crawl: crawl.run()`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from gossamer.clock import Clock, CorrectedClock, SystemClock
from gossamer.crawl.alive.heartbeat import set_by_database
from gossamer.data.crawl_settings import note_settings
from gossamer.data.folder import DataFolder
from gossamer.data.locks import crawl_lock
from gossamer.data.opening import open_frontier
from gossamer.data.recovery import check_clock, recover
from gossamer.data.stored_ranks import check_reachable_ranks
from gossamer.discover.seeds import Seed
from gossamer.errors import BusyError, UsageError
from gossamer.frontier.contract import CrawlFrontier
from gossamer.frontier.politeness import LONGEST_PACE
from gossamer.frontier.views.backlog import Backlog, slowest
from gossamer.frontier.views.inspect import Status, status
from gossamer.frontier.views.seed_list import has_seeds
from gossamer.operate.next_command import Commands
from gossamer.operate.takedown import carry_on
from gossamer.operate.verdict import Verdict, verdict_of
from gossamer.settings import Settings
from gossamer.supervise.children import Child
from gossamer.supervise.phase import Phase
from gossamer.supervise.rejudging import rejudge
from gossamer.supervise.seeding import add_seeds, check_reachable, earlier_seeds, readmit
from gossamer.supervise.supervisor import Supervisor, Watcher


class CrawlOrder(msgspec.Struct, frozen=True):
    """What to crawl, and when to stop."""

    settings: Settings
    data: Path
    seeds: Sequence[Seed] = ()
    """Further seeds; those of earlier crawls of the folder stay."""
    pages: int | None = None
    """Stop after this many page requests."""
    lasting: float | None = None
    """Stop after this many seconds."""
    accept_clock: bool = False
    """Continue although the system clock is behind the last crawl."""
    options: Mapping[str, Mapping[str, Any]] = {}
    """What `settings` change in `gossamer.toml`: the database keeps it for whoever asks about this crawl."""
    companions: Sequence[Child] = ()
    """Processes that run as long as the crawl does."""
    debug: bool = False


class Ended(msgspec.Struct, frozen=True):
    """How a crawl ended."""

    standing: Status
    at: float
    seconds: float
    pages_before: int
    """Pages that were kept before it began."""
    early: bool
    """Whether it ended before everything was done: somebody stopped it, or it reached a limit."""
    was_told: bool
    """Whether somebody stopped it."""


class OpenCrawl:
    """A crawl that holds its folder and is ready to run."""

    def __init__(self, order: CrawlOrder, folder: DataFolder, frontier: CrawlFrontier, clock: Clock) -> None:
        self.folder, self.clock, self.db = folder, clock, frontier.db
        self._settings, self._frontier = order.settings, frontier
        self._supervisor = Supervisor(order.settings, folder, frontier, clock, order.debug, order.companions)
        self._began, self._pages_before = clock.now(), status(frontier.db, clock.now()).pages
        self.until = self._began + order.lasting if order.lasting is not None else None

    @property
    def phase(self) -> Phase:
        """What it is doing."""
        return self._supervisor.phase

    def stop(self) -> None:
        """End it in good order, from any thread or signal handler; told twice, it ends at once."""
        self._supervisor.stop()

    def backlogs(self) -> list[Backlog]:
        """Sites with most to do. The crawl does not wait for a site that rests for longer than `crawl.linger` and than
        its pace asks for."""
        now, crawl = self.clock.now(), self._settings.crawl
        latest = math.inf if crawl.watch else now + crawl.linger
        found = slowest(self.db, self._settings.polite)
        return [one for one in found if one.ready_at <= max(latest, now + min(one.gap, LONGEST_PACE))]

    def run(self, watch: Watcher | None = None) -> Ended:
        """Crawl until it is over; `watch` gets the standing some times a second."""
        standing = self._supervisor.run(self.until, watch)
        now = self.clock.now()
        check_clock(self._frontier, now, accept=True)
        early, was_told = self._supervisor.ended_early, self._supervisor.was_told
        return Ended(standing, now, now - self._began, self._pages_before, early, was_told)


@contextmanager
def open_crawl(order: CrawlOrder, tell: Callable[[str], None] = lambda line: None) -> Iterator[OpenCrawl]:
    """Take the folder, repair what an earlier crawl left, and add the seeds; `tell` gets a line for each repair."""
    folder, clock = DataFolder(order.data), CorrectedClock(SystemClock())
    check_reachable(order.seeds, order.settings)
    if not (order.seeds or folder.is_shared or folder.has_crawl()):
        raise _nothing_to_crawl(order.data)
    if folder.is_shared:
        check_reachable_ranks(order.data, order.settings)
    folder.create()
    with crawl_lock(folder):
        frontier = open_frontier(folder, order.settings, founding=True)
        with closing(frontier.db):
            _become_the_crawl(order, frontier, clock)
            _repair(order, folder, frontier, clock, tell)
            _begin(order, folder, frontier, clock)
            yield OpenCrawl(order, folder, frontier, clock)


def crawl_verdict(order: CrawlOrder, ended: Ended, commands: Commands) -> Verdict:
    """What each seed of the order brought; without seeds in the order, all of the crawl."""
    with closing(DataFolder(order.data).read()) as db:
        named = [seed.url for seed in order.seeds]
        return verdict_of(db, order.settings, commands, ended.standing.pages, named)


def server_beside(data: Path, port: int | None = None) -> Child:
    """A server of the search page that ends with the crawl."""
    arguments = ["serve", "--data", str(data), "--until-stdin-ends"]
    return Child("server", "gossamer.cli", arguments + (["--port", str(port)] if port is not None else []), speaks=True)


def _become_the_crawl(order: CrawlOrder, frontier: CrawlFrontier, clock: CorrectedClock) -> None:
    if not frontier.db.only_one("crawl"):
        raise BusyError(
            f"another `gossamer crawl` is running on {frontier.db.where}: "
            "start `gossamer work` on further machines, or give each crawl its own database"
        )
    set_by_database(clock, frontier.db)
    check_clock(frontier, clock.now(), order.accept_clock)


def _repair(
    order: CrawlOrder, folder: DataFolder, frontier: CrawlFrontier, clock: Clock, tell: Callable[[str], None]
) -> None:
    """Bring what earlier crawls left in line with the settings of this one."""
    check_reachable(earlier_seeds(frontier.db), order.settings)
    readmit(frontier, order.settings, clock.now())
    done = rejudge(folder, frontier, order.settings, clock.now())
    note_settings(frontier.db, order.settings, order.options)
    for line in (*done, *recover(folder, frontier, clock.now())):
        tell(line)
    carry_on(folder, frontier.db, order.settings, clock.now())


def _begin(order: CrawlOrder, folder: DataFolder, frontier: CrawlFrontier, clock: Clock) -> None:
    add_seeds(frontier, order.settings, order.seeds, clock.now())
    if not has_seeds(frontier.db):
        raise _nothing_to_crawl(order.data)
    if order.settings.partition.mode != "off":
        _split_sites(order, folder, frontier, clock)
    frontier.split_anew(clock.now())
    frontier.replan_polls(clock.now())
    frontier.limit_pages(order.pages)


def _split_sites(order: CrawlOrder, folder: DataFolder, frontier: CrawlFrontier, clock: Clock) -> None:
    from gossamer.data.stored_links import stored_in  # Arrow: a crawl that splits no sites goes without
    from gossamer.upkeep.splitting import split_sites

    split_sites(stored_in(folder), frontier.db, order.settings, clock.now())


def _nothing_to_crawl(data: Path) -> UsageError:
    example = "gossamer crawl https://example.org/ --contact you@example.org"
    return UsageError(f"nothing to crawl in {data}: name a seed, as in `{example}`")

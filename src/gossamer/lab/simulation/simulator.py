"""Simulates a crawl of a recorded web: the live worker and the live frontier on virtual time.

No part of the crawl is written a second time here. `crawl.session.Session` leases sites, keeps their politeness, obeys
robots.txt, hands URLs out by the live strategy, revisits by the live policy, and commits to the live frontier (SQLite
in a
scratch folder); the live code makes filters and splits sites at the live intervals. Replaced are only the network and
the
parsers (`playback`), the segments, which are not written, and the clock (`virtual_time`). One worker acts for all: it
holds as many sites at once as the settings say.

Not simulated: the time of parsing and commits on a busy machine (a page keeps its parser busy for a fixed time, a
commit
takes none), connections that break, and URLs that nobody ever fetched: they answer 404. The default method finds
near-duplicates, whichever one the settings name, unless that is none.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from gossamer.crawl.scope import LiveScope
from gossamer.crawl.session import Pace, Session, Tools
from gossamer.data.guidance import guidance_of
from gossamer.data.stored_links import Keys, LinksOf, SiteLinks
from gossamer.database.condition import give_up_safety
from gossamer.database.database import Database, open_database
from gossamer.dedup.near.registry import DEFAULT, near_method
from gossamer.discover.seeds import Seed
from gossamer.frontier.contract import CrawlFrontier
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.views.inspect import Status, status
from gossamer.frontier.views.site_urls import read_urls
from gossamer.frontier.views.sites import are_leased
from gossamer.lab.simulation.playback import AtOnce, LoggingReporter, NoHeart, RecordedNetwork, RecordedPages, Visited
from gossamer.lab.simulation.virtual_time import VirtualClock, run_virtually
from gossamer.lab.webs.web import NOWHERE, RecordedWeb
from gossamer.model.outcome import Outcome
from gossamer.model.site import key64
from gossamer.priority.product import Product
from gossamer.scope.shape import path_shape
from gossamer.settings import Settings
from gossamer.supervise.seeding import add_seeds
from gossamer.supervise.supervisor import SPLIT_EVERY, is_over
from gossamer.tables.rulebook import load_rules, save_rules
from gossamer.upkeep.filters.run import run_filters
from gossamer.upkeep.splitting import split_sites

WORKER = "simulated"
_LOOKS = 40_000
"""Most checks for work in a simulated crawl: over weeks a worker checks less often than a live one, every 15 seconds in
a week, since each check costs real time.
"""
_PARSE_SECONDS = 0.005
_TOLD = 10_000
"""Requests between two lines of progress."""


class Simulated(msgspec.Struct):
    """The log of a simulated crawl. The columns have an entry per page request, in the order of time."""

    at: npt.NDArray[np.float64]
    """When the answer came; seconds since 1970."""
    row: npt.NDArray[np.int64]
    """The URL's row in the recorded web, `NOWHERE` if it is not in the recording."""
    elsewhere: list[str]
    """The URLs of the requests whose row is `NOWHERE`, in their order."""
    outcome: list[Outcome]
    again: npt.NDArray[np.bool_]
    """Whether the page had been visited before."""
    requests: list[tuple[float, str]]
    """When which URL was requested, robots.txt included."""
    status: Status
    """Of the frontier at the end."""
    started_at: float
    ended_at: float
    wall: float
    """Real seconds that it took."""

    @property
    def first(self) -> npt.NDArray[np.int64]:
        """Rows in the order of their first visits."""
        rows: npt.NDArray[np.int64] = self.row[~self.again & (self.row != NOWHERE)]
        return rows


def simulate(
    web: RecordedWeb,
    settings: Settings,
    *,
    seconds: float | None = None,
    pages: int | None = None,
    seed: int = 1,
    strategy: Product | None = None,
    parse_seconds: float = _PARSE_SECONDS,
    at_end: Callable[[Database], None] | None = None,
    tell: Callable[[str], None] = lambda _text: None,
) -> Simulated:
    """Crawl a recorded web until nothing is due, or for so long or so many pages. `strategy`: one that no setting
    names, such as the omniscient; `at_end` may read the frontier before it is deleted; `tell` gets progress. Same web,
    settings and seed: same crawl."""
    started = time.perf_counter()
    settings = _for_all_workers(settings)
    with tempfile.TemporaryDirectory(prefix="gossamer-lab-") as scratch, _database(Path(scratch)) as db:
        frontier = _frontier(db, web, settings)
        if strategy is not None:
            frontier.guide(msgspec.structs.replace(frontier.guidance, strategy=strategy))
        add_seeds(frontier, settings, _seeds(web), web.facts.started_at)
        frontier.limit_pages(pages)
        split_sites(recorded_links(web), db, settings, web.facts.started_at)
        crawl = _Crawl(web, settings, frontier, seed, parse_seconds, tell)
        run_virtually(crawl.run(seconds))
        if at_end is not None:
            at_end(db)
        return crawl.result(time.perf_counter() - started)


def _for_all_workers(settings: Settings) -> Settings:
    """One worker with the capacity of as many as the settings name; the number of cores, their default, is this
    machine's and not the crawl's."""
    crawl, workers = settings.crawl, max(1, settings.crawl.workers)
    together = msgspec.structs.replace(crawl, sites=workers * crawl.sites, downloads=workers * crawl.downloads)
    return msgspec.structs.replace(settings, crawl=together)


@contextmanager
def _database(folder: Path) -> Iterator[Database]:
    with closing(open_database(folder / "frontier.db")) as db:
        give_up_safety(db)
        yield db


def _frontier(db: Database, web: RecordedWeb, settings: Settings) -> CrawlFrontier:
    save_rules(db, web.facts.rules, web.facts.started_at)
    guidance = guidance_of(settings, load_rules(db))
    # Recorded fingerprints are of the default method; without a method nothing has one, and it is never used.
    near = near_method(DEFAULT)
    return SqlFrontier(db, settings.budget, settings.polite, path_shape, near, settings.dedup.mirrors, guidance)


def _seeds(web: RecordedWeb) -> list[Seed]:
    return [Seed(web.urls[row], "the recording") for row in web.facts.seeds]


def recorded_links(web: RecordedWeb) -> LinksOf:
    """The recorded links of the pages that a simulated crawl has read so far, for those who make filters and plans."""
    keys_of_urls = np.array([key64(url) for url in web.urls], np.int64)

    def links_of(db: Database, site: str, keys: Keys, _segments: Iterable[str], most: int) -> SiteLinks:
        links = SiteLinks(keys, most)
        read = [web.number[url] for url in read_urls(db, site) if url in web.number]
        some = web.links.some(np.array(sorted(read), np.int64))
        sources = np.repeat(keys_of_urls[sorted(read)], some.counts)
        links.add(sources, keys_of_urls[some.values], np.ones(len(sources), np.int64))
        return links

    return links_of


class _Crawl:
    """One simulated crawl."""

    def __init__(
        self, web: RecordedWeb, settings: Settings, frontier: CrawlFrontier, seed: int, parse_seconds: float,
        tell: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._web, self._settings, self._frontier, self._tell = web, settings, frontier, tell
        self._told = 0
        self._chance, self._parse_seconds = random.Random(seed), parse_seconds
        self._visited, self._links_of = Visited(), recorded_links(web)
        self._ended_at = web.facts.started_at
        self._stop = asyncio.Event()

    async def run(self, seconds: float | None) -> None:
        """From the first lease to the last commit."""
        web = self._web
        self._clock = VirtualClock(asyncio.get_running_loop(), web.facts.started_at)
        self._network = RecordedNetwork(web, self._clock)
        session = self._session(_pace(seconds))
        work = asyncio.create_task(session.run())
        keeping = [asyncio.create_task(self._or_stop(chore)) for chore in self._chores(seconds)]
        try:
            await work
        finally:
            for chore in keeping:
                chore.cancel()
            await asyncio.gather(*keeping, return_exceptions=True)
        for chore in keeping:
            with suppress(asyncio.CancelledError):
                chore.result()
        self._ended_at = self._clock.now()

    def _session(self, pace: Pace) -> Session:
        settings, frontier, clock = self._settings, self._frontier, self._clock
        scope = LiveScope(settings, frontier.db)
        tools = Tools(
            frontier=frontier,
            database=frontier.db,
            thread=AtOnce(),
            heart=NoHeart(frontier.renew, clock),
            scope=scope,
            parsers=RecordedPages(self._web, clock, scope.parser_config(), self._parse_seconds),
            committer=LoggingReporter(frontier, WORKER, self._visited),
            fetcher=self._network,
            resolver=self._network,
            chance=self._chance.random,
        )
        return Session(WORKER, settings, clock, self._stop, tools, pace)

    def _chores(self, seconds: float | None) -> list[Coroutine[Any, Any, None]]:
        settings = self._settings
        chores = [self._end(seconds)]
        if settings.filters.mode != "off":
            chores.append(self._every(settings.filters.every, self._make_filters))
        if settings.partition.mode != "off":
            chores.append(self._every(SPLIT_EVERY, self._split))
        return chores

    async def _or_stop(self, chore: Coroutine[Any, Any, None]) -> None:
        """When a chore ends or fails, so does the crawl: on virtual time it would run for ever."""
        try:
            await chore
        finally:
            self._stop.set()

    async def _every(self, seconds: float, chore: Callable[[float], object]) -> None:
        while True:
            await asyncio.sleep(seconds)
            chore(self._clock.now())

    def _make_filters(self, now: float) -> None:
        # Without a limit of time for checks: it is real time, and would make each run different.
        config = msgspec.structs.replace(self._settings.filters, share=float("inf"))
        run_filters(self._links_of, self._frontier.db, config, now)

    def _split(self, now: float) -> None:
        split_sites(self._links_of, self._frontier.db, self._settings, now)

    async def _end(self, seconds: float | None) -> None:
        """Until the time is over or nothing is left to do."""
        tick = _pace(seconds).idle * 4
        until = self._web.facts.started_at + seconds if seconds is not None else np.inf
        while (now := self._clock.now()) < until:
            await asyncio.sleep(min(tick, until - now))
            self._tell_progress()
            if not self._is_working() and self._is_over():
                return

    def _tell_progress(self) -> None:
        """A line for each so many requests."""
        done = len(self._visited.at)
        if done >= self._told + _TOLD:
            self._told = done
            hours = (self._clock.now() - self._web.facts.started_at) / 3600
            self._tell(f"{done:,} requests, {hours:,.1f} hours of the crawl")

    def _is_working(self) -> bool:
        return are_leased(self._frontier.db)

    def _is_over(self) -> bool:
        now = self._clock.now()
        return is_over(self._settings, self._frontier, status(self._frontier.db, now), now)

    def result(self, wall: float) -> Simulated:
        """What it did."""
        log, number = self._visited, self._web.number
        order = np.argsort(np.array(log.at), kind="stable")
        rows = np.array([number.get(url, NOWHERE) for url in log.url], np.int64)
        return Simulated(
            at=np.array(log.at)[order],
            row=rows[order],
            elsewhere=[log.url[place] for place in order.tolist() if rows[place] == NOWHERE],
            outcome=[log.outcome[place] for place in order.tolist()],
            again=np.array(log.again, bool)[order],
            requests=self._network.requests,
            status=status(self._frontier.db, self._ended_at),
            started_at=self._web.facts.started_at,
            ended_at=self._ended_at,
            wall=wall,
        )


def _pace(seconds: float | None) -> Pace:
    """A live worker's pace; over weeks a slower one."""
    live = Pace()
    times = max(1.0, (seconds or 0.0) / _LOOKS / live.idle)
    return Pace(live.idle * times, live.pause, live.share * times, live.scope * times, live.beat * times)

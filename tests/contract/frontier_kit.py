"""What the frontier's contract tests share: a small web, a worker that obeys, and a full dump."""

from __future__ import annotations

import atexit
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from memory_frontier import MemoryFrontier

from gossamer.database.database import Database, Where, open_database
from gossamer.database.sqlite import SqliteDatabase
from gossamer.dedup.near.registry import near_method
from gossamer.frontier.contract import (
    Added,
    Batch,
    Budgets,
    Frontier,
    Lease,
    Place,
    SiteReport,
    Verdict,
    Visit,
)
from gossamer.frontier.guidance import Guidance
from gossamer.frontier.politeness import PolitenessConfig, SiteClock
from gossamer.frontier.recording import requeue
from gossamer.frontier.sql import SqlFrontier
from gossamer.model.decision import refuse
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered, Task
from gossamer.model.site import key64, site_of
from gossamer.revisit.config import FeedConfig, RevisitConfig
from kit.postgres import PostgresServer

NOW = 1_700_000_000.0
DELAY = 2.0
LEASE = 60.0
POLITENESS = PolitenessConfig(delay=DELAY, ip_delay=3.0)
NEAR = near_method("minhash")
ONCE = Guidance(revisit=RevisitConfig(policy="none"), feeds=FeedConfig(poll=False))
"""Breadth first, and nothing is visited again by itself."""
NO = refuse("scope.host", "not in scope")

_WORDS = [f"word{number}" for number in range(120)]
TEXTS = {
    "t1": " ".join(_WORDS),
    "t1b": " ".join([*_WORDS[:-1], "another"]),
    "t2": " ".join(reversed(_WORDS)),
    "t3": " ".join(sorted(_WORDS, key=lambda word: word[::-1])),
}
"""Texts by their hash; `t1` and `t1b` are near duplicates, the others like none."""

AnyFrontier = MemoryFrontier | SqlFrontier
T = TypeVar("T")


def shape_of(url: str) -> str:
    """The URL with its numbers made equal."""
    return re.sub(r"\d+", "0", url)


def page(url: str, **fields: Any) -> Discovered:
    """A URL somebody pointed at."""
    return Discovered(url, **fields)


def pages(site: str, count: int, **fields: Any) -> list[Discovered]:
    """`https://site/0`, `https://site/1` …"""
    return [page(f"https://{site}/{n}", **fields) for n in range(count)]


def make_memory(folder: Path, budgets: Budgets) -> MemoryFrontier:
    """The reference."""
    return MemoryFrontier(budgets, POLITENESS, shape_of, NEAR, ONCE.strategy)


DIALECTS = ["sqlite"]
"""The last one is the one in use."""


def place_of_database(folder: Path) -> Where:
    """Where a folder's database is: in it, or on the server."""
    return folder / "frontier.db" if DIALECTS[-1] == "sqlite" else _postgres_url(folder)


@cache
def _postgres_url(folder: Path) -> str:
    return postgres_server().database()


def make_sql(folder: Path, budgets: Budgets) -> SqlFrontier:
    """The real one, on a database of its own."""
    return sql_on(open_database(place_of_database(folder)), budgets)


@cache
def postgres_server() -> PostgresServer:
    """One server for all tests of a process."""
    server = PostgresServer()
    atexit.register(server.stop)
    return server


def make_postgres(folder: Path, budgets: Budgets) -> SqlFrontier:
    """The real one for many machines, in a schema of its own."""
    return sql_on(open_database(postgres_server().database()), budgets)


def sql_on(database: Database, budgets: Budgets, guidance: Guidance | None = None) -> SqlFrontier:
    """A frontier on an open database, not synced: the tests cut no power."""
    if isinstance(database, SqliteDatabase):
        database.execute("PRAGMA synchronous = OFF")
    guidance = guidance or ONCE
    return SqlFrontier(database, budgets, POLITENESS, shape_of, NEAR, guidance=guidance)


Make = Callable[[Path, Budgets], AnyFrontier]
SQL_MAKERS: list[Callable[[Path, Budgets], SqlFrontier]] = [make_sql, make_postgres]
MAKERS: list[Make] = [make_memory, *SQL_MAKERS]
NAMES = ["memory", "sqlite", "postgres"]


def dump(frontier: AnyFrontier) -> Any:
    """Everything a frontier knows."""
    if isinstance(frontier, SqlFrontier):
        return dump_tables(frontier.db)
    state = {name: value for name, value in vars(frontier).items() if name not in ("_shape_of", "_near", "_strategy")}
    return {name: repr(value) for name, value in state.items()}


def dump_tables(db: Database) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table."""
    sql = "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() ORDER BY 1"
    if isinstance(db, SqliteDatabase):
        sql = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    names = [row[0] for row in db.execute(sql)]
    return {name: sorted(db.execute(f"SELECT * FROM {name}"), key=repr) for name in names}


class Crew:
    """Workers on one frontier and their common clock."""

    def __init__(self, frontier: AnyFrontier) -> None:
        self.frontier: AnyFrontier = frontier
        self.now = NOW

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds

    def add(self, *found: Discovered) -> Added:
        """Offer URLs."""
        return self.frontier.add(found, self.now)

    def worker(self, name: str) -> Hand:
        """A registered worker."""
        self.frontier.register(name, self.now)
        return Hand(self, name)


class Hand:
    """A worker that does what its callers say, by the rules of the contract."""

    def __init__(self, crew: Crew, name: str) -> None:
        self.crew, self.name = crew, name
        self.frontier: Frontier = crew.frontier
        self.leases: dict[str, Lease] = {}

    def take(self, sites: int = 100, urls: int = 1000) -> list[Lease]:
        """Lease sites."""
        taken = self.frontier.take(self.name, self.crew.now, sites, urls)
        self.leases.update((lease.site, lease) for lease in taken)
        return taken

    def urls(self, sites: int = 100, urls: int = 1000) -> list[str]:
        """Lease sites and tell the URLs handed out."""
        return [task.url for lease in self.take(sites, urls) for task in lease.tasks]

    def refill(self, site: str, holding: Iterable[int] = (), urls: int = 1000) -> list[Task]:
        """More URLs of a site."""
        return self.frontier.refill(self.name, Place(site), list(holding), self.crew.now, urls)

    def tasks(self, *urls: str) -> list[Task]:
        """The tasks of URLs of leased sites."""
        known = {task.url: task for lease in self.leases.values() for task in lease.tasks}
        for site in {site_of(url) for url in urls if url not in known}:
            known.update((task.url, task) for task in self.refill(site))
        return [known[url] for url in urls]

    def site_report(self, site: str, clock: SiteClock | None = None, **fields: Any) -> SiteReport:
        """The proof that we hold a site."""
        lease = self.leases[site]
        return SiteReport(Place(site), lease.token, clock or lease.clock, **fields)

    def visit(self, task: Task, outcome: Outcome = Outcome.DOCUMENT, **fields: Any) -> Visit:
        """What happened to a task."""
        return Visit(Place(site_of(task.url)), task, outcome, self.crew.now, **fields)

    def read(self, task: Task, text: str, **fields: Any) -> Visit:
        """A page with one of `TEXTS`."""
        return self.visit(task, content_hash=text, **prints(text), **fields)

    def report(self, *visits: Visit, found: Iterable[Discovered] = (), **fields: Any) -> list[Verdict]:
        """Report visits with the leases of their sites."""
        sites = fields.pop("sites", None) or [self.site_report(site) for site in {v.site: 0 for v in visits}]
        write = fields.pop("write_pages", None)
        batch = Batch(fields.pop("segment", "s"), list(visits), list(found), sites=sites, **fields)
        verdicts = self.frontier.report(self.name, batch, self.crew.now, write)
        reported = [visit.task.key for visit in visits]
        for lease in self.leases.values():
            lease.tasks = [task for task in lease.tasks if task.key not in reported]
        return verdicts

    def did(self, url: str, outcome: Outcome = Outcome.DOCUMENT, **fields: Any) -> Verdict:
        """Visit one URL of a leased site."""
        found = fields.pop("found", ())
        [task] = self.tasks(url)
        return self.report(self.visit(task, outcome, **fields), found=found)[0]

    def release(self, site: str, clock: SiteClock | None = None, **fields: Any) -> None:
        """Give a site back."""
        report = self.site_report(site, clock, **fields)
        self.frontier.release(self.name, [report], [], self.crew.now)
        del self.leases[site]


def prints(text: str) -> dict[str, Any]:
    """The fields of a visit that near duplicates are found by."""
    fingerprint = NEAR.fingerprint(TEXTS.get(text, ""))
    return {"fingerprint": fingerprint, "near_keys": NEAR.keys(fingerprint)}


def later(clock: SiteClock, time: float) -> SiteClock:
    """A clock that waits until a time."""
    return msgspec.structs.replace(clock, not_before=time)


def requeue_all(frontier: AnyFrontier, urls: Iterable[str], now: float) -> None:
    """Queue finished URLs once more, as `recrawl` does."""
    for url in urls:
        if isinstance(frontier, MemoryFrontier):
            frontier._enqueue(frontier._sites[site_of(url)], frontier._urls[url], now)
        else:
            with frontier.db.transaction():
                requeue(frontier.db, key64(site_of(url)), [key64(url)], now)

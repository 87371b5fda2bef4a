"""A worker's calls on a frontier database, and the time they take: what a page costs, all else left out.

A batch is what a worker commits: 200 pages of 100 leased sites, each page with 80 links, of which about 9 % are new,
40 lead to the site's menu, the rest to pages near by or anywhere in the site, one to another site. Timed are take,
refill, release and report with all 80 links; making up the pages is not.
"""

from __future__ import annotations

import contextlib
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import msgspec

from gossamer.database.database import Where, open_database
from gossamer.dedup.near.registry import DEFAULT, near_method
from gossamer.frontier.contract import Batch, Budgets, Lease, Place, SiteReport, Visit
from gossamer.frontier.guidance import Guidance
from gossamer.frontier.politeness import PolitenessConfig
from gossamer.frontier.sql import SqlFrontier
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered, Task
from gossamer.model.site import key64
from gossamer.scope.shape import path_shape
from studies.growth.made_up_frontier import (
    ETAG,
    LAST_MODIFIED,
    LEVELS,
    NOW,
    Site,
    make_sites,
    text_hash,
    unique_fingerprint,
)

BATCH = 200
WARM_UP = 6
"""Batches that do not count: caches fill, the first leases are taken."""
LINKS, MENU = 80, 40
_LEASED = 100
_ROTATED = 4
"""Sites given back and taken anew with each batch: each is held for about 50 pages."""
_REMEMBERED = 4_000_000
"""The newest URLs, which the worker is taken to have entered itself (and so has in its cache)."""
_MANY = 10**9
_BUDGETS = Budgets(
    pages_per_site=_MANY, sites=_MANY, similar_paths=_MANY, per_site=50, batch=1000, lease=float(_MANY)
)  # fmt: skip


class Step(msgspec.Struct, frozen=True):
    """One batch: what it took."""

    cpu: dict[str, float]
    """Seconds of processor time by kind of call, the database's and the kernel's included."""
    wall: dict[str, float]
    memory: int
    """Bytes of the process afterwards."""
    urls: int
    """Known URLs afterwards."""


class Load:
    """A worker on a database that `made_up_frontier.fill` made."""

    def __init__(
        self, where: Where, size: int, new: float = 0.09, *, cold: bool = False, near: bool = True,
        guidance: Guidance | None = None, seed: int = 1,
    ) -> None:  # fmt: skip
        self.near = near
        self.new = new
        self.sites = {site.name: site for site in make_sites(size)}
        self.names = list(self.sites)
        self.urls = sum(site.size for site in self.sites.values())
        self.random = Random(seed)
        self.db = open_database(where)
        method = near_method(DEFAULT)
        self.frontier = SqlFrontier(
            self.db, _BUDGETS, PolitenessConfig(delay=0.0), path_shape, method, guidance=guidance
        )
        self.worker = "load"
        self.frontier.register(self.worker, NOW)
        newest = f"SELECT key FROM urls ORDER BY {'rowid' if isinstance(where, Path) else 'ctid'} DESC LIMIT ?"
        self.frontier.seen.update(row[0] for row in self.db.iterate(newest, (0 if cold else _REMEMBERED,)))
        self.now = NOW + 1
        self.leases: dict[str, Lease] = {}
        self.tasks: dict[str, list[Task]] = {}
        self.used: dict[str, int] = {}
        self.batches = 0
        self._cpu: dict[str, float] = {}
        self._wall: dict[str, float] = {}

    def close(self) -> None:
        """Let go of the database."""
        self.db.close()

    def step(self) -> Step:
        """One batch."""
        self._cpu, self._wall = {}, {}
        self.now += 1.0
        with self._timed("take"):
            self._take()
        batch = self._batch()
        with self._timed("report"):
            self.frontier.report(self.worker, batch, self.now)
        with self._timed("release"):
            self._release()
        self.batches += 1
        return Step(self._cpu, self._wall, _memory(), self.urls)

    @contextlib.contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        cpu, wall = time.process_time(), time.perf_counter()
        yield
        self._cpu[name], self._wall[name] = time.process_time() - cpu, time.perf_counter() - wall

    def _take(self) -> None:
        while len(self.leases) < _LEASED:
            taken = self.frontier.take(self.worker, self.now, _LEASED - len(self.leases), 1000)
            for lease in taken:
                self.leases[lease.site] = lease
                self.tasks[lease.site] = lease.tasks
                self.used[lease.site] = 0
            if not taken:
                break
        for site, tasks in self.tasks.items():
            if len(tasks) < 2:
                holding = [task.key for task in tasks]
                tasks += self.frontier.refill(self.worker, Place(site), holding, self.now, 50)

    def _batch(self) -> Batch:
        visits: list[Visit] = []
        found: list[Discovered] = []
        for _ in range(BATCH // _LEASED):
            for site, tasks in self.tasks.items():
                if tasks:
                    task = tasks.pop(0)
                    visits.append(self.visit(site, task))
                    found += self._links(self.sites[site], task)
                    self.used[site] += 1
        sites = [SiteReport(Place(lease.site), lease.token, lease.clock) for lease in self.leases.values()]
        keys = [key64(item.url) for item in found]
        return Batch(f"{self.worker}-{self.batches:06}", visits, found, keys, sites)

    def visit(self, site: str, task: Task) -> Visit:
        """A page that was fetched: a document like no other."""
        fingerprint, near_keys = unique_fingerprint(self.random) if self.near else (b"", [])
        return Visit(
            Place(site), task, Outcome.DOCUMENT, self.now, 200, etag=ETAG, content_hash=text_hash(task.url),
            last_modified=LAST_MODIFIED, row=len(self.tasks), fingerprint=fingerprint, near_keys=near_keys,
        )  # fmt: skip

    def _links(self, site: Site, task: Task) -> list[Discovered]:
        random, here = self.random, int(task.url.rpartition("-")[2][:-5])
        known, own = site.size, LINKS - MENU - 1
        numbers = [random.randrange(min(MENU, known)) for _ in range(MENU)]
        for _ in range(own):
            if random.random() < self.new * LINKS / own:
                numbers.append(site.size)
                site.size += 1
                self.urls += 1
            elif random.random() < 0.5:
                numbers.append(min(known - 1, max(0, here + random.randrange(-50, 50))))
            else:
                numbers.append(random.randrange(known))
        other = self.sites[random.choice(self.names)]
        urls = [*map(site.url, numbers), other.url(random.randrange(other.size))]
        return [Discovered(url, depth=LEVELS[here % 3], referrer=task.url) for url in urls]

    def _release(self) -> None:
        tired = sorted(self.leases, key=lambda site: -self.used[site])[:_ROTATED]
        reports = [
            SiteReport(Place(site), self.leases[site].token, self.leases[site].clock, unused=len(self.tasks[site]))
            for site in tired
        ]
        self.frontier.release(self.worker, reports, [], self.now)
        for site in tired:
            del self.leases[site], self.tasks[site], self.used[site]


def _memory() -> int:
    with Path("/proc/self/statm").open() as file:
        return int(file.read().split()[1]) * resource.getpagesize()

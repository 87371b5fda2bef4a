"""What a page costs the frontier with few and with many known URLs (design promise 5).

    python bench/frontier_growth.py --sizes 10000,1000000,10000000 --pages 4000

Makes one database per size, lets one process per size work on it, and has them take
turns batch by batch, so that whatever else the machine does hits all alike. A batch is
what a worker commits: 200 pages of 100 leased sites, each page with 80 links, of which
about 9 % are new, 40 lead to the site's menu, the rest to pages near by or anywhere in the
site, a few to other sites. Timed are take, refill, release and report with all 80 links;
making up the pages is not.

The databases are filled as a crawl fills them: a few URLs of a site at a time, sites in random
order. One of eight known URLs is visited: that is what 9 % new links lead to. Each visited page has a
fingerprint like no other's, which is the dearest case: it is looked up and founds a cluster.

Columns: microseconds of CPU per page (this process, SQLite and kernel included) and of wall
time, the ratio to the smallest size, memory of the process at the first and the last batch.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import resource
import shutil
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from gossamer.dedup.near.registry import near_method
from gossamer.frontier.contract import Batch, Budgets, Guidance, Lease, SiteReport, Visit
from gossamer.frontier.database import Database, Where, open_database
from gossamer.frontier.politeness import PolitenessConfig
from gossamer.frontier.schema import DONE, QUEUED
from gossamer.frontier.sql import SqlFrontier
from gossamer.frontier.sqlite import SqliteDatabase
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered, Task
from gossamer.model.site import key64, registrable_domain
from gossamer.scope.shape import path_shape
from gossamer.scope.statistics import prefix_of

NOW = 1_700_000_000.0
SITES = 1000
SKEW = 0.8
LEASED = 100
ROTATED = 4
"""Sites given back and taken anew with each batch: each is held for about 50 pages."""
BATCH = 200
LINKS, MENU = 80, 40
WARM_UP = 6
REMEMBERED = 4_000_000
"""The newest URLs, which the worker is taken to have entered itself (and so has in its cache)."""
RUN = 7
"""URLs of a site that were found on one page, and so stand together in the table."""
LEVELS = (8, 12, 15)
"""Depths of the pages, and so their levels."""
MANY = 10**9


class Site(msgspec.Struct):
    """A made-up site: URLs 0 … size-1 are known."""

    name: str
    size: int

    def url(self, number: int) -> str:
        """The URL of a page."""
        return f"https://{self.name}/section-{number % 7}/topic-{number % 97}/some-article-title-{number}.html"


def make_sites(size: int) -> list[Site]:
    """Sites whose sizes fall off by a power law and add up to `size`."""
    weights = [1 / (rank + 1) ** SKEW for rank in range(SITES)]
    share = size / sum(weights)
    return [Site(f"www.site-{rank:04}.example", max(5, round(share * w))) for rank, w in enumerate(weights)]


# -- filling --------------------------------------------------------------------------------------


def fill(where: Where, size: int) -> None:
    """A database as a crawl of this size leaves it."""
    db = open_database(where, cache_mb=512)
    embedded = isinstance(db, SqliteDatabase)
    if embedded:
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA wal_autocheckpoint = 200000")
    sites = sorted(make_sites(size), key=lambda site: key64(site.name))
    runs = [(site, start) for site in sites for start in range(0, site.size, RUN)]
    Random(size).shuffle(runs)
    for first in range(0, len(runs), 10_000):
        with db.transaction():
            db.many(_INSERT, _url_rows(runs[first : first + 10_000]))
    for site in sites:
        with db.transaction():
            _fill_site(db, site)
    _fill_clusters(db, sites)
    levels: Counter[int] = Counter()
    for site in sites:
        levels.update(LEVELS[number % 3] for number in range(site.size) if not _visited(number))
    with db.transaction():
        db.many("INSERT INTO levels VALUES (?, ?)", sorted(levels.items()))
        db.execute("INSERT INTO meta VALUES ('sites', ?)", (str(len(sites)),))
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)" if embedded else "VACUUM ANALYZE")
    db.close()


def _fill_clusters(db: Database, sites: list[Site]) -> None:
    """Each visited page is a cluster of its own, with a fingerprint and six lookup keys."""
    random = Random(5)
    pages = [(site, number) for site in sites for number in range(0, site.size, 8)]
    keys = []
    with db.transaction():
        for place, (site, number) in enumerate(pages, 1):
            fingerprint, near_keys = _fingerprint(random)
            keys += [(key, place) for key in near_keys]
            db.execute(
                "INSERT INTO clusters VALUES (?, ?, ?, 1, ?, ?, '', ?, '')",
                (place, fingerprint, random.randbytes(48), key64(site.name), key64(site.url(number)), NOW),
            )
        db.many("INSERT INTO near_keys VALUES (?, ?)", sorted(keys))
        db.execute("INSERT INTO meta VALUES ('next_cluster', ?)", (str(len(pages) + 1),))


def _fingerprint(random: Random) -> tuple[bytes, list[int]]:
    """One that is like no other, of the default method's size."""
    return random.randbytes(408), [random.getrandbits(63) for _ in range(6)]


def _visited(number: int) -> bool:
    return number % 8 == 0


def _fill_site(db: Database, site: Site) -> None:
    site_id = key64(site.name)
    visited = len(range(0, site.size, 8))
    domain = registrable_domain(site.name)
    db.execute(
        "INSERT INTO sites (id, name, domain, added_at, known, fetched) VALUES (?, ?, ?, ?, ?, ?)",
        (site_id, site.name, domain, NOW, site.size, visited),
    )
    db.execute(
        "INSERT INTO parts (site_id, part, ready_at, next_seq) VALUES (?, 0, ?, ?)", (site_id, NOW, site.size + 1)
    )
    db.execute("INSERT INTO outcomes VALUES (?, 'document', ?)", (site_id, visited))
    keys = sorted((key64(site.url(number)), number) for number in range(site.size))
    db.many(
        "INSERT INTO queue VALUES (?, 0, ?, ?, ?)",
        sorted((site_id, LEVELS[number % 3], number + 1, key) for key, number in keys if not _visited(number)),
    )
    texts = sorted((f"{key64(f'text {site.name} {n}') & MASK:032x}", n) for n in range(0, site.size, 8))
    db.many(
        "INSERT INTO texts VALUES (?, ?, ?, ?, 'segment-000000-w0000', 'w0000000')",
        ((key64(domain), text, site_id, key64(site.url(number))) for text, number in texts),
    )
    db.execute(
        "INSERT INTO prefixes (site_id, prefix, text, known, visited, documents) VALUES (?, ?, ?, ?, ?, ?)",
        (site_id, key64(_PREFIX), _PREFIX, site.size, visited, visited),
    )
    shapes = Counter(number % 7 for number in range(site.size))
    db.many(
        "INSERT INTO shapes VALUES (?, ?, ?) "
        "ON CONFLICT (site_id, shape) DO UPDATE SET urls = shapes.urls + excluded.urls",
        [(site_id, key64(path_shape(site.url(number))), count) for number, count in shapes.items()],
    )


MASK = (1 << 128) - 1
_PREFIX = prefix_of(path_shape(Site("www.site.example", 1).url(0)))
_INSERT = """INSERT INTO urls (site_id, key, url, part, state, kind, via, level, depth, hops, found_at, found_site,
    found_key, outcome, status, fetched_at, etag, last_modified, content_hash, segment, segment_row)
    VALUES (?, ?, ?, 0, ?, 'page', 'link', ?, 3, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""


def _url_rows(runs: list[tuple[Site, int]]) -> Iterator[tuple[Any, ...]]:
    for site, start in runs:
        for number in range(start, min(start + RUN, site.size)):
            yield _url_row(site, key64(site.name), number)


def _url_row(site: Site, site_id: int, number: int) -> tuple[Any, ...]:
    url = site.url(number)
    base = (site_id, key64(url), url)
    found = (LEVELS[number % 3], NOW, site_id, key64(site.url(number // 8)))
    if not _visited(number):
        return (*base, QUEUED, *found, None, None, None, None, None, None, None, None)
    text = f"{key64(f'text {site.name} {number}') & MASK:032x}"
    return (
        *base, DONE, *found, "document", 200, NOW, '"5f3c-5e8a9b2c4d6e0"', "Tue, 14 Nov 2023 22:13:20 GMT", text,
        "segment-000000-w0000", number,
    )  # fmt: skip


# -- working --------------------------------------------------------------------------------------


class Load:
    """A worker's calls on one database."""

    def __init__(
        self, where: Where, size: int, new: float = 0.09, cold: bool = False, near: bool = True,
        guidance: Guidance | None = None,
    ) -> None:  # fmt: skip
        self.near = near
        self.sites = {site.name: site for site in make_sites(size)}
        self.names = list(self.sites)
        self.random = Random(1)
        self.new = new
        budgets = Budgets(
            pages_per_site=MANY, sites=MANY, similar_paths=MANY, per_site=50, batch=1000, lease=float(MANY)
        )
        self.db = open_database(where)
        self.frontier = SqlFrontier(
            self.db, budgets, PolitenessConfig(delay=0.0), path_shape, near_method("minhash"), guidance=guidance
        )
        self.worker = "bench"
        self.frontier.register(self.worker, NOW)
        newest = f"SELECT key FROM urls ORDER BY {'rowid' if isinstance(where, Path) else 'ctid'} DESC LIMIT ?"
        self.frontier.seen.update(row[0] for row in self.db.iterate(newest, (0 if cold else REMEMBERED,)))
        self.now = NOW + 1
        self.leases: dict[str, Lease] = {}
        self.tasks: dict[str, list[Task]] = {}
        self.used: Counter[str] = Counter()
        self.batches = 0
        self.cpu: Counter[str] = Counter()
        self.wall: Counter[str] = Counter()

    @contextlib.contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Adds to the times of a kind of call."""
        cpu, wall = time.process_time(), time.perf_counter()
        yield
        self.cpu[name] += time.process_time() - cpu  # type: ignore[assignment]
        self.wall[name] += time.perf_counter() - wall  # type: ignore[assignment]

    def step(self) -> dict[str, Any]:
        """One batch; the times it took."""
        self.cpu.clear()
        self.wall.clear()
        self.now += 1.0
        with self.timed("take"):
            self._take()
        batch = self._batch()
        with self.timed("report"):
            self.frontier.report(self.worker, batch, self.now)
        with self.timed("release"):
            self._release()
        self.batches += 1
        return {"cpu": dict(self.cpu), "wall": dict(self.wall), "rss": _rss()}

    def _take(self) -> None:
        while len(self.leases) < LEASED:
            taken = self.frontier.take(self.worker, self.now, LEASED - len(self.leases), 1000)
            for lease in taken:
                self.leases[lease.site] = lease
                self.tasks[lease.site] = lease.tasks
            if not taken:
                break
        for site, tasks in self.tasks.items():
            if len(tasks) < 2:
                holding = [task.key for task in tasks]
                tasks += self.frontier.refill(self.worker, site, 0, holding, self.now, 50)

    def _batch(self) -> Batch:
        visits, found = [], []
        for _ in range(BATCH // LEASED):
            for site, tasks in self.tasks.items():
                if tasks:
                    task = tasks.pop(0)
                    visits.append(self._visit(site, task))
                    found += self._links(self.sites[site], task)
                    self.used[site] += 1
        sites = [SiteReport(lease.site, 0, lease.token, lease.clock) for lease in self.leases.values()]
        keys = [key64(item.url) for item in found]
        return Batch(f"{self.worker}-{self.batches:06}", visits, found, keys, sites)

    def _visit(self, site: str, task: Task) -> Visit:
        text = f"{key64('text ' + task.url) & MASK:032x}"
        fingerprint, near_keys = _fingerprint(self.random) if self.near else (b"", [])
        return Visit(
            site, 0, task, Outcome.DOCUMENT, self.now, 200, etag='"5f3c-5e8a9b2c4d6e0"', content_hash=text,
            last_modified="Tue, 14 Nov 2023 22:13:20 GMT", row=len(self.tasks),
            fingerprint=fingerprint, near_keys=near_keys,
        )  # fmt: skip

    def _links(self, site: Site, task: Task) -> list[Discovered]:
        random, here = self.random, int(task.url.rpartition("-")[2][:-5])
        known = site.size
        numbers = [random.randrange(min(MENU, known)) for _ in range(MENU)]
        for _ in range(LINKS - MENU):
            if random.random() < self.new * LINKS / (LINKS - MENU):
                numbers.append(site.size)
                site.size += 1
            elif random.random() < 0.5:
                numbers.append(min(known - 1, max(0, here + random.randrange(-50, 50))))
            else:
                numbers.append(random.randrange(known))
        urls = [site.url(number) for number in numbers]
        other = self.sites[random.choice(self.names)]
        urls[MENU] = other.url(random.randrange(other.size))
        return [Discovered(url, depth=LEVELS[here % 3], referrer=task.url) for url in urls]

    def _release(self) -> None:
        tired = sorted(self.leases, key=lambda site: -self.used[site])[:ROTATED]
        reports = [
            SiteReport(site, 0, self.leases[site].token, self.leases[site].clock, unused=len(self.tasks[site]))
            for site in tired
        ]
        self.frontier.release(self.worker, reports, [], self.now)
        for site in tired:
            del self.leases[site], self.tasks[site], self.used[site]


def _rss() -> int:
    with Path("/proc/self/statm").open() as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def work(path: Path, size: int, new: float, cold: bool, near: bool, pipe: Connection) -> None:
    """The process of one size: does a batch whenever it is told to."""
    load = Load(path, size, new, cold, near)
    pipe.send("ready")
    while pipe.recv():
        pipe.send(load.step())
    load.db.close()


# -- comparing ------------------------------------------------------------------------------------


def measure(folder: Path, sizes: list[int], pages: int, new: float, cold: bool, near: bool) -> list[dict[str, Any]]:
    """Let the sizes take turns."""
    context = multiprocessing.get_context("spawn")
    ends, children = [], []
    for size in sizes:
        end, other = context.Pipe()
        child = context.Process(target=work, args=(database(folder, size), size, new, cold, near, other), daemon=True)
        child.start()
        assert end.recv() == "ready"
        ends.append(end)
        children.append(child)
    steps: list[list[dict[str, Any]]] = [[] for _ in sizes]
    for _ in range(WARM_UP + pages // BATCH):
        for place, end in enumerate(ends):
            end.send(True)
            steps[place].append(end.recv())
    for end, child in zip(ends, children, strict=True):
        end.send(False)
        child.join(60)
    return [result(folder, size, mine[WARM_UP:]) for size, mine in zip(sizes, steps, strict=True)]


def result(folder: Path, size: int, steps: list[dict[str, Any]]) -> dict[str, Any]:
    """Microseconds per page, by kind of call."""
    pages = len(steps) * BATCH
    kinds = sorted(steps[0]["cpu"])
    cpu = {kind: sum(step["cpu"][kind] for step in steps) / pages * 1e6 for kind in kinds}
    wall = sum(sum(step["wall"].values()) for step in steps) / pages * 1e6
    median = statistics.median(sum(step["cpu"].values()) for step in steps) / BATCH * 1e6
    return {
        "urls": size,
        "pages": pages,
        "cpu_us": sum(cpu.values()),
        "cpu_median_us": median,
        "cpu_by_call_us": cpu,
        "wall_us": wall,
        "rss_first": steps[0]["rss"],
        "rss_last": steps[-1]["rss"],
        "file_bytes": database(folder, size).stat().st_size,
    }


def table(results: list[dict[str, Any]]) -> str:
    """The figures for a person."""
    lines = [
        f"{'URLs':>11} {'cpu µs':>8} {'median':>8} {'ratio':>6} {'wall µs':>8} {'ratio':>6}   take  report  release"
    ]
    lines[0] += "   RSS MB      file MB"
    first = results[0]
    for r in results:
        calls = r["cpu_by_call_us"]
        lines.append(
            f"{r['urls']:>11,} {r['cpu_us']:8.1f} {r['cpu_median_us']:8.1f} {r['cpu_us'] / first['cpu_us']:6.2f} "
            f"{r['wall_us']:8.1f} {r['wall_us'] / first['wall_us']:6.2f} {calls['take']:6.1f} {calls['report']:7.1f} "
            f"{calls['release']:8.1f} {r['rss_first'] / 1e6:6.0f} → {r['rss_last'] / 1e6:<4.0f} "
            f"{r['file_bytes'] / 1e6:8.0f}"
        )
    return "\n".join(lines)


def database(folder: Path, size: int) -> Path:
    """The file of a size."""
    return folder / f"{size}.db"


def provide(folder: Path, size: int, store: Path | None) -> None:
    """A fresh database of a size, from the store if there is one."""
    stored = database(store or folder, size)
    if not stored.exists():
        started = time.perf_counter()
        unfinished = stored.with_suffix(".part")
        fill(unfinished, size)
        unfinished.rename(stored)
        print(f"filled {size:,} URLs in {time.perf_counter() - started:.0f} s", flush=True)
    if store is not None:
        shutil.copyfile(stored, database(folder, size))


def main() -> None:
    """Fill what is missing, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,1000000,10000000", help="known URLs, comma-separated")
    parser.add_argument("--pages", type=int, default=4000, help="pages measured per size")
    parser.add_argument("--new", type=float, default=0.09, help="share of links that lead to new URLs")
    parser.add_argument("--cold", action="store_true", help="a worker that has just started: its cache is empty")
    parser.add_argument("--no-near", action="store_true", help="pages without fingerprints: what near duplicates cost")
    parser.add_argument("--data", type=Path, help="keep filled databases in this folder and use them again")
    parser.add_argument("--json", type=Path, help="write the figures to this file as well")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    with tempfile.TemporaryDirectory(prefix="frontier-growth-", dir=options.data) as made:
        folder = Path(made)
        for size in sizes:
            provide(folder, size, options.data)
        results = measure(folder, sizes, options.pages, options.new, options.cold, not options.no_near)
    print(table(results))
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()

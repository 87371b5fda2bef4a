"""Several workers meet the same texts at the same time: how many copies are let through?

Each worker, a thread with a connection of its own, has all texts under addresses of its own in one domain, and asks for
each whether it is new. `frontier`: the live one, whose claim is one insert under a unique key. `lookup`: look whether
the text is stored, and store it if not, as the seed's filter does; between the two another worker may do the same.

Texts come in the same order to all workers, which is the worst case, or to each in an order of its own.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from threading import Barrier

import msgspec

from gossamer.database.database import open_database
from gossamer.dedup.near.registry import near_method
from gossamer.frontier.contract import Batch, Budgets, Place, SiteReport, Visit
from gossamer.frontier.guidance import Guidance
from gossamer.frontier.politeness import PolitenessConfig
from gossamer.frontier.sql import SqlFrontier
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered
from gossamer.revisit.config import FeedConfig, RevisitConfig
from gossamer.scope.shape import path_shape

NOW = 1_700_000_000.0
_MANY = 10**9
_DOMAIN = "copies.example"
_BATCH = 20
"""Pages of one report: small, so that workers take many turns."""

Worker = Callable[[int, Sequence[str], Barrier], None]
"""Takes its number and the texts in its order; waits until all are ready."""


class Race(msgspec.Struct, frozen=True):
    """What came of it."""

    pages: int
    """Asked about."""
    offered: int
    """Different texts that they have."""
    texts: int
    """Different texts of the documents."""
    documents: int
    """Let through."""

    @property
    def copies(self) -> int:
        """Documents with the text of another one."""
        return self.documents - self.texts


def open_frontier(path: Path) -> SqlFrontier:
    """A live frontier without limits, revisits and mirrors."""
    budgets = Budgets(
        batch=_MANY, per_site=_MANY, pages_per_site=_MANY, sites=_MANY, similar_paths=_MANY, copies=_MANY,
        lease=float(_MANY),
    )  # fmt: skip
    once = Guidance(revisit=RevisitConfig(policy="none"), feeds=FeedConfig(poll=False))
    politeness, near = PolitenessConfig(delay=0.0), near_method("minhash")
    return SqlFrontier(open_database(path), budgets, politeness, path_shape, near, mirrors=False, guidance=once)


def race_frontier(folder: Path, texts: Sequence[str], workers: int, same_order: bool, seed: int) -> Race:
    """Workers report to the live frontier."""
    path = folder / "frontier.db"
    frontier = open_frontier(path)
    for worker in range(workers):
        frontier.add([Discovered(_url(worker, text)) for text in texts], NOW)

    def work(number: int, mine: Sequence[str], ready: Barrier) -> None:
        own, name = open_frontier(path), f"worker-{number}"
        own.register(name, NOW)
        [lease] = own.take(name, NOW, 1, len(texts))
        tasks = {task.url.rpartition("/")[2]: task for task in lease.tasks}
        proof = SiteReport(lease.place, lease.token, lease.clock)
        ready.wait()
        for start in range(0, len(mine), _BATCH):
            visits = [
                Visit(Place(lease.site), tasks[text], Outcome.DOCUMENT, NOW, 200, content_hash=text)
                for text in mine[start : start + _BATCH]
            ]
            own.report(name, Batch(f"{name}-{start}", visits, sites=[proof]), NOW)
        own.db.close()

    _run(work, texts, workers, same_order, seed)
    [(documents, different)] = frontier.db.execute(
        "SELECT COUNT(*), COUNT(DISTINCT content_hash) FROM urls WHERE outcome = 'document'"
    )
    frontier.db.close()
    return Race(workers * len(texts), len(texts), int(different), int(documents))


def race_lookup(folder: Path, texts: Sequence[str], workers: int, same_order: bool, seed: int) -> Race:
    """Workers look up, then write, page by page; nothing is synced, so that the moment in between is short."""
    path = folder / "lookup.db"
    database = _connect(path)
    database.execute("CREATE TABLE seen (text TEXT NOT NULL, url TEXT NOT NULL)")
    database.execute("CREATE INDEX seen_text ON seen (text)")

    def work(number: int, mine: Sequence[str], ready: Barrier) -> None:
        own = _connect(path)
        ready.wait()
        for text in mine:
            if not own.execute("SELECT 1 FROM seen WHERE text = ?", (text,)).fetchall():
                own.execute("INSERT INTO seen VALUES (?, ?)", (text, _url(number, text)))
        own.close()

    _run(work, texts, workers, same_order, seed)
    [(documents, different)] = database.execute("SELECT COUNT(*), COUNT(DISTINCT text) FROM seen")
    database.close()
    return Race(workers * len(texts), len(texts), int(different), int(documents))


def _run(work: Worker, texts: Sequence[str], workers: int, same_order: bool, seed: int) -> None:
    ready = Barrier(workers, timeout=60)
    orders = [list(texts) for _ in range(workers)]
    if not same_order:
        for number, order in enumerate(orders):
            Random(f"{seed} {number}").shuffle(order)
    with ThreadPoolExecutor(workers) as pool:
        for future in [pool.submit(work, number, order, ready) for number, order in enumerate(orders)]:
            future.result()


def _url(worker: int, text: str) -> str:
    return f"https://worker-{worker}.{_DOMAIN}/{text}"


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")
    return connection

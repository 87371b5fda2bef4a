"""Two workers that store the same text at the same instant, ten thousand times: one document each time.

Two processes with a connection of their own meet at a barrier before every report, so that both
transactions begin at once. What counts is decided in the database alone.
"""

from __future__ import annotations

import multiprocessing
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from gossamer.database.database import open_database
from gossamer.dedup.near.registry import near_method
from gossamer.frontier.contract import Batch, Budgets, Place, SiteReport, Visit
from gossamer.frontier.politeness import PolitenessConfig
from gossamer.frontier.sql import SqlFrontier
from gossamer.model.outcome import Outcome
from gossamer.model.records import Discovered

ROUNDS = 10_000
SITES = ("one.shop.test", "two.shop.test")
BUDGETS = Budgets(batch=10**6, per_site=10**6, lease=3600.0, copies=10**6)


def frontier_on(path: Path) -> SqlFrontier:
    database = open_database(path)
    database.execute("PRAGMA synchronous = OFF")  # no power is cut here, and a sync would keep the two apart
    return SqlFrontier(database, BUDGETS, PolitenessConfig(delay=0.0), lambda url: url, near_method("minhash"))


def work(path: Path, site: str, barrier: Barrier) -> None:
    """Report one page after the other, each at the same instant as the other worker."""
    frontier = frontier_on(path)
    now = time.time()
    frontier.register(site, now)
    barrier.wait()
    (lease,) = [one for one in frontier.take(site, now, 1, ROUNDS) if one.tasks]
    tasks = sorted(lease.tasks, key=lambda task: int(task.url.rpartition("/")[2]))
    report = SiteReport(Place(lease.site), lease.token, lease.clock)
    words = [f"w{n}" for n in range(60)]
    for number, task in enumerate(tasks):
        fingerprint = frontier._near.fingerprint(f"{number} {number + 1} {number + 2} " + " ".join(words))
        visit = Visit(
            Place(lease.site), task, Outcome.DOCUMENT, now, content_hash=f"text {number}", fingerprint=fingerprint,
            near_keys=frontier._near.keys(fingerprint),
        )  # fmt: skip
        batch = Batch(f"{site}-{number}", [visit], sites=[report])
        barrier.wait()
        frontier.report(site, batch, now)


@pytest.mark.timeout(2400)
def test_the_same_text_is_one_document_each_of_ten_thousand_times(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    pages = [Discovered(f"https://{site}/{number}") for site in SITES for number in range(ROUNDS)]
    frontier = frontier_on(path)
    frontier.add(pages, time.time())
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(2)
    workers = [context.Process(target=work, args=(path, site, barrier), daemon=True) for site in SITES]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(2000)
    assert [worker.exitcode for worker in workers] == [0, 0]
    db = frontier.db
    outcomes = dict(db.execute("SELECT outcome, COUNT(*) FROM urls GROUP BY outcome"))
    assert outcomes == {"document": ROUNDS, "duplicate": ROUNDS}
    documents = db.execute("SELECT COUNT(DISTINCT content_hash) FROM urls WHERE outcome = 'document'")[0][0]
    assert documents == ROUNDS, "each text has one document, not one two and another none"
    winners = dict(db.execute(
        "SELECT s.name, COUNT(*) FROM urls u JOIN sites s ON s.id = u.site_id WHERE outcome = 'document' GROUP BY 1"
    ))  # fmt: skip
    assert min(winners.get(site, 0) for site in SITES) > 0, "the two did race"
    pages_in_clusters = db.execute("SELECT SUM(pages) FROM clusters")[0][0]
    assert pages_in_clusters == ROUNDS, "a duplicate is in no cluster"

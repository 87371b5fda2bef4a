"""What a page costs the frontier on PostgreSQL, beside SQLite, and what several workers get through one server.

    python bench/frontier_postgres.py --size 100000 --batches 15 --workers 1,2,4
    python bench/frontier_postgres.py --quick                                      5,000 URLs, 1 and 2 workers

First the same batches (those of `python -m studies growth`) on both databases, in turns: microseconds of wall time per
page, of which CPU of the worker, and the ratio. Then workers in processes of their own, as fast as they can, on one
server: pages per second over all of them. Writing transactions take turns, so that is the most one database can record;
the server's own CPU is on this machine, too.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import tempfile
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from _figures import Figure, add_usual, conclude
from _postgres import PostgresServer, has_postgres
from gossamer.database.database import Where, open_database
from studies.growth.frontier_load import BATCH, WARM_UP, Load
from studies.growth.made_up_frontier import NOW, fill


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_usual(arguments, "5,000 URLs, 4 batches, 1 and 2 workers")
    arguments.add_argument("--size", type=int, help="known URLs (100,000; 5,000 with --quick)")
    arguments.add_argument("--batches", type=int, help="measured (15; 4 with --quick)")
    arguments.add_argument("--workers", help="(1,2,4; 1,2 with --quick)")
    given = arguments.parse_args()
    given.size = given.size or (5_000 if given.quick else 100_000)
    given.batches = given.batches or (4 if given.quick else 15)
    given.workers = given.workers or ("1,2" if given.quick else "1,2,4")
    if not has_postgres():
        raise SystemExit("no PostgreSQL server found: apt-get install postgresql")
    figures: list[Figure] = []
    server = PostgresServer(durable=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            wall = side_by_side(Path(folder) / "frontier.db", server.database(), given.size, given.batches)
        figures.append(
            Figure("a page on PostgreSQL", wall["PostgreSQL"], "µs", beside={"SQLite": wall["SQLite"]}, by_clock=True)
        )
        for workers in map(int, given.workers.split(",")):
            rate = together(server.database(), given.size, given.batches, workers)
            figures.append(
                Figure(f"recorded by {workers} worker{'s' * (workers > 1)}", rate, "pages/s", least=1, by_clock=True)
            )
    finally:
        server.stop()
    conclude(given, figures)


def side_by_side(path: Path, url: str, size: int, batches: int) -> dict[str, float]:
    """The same load on both, batch by batch in turns; microseconds of a page."""
    loads = {}
    for name, where in (("SQLite", path), ("PostgreSQL", url)):
        started = time.perf_counter()
        fill(where, size)
        print(f"{name}: {size:,} URLs filled in {time.perf_counter() - started:.0f} s", flush=True)
        loads[name] = Load(where, size)
    wall: dict[str, list[float]] = {name: [] for name in loads}
    cpu: dict[str, list[float]] = {name: [] for name in loads}
    for number in range(WARM_UP + batches):
        for name, load in loads.items():
            times = load.step()
            if number >= WARM_UP:
                wall[name].append(sum(times.wall.values()) / BATCH * 1e6)
                cpu[name].append(sum(times.cpu.values()) / BATCH * 1e6)
    medians = {name: statistics.median(times) for name, times in wall.items()}
    for name, median in medians.items():
        own, ratio = statistics.median(cpu[name]), median / medians["SQLite"]
        print(f"{name:12} {median:7.0f} µs a page, CPU of the worker {own:5.0f} µs, {ratio:.2f} × SQLite")
    return medians


def together(url: str, size: int, batches: int, workers: int) -> float:
    """Several workers on one server; pages a second."""
    fill(url, size)
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(workers + 1, timeout=600), context.Queue()
    children = [context.Process(target=_work, args=(url, size, n, batches, barrier, results)) for n in range(workers)]
    for child in children:
        child.start()
    barrier.wait()
    started = time.perf_counter()
    pages = sum(results.get(timeout=600) for _ in children)
    seconds = time.perf_counter() - started
    for child in children:
        child.join()
    print(f"{workers} workers: {pages / seconds:6.0f} pages/s recorded through one server", flush=True)
    return pages / seconds


def _work(url: Where, size: int, number: int, batches: int, barrier: Barrier, results: Any) -> None:
    load = Load(url, size)
    load.worker = f"bench{number}"
    load.frontier.register(load.worker, NOW)
    load.random.seed(number)
    barrier.wait()
    for _ in range(batches):
        load.step()
    results.put(batches * BATCH)
    open_database(url).close()


if __name__ == "__main__":
    main()

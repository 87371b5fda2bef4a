"""How much longer a search takes while a crawl and a job run on the same machine.

    python bench/under_load.py             three sites of up to 2,000 pages: about four minutes
    python bench/under_load.py --quick     150 pages each, 100 queries; the crawl makes a request each .05 s

nginx serves cuts of real sites (as for `crawl.py`). Half of them are crawled and indexed; `gossamer serve` answers
queries over HTTP, drawn from the titles of stored pages by a fixed seed, one after the other at a steady rate (so that
asking does not load the machine by itself; a late answer delays nobody, its time counts from when it was due). First
on an idle machine, then while `gossamer crawl` fetches the other half at full speed into the same data folder, its
indexer at work, and `gossamer rank` is run again and again. Server and ranking are started as `gossamer run` starts
them: in sessions of their own, the ranking giving way. The figure is *loaded ÷ idle* at p50 and p99.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Sequence
from pathlib import Path

import msgspec

from _crawlers import Gossamer, end_cleanly_when_told, find_gossamer
from _data import ARCHIVES
from _figures import Figure, add_usual, conclude
from _nginx import Nginx
from _sites import Served, cache_folder, prepare

SITES = ("linuxcn", "itw66", "openoffice", "rust", "cmake", "postgresql")
GOAL_MS = 200.0
"""An answer within this time is at once for a person; the goal for p99 under load."""
_SEED = 20261115
_BATCH = 20


class Times(msgspec.Struct):
    """Milliseconds from when each answer was due."""

    idle: list[float]
    loaded: list[float]
    fetched_meanwhile: int
    ranked_meanwhile: int


def main() -> None:
    """Crawl, serve, ask twice, print."""
    options = _options()
    end_cleanly_when_told()
    pages = 150 if options.quick else 2_000
    sites = prepare(SITES, pages, options.port, cache_folder(options.cache), options.archives)
    if len(sites) < 2:
        raise SystemExit("two sites are needed: see bench/README.md")
    first, second = sites[::2], sites[1::2]
    program = find_gossamer("")
    with tempfile.TemporaryDirectory(prefix="bench-load-", ignore_cleanup_errors=True) as name, Nginx(sites):
        folder = Path(name)
        (folder / "data").mkdir()
        (folder / "data" / "gossamer.toml").write_text("[serve]\nrate = 0\n")
        _crawl(program, first, folder)
        queries = _queries(program, folder / "data", options.queries)
        server = subprocess.Popen(
            [program, "serve", "--data", str(folder / "data"), "--port", str(options.port + 1)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            address = f"http://127.0.0.1:{options.port + 1}"
            _wait_for(address)
            _ask(address, queries[:50], options.rate)  # warm
            idle = _ask(address, queries, options.rate)
            delay = 0.05 if options.quick else 0.0
            command = _command(program, second, folder, delay)
            times = _loaded(program, command, folder, address, queries, options.rate, idle)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(20)
    _print(times)
    enough = len(times.loaded) >= (_BATCH if options.quick else 200)
    conclude(options, _figures(times), times, [] if enough else ["the crawl ended too early to tell: take more pages"])


def _figures(times: Times) -> list[Figure]:
    if not times.loaded:
        return []
    at = {share: (_quantile(times.idle, share), _quantile(times.loaded, share)) for share in (0.5, 0.95, 0.99)}
    return [
        *(
            Figure(f"p{100 * share:.0f} loaded ÷ idle", loaded / idle, "×", by_clock=True)
            for share, (idle, loaded) in at.items()
        ),
        Figure(
            "p99 while a crawl and a job run", at[0.99][1], "ms", GOAL_MS, True, {"idle": at[0.99][0]}, by_clock=True
        ),
    ]


def _quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add_usual(parser, "150 pages a site, 100 queries, a crawl that is not at full speed")
    add("--queries", type=int, help="(600; 100 with --quick)")
    add("--rate", type=float, default=20.0, help="queries a second")
    add("--archives", type=Path, default=ARCHIVES, help="folder of NAME.tar.zst sites")
    add("--cache", default="", help="folder for unpacked sites")
    add("--port", type=int, default=8095)
    options = parser.parse_args()
    options.queries = options.queries or (100 if options.quick else 600)
    return options


def _command(program: str, sites: list[Served], folder: Path, delay: float = 0.0) -> list[str]:
    command = list(Gossamer(program, os.cpu_count() or 1, index=True).job(sites, folder).command)
    command[command.index("--delay") + 1] = str(delay)
    return command


def _crawl(program: str, sites: list[Served], folder: Path) -> None:
    subprocess.run(_command(program, sites, folder), check=True, stdout=subprocess.DEVNULL)


def _queries(program: str, data: Path, count: int) -> list[str]:
    """One to four words in a row of the titles of random pages."""
    done = subprocess.run([program, "export", "pages", "--data", str(data)], capture_output=True, check=True)
    titles = sorted({json.loads(line)["title"] or "" for line in done.stdout.splitlines()})
    chance = random.Random(_SEED)
    drawn = []
    while len(drawn) < count:
        words = chance.choice(titles).split()
        start = chance.randrange(len(words)) if words else 0
        if words:
            drawn.append(" ".join(words[start : start + chance.randint(1, 4)]))
    return drawn


def _wait_for(address: str) -> None:
    for _ in range(200):
        try:
            urllib.request.urlopen(f"{address}/readyz", timeout=2).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("the server did not start")


def _ask(address: str, queries: Sequence[str], rate: float) -> list[float]:
    times = []
    due = time.perf_counter()
    for query in queries:
        due = max(due + 1 / rate, time.perf_counter() - 1.0)  # after a standstill no flood of late queries
        time.sleep(max(0.0, due - time.perf_counter()))
        url = f"{address}/api/v1/search?{urllib.parse.urlencode({'q': query})}"
        with urllib.request.urlopen(url, timeout=30) as answer:
            answer.read()
        times.append((time.perf_counter() - due) * 1000)
    return times


def _loaded(
    program: str, command: list[str], folder: Path, address: str, queries: Sequence[str], rate: float,
    idle: list[float],
) -> Times:  # fmt: skip
    data = folder / "data"
    before = _fetched(program, data)
    leashed = [str(Path(program).with_name("python")), "-m", "gossamer.cli.leash", "rank", "--data", str(data)]
    ranked, over = 0, threading.Event()

    def rank() -> None:
        nonlocal ranked
        while not over.is_set():
            process = subprocess.Popen(
                leashed, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
            )
            ranked += process.wait() == 0
            assert process.stdin is not None
            process.stdin.close()

    crawl = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    job = threading.Thread(target=rank)
    job.start()
    try:
        time.sleep(2.0)
        loaded: list[float] = []
        # Only what was asked while both were at work counts.
        for start in range(0, len(queries), _BATCH):
            if crawl.poll() is not None:
                break
            loaded += _ask(address, queries[start : start + _BATCH], rate)
    finally:
        over.set()
        if crawl.poll() is None:
            os.killpg(crawl.pid, signal.SIGTERM)
        crawl.wait(120)
        job.join()
    return Times(idle, loaded, _fetched(program, data) - before, ranked)


def _fetched(program: str, data: Path) -> int:
    done = subprocess.run([program, "status", "--data", str(data), "--json"], capture_output=True, check=True)
    return int(json.loads(done.stdout)["fetched"])


def _print(times: Times) -> None:
    meanwhile = f"{times.fetched_meanwhile:,} pages were fetched and {times.ranked_meanwhile} rankings ended"
    print(f"{len(times.idle)} queries idle, {len(times.loaded)} while {meanwhile}")
    if not times.loaded:
        return
    print(f"{'':8}{'idle ms':>10}{'loaded ms':>11}{'ratio':>8}")
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        idle, loaded = _quantile(times.idle, share), _quantile(times.loaded, share)
        print(f"{name:8}{idle:>10.1f}{loaded:>11.1f}{loaded / idle:>8.2f}")


if __name__ == "__main__":
    main()

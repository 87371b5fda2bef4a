"""Which store for the table of URLs: puts and gets per millisecond, ten clients at once, on the URLs of real crawls.

    python bench/kv.py                                    600,000 URLs, four stores, synced and not: five minutes
    python bench/kv.py --quick                            8,000 URLs, half a second of single puts and gets
    python bench/kv.py --stores sqlite,lmdb --synced yes

Keys are (site, URL) as 64-bit hashes, values are rows of our table. Each of ten processes does what a worker does: it
commits batches of 1,500 new URLs, in the order of their keys; all of them and 500 that are known are looked up first,
in the same transaction. Then each reads what another one put, again 1,500 at a time. Then single puts and single gets,
each a transaction of its own, for some seconds.

Every store is measured with each commit on the disk before it counts, and puts also without. The clients share the
machine with the server: all figures are those of the whole machine, and `CPU µs` says what of it a put took, in all
processes. The sum of rows that came back is checked.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

import msgspec

from _crawlers import end_cleanly_when_told
from _data import GRAPHS, URLS
from _figures import Figure, add_usual, conclude, leave_out
from _kv_clients import Client
from _kv_servers import STORES, Opener, Store
from _kv_urls import Key, Row, real_urls, row_of, shares
from _sites import cache_folder
from _tree import machine_cpu

BATCH, KNOWN = 1500, 500
_SINGLE = 0.1
"""Share of the URLs that is kept for single puts."""
_LISTS = [GRAPHS, URLS.parent]
_SYNCS = 200
_EARLIER = {
    "Memcached": (4.03, 4.54), "MongoDB": (6.65, 3.05), "Project Voldemort": (1.21, 1.01), "Tokyo Cabinet": (3.25, 4.39)
}  # fmt: skip
"""Puts and gets per millisecond that the study measured from which this question comes."""


class Rate(msgspec.Struct, frozen=True):
    """What a phase came to."""

    per_ms: float
    cpu_us: float
    """CPU microseconds for one, in all processes."""
    others: float
    """Cores that something else kept busy meanwhile: noise, best near 0."""


class Figures(msgspec.Struct):
    """One store, synced or not."""

    store: str
    synced: bool
    how: str
    urls: int
    phases: dict[str, Rate] = {}
    bytes: int = 0


class Work(msgspec.Struct, frozen=True):
    """What a client does in the four phases."""

    batches: list[list[Row]]
    known: list[list[Key]]
    wanted: list[list[Key]]
    rows: list[Row]
    keys: list[Key]
    seconds: float


def main() -> None:
    """Runs all stores and prints the table."""
    options = _options()
    end_cleanly_when_told()
    stores = _available(options.stores)
    urls = real_urls(options.data or cache_folder() / "corpus" / "data", options.lists, options.urls)
    size = sum(len(msgspec.msgpack.encode(row_of(url)[2:])) for url in urls[::100]) / len(urls[::100])
    print(f"{len(urls):,} URLs, rows of {size:.0f} bytes, {options.clients} clients; ", end="")
    print(f"a sync of 4 KB takes {_sync_time(options.folder) * 1000:.2f} ms on this disk", flush=True)
    found = []
    _print_head()
    for synced in options.synced:
        for store in stores:
            found.append(_measure(store, synced, urls, options))
            _print_line(found[-1])
    _print_notes()
    conclude(options, _figures(found), found)


def _figures(found: list[Figures]) -> list[Figure]:
    """With each commit on the disk: our two stores, and the others beside the first."""
    synced = {one.store: one for one in found if one.synced} or {one.store: one for one in found}
    first = next(iter(synced))
    shown = []
    for phase, title in (("put", "rows put in batches"), ("get", "rows read in batches"), ("put one", "single puts")):
        rates = {name: one.phases[phase].per_ms for name, one in synced.items() if phase in one.phases}
        if first in rates:
            others = {name: rate for name, rate in rates.items() if name != first}
            shown.append(Figure(f"{title}, {first}", rates[first], "per ms", beside=others, most=1e6, by_clock=True))
    return shown


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--stores", type=lambda text: text.split(","), default=list(STORES), help=",".join(STORES))
    add("--synced", type=_truths, help="yes, no, or yes,no for both (both; yes with --quick)")
    add_usual(parser, "8,000 URLs, 4 clients, half a second of single puts and gets, synced only")
    add("--urls", type=int, help="how many, at most (600,000; 8,000 with --quick)")
    add("--clients", type=int, help="(10; 4 with --quick)")
    add("--seconds", type=float, help="how long single puts and gets are tried (3; 0.5 with --quick)")
    add("--data", type=Path, help="data folder of a crawl; default: the corpus in the cache folder")
    add("--lists", type=Path, nargs="*", default=_LISTS, help="folders with lists of URLs")
    add("--folder", type=Path, help="where the stores are put: the disk that is measured")
    options = parser.parse_args()
    options.urls = options.urls or (8_000 if options.quick else 600_000)
    options.clients = options.clients or (4 if options.quick else 10)
    options.seconds = options.seconds or (0.5 if options.quick else 3.0)
    options.synced = options.synced or ([True] if options.quick else [True, False])
    if unknown := set(options.stores) - set(STORES):
        parser.error(f"--stores: {', '.join(sorted(unknown))} is none of {', '.join(STORES)}")
    return options


def _truths(text: str) -> list[bool]:
    return [{"yes": True, "no": False}[word] for word in text.split(",")]


def _available(names: list[str]) -> list[type[Store]]:
    """Those that are installed; what is not is named."""
    for name in names:
        if missing := STORES[name].missing():
            leave_out(STORES[name].name, f"get it with: {missing}")
    return [STORES[name] for name in names if not STORES[name].missing()]


def _sync_time(folder: Path | None) -> float:
    """Seconds of a small write that is on the disk when it ends: the least that a single synced put takes."""
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        started = time.perf_counter()
        for _ in range(_SYNCS):
            file.write(bytes(4096))
            os.fdatasync(file.fileno())
        return (time.perf_counter() - started) / _SYNCS


def _measure(kind: type[Store], synced: bool, urls: list[str], options: argparse.Namespace) -> Figures:
    """One store through its phases."""
    with tempfile.TemporaryDirectory(prefix="bench-kv-", dir=options.folder, ignore_cleanup_errors=True) as made:
        store = kind(Path(made) / "store", synced)
        store.folder.mkdir()
        Path(made).chmod(0o755)  # PostgreSQL runs as a user of its own
        figures = Figures(kind.name, synced, kind.synced_by if synced else kind.unsynced_by, len(urls))
        opener = store.start()
        try:
            # Syncing does not change how fast things are read.
            phases = list(PHASES) if synced else [name for name in PHASES if name.startswith("put")]
            crew = Crew(opener, urls, options.clients, options.seconds)
            for name in phases:
                figures.phases[name] = crew.run(name, store.cpu)
            crew.end()
            figures.bytes = store.size()
        finally:
            store.stop()
    return figures


# -- clients --------------------------------------------------------------------------------------


class Crew:
    """The client processes, which begin each phase together."""

    def __init__(self, opener: Opener, urls: list[str], clients: int, seconds: float) -> None:
        context = multiprocessing.get_context("spawn")
        dealt = shares(urls, clients)
        self._expected = 0
        self._ends, self._processes = [], []
        for number, mine in enumerate(dealt):
            end, other = context.Pipe()
            job = (opener, mine, dealt[(number + 1) % clients], seconds, number, other)
            process = context.Process(target=_client, args=job, daemon=True)
            process.start()
            self._ends.append(end)
            self._processes.append(process)
            self._expected += len(mine) - _kept(mine)
        for end in self._ends:
            end.recv()

    def run(self, phase: str, server_cpu: Callable[[], float]) -> Rate:
        """All clients through one phase."""
        before, machine, started = server_cpu(), machine_cpu(), time.perf_counter()
        for end in self._ends:
            end.send(phase)
        answers = [end.recv() for end in self._ends]
        seconds = time.perf_counter() - started
        done = sum(count for count, _ in answers)
        if "one" not in phase and done != self._expected:
            raise SystemExit(f"{phase}: {done:,} rows instead of {self._expected:,}")
        cpu = sum(used for _, used in answers) + server_cpu() - before
        others = max(0.0, machine_cpu() - machine - cpu) / seconds
        return Rate(done / seconds / 1000, cpu / max(1, done) * 1e6, others)

    def end(self) -> None:
        """Close everything."""
        for end, process in zip(self._ends, self._processes, strict=True):
            end.send("")
            process.join(60)


def _client(opener: Opener, mine: list[str], others: list[str], seconds: float, number: int, pipe: Connection) -> None:
    """A process: does a phase whenever it is told to."""
    work, client = _work(mine, others, seconds, Random(number)), opener()
    pipe.send("ready")
    while phase := pipe.recv():
        before = time.process_time()
        count = PHASES[phase](client, work)
        pipe.send((count, time.process_time() - before))
    client.close()


def _kept(urls: list[str]) -> int:
    return int(len(urls) * _SINGLE)


def _work(mine: list[str], others: list[str], seconds: float, random: Random) -> Work:
    kept = _kept(mine)
    rows, theirs = [row_of(url) for url in mine], [row_of(url)[:2] for url in others[_kept(others) :]]
    batches = [sorted(rows[start : start + BATCH]) for start in range(kept, len(rows), BATCH)]
    seen = [row[:2] for row in rows[kept:]]
    known = [random.sample(seen[: place * BATCH], KNOWN) if place else [] for place in range(len(batches))]
    wanted = [sorted(theirs[start : start + BATCH]) for start in range(0, len(theirs), BATCH)]
    random.shuffle(wanted)
    return Work(batches, known, wanted, rows[:kept], random.sample(theirs, len(theirs)), seconds)


def _put(client: Client, work: Work) -> int:
    return sum(client.enter(rows, known) for rows, known in zip(work.batches, work.known, strict=True))


def _get(client: Client, work: Work) -> int:
    return sum(map(client.get, work.wanted))


def _put_one(client: Client, work: Work) -> int:
    end = time.perf_counter() + work.seconds
    for count, row in enumerate(work.rows):
        if time.perf_counter() > end:
            return count
        client.put_one(row)
    return len(work.rows)


def _get_one(client: Client, work: Work) -> int:
    end = time.perf_counter() + work.seconds
    for count, key in enumerate(work.keys):
        if time.perf_counter() > end:
            return count
        if client.get_one(key) is None:
            raise ValueError(f"{key} was put and is not there")
    return len(work.keys)


PHASES: dict[str, Callable[[Client, Work], int]] = {
    "put": _put, "get": _get, "put one": _put_one, "get one": _get_one,
}  # fmt: skip


# -- tables ---------------------------------------------------------------------------------------


def _print_head() -> None:
    print(f"\n{'':19}{'batches, per ms':>18}{'CPU µs':>16}{'single, per ms':>20}{'CPU µs':>16}{'':>6}")
    heads = "".join(f"{name:>9}" for name in ("put", "get", "put", "get", "put", "get", "put", "get"))
    print(f"{'store':12}{'synced':7}{heads}{'MB':>7}{'others':>8}  how", flush=True)


def _print_line(figures: Figures) -> None:
    cells = ""
    for pair in (("put", "get"), ("put one", "get one")):
        rates = [figures.phases.get(name) for name in pair]
        cells += "".join(f"{rate.per_ms:9.2f}" if rate else f"{'':9}" for rate in rates)
        cells += "".join(f"{rate.cpu_us:9.1f}" if rate else f"{'':9}" for rate in rates)
    others = max(rate.others for rate in figures.phases.values())
    synced = "yes" if figures.synced else "no"
    print(f"{figures.store:12}{synced:7}{cells}{figures.bytes / 1e6:7.0f}{others:8.2f}  {figures.how}", flush=True)


def _print_notes() -> None:
    print("\nput: rows entered; each batch looks up 2,000 keys first. get: whole rows. MB: rows and index, at the end.")
    print("others: cores that something else kept busy, at worst: with more than 0.2 trust the CPU times only.")
    print("An earlier study, 5.7 million URLs, 10 threads, server and client on two machines (2007), 0.6 ms ping:")
    for name, (put, get) in _EARLIER.items():
        print(f"{name:26}{put:9.2f}{get:9.2f}")


if __name__ == "__main__":
    main()

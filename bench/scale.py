"""How a crawl grows with its workers when politeness is the limit.

    python bench/scale.py                                  1, 2, 4 workers on SQLite and PostgreSQL: five minutes
    python bench/scale.py --databases postgresql --workers 1,2,4,8 --hosts 20
    python bench/scale.py --quick                          1 and 2 workers, 8 hosts each, 6 s

Hosts grow with the workers: 40 for each, a page a second from each host, so that N workers may fetch 40 × N pages a
second and no more. What is missing of that is what workers cost each other: turns at the database, leases that wait.
Each host has an address of its own, or the rule of one request at a time to an address would be the limit.

`crawl.sites` is set to the hosts of one worker, as one does where a worker must not take more than its machine can
carry; so each row has as many workers at work as it says. With the default (400) those that start first take more
hosts than the others, and all are crawled as fast: `--sites 400` shows it.

Pages are counted in the server's log, in a stretch that begins when all workers are at work. CPU times are those of the
same stretch: as long as they leave the machine idle, it is politeness that limits. The observer judges all requests.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path

import msgspec

from _crawlers import CONTACT, end_cleanly_when_told, find_gossamer
from _figures import Figure, add_usual, conclude, leave_out
from _postgres import has_postgres
from _scale_databases import KINDS, Kind, sites_by_worker
from _scale_processes import child_running, crawl_cpu, tree_cpu, written
from _scale_report import GOAL, Figures, print_costs, print_head, print_line
from _tree import machine_cpu
from gossamer.database.database import Where
from gossamer.testing.observer import violations
from gossamer.testing.web import FakeWeb

_START = 60.0
"""Seconds within which the first request must come."""
_ADDRESSES = 200
"""Of each network 127.0.x.0/24."""


class Reading(msgspec.Struct, frozen=True):
    """All counters at one moment."""

    at: float
    crawl: dict[str, float]
    web: float
    server: float
    machine: float
    bytes: int
    work: dict[str, float]


def main() -> None:
    """Runs all crawls and prints the table; exit code 1 where a request was rude or a page fetched twice."""
    options = _options()
    end_cleanly_when_told()
    found: list[Figures] = []
    print_head()
    for name in options.databases:
        with KINDS[name]() as database:
            for workers in options.workers:
                found.append(_run(database, workers, options))
                print_line(found[-1], found)
    print_costs(found)
    problems = [
        f"{one.database}, {one.workers} workers: {one.rude} rude requests, {one.repeated} pages twice"
        for one in found
        if one.rude or one.repeated
    ]
    problems += [f"{one.database}, {one.workers} workers: no page in the stretch" for one in found if not one.rate]
    conclude(options, _shown(found), found, problems)


def _shown(found: list[Figures]) -> list[Figure]:
    """Of each database: the crawl with the most workers against the first."""
    figures = []
    for name in dict.fromkeys(one.database for one in found):
        runs = [one for one in found if one.database == name]
        first, last = runs[0], runs[-1]
        ideal = last.workers / first.workers
        figures += [
            Figure(f"{name}: {last.workers} workers", last.rate, "pages/s",
                   beside={"politeness allows": last.bound}, by_clock=True),
            Figure(f"{name}: {last.workers} workers ÷ {first.workers}",
                   last.rate / first.rate if first.rate else 0.0, "×", GOAL * ideal, by_clock=True),
        ]  # fmt: skip
    return figures


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add_usual(parser, "1 and 2 workers, 8 hosts each, 6 s")
    add("--workers", type=_numbers, help="worker processes of each crawl (1,2,4; 1,2 with --quick)")
    add("--databases", type=lambda text: text.split(","), default=list(KINDS), help="sqlite,postgresql")
    add("--hosts", type=int, help="hosts for each worker (40; 8 with --quick)")
    add("--delay", type=float, default=1.0, help="seconds between two requests to a host")
    add("--warm-up", type=float, help="seconds from the first request to the stretch that is measured (10; 4)")
    add("--seconds", type=float, help="how long that is (30; 6 with --quick)")
    add("--sites", type=int, help="crawl.sites; default: as many as --hosts")
    add("--tolerance", type=float, default=0.05, help="seconds of delay the observer forgives to the server's clock")
    add("--gossamer", default="", help="the command, if not the one of this environment")
    options = parser.parse_args()
    options.workers = options.workers or ([1, 2] if options.quick else [1, 2, 4])
    options.hosts = options.hosts or (8 if options.quick else 40)
    options.warm_up = options.warm_up or (4.0 if options.quick else 10.0)
    options.seconds = options.seconds or (6.0 if options.quick else 30.0)
    if unknown := set(options.databases) - set(KINDS):
        parser.error(f"--databases: {', '.join(sorted(unknown))} is none of {', '.join(KINDS)}")
    if "postgresql" in options.databases and not has_postgres():
        leave_out("PostgreSQL", "apt-get install postgresql")
        options.databases.remove("postgresql")
    return options


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def _run(database: Kind, workers: int, options: argparse.Namespace) -> Figures:
    """One crawl from its start to its end."""
    with tempfile.TemporaryDirectory(prefix="bench-workers-", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        web = _web(options, workers * options.hosts, folder / "requests.jsonl")
        (folder / "data").mkdir()
        where = database.room(folder / "data")
        with web, (folder / "said").open("w+b") as said:
            command = _command(web, workers, where, folder, options)
            crawl = subprocess.Popen(command, cwd=folder, stdout=said, stderr=said, start_new_session=True)
            try:
                before, sites, after = _watch(crawl, web, database, where, options)
                os.kill(crawl.pid, signal.SIGTERM)
                code = crawl.wait(60)
            except BaseException:
                crawl.kill()
                raise
        if code:
            raise SystemExit(f"gossamer ended with exit code {code}:\n{_last_words(folder)}")
        return _figures(database.name, workers, options, web, before, sites, after)


def _web(options: argparse.Namespace, hosts: int, log: Path) -> FakeWeb:
    """Small sites, each on an address of its own, that last longer than the crawl."""
    web = FakeWeb("127.0.5", process=True, log=log)
    pages = round(3 * (options.warm_up + options.seconds + 20) / options.delay)
    for number in range(hosts):
        address = f"127.0.{5 + number // _ADDRESSES}.{number % _ADDRESSES + 1}"
        web.site(f"h{number:03}.test", pages=pages, links=10, seed=number, ip=address)
    return web


def _command(web: FakeWeb, workers: int, where: Where, folder: Path, options: argparse.Namespace) -> list[str]:
    names = "".join(f'"{host}" = "{address}"\n' for host, address in web.resolve.items())
    settings = f'[crawl]\nsites = {options.sites or options.hosts}\n\n[network]\nallow = ["127.0.0.0/8"]\n\n'
    (folder / "data" / "gossamer.toml").write_text(f"{settings}[network.resolve]\n{names}")
    (folder / "seeds.txt").write_text("".join(site.url("/") + "\n" for site in web.sites.values()))
    command = [find_gossamer(options.gossamer), "crawl", "--seeds", str(folder / "seeds.txt")]
    command += ["--data", str(folder / "data"), "--no-index", "--quiet", "--contact", CONTACT, "--scope", "host"]
    command += ["--workers", str(workers), "--delay", str(options.delay), "--for", "1h"]
    return command if isinstance(where, Path) else [*command, "--database", where]


def _watch(
    crawl: subprocess.Popen[bytes], web: FakeWeb, database: Kind, where: Where, options: argparse.Namespace
) -> tuple[Reading, list[int], Reading]:
    """The counters at both ends of the stretch, and who held how many sites between them."""
    deadline = time.monotonic() + _START
    while not any(request.path != "/robots.txt" for request in web.log()):
        if crawl.poll() is not None or time.monotonic() > deadline:
            raise SystemExit(f"the crawl made no request within {_START:.0f} s:\n{_last_words(web.log_path.parent)}")
        time.sleep(0.2)
    time.sleep(options.warm_up)
    before = _read(crawl, database)
    time.sleep(options.seconds / 2)
    sites = sites_by_worker(where)
    time.sleep(max(0.0, before.at + options.seconds - time.time()))
    while not _pages_since(web, before.at) and time.time() < before.at + _START:
        time.sleep(0.5)  # so busy a machine that the stretch must be longer
    return before, sites, _read(crawl, database)


def _pages_since(web: FakeWeb, moment: float) -> bool:
    return any(request.arrived >= moment and request.path != "/robots.txt" for request in web.log())


def _last_words(folder: Path) -> str:
    return (folder / "said").read_text(errors="replace")[-2000:]


def _read(crawl: subprocess.Popen[bytes], database: Kind) -> Reading:
    return Reading(
        at=time.time(),
        crawl=crawl_cpu(crawl.pid),
        web=tree_cpu(child_running("gossamer.testing.process")),
        server=database.cpu(),
        machine=machine_cpu(),
        bytes=written(crawl.pid),
        work=database.work(),
    )


def _figures(
    name: str,
    workers: int,
    options: argparse.Namespace,
    web: FakeWeb,
    before: Reading,
    sites: list[int],
    after: Reading,
) -> Figures:
    log = web.log()
    asked = Counter(request.url for request in log if request.path != "/robots.txt")
    pages = [r for r in log if before.at <= r.arrived < after.at and r.status == 200 and r.path != "/robots.txt"]
    seconds, count, hosts = after.at - before.at, max(1, len(pages)), workers * options.hosts
    cpu = {role: after.crawl[role] - before.crawl.get(role, 0.0) for role in sorted(after.crawl)}
    cpu |= {"database server": after.server - before.server} if after.server else {}
    cpu |= {"web server": after.web - before.web}
    machine = after.machine - before.machine
    work = {what: (after.work[what] - before.work[what]) / count for what in after.work}
    return Figures(
        database=name,
        workers=workers,
        hosts=hosts,
        bound=hosts / options.delay,
        rate=len(pages) / seconds,
        sites=sites,
        cpu={role: used / count * 1000 for role, used in cpu.items()},
        busy=machine / seconds / (os.cpu_count() or 1),
        others=max(0.0, machine - sum(cpu.values())) / seconds,
        work={**work, "KB written by the crawl": (after.bytes - before.bytes) / count / 1000},
        rude=len(violations(log, options.delay, options.delay, options.tolerance, robots_first=True)),
        repeated=sum(times - 1 for times in asked.values()),
    )


if __name__ == "__main__":
    main()

"""Real crawls of one site in several parts, judged by the server's log.

Each run begins with a crawl of a few pages in one part, so that `gossamer partition set` has something to plan on;
then the site is split, the rest is crawled, and only that is timed. The run in one part begins in the same way.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import msgspec

from _crawlers import CONTACT, Job, become_reaper, end_cleanly_when_told, find_gossamer, measure
from _nginx import Hit, Nginx
from _sites import Served, cache_folder, prepare
from gossamer.partition.assignment import Assignment, one_part
from gossamer.partition.measures import Measures, measured

BEGIN = 20
"""Pages that are crawled before the site is split."""
GOALS = {1: 1.0, 2: 1.9, 3: 2.7, 4: 3.4}

_SETTINGS = """[crawl]
contact = "{contact}"
linger = 2.0
workers = {workers}
index = false
archive = false

[politeness]
delay = {delay}

[network]
allow = ["127.0.0.0/8"]
resolve = {{ "{host}" = "{address}" }}

[partition]
mode = "sites"
sites = ["{site}"]
most_parts = {parts}
min_urls = 1
site_rate = 0.0
"""


class Run(msgspec.Struct, frozen=True):
    """One crawl."""

    site: str
    parts: int
    pages: int
    """Pages that the whole site has."""
    seconds: float
    """From the first to the last page after the split, and one delay for the last."""
    requests: int
    """Downloads of pages, all of them."""
    distinct: int
    by_part: list[int]
    closest: float
    """Shortest time between two requests of a part, in delays."""

    def measures(self, alone: float) -> Measures:
        """Against a run in one part that took so long."""
        found = measured(self.requests, self.distinct, self.pages, 1)
        return msgspec.structs.replace(found, acceleration=alone / self.seconds if self.seconds else 1.0)


def live(options: argparse.Namespace) -> list[Run]:
    """All crawls that were asked for."""
    become_reaper()
    end_cleanly_when_told()
    cache = cache_folder(options.cache)
    served = prepare(options.live_sites, options.live_pages, options.port, cache, options.archives)
    if not served:
        raise SystemExit("no site is left to crawl")
    served = served[: options.most_sites]
    program = find_gossamer(options.gossamer)
    runs = []
    with Nginx(served) as server:
        for site in served:
            for parts in options.live_parts:
                runs.append(_run(site, parts, program, server, options))
                print(f"{site.name} in {parts}: {runs[-1].seconds:.1f} s", file=sys.stderr)
    return runs


def _run(site: Served, parts: int, program: str, server: Nginx, options: argparse.Namespace) -> Run:
    name = f"{site.host}:{site.port}"
    with tempfile.TemporaryDirectory(prefix="bench-partition-") as folder:
        data = Path(folder) / "data"
        data.mkdir()
        (data / "gossamer.toml").write_text(_settings(site, name, parts, options))
        base = [program, "crawl", "--data", str(data), "--quiet"]
        server.take_log()
        _check([*base, site.seed, "--pages", str(BEGIN)])
        if parts > 1:
            _check([program, "partition", "set", name, str(parts), "--data", str(data)])
        before = server.take_log()
        usage = measure(Job(base), Path(folder), 60 + 5 * options.delay * len(site.cut.paths))
        if usage.code:
            raise SystemExit(f"gossamer crawl: exit code {usage.code}\n{usage.said}")
        after = server.take_log()
        assignment = _assignment(program, name, data) if parts > 1 else one_part()
    return _judge(site, assignment, before, after, options.delay)


def _settings(site: Served, name: str, parts: int, options: argparse.Namespace) -> str:
    return _SETTINGS.format(
        contact=CONTACT,
        workers=options.workers,
        delay=options.delay,
        host=site.host,
        address=site.address,
        site=name,
        parts=parts,
    )


def _check(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def _assignment(program: str, name: str, data: Path) -> Assignment:
    shown = _check([program, "partition", "show", name, "--data", str(data), "--json"])
    return msgspec.convert(msgspec.json.decode(shown)[0]["plan"], Assignment)


def _judge(site: Served, assignment: Assignment, before: list[Hit], after: list[Hit], delay: float) -> Run:
    pages = [hit for hit in [*before, *after] if hit.is_page]
    timed = [hit for hit in after if hit.is_page]
    times: dict[int, list[float]] = defaultdict(list)
    for hit in after:
        times[assignment.part_of(f"http://{site.host}:{site.port}{quote(hit.path)}")].append(hit.at)
    gaps = [later - earlier for part in times.values() for earlier, later in pairwise(sorted(part))]
    return Run(
        site=site.name,
        parts=assignment.parts,
        pages=len(site.cut.paths),
        seconds=max(hit.at for hit in timed) - min(hit.at for hit in timed) + delay if timed else 0.0,
        requests=len(pages),
        distinct=len({hit.path for hit in pages}),
        by_part=[len(times[part]) for part in range(assignment.parts)],
        closest=min(gaps, default=0.0) / delay if delay else 0.0,
    )


def print_live(runs: list[Run]) -> None:
    """The table; a run in one part must be among those of each site."""
    print("\nCrawled in parts, judged by the server's log\n")
    print("| site | pages | parts | seconds | A | C | O | pages by part | closest requests ÷ delay | goal |")
    print("|---|---:|---:|---:|---:|---:|---:|---|---:|---|")
    alone = {run.site: run.seconds for run in runs if run.parts == 1}
    for run in runs:
        found = run.measures(alone.get(run.site, run.seconds))
        met = found.acceleration >= GOALS.get(run.parts, 0.0) and found.coverage >= 0.99 and not found.overlap
        print(
            f"| {run.site} | {run.pages} | {run.parts} | {run.seconds:.1f} | {found.acceleration:.2f} | "
            f"{found.coverage:.1%} | {found.overlap:.1%} | {' + '.join(map(str, run.by_part))} | {run.closest:.2f} | "
            f"{'met' if met else 'missed'} |"
        )

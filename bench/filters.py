"""Automatic filters on real sites: how much of the URL table goes, and whether a useful page is lost.

    python bench/filters.py                        four sites; about ten minutes
    python bench/filters.py --sites itw66,mircsgo  two small ones; a minute

Each site is served whole by nginx on loopback and crawled by `gossamer crawl`, with document rules that tell its
articles. Two tables:

- *what the rules remove*: at several points of an unfiltered crawl, the filters that the seed's rule (alone, as the
  seed has it: no look at ways) and all our rules with their checks would make. Each set is held against the table and
  the links of the complete crawl: share of all its URLs that would never have been known, and useful pages that no
  way leads to any more.
- *crawls with filters*: the site crawled anew, filters made on the way by `gossamer filters run`, active as soon as
  their trial is over: pages fetched, and useful pages found, against the crawl without filters.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from _crawlers import CONTACT, become_reaper, end_cleanly_when_told
from _nginx import Nginx
from _ruled_sites import RULES, serve_whole, write_rules
from _sites import ARCHIVES, Served
from gossamer.crawl.filter_proposals import seed_proposals
from gossamer.crawl.filtering import run_filters
from gossamer.crawl.folder import DataFolder
from gossamer.crawl.site_table import SiteTable, read_table
from gossamer.crawl.stored_links import read_links
from gossamer.frontier import filters
from gossamer.frontier.database import open_database
from gossamer.frontier.filters import WITHDRAWN
from gossamer.frontier.rulebook import load_rules
from gossamer.parse.rules import RuleBook
from gossamer.scope.automatic import FilterConfig, FilterKind
from gossamer.scope.reachability import Walk

POINTS = (0.1, 0.25, 0.5, 0.75, 1.0)
"""Shares of the complete crawl at which filters are looked for."""
STEPS = 40
"""Times that filters are looked for during a crawl with filters."""

Pattern = tuple[FilterKind, str]


class Removal(msgspec.Struct):
    """What a set of filters does to the table of the complete crawl."""

    filters: int
    removed: float
    lost: int


class Point(msgspec.Struct):
    """The filters that were found at one moment of a crawl."""

    site: str
    share: float
    known: int
    useful: int
    seed: Removal
    ours: Removal


class Again(msgspec.Struct):
    """A crawl with filters beside the one without."""

    site: str
    table: int
    table_without: int
    fetched: int
    fetched_without: int
    useful: int
    useful_without: int
    missed: int
    live: list[str]
    withdrawn: list[str]


def main() -> None:
    """Runs what was asked for and prints it."""
    options = _options()
    become_reaper()
    end_cleanly_when_told()
    scratch = Path(options.work or tempfile.mkdtemp(prefix="bench-filters-"))
    try:
        served = [
            serve_whole(name, number, scratch, options.port, options.archives, options.cache)
            for number, name in enumerate(options.sites, 1)
        ]
        points: list[Point] = []
        agains: list[Again] = []
        with Nginx(served):
            for site in served:
                bench = _Bench(site, scratch, options.gossamer)
                points += bench.points()
                agains.append(bench.again())
        _print_points(points)
        _print_agains(agains)
        if options.json:
            options.json.write_bytes(msgspec.json.format(msgspec.json.encode({"points": points, "again": agains})))
    finally:
        if not options.work:
            shutil.rmtree(scratch, ignore_errors=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--sites", type=lambda text: text.split(","), default=list(RULES), help=f"of {','.join(RULES)}")
    add("--archives", type=Path, default=ARCHIVES, help="folder of NAME.tar.zst sites")
    add("--cache", default="", help="folder for unpacked sites ($XDG_CACHE_HOME/gossamer-bench)")
    add("--work", default="", help="folder to keep what is served and crawled in; else a temporary one")
    add("--gossamer", default=f"{sys.executable} -m gossamer.cli", help="the command")
    add("--port", type=int, default=8188)
    add("--json", type=Path, metavar="FILE", help="the figures for programs")
    options = parser.parse_args()
    if unknown := set(options.sites) - set(RULES):
        parser.error(f"no site is called {', '.join(sorted(unknown))}")
    return options


class _Bench:
    """One site."""

    def __init__(self, site: Served, scratch: Path, gossamer: str) -> None:
        self._site, self._scratch, self._gossamer = site, scratch, gossamer.split()
        self._rules = write_rules(site.name, scratch)
        self._full = self._begin("full")
        started = time.monotonic()
        self._crawl(self._full)
        self._table, self._walk = self._look(self._full)
        self._fetched = self._pages(self._full)
        print(
            f"{site.name}: {len(self._table.keys)} URLs, {int(self._table.useful.sum())} useful, "
            f"{self._fetched} fetched in {time.monotonic() - started:.0f} s",
            file=sys.stderr,
        )

    def points(self) -> list[Point]:
        """The filters that would be made at each point of a crawl, held against the complete one."""
        data, found, config = self._begin("points"), [], FilterConfig()
        folder = DataFolder(data)
        for share in POINTS:
            self._crawl(data, max(1, round(share * self._fetched) - self._pages(data)) if share < 1 else None)
            db = open_database(folder.database)
            try:
                table = read_table(db, self._name, RuleBook(load_rules(db)).fits)
                seed = [(one.kind, one.pattern) for one in seed_proposals(table, config)]
                run_filters(folder, db, config, time.time(), [self._name], propose_only=True)
                ours = [(row.kind, row.pattern) for row in filters.list_filters(db) if row.state != WITHDRAWN]
            finally:
                db.close()
            useful = int(table.useful.sum())
            point = Point(self._site.name, share, len(table.keys), useful, self._removal(seed), self._removal(ours))
            found.append(point)
            print(f"{self._site.name} at {share:.0%}: seed {seed}; ours {ours}", file=sys.stderr)
        return found

    def again(self) -> Again:
        """The site crawled anew, filters made on the way."""
        data = self._begin("again")
        step = max(20, self._fetched // STEPS)
        live: list[str] = []
        withdrawn: list[str] = []
        idle = 0
        while idle < 2:  # what is tried in the shadow at the end must not keep anything back
            before = self._pages(data)
            self._crawl(data, step)
            report = json.loads(self._run("filters", "run", "--data", str(data), "--json"))
            live += [f"{row['kind']} {row['pattern']}" for row in report["activated"]]
            withdrawn += [f"{row['kind']} {row['pattern']}" for row in report["withdrawn"]]
            idle = idle + 1 if self._pages(data) == before and not report["back"] else 0
        table, _ = self._look(data)
        useful, without = (set(t.keys[t.useful].tolist()) for t in (table, self._table))
        found = self._visited(data, useful), self._visited(self._full, without)
        print(f"{self._site.name} with filters: live {live}, withdrawn {withdrawn}", file=sys.stderr)
        return Again(
            site=self._site.name,
            table=len(table.keys),
            table_without=len(self._table.keys),
            fetched=self._pages(data),
            fetched_without=self._fetched,
            useful=len(found[0]),
            useful_without=len(found[1]),
            missed=len(found[1] - found[0]),
            live=live,
            withdrawn=withdrawn,
        )

    @property
    def _name(self) -> str:
        return f"{self._site.host}:{self._site.port}"

    def _begin(self, kind: str) -> Path:
        data = self._scratch / f"{self._site.name}-{kind}"
        shutil.rmtree(data, ignore_errors=True)
        self._run("rules", "import", str(self._rules), "--data", str(data))
        return data

    def _crawl(self, data: Path, pages: int | None = None) -> None:
        command = ["crawl", self._site.seed, "--data", str(data), "--contact", CONTACT, "--quiet", "--no-index"]
        command += ["--scope", "host", "--delay", "0", "--workers", "1", "--allow-network", "127.0.0.0/8"]
        command += ["--no-archive", "--resolve", f"{self._site.host}={self._site.address}"]
        self._run(*command, *(["--pages", str(pages)] if pages is not None else []))

    def _run(self, *arguments: str) -> str:
        done = subprocess.run([*self._gossamer, *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"gossamer {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def _ask(self, data: Path, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        if not DataFolder(data).database.exists():
            return []
        db = DataFolder(data).read()
        try:
            return db.execute(sql, values)
        finally:
            db.close()

    def _pages(self, data: Path) -> int:
        rows = self._ask(data, "SELECT COALESCE(SUM(fetched), 0) FROM sites")
        return int(rows[0][0]) if rows else 0

    def _visited(self, data: Path, keys: set[int]) -> set[int]:
        rows = self._ask(data, "SELECT key FROM urls WHERE outcome IS NOT NULL")
        return {key for (key,) in rows} & keys

    def _look(self, data: Path) -> tuple[SiteTable, Walk]:
        folder = DataFolder(data)
        db = open_database(folder.database)
        table = read_table(db, self._name, RuleBook(load_rules(db)).fits)
        links = read_links(folder, db, self._name, table.keys, table.segments, FilterConfig().links)
        return table, Walk(links.graph(table.leads, table.first_found), table.roots, table.useful)

    def _removal(self, patterns: list[Pattern]) -> Removal:
        """What filters, found whenever, do to the complete crawl."""
        cut = np.zeros(len(self._table.keys), bool)
        for kind, pattern in patterns:
            group = self._table.groups.find(kind, pattern)
            if group is not None:
                cut[self._table.groups.members(group)] = True
        gone = cut & ~self._table.useful
        lost = len(self._walk.without(cut).lost) + int((cut & self._table.useful).sum())
        return Removal(len(patterns), float(gone.mean()), lost)


def _print_points(points: list[Point]) -> None:
    print("\nFilters found at a point of the crawl, held against the complete crawl\n")
    print(
        "| site | crawled | known | useful | seed: filters | removed | useful lost | ours: filters | removed | lost |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for one in points:
        seed, ours = one.seed, one.ours
        print(
            f"| {one.site} | {one.share:.0%} | {one.known} | {one.useful} | {seed.filters} | {seed.removed:.1%} | "
            f"{seed.lost} | {ours.filters} | {ours.removed:.1%} | {ours.lost} |"
        )
    for name in ("seed", "ours"):
        ends = [one for one in points if one.share == 1.0]
        total = sum(one.known for one in ends)
        share = sum(one.known * getattr(one, name).removed for one in ends) / total if total else 0.0
        print(f"\n{name}: {share:.1%} of {total} URLs (the seed reports 16 %)")


def _print_agains(agains: list[Again]) -> None:
    print("\nCrawls with filters made on the way\n")
    print(
        "| site | table without | with | fetched without | with | useful without | with | missed | live | withdrawn |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for one in agains:
        print(
            f"| {one.site} | {one.table_without} | {one.table} ({one.table / one.table_without - 1:+.1%}) | "
            f"{one.fetched_without} | {one.fetched} ({one.fetched / one.fetched_without - 1:+.1%}) | "
            f"{one.useful_without} | {one.useful} | {one.missed} | {len(one.live)} | {len(one.withdrawn)} |"
        )


if __name__ == "__main__":
    main()

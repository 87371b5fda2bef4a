"""Does every query get an answer, and soon? Queries drawn from real pages, through the whole answer.

    python bench/every_query.py                  100,000 queries
    python bench/every_query.py --quick          1,000
    python bench/every_query.py --pages 500 --json figures.json

The pages are those of `_real_pages.py`: nine languages, news, questions, stories, whole sites, documentation. They
are put into one index. Queries are drawn from titles, headings and running text as people type them (`_typed.py`):
two plain words, phrases, beginnings, punctuation, operators, mistakes, pasted lines. Each is answered as JSON, as a
page, as an Atom feed, on the command line and as suggestions (`_whole_answer.py`).

It fails, with exit code 1, where an answer is none (an exception, another status than 200, JSON or XML that cannot
be read) or takes more than a second of processor time. The wall clock is shown beside it: on a busy machine it also
counts what others did. To draw the same queries again, give the same `--seed` and the same data.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import msgspec

from _data import DOCUMENTATION, SHARED
from _figures import Figure, add_usual, conclude
from _real_pages import real_pages
from _typed import draw
from _whole_answer import LIMIT, Answered, Everywhere
from gossamer.index.document import IndexPage, build
from gossamer.index.folder import IndexFolder
from gossamer.index.writer import IndexWriter
from gossamer.search.searcher import Searcher

SEED = 20_261_117
_BATCH = 2_000
_NAMED = 10


class Figures(msgspec.Struct):
    """What came of all queries."""

    queries: int = 0
    answers: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    failed: list[Answered] = []
    slow: list[Answered] = []
    """Over the limit."""
    slowest: list[Answered] = []
    """By processor time, the slowest first."""
    slowest_by_clock: Answered | None = None

    def add(self, one: Answered) -> None:
        """Count an answer."""
        self.answers += 1
        self.cpu += one.cpu
        if one.problem:
            self.failed.append(one)
        if one.cpu > LIMIT:
            self.slow.append(one)
        self._rank(one)

    def join(self, other: Figures) -> None:
        """Add what another process counted."""
        self.queries += other.queries
        self.answers += other.answers
        self.cpu += other.cpu
        self.failed += other.failed
        self.slow += other.slow
        for one in (*other.slowest, *filter(None, [other.slowest_by_clock])):
            self._rank(one)

    def _rank(self, one: Answered) -> None:
        if len(self.slowest) < _NAMED or one.cpu > self.slowest[-1].cpu:
            self.slowest = sorted({*self.slowest, one}, key=lambda each: -each.cpu)[:_NAMED]
        if self.slowest_by_clock is None or one.wall > self.slowest_by_clock.wall:
            self.slowest_by_clock = one


def main() -> None:
    """Indexes the pages, asks the queries, prints the figures."""
    options = _options()
    started = time.monotonic()
    sources = real_pages(options.shared, options.documentation, options.pages or (60 if options.quick else 1_500))
    pages = _in_clusters(page for found in sources.values() for page in found)
    if not pages:
        raise SystemExit("there are no pages to ask for: name the folder of real data with --shared")
    print(f"{len(pages):,} pages: " + ", ".join(f"{name} {len(found):,}" for name, found in sources.items()))
    with tempfile.TemporaryDirectory(prefix="every-query-") as folder:
        _index(Path(folder), pages)
        print(f"read and indexed in {time.monotonic() - started:.0f} s", flush=True)
        count = options.queries or (1_000 if options.quick else 100_000)
        figures = _ask_all(Path(folder), pages, count, options.seed, options.processes)
    _print(figures)
    shown = [
        Figure("queries without an answer", len(figures.failed), goal=0, at_most=True),
        Figure("answers that take over a second", len(figures.slow), goal=0, at_most=True),
        Figure("queries asked", figures.queries, least=1),
        Figure("CPU of an answer", 1000 * figures.cpu / figures.answers, "ms", most=1000),
    ]
    problems = [f"{len(figures.failed)} queries got no answer"] if figures.failed else []
    problems += [f"{len(figures.slow)} answers took over {LIMIT:.0f} s"] if figures.slow else []
    conclude(options, shown, figures, problems)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add_usual(parser, "1,000 queries to 60 pages of each source")
    add("--queries", type=int, help="how many (100,000; 1,000 with --quick)")
    add("--pages", type=int, help="pages of each source at most (1,500; 60 with --quick)")
    add("--processes", type=int, default=os.cpu_count(), help="how many ask at once (one a core)")
    add("--seed", type=int, default=SEED)
    add("--shared", type=Path, default=SHARED, help="folder with the real data ($GOSSAMER_SHARED)")
    add("--documentation", type=Path, default=DOCUMENTATION, help="folder with HTML documentation")
    return parser.parse_args()


def _in_clusters(pages: Iterable[IndexPage]) -> list[IndexPage]:
    """The pages, those with one title as near copies: the answer has to collapse some."""
    known: dict[str, int] = {}
    found = []
    for number, page in enumerate(pages, 1):
        cluster = known.setdefault(page.title or page.url, number)
        found.append(msgspec.structs.replace(page, cluster=cluster, joined=cluster != number))
    return found


def _index(root: Path, pages: list[IndexPage]) -> None:
    folder = IndexFolder(root)
    generation = folder.create()
    folder.switch(generation)
    writer = IndexWriter(folder.tantivy(generation), folder.scratch(generation))
    for position, start in enumerate(range(0, len(pages), _BATCH), 1):
        writer.apply({page.key: build(page) for page in pages[start : start + _BATCH]}, (), position, time.time())


def _ask_all(root: Path, pages: list[IndexPage], count: int, seed: int, processes: int) -> Figures:
    """The queries, divided among processes; each has the pages as it finds them."""
    started = time.monotonic()
    figures = Figures()
    with ProcessPoolExecutor(processes, multiprocessing.get_context("fork"), _inherit, (pages,)) as pool:
        shares = [count // processes + (n < count % processes) for n in range(processes)]
        for part in pool.map(_ask, [root] * processes, shares, range(seed, seed + processes)):
            figures.join(part)
    figures.seconds = time.monotonic() - started
    return figures


_pages: list[IndexPage] = []


def _inherit(pages: list[IndexPage]) -> None:
    _pages[:] = pages


def _ask(root: Path, count: int, seed: int) -> Figures:
    figures = Figures()
    everywhere = Everywhere(Searcher.open(root))
    started = time.monotonic()
    for query in draw(_pages, count, seed):
        figures.queries += 1
        for one in everywhere.ask(query):
            figures.add(one)
            if one.problem or one.cpu > LIMIT:
                print(f"  {one.way}: {one.query!r}: {one.problem or f'{one.cpu:.2f} s'}", flush=True)
        if figures.queries % 5_000 == 0:
            seconds, load = time.monotonic() - started, os.getloadavg()[0]
            print(f"  seed {seed}: {figures.queries:,} queries in {seconds:.0f} s; load {load:.1f}", flush=True)
    everywhere.close()
    return figures


def _print(figures: Figures) -> None:
    print(f"\n{figures.queries:,} queries, {figures.answers:,} answers in {figures.seconds:.0f} s "
          f"({figures.cpu:.0f} s of processor time, {figures.cpu / figures.answers * 1000:.1f} ms each)")  # fmt: skip
    print(f"failed: {len(figures.failed)}; over {LIMIT:.0f} s of processor time: {len(figures.slow)}")
    assert figures.slowest_by_clock is not None
    for title, slowest in (("processor time", figures.slowest), ("the clock", [figures.slowest_by_clock])):
        print(f"\nslowest by {title}\n\n| s | clock s | answer | query |\n|---:|---:|---|---|")
        print("\n".join(map(_line, slowest)))


def _line(one: Answered) -> str:
    shown = one.query if len(one.query) <= 120 else f"{one.query[:120]}… ({len(one.query)} characters)"
    return f"| {one.cpu:.3f} | {one.wall:.3f} | {one.way} | {shown!r} |"


if __name__ == "__main__":
    main()

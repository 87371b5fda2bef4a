"""What a trickle of updates does to an index: rewritten documents, segments, and the time of updates and queries.

    python bench/levels.py --plot levels.svg       3,000 updates of 10 pages, in three ways
    python bench/levels.py --quick                 300 updates
    python bench/levels.py --only levels,library

- `levels`: our writer; segments of like size are merged beside the updates (`index/merging.py`);
- `library`: the library's own writer and merge policy, one commit per update;
- `one segment`: everything is merged into one segment at once, the whole index with every update. The library
  merges no fewer than eight segments, so empty ones are added; that takes some milliseconds of each update.
  It stops at 9,000 pages, beyond which the library refuses.

Two of the ten pages of an update replace older ones. Pages are made up: 150 words each, as frequent as words
are in a language. An update is timed from analysed documents to a commit that a reader can open, queries by our
searcher without facets: two words each, the median of 100 queries, the best of three rounds. CPU is that of the
process, merges and queries included, per update.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import msgspec
import tantivy

from gossamer.index import commits, merging, schema
from gossamer.index import writer as writing
from gossamer.index.document import IndexPage, build
from gossamer.index.folder import IndexFolder
from gossamer.index.writer import IndexWriter
from gossamer.search.results import Request
from gossamer.search.searcher import Searcher

WAYS = ("levels", "library", "one segment")
PAGES = 10
REPLACED = 2
"""Pages of an update that were there before."""
WORDS = 150
VOCABULARY = 30_000
QUERIES = 100
CHECKPOINTS = 15
MOST_IN_ONE = 9_000
_PADDING = 7


class Checkpoint(msgspec.Struct, frozen=True):
    """The index after some updates."""

    updates: int
    segments: int
    query_ms: float


class Result(msgspec.Struct):
    """What one way did."""

    way: str
    updates: int = 0
    written: int = 0
    rewritten: int = 0
    """Documents copied by merges."""
    seconds: list[float] = []
    """Of each update."""
    segments: list[int] = []
    """After each update."""
    cpu: float = 0.0
    checkpoints: list[Checkpoint] = []


Documents = dict[int, tantivy.Document]
Way = Callable[["Measuring", Result, Path], None]


class Pages:
    """Made-up pages: the same for every way."""

    def __init__(self) -> None:
        dice = Random(1)
        syllables = [a + b for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u", "an", "er", "is")]
        self.words = ["".join(dice.choices(syllables, k=dice.randint(2, 4))) for _ in range(VOCABULARY)]
        self.weights = [1 / (rank + 3) for rank in range(VOCABULARY)]

    def update(self, number: int) -> Documents:
        """The pages of an update, analysed."""
        dice, known = Random(number), number * (PAGES - REPLACED)
        numbers = {known + n for n in range(PAGES - REPLACED)}
        numbers |= {dice.randrange(known) for _ in range(REPLACED)} if known else set()
        pages = (self._page(n, dice) for n in numbers)
        return {page.key: build(page) for page in pages}

    def queries(self) -> list[str]:
        """Two words each, frequent ones and rare ones."""
        dice = Random(2)
        weights = [weight**0.5 for weight in self.weights]
        return [" ".join(dice.choices(self.words, weights, k=2)) for _ in range(QUERIES)]

    def _page(self, number: int, dice: Random) -> IndexPage:
        words = dice.choices(self.words, self.weights, k=WORDS)
        return IndexPage(
            url=f"https://www.site-{number % 50}.example/{words[0]}/{number}.html",
            title=" ".join(words[:6]),
            text=" ".join(words),
            lang="en",
            fetched_at=1_700_000_000.0 + number,
        )


class Measuring:
    """The course of all ways: updates one after the other, a look at the queries now and then."""

    def __init__(self, updates: int) -> None:
        self.pages = Pages()
        self.queries = self.pages.queries()
        self.updates = updates

    def run(self, result: Result, root: Path, updates: int, act: Callable[[Documents, int], int]) -> None:
        """`act` commits documents at a position and returns the number of segments."""
        searcher = Searcher.open(root)
        every = max(1, self.updates // CHECKPOINTS)
        for number in range(updates):
            documents = self.pages.update(number)
            cpu, start = time.process_time(), time.perf_counter()
            segments = act(documents, number + 1)
            result.seconds.append(time.perf_counter() - start)
            result.cpu += time.process_time() - cpu
            result.segments.append(segments)
            result.updates, result.written = number + 1, result.written + len(documents)
            if (number + 1) % every == 0:
                result.checkpoints.append(Checkpoint(number + 1, segments, self._ask(searcher)))

    def _ask(self, searcher: Searcher) -> float:
        """Milliseconds of a query: the median, in the best of three rounds."""
        rounds = [statistics.median(self._times(searcher)) for _ in range(3)]
        return 1000 * min(rounds)

    def _times(self, searcher: Searcher) -> Iterator[float]:
        for query in self.queries:
            start = time.perf_counter()
            searcher.search(Request(query=query, facets=False))
            yield time.perf_counter() - start


def run_levels(measuring: Measuring, result: Result, root: Path) -> None:
    """Our writer as it is."""
    writer = _our_writer(root)

    def act(documents: Documents, position: int) -> int:
        writer.apply(documents, (), position, float(position))
        return writer.segments

    measuring.run(result, root, measuring.updates, act)
    writer.merge_some(wait=True)
    result.rewritten = writer.rewritten
    writer.close()


def run_one_segment(measuring: Measuring, result: Result, root: Path) -> None:
    """Our writer, made to merge everything at once."""
    with _everything_is_merged(root):
        writer = _our_writer(root)

        def act(documents: Documents, position: int) -> int:
            writer.apply(documents, (), position, float(position))
            writer.merge_some(wait=True)
            return writer.segments

        updates = min(measuring.updates, MOST_IN_ONE // PAGES)
        measuring.run(result, root, updates, act)
        result.rewritten = writer.rewritten
        writer.close()


def run_library(measuring: Measuring, result: Result, root: Path) -> None:
    """The library's writer, which merges in threads of its own by its own policy."""
    folder = _new_index(root)
    index = schema.prepare(tantivy.Index.open(str(folder)))
    writer = index.writer(200_000_000, 1)
    known: set[str] = set()

    def look() -> int:
        """Count what merges made: segments larger than an update."""
        segments = commits.read(folder).segments
        result.rewritten += sum(s.alive for s in segments if s.segment_id not in known and s.max_doc > PAGES)
        known.update(segment.segment_id for segment in segments)
        return len(segments)

    def act(documents: Documents, _: int) -> int:
        for key, document in documents.items():
            writer.delete_documents_by_term(schema.KEY, key)
            writer.add_document(document)
        writer.commit()
        return look()

    measuring.run(result, root, measuring.updates, act)
    writer.wait_merging_threads()
    look()


_RUNS: dict[str, Way] = {"levels": run_levels, "library": run_library, "one segment": run_one_segment}


def _new_index(root: Path) -> Path:
    folder = IndexFolder(root)
    folder.switch(folder.create())
    return folder.require()


def _our_writer(root: Path) -> IndexWriter:
    folder = _new_index(root)
    return IndexWriter(folder, folder.parent / "scratch")


@contextmanager
def _everything_is_merged(root: Path) -> Iterator[None]:
    """The plan is always to merge all there is; the library sees enough segments to do so."""
    padding = _padding(root / "padding")

    def merge(scratch: Path) -> list[commits.Segment]:
        commit = commits.read(scratch)
        commits.link(padding.segments, root / "padding", scratch)
        commits.write(scratch, msgspec.structs.replace(commit, segments=commit.segments + padding.segments))
        merging.merge(scratch)
        writer = schema.prepare(tantivy.Index.open(str(scratch))).writer(15_000_000, 1)
        for number in range(_PADDING):
            writer.delete_documents_by_term(schema.KEY, -number)
        writer.commit()
        writer.wait_merging_threads()
        return list(commits.read(scratch).segments)

    plan, usual = writing.plan, writing.merge
    writing.plan = lambda sizes: [list(range(len(sizes)))] if len(sizes) > 1 else []
    writing.merge = merge
    try:
        yield
    finally:
        writing.plan, writing.merge = plan, usual


def _padding(folder: Path) -> commits.Commit:
    """An index of segments with one empty document each."""
    folder.mkdir(parents=True)
    writer = schema.prepare(tantivy.Index(schema.build(), str(folder))).writer(15_000_000, 1)
    for number in range(_PADDING):
        document = tantivy.Document()
        document.add_integer(schema.KEY, -number)
        writer.add_document(document)
        writer.commit()
    writer.wait_merging_threads()
    return commits.read(folder)


def main() -> None:
    """Runs the ways one after the other, prints the table and draws the plot."""
    options = _options()
    measuring = Measuring(options.updates or (300 if options.quick else 3000))
    results = []
    for way in options.only:
        with tempfile.TemporaryDirectory(prefix="bench-levels-", dir=options.scratch) as scratch:
            result = Result(way)
            _RUNS[way](measuring, result, Path(scratch))
            results.append(result)
    _print(results)
    if options.plot:
        _plot(results, options.plot)
    if options.json:
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(results)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--quick", action="store_true", help="300 updates")
    add("--updates", type=int, help="how many updates (3,000)")
    add("--only", type=lambda text: tuple(text.split(",")), default=WAYS, help=f"of {','.join(WAYS)}")
    add("--scratch", type=Path, help="where the indexes are made and deleted (the temporary folder)")
    add("--plot", type=Path, metavar="FILE.svg", help="query time against number of updates")
    add("--json", type=Path, metavar="FILE", help="the figures for programs")
    options = parser.parse_args()
    if set(options.only) - set(WAYS):
        parser.error(f"--only takes {', '.join(WAYS)}")
    return options


def _print(results: list[Result]) -> None:
    print("\n| | updates | rewritten per page | segments, mean | most | update, mean ms | p99 ms | CPU ms |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for r in results:
        mean, p99 = 1000 * statistics.fmean(r.seconds), 1000 * sorted(r.seconds)[int(0.99 * len(r.seconds))]
        segments = f"{statistics.fmean(r.segments):.0f} | {max(r.segments)}"
        figures = f"{r.rewritten / r.written:.1f} | {segments} | {mean:.0f} | {p99:.0f}"
        print(f"| {r.way} | {r.updates} | {figures} | {1000 * r.cpu / r.updates:.0f} |")
    print("\nMedian of a query in ms (segments), after so many updates:\n")
    shown = [c.updates for c in max(results, key=lambda r: r.updates).checkpoints][2::3]
    print("| |" + "".join(f" {updates} |" for updates in shown))
    print("|---|" + "---:|" * len(shown))
    for r in results:
        found = {c.updates: f"{c.query_ms:.2f} ({c.segments})" for c in r.checkpoints}
        print(f"| {r.way} |" + "".join(f" {found.get(updates, '–')} |" for updates in shown))


def _plot(results: list[Result], path: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    for r in results:
        axes.plot([c.updates for c in r.checkpoints], [c.query_ms for c in r.checkpoints], marker="o", label=r.way)
    axes.set(xlabel=f"updates of {PAGES} pages", ylabel="median of a query, ms", ylim=(0, None))
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()

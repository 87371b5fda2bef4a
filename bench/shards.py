"""A divided index against one index of the same pages: how alike the results are, and what the front end costs.

    python bench/shards.py                  40,000 pages, 500 queries, 1, 2 and 4 shards
    python bench/shards.py --quick          800 pages, 60 queries; makes a small corpus if there is none
    python bench/shards.py --data D --pages 100000

Pages are drawn evenly from the corpus (`_corpus.py`); queries are drawn from it as `query.py` does. The indexes are
built once into the cache.

*Agreement*: each query is asked of the one index and of the front end. `identical` is the share of queries with the
same ten addresses in the same order; `but for ties` allows another order, and another choice, of pages with the
same score; overlap@10 counts addresses; the score difference is that of pages both show. Each also without the
correction of average lengths (`search/shards/lengths.py`), to show what it does.

*Latency*: `one process` is the searcher in this process. The front end is in this process too; every shard is a
`gossamer serve --shard` of its own. `slowest of n` is what a searcher in this process takes with the index of one
shard alone, of the slowest shard for each query: what a front end would take if dividing cost nothing. All of them run
on this machine: with as many shards as cores, or more, they take each other's time, so that the ratios say what the
protocol costs only if there is a core for each shard and one for the front end. Each query is asked of all before the
next one, in turning order; milliseconds of wall time, with excerpts and facets. *CPU* is what holds elsewhere: that of
the front end and of the shard that needs most of it, over all queries.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from _corpus import NAME, find_corpus, iter_documents
from _crawlers import end_cleanly_when_told, find_gossamer
from _figures import Figure, add_usual, conclude
from _nginx import _cpu as process_cpu
from _sites import cache_folder
from gossamer.index import schema
from gossamer.index.document import IndexPage, build
from gossamer.index.folder import IndexFolder
from gossamer.index.shards import Cut
from gossamer.index.writer import IndexWriter
from gossamer.search.results import Request, Results
from gossamer.search.searcher import Searcher
from gossamer.search.shards import lengths
from gossamer.search.shards.shard import OPERATIONS, ShardSearcher
from gossamer.search.shards.sharded import ShardedSearcher
from gossamer.search.shards.values import Envelope
from gossamer.search.view import Views
from gossamer.web.shards.client import RemoteNodes
from index import borrow
from query import SEED, Ask, Times, _Bare, _measure, draw

SHARDS = (1, 2, 4)
GOAL = 0.99
SLOWER = 1.5
_FRONT, _ALONE, _SLOWEST = "front end of {}", "shard {} alone", "slowest of {}"
_BATCH = 2_000
_TIE = 2e-4
"""Difference of scores, as a share, below which they are the same."""
_AT = re.compile(r" at (http://127\.0\.0\.1:\d+) ")


class Agreement(msgspec.Struct, frozen=True):
    """How alike the results of one index and of several are."""

    shards: int
    corrected: bool
    """Whether average lengths were."""
    identical: float
    but_for_ties: float
    overlap: float
    totals: float
    """Share of queries with the same number of results."""
    mean_difference: float
    largest_difference: float


class Cost(msgspec.Struct, frozen=True):
    """Milliseconds of CPU of a query."""

    shards: int
    front: float
    shard: float
    """Of the server that needs most."""
    alone: float
    """Of a searcher of one shard, the one that needs most."""

    @property
    def ratio(self) -> float:
        """What dividing costs."""
        return (self.front + self.shard) / self.alone


def main() -> None:
    """Builds the indexes, compares results and times, and prints both tables."""
    options = _options()
    end_cleanly_when_told()
    cache = cache_folder(options.cache)
    data = find_corpus(options.data, cache, options.quick)
    pages = options.pages or (800 if options.quick else 40_000)
    root = _build(data, cache / NAME / f"shards-{data.resolve().name}-{pages}-v{schema.VERSION}", pages)
    queries_wanted = options.queries or (60 if options.quick else 500)
    whole = _place(root, Cut(1, 1))
    bare = _Bare(whole.require())
    queries = draw(data, bare, queries_wanted, random.Random(options.seed))
    single = Searcher(whole)
    agreements = [
        _agreement(single, root, shards, corrected, queries)
        for shards in SHARDS
        for corrected in ((True,) if shards == 1 else (True, False))
    ]
    _print_agreements(agreements, bare.documents, len(queries))
    times, costs = _times(options, data, root, single, queries)
    _print_times(times)
    _print_costs(costs)
    details = {"documents": bare.documents, "queries": queries, "agreements": agreements, "times": times}
    conclude(options, _figures(agreements, times, costs), details | {"costs": costs})


def _figures(agreements: list[Agreement], times: list[Times], costs: list[Cost]) -> list[Figure]:
    alike = {one.shards: one.but_for_ties for one in agreements if one.corrected}
    base, found = times[0], {one.name: one for one in times}
    ratios = []
    for n in SHARDS[1:]:
        front, slowest = found[_FRONT.format(n)].at(0.5), found[_SLOWEST.format(n)].at(0.5)
        name = f"p50 of a front end, {n} shards ÷"
        ratios += [
            Figure(f"{name} its slowest shard", front / slowest, "×", SLOWER, True, most=1000, by_clock=True),
            Figure(f"{name} one process", front / base.at(0.5), "×", most=1000, by_clock=True),
        ]
    ratios += [
        Figure(f"CPU of a front end, {c.shards} shards ÷ one of them", c.ratio, "×", SLOWER, True) for c in costs
    ]
    return [
        *(
            Figure(f"same results but for ties, {n} shards", share, "", GOAL, most=1)
            for n, share in alike.items()
            if n > 1
        ),
        *ratios,
    ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add_usual(parser, "800 pages, 60 queries, one round")
    add("--pages", type=int, help="pages of the corpus, about (40,000)")
    add("--queries", type=int, help="how many (500)")
    add("--rounds", type=int, help="times each is asked (3; 1 with --quick)")
    add("--seed", type=int, default=SEED)
    add("--data", type=Path, help="data folder of the corpus (the one _corpus.py makes)")
    add("--cache", default="", help="cache folder of the corpus ($XDG_CACHE_HOME/gossamer-bench)")
    add("--gossamer", default="", help="the command, if not the one of this environment")
    return parser.parse_args()


def _place(root: Path, cut: Cut) -> IndexFolder:
    return IndexFolder(root / f"{cut.shard}-of-{cut.shards}")


def _build(data: Path, root: Path, pages: int) -> Path:
    """The same pages in one, two and four indexes; built once."""
    if root.is_dir():
        return root
    print(f"building indexes in {root}", file=sys.stderr)
    scratch = root.with_name(root.name + ".part")
    shutil.rmtree(scratch, ignore_errors=True)
    writers = {cut: _writer(_place(scratch, cut), cut) for cut in _cuts()}
    step = max(1, round(sum(1 for _ in iter_documents(data)) / pages))
    batch: list[IndexPage] = []
    for number, page in enumerate(iter_documents(data)):
        if number % step == 0:
            batch.append(IndexPage(url=page.url, title=page.title, text=page.text, lang=page.lang or None))
        if len(batch) >= _BATCH:
            _write(writers, batch)
            batch = []
    _write(writers, batch)
    for writer in writers.values():
        writer.merge_some(wait=True)
        writer.close()
    scratch.rename(root)
    return root


def _cuts() -> list[Cut]:
    return [Cut(shard, shards) for shards in SHARDS for shard in range(1, shards + 1)]


def _writer(folder: IndexFolder, cut: Cut) -> IndexWriter:
    generation = folder.create("bench", cut)
    folder.switch(generation)
    return IndexWriter(folder.tantivy(generation), folder.scratch(generation))


def _write(writers: Mapping[Cut, IndexWriter], batch: list[IndexPage]) -> None:
    documents = [(page.key, build(page)) for page in batch]
    for cut, writer in writers.items():
        mine = {key: document for key, document in documents if cut.holds(key)}
        writer.apply(mine, (), writer.position + 1, 0.0)


class _Inside:
    """Shards in this process: `search.rounds.Nodes` without a network."""

    def __init__(self, root: Path, shards: int) -> None:
        self.shards = shards
        cuts = [Cut(shard, shards) for shard in range(1, shards + 1)]
        self._nodes = {cut.shard: ShardSearcher(_place(root, cut), cut) for cut in cuts}

    def ask(self, operation: str, asks: Mapping[int, bytes], seconds: float) -> tuple[dict[int, bytes], dict[int, str]]:
        """Ask them one after the other."""
        return {shard: self._answer(operation, shard, data) for shard, data in asks.items()}, {}

    def _answer(self, operation: str, shard: int, data: bytes) -> bytes:
        node = self._nodes[shard]
        body = getattr(node, operation)(msgspec.msgpack.decode(data, type=OPERATIONS[operation]))
        return msgspec.msgpack.encode(Envelope(node.identity(), msgspec.Raw(msgspec.msgpack.encode(body))))


def _agreement(single: Searcher, root: Path, shards: int, corrected: bool, queries: list[str]) -> Agreement:
    divided = ShardedSearcher(_Inside(root, shards), deadline=600.0)
    before, lengths.ALIKE = lengths.ALIKE, lengths.ALIKE if corrected else 1e9
    try:
        pairs = [(single.search(Request(query=query)), divided.search(Request(query=query))) for query in queries]
    finally:
        lengths.ALIKE = before
    differences = [difference for one, many in pairs for difference in _differences(one, many)]
    mean = statistics.fmean
    return Agreement(
        shards,
        corrected,
        mean(_urls(one) == _urls(many) for one, many in pairs),
        mean(_same_but_for_ties(one, many) for one, many in pairs),
        mean(_overlap(one, many) for one, many in pairs),
        mean(one.total == many.total for one, many in pairs),
        mean(differences or [0.0]),
        max(differences, default=0.0),
    )


def _urls(results: Results) -> list[str]:
    return [hit.url for hit in results.hits]


def _overlap(one: Results, many: Results) -> float:
    return len({*_urls(one)} & {*_urls(many)}) / max(len(one.hits), len(many.hits), 1) if one.hits else 1.0


def _differences(one: Results, many: Results) -> Iterator[float]:
    scores = {hit.url: hit.score for hit in one.hits}
    for hit in many.hits:
        if scores.get(hit.url):
            yield abs(hit.score - scores[hit.url]) / scores[hit.url]


def _same_but_for_ties(one: Results, many: Results) -> bool:
    """Whether every place has the same score: pages with equal scores may stand in for each other."""
    if len(one.hits) != len(many.hits):
        return False
    scores = zip((hit.score for hit in one.hits), (hit.score for hit in many.hits), strict=True)
    return all(abs(mine - theirs) <= _TIE * abs(mine) for mine, theirs in scores)


def _times(
    options: argparse.Namespace, data: Path, root: Path, single: Searcher, queries: list[str]
) -> tuple[list[Times], list[Cost]]:
    rounds = options.rounds or (1 if options.quick else 3)
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-shards-")))
        borrowed = borrow(data, place / "data", without=("gossamer.toml", "run", "index"))
        asks: dict[str, Ask] = {"one process": _searching(single)}
        servers: dict[int, list[int]] = {}
        for shards in SHARDS:
            cuts = [Cut(shard, shards) for shard in range(1, shards + 1)]
            started = [stack.enter_context(_server(options, borrowed, _place(root, cut), cut)) for cut in cuts]
            servers[shards] = [pid for _, pid in started]
            nodes = RemoteNodes([[address] for address, _ in started])
            stack.callback(nodes.close)
            asks |= {_ALONE.format(cut): _searching(_alone(root, cut)) for cut in cuts if shards > 1}
            asks[_FRONT.format(shards)] = _asking(ShardedSearcher(nodes, deadline=30.0))
        times = _measure(queries, asks, rounds)
        costs = [_cost(shards, queries, asks, servers[shards]) for shards in SHARDS if shards > 1]
    return _with_slowest(times), costs


def _with_slowest(times: list[Times]) -> list[Times]:
    """The slowest shard for each query instead of all shards."""
    found = {one.name: one for one in times}
    shown = [times[0]]
    for shards in SHARDS:
        if shards > 1:
            each = [found[_ALONE.format(Cut(shard, shards))] for shard in range(1, shards + 1)]
            wall = [max(several) for several in zip(*(one.wall for one in each), strict=True)]
            cpu = [max(several) for several in zip(*(one.cpu for one in each), strict=True)]
            shown.append(Times(_SLOWEST.format(shards), wall, cpu, 0.0))
        shown.append(found[_FRONT.format(shards)])
    return shown


def _cost(shards: int, queries: list[str], asks: Mapping[str, Ask], servers: list[int]) -> Cost:
    """CPU of all queries, once more: of the front end and of its servers, and of each shard alone."""

    def own(name: str) -> float:
        before = time.process_time()
        for query in queries:
            asks[name](query)
        return (time.process_time() - before) * 1e3 / len(queries)

    before = [process_cpu(str(pid)) for pid in servers]
    front = own(_FRONT.format(shards))
    used = [(process_cpu(str(pid)) - then) * 1e3 / len(queries) for pid, then in zip(servers, before, strict=True)]
    alone = max(own(_ALONE.format(Cut(shard, shards))) for shard in range(1, shards + 1))
    return Cost(shards, front, max(used), alone)


def _alone(root: Path, cut: Cut) -> Searcher:
    """A searcher of a shard's index, as if there were no others."""
    searcher = Searcher(_place(root, cut))
    searcher._views = Views(_place(root, cut), cut)
    return searcher


def _searching(searcher: Searcher) -> Ask:
    return lambda query: len(searcher.search(Request(query=query)).hits)


def _asking(front: ShardedSearcher) -> Ask:
    def ask(query: str) -> int:
        results = front.search(Request(query=query))
        assert not results.incomplete, results.shards
        return len(results.hits)

    return ask


@contextmanager
def _server(options: argparse.Namespace, data: Path, index: IndexFolder, cut: Cut) -> Iterator[tuple[str, int]]:
    """Its address, and its process."""
    command = [find_gossamer(options.gossamer), "serve", "--data", str(data), "--port", "0"]
    command += ["--shard", str(cut), "--index", str(index.root)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert process.stdout is not None
        found = _AT.search(process.stdout.readline())
        if found is None:
            raise SystemExit(f"shard {cut} did not start")
        yield found[1], process.pid
    finally:
        process.terminate()
        process.wait(10)


def _print_agreements(agreements: list[Agreement], documents: int, queries: int) -> None:
    print(f"\n{documents} pages, {queries} queries\n")
    print("| shards | lengths | identical | but for ties | overlap@10 | totals | score difference, mean | largest |")
    print("|---:|---|---:|---:|---:|---:|---:|---:|")
    for one in agreements:
        shares = [f"{share:.1%}" for share in (one.identical, one.but_for_ties, one.overlap, one.totals)]
        kind = "corrected" if one.corrected else "not corrected"
        differences = f"{one.mean_difference:.1e} | {one.largest_difference:.1e}"
        print(f"| {one.shards} | {kind} | {' | '.join(shares)} | {differences} |")
    print(f"\ngoal: {GOAL:.0%} the same but for ties")


def _print_times(times: list[Times]) -> None:
    print("\n|  | p50 ms | p90 ms | p99 ms | p50 ÷ one process | p99 ÷ one process |\n|---|---:|---:|---:|---:|---:|")
    base = times[0]
    for one in times:
        cells = [f"{one.at(share):.2f}" for share in (0.5, 0.9, 0.99)]
        ratios = [f"{one.at(share) / base.at(share):.2f}" for share in (0.5, 0.99)]
        print(f"| {one.name} | {' | '.join(cells)} | {' | '.join(ratios)} |")


def _print_costs(costs: list[Cost]) -> None:
    print("\n| CPU ms of a query | front end | a shard | that shard alone | ratio |\n|---|---:|---:|---:|---:|")
    for one in costs:
        print(f"| {one.shards} shards | {one.front:.2f} | {one.shard:.2f} | {one.alone:.2f} | {one.ratio:.2f} |")


if __name__ == "__main__":
    main()

"""How fast the searcher answers, against bare Tantivy on the same pages, and what the whole server takes.

    python bench/query.py                  1,000 queries, three rounds; then the server
    python bench/query.py --quick          100 queries, one round, a shorter load; makes a small corpus if there is none
    python bench/query.py --data D --no-server

The corpus (`_corpus.py`) must be indexed: `gossamer index --data D`. Queries are drawn from it by a
fixed seed, one half from titles (two to five words in a row of a random page's title), one half from
texts (one to three words of a random page, each in ten pages at least and in 5 % at most); of writing
without spaces, two to six characters in a row. So languages and scripts come as the corpus has them.

Each query is asked of every contestant before the next query comes, the order turning from query
to query, so that a busy machine and warm caches hit all alike. There are several rounds; a query's
time is its median.

- *tantivy*: our index, the library's own query parser over title and text, the ten best, each with its
  stored value read and decoded (URL, title, text). No excerpts, no stems, no priors: the floor. (Writing
  without spaces is cut into characters first, as the index has it; else the parser would find nothing.)
- *plain*: an index of the same pages as the library alone makes it (default analysis, URL, title and text
  stored; built once into the cache), ten best, read; *plain + snippets*: with the library's excerpts.
- *gossamer*: our searcher with excerpts, facets off; *gossamer + facets*: with them.

The figure is *gossamer ÷ tantivy* at p50 and p99; the goal is 1.5. Milliseconds are wall time;
the CPU columns are those of this process and are the ones to trust on a busy machine.

The server is `gossamer serve` in a process of its own without rate limit, asked by wrk over eight
connections that stay open, the HTML page and the JSON API with the same queries in turn.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

import msgspec
import tantivy

from _corpus import NAME, Document, find_corpus, iter_documents
from _crawlers import end_cleanly_when_told, find_gossamer
from _figures import Figure, add_usual, conclude, leave_out
from _nginx import _cpu as process_cpu
from _sites import cache_folder
from gossamer.index import analysis, schema
from gossamer.index.folder import IndexFolder
from gossamer.search.results import Request
from gossamer.search.searcher import Searcher
from index import borrow, write_tantivy

GOAL = 1.5
SEED = 20_261_115
PATHS = {"HTML page": "/search?q=", "JSON API": "/api/v1/search?q="}
_WORD = re.compile(r"[^\W\d_]{2,}")
_LUA = """
local paths, n = {}, 0
for line in io.lines("%s") do paths[#paths + 1] = line end
request = function()
  n = n + 1
  return wrk.format("GET", paths[(n - 1) %% #paths + 1])
end
done = function(summary, latency)
  local e = summary.errors
  print(string.format('{"requests": %%d, "seconds": %%f, "failed": %%d, "p50": %%f, "p99": %%f}', summary.requests,
    summary.duration / 1e6, e.connect + e.read + e.write + e.status + e.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
"""

Ask = Callable[[str], int]
"""Asks a query; returns how many hits came back."""


class Times(msgspec.Struct, frozen=True):
    """How long a contestant took, in milliseconds."""

    name: str
    wall: list[float]
    """Of each query."""
    cpu: list[float]
    hits: float
    """Hits a query, on the average."""

    def at(self, share: float, cpu: bool = False) -> float:
        """A quantile."""
        return quantile(self.cpu if cpu else self.wall, share)


class Load(msgspec.Struct, frozen=True):
    """What the server answered."""

    name: str
    requests: int
    seconds: float
    failed: int
    p50: float
    p99: float
    cpu: float
    """CPU seconds of the server."""


def main() -> None:
    """Draws the queries, asks them, and prints the tables."""
    options = _options()
    end_cleanly_when_told()
    cache = cache_folder(options.cache)
    data = find_corpus(options.data, cache, options.quick)
    count = options.queries or (100 if options.quick else 1_000)
    bare = _Bare(IndexFolder(data / "index").require())
    queries = draw(data, bare, count, random.Random(options.seed))
    asks: dict[str, Ask] = {"tantivy": bare.ask}
    if not options.no_plain:
        plain = _Plain(_plain_index(data, cache, bare.documents))
        asks |= {"plain": plain.ask, "plain + snippets": plain.ask_with_snippets}
    ours = Searcher.open(data / "index")
    asks["gossamer"] = lambda query: len(ours.search(Request(query=query, facets=False)).hits)
    asks["gossamer + facets"] = lambda query: len(ours.search(Request(query=query)).hits)
    rounds = options.rounds or (1 if options.quick else 3)
    times = _measure(queries, asks, rounds)
    _print_times(times, bare, queries)
    loads = [] if options.no_server else _loads(options, data, queries)
    if loads:
        _print_loads(loads)
    details = {"documents": bare.documents, "queries": queries, "times": times, "loads": loads}
    conclude(options, _figures(times, loads), details, _problems(times, loads))


def _figures(times: list[Times], loads: list[Load]) -> list[Figure]:
    found = {one.name: one for one in times}
    ours, floor = found["gossamer"], found["tantivy"]
    figures = [
        Figure("p50 ÷ bare Tantivy", ours.at(0.5) / floor.at(0.5), "×", GOAL, True, by_clock=True),
        Figure("p99 ÷ bare Tantivy", ours.at(0.99) / floor.at(0.99), "×", GOAL, True, by_clock=True),
    ]
    for share in (0.5, 0.99):
        beside = {name: one.at(share) for name, one in found.items() if name != "gossamer"}
        figures.append(
            Figure(f"a query, p{100 * share:.0f}", ours.at(share), "ms", beside=beside, most=60_000, by_clock=True)
        )
    return [
        *figures,
        *(
            Figure(f"{load.name}s served", load.requests / load.seconds, "/s", least=0.1, by_clock=True)
            for load in loads
        ),
    ]


def _problems(times: list[Times], loads: list[Load]) -> list[str]:
    problems = [f"{one.name} found nothing" for one in times if not one.hits]
    return [*problems, *(f"{load.name}: {load.failed} failed" for load in loads if load.failed)]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add_usual(parser, "100 queries, one round, three seconds of load")
    add("--queries", type=int, help="how many (1,000; 100 with --quick)")
    add("--rounds", type=int, help="times each is asked (3; 1 with --quick)")
    add("--seed", type=int, default=SEED)
    add("--no-plain", action="store_true", help="without the index that the library alone makes")
    add("--no-server", action="store_true", help="the searcher only")
    add("--connections", type=int, default=8)
    add("--data", type=Path, help="data folder of the corpus (the one _corpus.py makes), indexed")
    add("--cache", default="", help="cache folder of the corpus ($XDG_CACHE_HOME/gossamer-bench)")
    add("--gossamer", default="", help="the command, if not the one of this environment")
    add("--port", type=int, default=8086)
    return parser.parse_args()


def draw(data: Path, bare: _Bare, count: int, chance: random.Random) -> list[str]:
    """Queries as people might type them, from random pages."""
    queries: dict[str, None] = {}
    pages = _sample(data, count * 6, chance)
    for number, page in enumerate(pages):
        query = _from_title(page, chance) if number % 2 else _from_text(page, bare, chance)
        if query:
            queries[query] = None
        if len(queries) == count:
            break
    return list(queries)


def _sample(data: Path, size: int, chance: random.Random) -> list[Document]:
    """Pages drawn evenly from all, in random order."""
    kept: list[Document] = []
    for number, page in enumerate(iter_documents(data)):
        if number < size:
            kept.append(page)
        elif (place := chance.randrange(number + 1)) < size:
            kept[place] = page
    chance.shuffle(kept)
    return kept


def _from_title(page: Document, chance: random.Random) -> str:
    runs = analysis.PAIRED_RUN.findall(page.title)
    if runs:
        return _piece(chance.choice(runs), 6, chance)
    words = _WORD.findall(page.title)
    length = chance.randint(2, 5)
    start = chance.randrange(max(1, len(words) - length + 1))
    return " ".join(words[start : start + length])


def _from_text(page: Document, bare: _Bare, chance: random.Random) -> str:
    start = chance.randrange(max(1, len(page.text) - 2_000))
    text = page.text[start : start + 2_000]
    runs = [run for run in analysis.PAIRED_RUN.findall(text) if len(run) > 1]
    if runs:
        found = [_piece(chance.choice(runs), 2, chance) for _ in range(20)]
        words = [word for word in dict.fromkeys(found) if bare.is_usual(schema.BODY_STEMS, word)]
    else:
        cut = _WORD.findall(text)[1:-1]
        chance.shuffle(cut)
        words = [word for word in dict.fromkeys(cut[:50]) if bare.is_usual(schema.BODY, word)]
    return " ".join(words[: chance.randint(1, 3)])


def _piece(run: str, longest: int, chance: random.Random) -> str:
    length = chance.randint(2, longest)
    start = chance.randrange(max(1, len(run) - length + 1))
    return run[start : start + length]


class _Bare:
    """Our index, asked by nothing but the library."""

    def __init__(self, folder: Path) -> None:
        self._index = schema.prepare(tantivy.Index.open(str(folder)))
        self._searcher = self._index.searcher()
        self.documents: int = self._searcher.num_docs
        self.segments: int = self._searcher.num_segments

    def is_usual(self, field: str, word: str) -> bool:
        """Whether a word is neither too rare nor too common to be asked for."""
        term = word if field == schema.BODY_STEMS else next(iter(analysis.surface_words(word)), "")
        return 10 <= self._searcher.doc_freq(field, term) <= self.documents / 20

    def ask(self, query: str) -> int:
        """The ten best with their URLs and titles."""
        fields = [schema.TITLE, schema.BODY]
        parsed = self._index.parse_query(analysis.surface(query), fields, field_boosts={schema.TITLE: 2.0})
        found = self._searcher.search(parsed, 10).hits
        for _, address in found:
            schema.decode(self._searcher.doc(address))
        return len(found)


class _Plain:
    """An index as the library alone makes it."""

    def __init__(self, folder: Path) -> None:
        self._index = tantivy.Index.open(str(folder))
        self._searcher = self._index.searcher()

    def ask(self, query: str) -> int:
        """The ten best with their URLs and titles."""
        return self._ask(query, False)

    def ask_with_snippets(self, query: str) -> int:
        """The ten best with the library's excerpts."""
        return self._ask(query, True)

    def _ask(self, query: str, snippets: bool) -> int:
        parsed = self._index.parse_query(query, ["title", "text"], field_boosts={"title": 2.0})
        found = self._searcher.search(parsed, 10).hits
        cutter = (
            tantivy.SnippetGenerator.create(self._searcher, parsed, self._index.schema, "text") if snippets else None
        )
        for _, address in found:
            page = self._searcher.doc(address)
            _ = page["url"], page["title"]
            if cutter:
                cutter.snippet_from_doc(page).to_html()
        return len(found)


def _plain_index(data: Path, cache: Path, documents: int) -> Path:
    """Built once for each corpus."""
    folder = cache / NAME / f"plain-{data.resolve().name}-{documents}"
    if not folder.is_dir():
        print(f"building an index with the library alone in {folder}", file=sys.stderr)
        scratch = folder.with_name(folder.name + ".part")
        shutil.rmtree(scratch, ignore_errors=True)
        write_tantivy(scratch, iter_documents(data))
        scratch.rename(folder)
    return folder


def _measure(queries: list[str], asks: dict[str, Ask], rounds: int) -> list[Times]:
    names = list(asks)
    wall: dict[str, list[list[float]]] = {name: [[] for _ in queries] for name in names}
    cpu: dict[str, list[list[float]]] = {name: [[] for _ in queries] for name in names}
    hits = dict.fromkeys(names, 0)
    for query in queries[:50]:
        for ask in asks.values():
            ask(query)
    for turn in range(rounds):
        for number, query in enumerate(queries):
            start = (number + turn) % len(names)
            for name in names[start:] + names[:start]:
                cpu_before, before = time.process_time_ns(), time.perf_counter_ns()
                found = asks[name](query)
                wall[name][number].append((time.perf_counter_ns() - before) / 1e6)
                cpu[name][number].append((time.process_time_ns() - cpu_before) / 1e6)
                hits[name] += found
    medians = statistics.median
    return [
        Times(name, list(map(medians, wall[name])), list(map(medians, cpu[name])), hits[name] / rounds / len(queries))
        for name in names
    ]


def quantile(values: list[float], share: float) -> float:
    """The smallest value that is not exceeded by `share` of them."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def _print_times(times: list[Times], bare: _Bare, queries: list[str]) -> None:
    print(f"\n{bare.documents} pages in {bare.segments} segments, {len(queries)} queries; milliseconds\n")
    print("|  | p50 | p90 | p99 | CPU p50 | CPU p90 | CPU p99 | hits |\n|---|---:|---:|---:|---:|---:|---:|---:|")
    for t in times:
        cells = [f"{t.at(share, cpu):.2f}" for cpu in (False, True) for share in (0.5, 0.9, 0.99)]
        print(f"| {t.name} | {' | '.join(cells)} | {t.hits:.1f} |")
    found = {t.name: t for t in times}
    for name in ("gossamer", "gossamer + facets"):
        ratios = []
        for cpu in (False, True):
            of = [
                f"p{share * 100:.0f} {found[name].at(share, cpu) / found['tantivy'].at(share, cpu):.2f}"
                for share in (0.5, 0.99)
            ]
            ratios.append(f"{'CPU ' if cpu else ''}{', '.join(of)}")
        print(f"\n{name} ÷ tantivy: {'; '.join(ratios)}{f'   goal {GOAL}' if name == 'gossamer' else ''}")


def _loads(options: argparse.Namespace, data: Path, queries: list[str]) -> list[Load]:
    if not shutil.which("wrk"):
        leave_out("the server", "get wrk with: apt-get install wrk")
        return []
    seconds = 3 if options.quick else 20
    loads = []
    with tempfile.TemporaryDirectory(prefix="bench-query-") as folder, _server(options, data, Path(folder)) as server:
        for name, path in PATHS.items():
            place = Path(folder)
            (place / "paths").write_text("\n".join(path + quote(query) for query in queries) + "\n")
            (place / "load.lua").write_text(_LUA % (place / "paths"))
            command = ["wrk", "-t1", f"-c{options.connections}", "-s", str(place / "load.lua")]
            address = f"http://127.0.0.1:{options.port}"
            subprocess.run([*command, "-d2s", address], capture_output=True, check=True)  # warm
            before = process_cpu(str(server.pid))
            done = subprocess.run([*command, f"-d{seconds}s", address], capture_output=True, check=True, text=True)
            said: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
            loads.append(Load(name=name, cpu=process_cpu(str(server.pid)) - before, **said))
    return loads


@contextmanager
def _server(options: argparse.Namespace, data: Path, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """`gossamer serve` on the corpus, with settings of its own."""
    borrowed = borrow(data, folder / "data", without=("gossamer.toml", "run"))
    (borrowed / "gossamer.toml").write_text("[serve]\nrate = 0\n")
    command = [find_gossamer(options.gossamer), "serve", "--data", str(borrowed), "--port", str(options.port)]
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True)
    try:
        _wait_for(options.port, process, folder / "said")
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes], said: Path) -> None:
    for _ in range(300):
        if process.poll() is not None:
            raise SystemExit(f"gossamer serve ended: {said.read_text(errors='replace').strip()[-2000:]}")
        try:
            with urlopen(f"http://127.0.0.1:{port}/healthz", timeout=30):
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("gossamer serve did not answer within 30 s")


def _print_loads(loads: list[Load]) -> None:
    print("\n| server | requests/s | p50 ms | p99 ms | failed | requests per CPU s of the server |")
    print("|---|---:|---:|---:|---:|---:|")
    for load in loads:
        rate, per_cpu = load.requests / load.seconds, load.requests / max(load.cpu, 0.01)
        print(f"| {load.name} | {rate:.0f} | {load.p50:.1f} | {load.p99:.1f} | {load.failed} | {per_cpu:.0f} |")


if __name__ == "__main__":
    main()

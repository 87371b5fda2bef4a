"""How fast the searcher answers, against bare Tantivy on the same pages, and what the whole server takes.

    python bench/query.py                  1,000 queries and 300 misspelt ones, three rounds; then the server
    python bench/query.py --quick          100 and 50, one round, a shorter load; makes a small corpus if there is none
    python bench/query.py --data D --no-server

The corpus (`_corpus.py`) must be indexed: `gossamer index --data D`. Queries are drawn from it by a
fixed seed, one half from titles (two to five words in a row of a random page's title), one half from
texts (one to three words of a random page, each in ten pages at least and in 5 % at most); of writing
without spaces, two to six characters in a row. So languages and scripts come as the corpus has them.

Each query is asked of every contestant before the next query comes, the order turning from query
to query, so that a busy machine and warm caches hit all alike. There are several rounds; a query's
time is its median.

- *plain + snippets*: an index of the same pages as the library alone makes it (default analysis, URL, title
  and text stored; built once into the cache), any of the words in title or text, the ten best with the
  library's excerpts. This is the baseline. *plain*: the same without excerpts.
- *tantivy*: our index, the library's own query parser over title and text, the ten best, each with its
  stored value read and decoded (URL, title, text). No excerpts, no stems, no priors: the floor. (Writing
  without spaces is cut into characters first, as the index has it; else the parser would find nothing.)
- *gossamer*: our searcher with excerpts, facets off; *gossamer + facets*: with them; *gossamer again*: with
  them, by the searcher of the server, which remembers its answers.

The figures are *gossamer ÷ plain + snippets* at p50 (goal: 1.5) and at p99 (goal: 2). Milliseconds are wall
time; the CPU columns are those of this process and are the ones to trust on a busy machine.

Misspelt queries are drawn ones in which a word of five letters or more has two letters swapped, one dropped,
doubled or exchanged, so that no page has it. The library finds nothing for such a word, in no time. So there
the baseline is *plain, fuzzy + snippets*: the same with words one mistake away, as the library finds them.

The server is `gossamer serve` in a process of its own without rate limit, asked by wrk over eight connections
that stay open, with the same queries in turn: the HTML page, the JSON API, and the JSON API of a server that
remembers nothing. The figure is JSON answers per CPU second of the server (goal: 1,000).
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
from gossamer.search.remembered import RememberingSearcher
from gossamer.search.results import Request
from gossamer.search.searcher import Searcher
from index import borrow, write_tantivy

GOAL, GOAL_P99, GOAL_RATE = 1.5, 2.0, 1_000.0
BASELINE, FUZZY = "plain + snippets", "plain, fuzzy + snippets"
SEED = 20_261_115
JSON = "/api/v1/search?q="
LOADS = (("HTML page", "/search?q=", True), ("JSON API", JSON, True), ("JSON API that remembers nothing", JSON, False))
"""Name, path, and whether the server remembers its answers."""
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

    @property
    def per_cpu(self) -> float:
        """Requests per CPU second of the server."""
        return self.requests / max(self.cpu, 0.01)


def main() -> None:
    """Draws the queries, asks them, and prints the tables."""
    options = _options()
    end_cleanly_when_told()
    cache = cache_folder(options.cache)
    data = find_corpus(options.data, cache, options.quick)
    count = options.queries or (100 if options.quick else 1_000)
    bare = _Bare(IndexFolder(data / "index").require())
    chance = random.Random(options.seed)
    queries = draw(data, bare, count, chance)
    wrong = misspelt(queries, bare, 50 if options.quick else 300, chance)
    asks: dict[str, Ask] = {"tantivy": bare.ask}
    fuzzy: dict[str, Ask] = {}
    if not options.no_plain:
        plain = _Plain(_plain_index(data, cache, bare.documents))
        asks |= {"plain": plain.ask, BASELINE: plain.ask_with_snippets}
        fuzzy = {FUZZY: plain.ask_fuzzily}
    ours, again = Searcher.open(data / "index"), RememberingSearcher(IndexFolder(data / "index"))
    asks["gossamer"] = lambda query: len(ours.search(Request(query=query, facets=False)).hits)
    asks["gossamer + facets"] = lambda query: len(ours.search(Request(query=query)).hits)
    for query in (*queries, *wrong):
        again.search(Request(query=query))
    asks["gossamer again"] = lambda query: len(again.search(Request(query=query)).hits)
    rounds = options.rounds or (1 if options.quick else 3)
    times = _measure(queries, asks, rounds)
    print(f"\n{bare.documents} pages in {bare.segments} segments, {len(queries)} queries; milliseconds\n")
    _print_times(times, BASELINE)
    wrong_times = _measure(wrong, asks | fuzzy, rounds)
    print(f"\n{len(wrong)} misspelt queries; milliseconds\n")
    _print_times(wrong_times, FUZZY)
    loads = [] if options.no_server else _loads(options, data, queries)
    if loads:
        _print_loads(loads)
    details = {
        "documents": bare.documents, "queries": queries, "times": times, "misspelt": wrong,
        "misspelt times": wrong_times, "loads": loads,
    }  # fmt: skip
    figures = [
        *_ratios("", times, BASELINE), *_ratios("misspelt, ", wrong_times, FUZZY), *_milliseconds(times),
        *_rates(loads),
    ]  # fmt: skip
    conclude(options, figures, details, _problems(times, loads))


def _ratios(what: str, times: list[Times], baseline: str) -> list[Figure]:
    found = {one.name: one for one in times}
    figures = []
    for share, goal in ((0.5, GOAL), (0.99, GOAL_P99)) if baseline in found else ():
        ratios = {name: one.at(share) / found[baseline].at(share) for name, one in found.items() if name != baseline}
        ours, name = ratios.pop("gossamer"), f"{what}p{100 * share:.0f} ÷ Tantivy with its snippets"
        figures.append(Figure(name, ours, "×", goal, True, beside=ratios, by_clock=True))
    return figures


def _milliseconds(times: list[Times]) -> list[Figure]:
    found = {one.name: one for one in times}
    return [
        Figure(
            f"a query, p{100 * share:.0f}", found["gossamer"].at(share), "ms", most=60_000, by_clock=True,
            beside={name: one.at(share) for name, one in found.items() if name != "gossamer"},
        )
        for share in (0.5, 0.99)
    ]  # fmt: skip


def _rates(loads: list[Load]) -> list[Figure]:
    found = {load.name: load for load in loads}
    figures = [
        Figure(f"answers served, {load.name}", load.requests / load.seconds, "/s", least=0.1, by_clock=True)
        for load in loads
    ]
    if "JSON API" in found:
        others = {name: load.per_cpu for name, load in found.items() if name != "JSON API"}
        name = "JSON answers per CPU second of the server"
        figures.append(Figure(name, found["JSON API"].per_cpu, "/s", GOAL_RATE, beside=others, least=0.1))
    return figures


def _problems(times: list[Times], loads: list[Load]) -> list[str]:
    problems = [f"{one.name} found nothing" for one in times if not one.hits]
    return [*problems, *(f"{load.name}: {load.failed} failed" for load in loads if load.failed)]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add_usual(parser, "100 queries and 50 misspelt ones, one round, three seconds of load")
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


def misspelt(queries: list[str], bare: _Bare, count: int, chance: random.Random) -> list[str]:
    """Queries one word of which has a mistake that makes it a word of no page."""
    found: dict[str, None] = {}
    for query in queries * 5:
        words = query.split()
        long = [place for place, word in enumerate(words) if len(word) >= 5 and not analysis.is_spaceless(word)]
        if not long or len(found) == count:
            continue
        place = chance.choice(long)
        words[place] = _mistyped(words[place], chance)
        if not bare.is_known(words[place]):
            found[" ".join(words)] = None
    return list(found)


def _mistyped(word: str, chance: random.Random) -> str:
    at = chance.randrange(1, len(word) - 1)
    start, letter, after, rest = word[:at], word[at], word[at + 1], word[at + 2 :]
    other = chance.choice([one for one in word if one != letter] or ["x"])
    return start + chance.choice([after + letter, after, letter + letter + after, other + after]) + rest


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

    def is_known(self, word: str) -> bool:
        """Whether a page has a word."""
        return any(self._searcher.doc_freq(schema.BODY, term) for term in analysis.surface_words(word))

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

    def ask_fuzzily(self, query: str) -> int:
        """The same with words one mistake away."""
        return self._ask(query, True, {"title": (False, 1, True), "text": (False, 1, True)})

    def _ask(self, query: str, snippets: bool, fuzzy: dict[str, tuple[bool, int, bool]] | None = None) -> int:
        fields = ["title", "text"]
        parsed = self._index.parse_query(query, fields, field_boosts={"title": 2.0}, fuzzy_fields=fuzzy or {})
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


def _print_times(times: list[Times], baseline: str) -> None:
    print("|  | p50 | p90 | p99 | CPU p50 | CPU p90 | CPU p99 | hits |\n|---|---:|---:|---:|---:|---:|---:|---:|")
    for t in times:
        cells = [f"{t.at(share, cpu):.2f}" for cpu in (False, True) for share in (0.5, 0.9, 0.99)]
        print(f"| {t.name} | {' | '.join(cells)} | {t.hits:.1f} |")
    found = {t.name: t for t in times}
    for name in ("gossamer", "gossamer + facets", "gossamer again"):
        for beside in (baseline, "tantivy"):
            ratios = []
            for cpu in (False, True):
                of = [
                    f"p{share * 100:.0f} {found[name].at(share, cpu) / found[beside].at(share, cpu):.2f}"
                    for share in (0.5, 0.99)
                    if beside in found
                ]
                ratios.append(f"{'CPU ' if cpu else ''}{', '.join(of)}")
            is_goal = name == "gossamer" and beside == baseline
            print(f"\n{name} ÷ {beside}: {'; '.join(ratios)}{f'   goal {GOAL}, {GOAL_P99}' if is_goal else ''}")


def _loads(options: argparse.Namespace, data: Path, queries: list[str]) -> list[Load]:
    if not shutil.which("wrk"):
        leave_out("the server", "get wrk with: apt-get install wrk")
        return []
    seconds = 3 if options.quick else 20
    loads = []
    for name, path, remembers in LOADS:
        with (
            tempfile.TemporaryDirectory(prefix="bench-query-") as folder,
            _server(options, data, Path(folder), remembers) as server,
        ):
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
def _server(
    options: argparse.Namespace, data: Path, folder: Path, remembers: bool
) -> Iterator[subprocess.Popen[bytes]]:
    """`gossamer serve` on the corpus, with settings of its own."""
    borrowed = borrow(data, folder / "data", without=("gossamer.toml", "run"))
    (borrowed / "gossamer.toml").write_text("[serve]\nrate = 0\n" + ("" if remembers else "remembered = 0\n"))
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
        rate = load.requests / load.seconds
        print(f"| {load.name} | {rate:.0f} | {load.p50:.1f} | {load.p99:.1f} | {load.failed} | {load.per_cpu:.0f} |")


if __name__ == "__main__":
    main()

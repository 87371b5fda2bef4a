"""What ranks cost: our job on the local engine against a bare SciPy loop on the same arrays; warm restarts.

    python bench/pagerank.py                    cnr-2000 (../shared/data/graph) and the crawl of _corpus.py
    python bench/pagerank.py --quick            one round; of the crawl a small one
    python bench/pagerank.py --data D           the crawl in data folder D
    python bench/pagerank.py --ray              also on a Ray cluster of this machine, in a network namespace of its own

The crawl's graph is made from its segments by the job that `gossamer rank` uses, once, into the cache. cnr-2000 is a
crawl of 2000 by the Laboratory for Web Algorithmics; it has no URLs, so its nodes keep their order, in which
neighbours are near in memory. Nodes of our own graphs are in the order of their keys, as if shuffled.

Contestants, each round in a process of its own that reads the same files and computes to the same tolerance:

- *bare*: a SciPy matrix with the entries 1/out and twelve lines of NumPy;
- *local*: the job on the local engine, the graph in one block, as its producer makes it up to 16 million links;
- *local, N blocks*: the same graph cut into N blocks;
- *tasks, N blocks*: what a cluster does, by processes of this machine: a stage of tasks and files each iteration;
- *ray, N blocks*: that on Ray, for the record.

Seconds are wall time from the files to the ranks, without imports and the start of engines, the median of the rounds.
Memory is the peak of the process (`VmHWM`), where there are more, of all of them; mapped files count as far as they
were touched, once for each process; of Ray its own services count, too. The figure is *local ÷ bare*; the goal is 1.2.
All ranks must agree to 1e-9.

*Warm restart*: iterations from nothing, and from the ranks of the graph before it changed: before some pages with
their links were there, or before some pages had other links.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import zstandard
from numpy.typing import NDArray
from scipy.sparse import csr_array

from _corpus import _segments, find_corpus
from _data import GRAPHS
from _figures import Figure, add_usual, conclude, leave_out
from _sites import cache_folder
from gossamer.engine.contract import Engine
from gossamer.engine.local import LocalEngine
from gossamer.graph.edges import links_by_target, out_degrees
from gossamer.graph.pagerank import DAMPING, Rules, rank
from gossamer.jobs.graph_files import GraphFiles, GraphInfo, write_block, write_graph
from gossamer.jobs.link_graph import GraphSource, build_graph
from gossamer.jobs.pagerank import NEW_PAGE, page_ranks
from gossamer.store.place import LocalPlace

CNR = "cnr-2000.edges.tsv.zst"
GOAL = 1.2
AGREEMENT = 1e-9
BLOCKS = 4
SHARES = (0.001, 0.01, 0.05)
"""Of the pages, that are new or changed at a warm restart."""

Array = NDArray[Any]


class Processes(LocalEngine):
    """The processes of the local engine, used as a cluster is."""

    name = "processes"


class Run(msgspec.Struct, frozen=True):
    """One process."""

    seconds: float
    cpu: float
    memory: int
    """Bytes, at most."""
    iterations: int
    residual: float


def main() -> None:
    """Measures, prints, and writes the figures where told."""
    options = _options()
    if options.child:
        print(json.dumps(msgspec.to_builtins(_child(options))))
        return
    place = LocalPlace(cache_folder(options.cache) / "pagerank")
    graphs = _graphs(place, options)
    results = {name: _measured(options, place, prefix) for name, prefix in graphs.items()}
    warm = {name: _warm(GraphFiles(place, prefix), options.tolerance) for name, prefix in graphs.items()}
    shown = [figure for name in graphs for figure in _figures(name, results[name], warm[name])]
    conclude(options, shown, {"runs": results, "warm": warm}, _problems)


_problems: list[str] = []


def _graphs(place: LocalPlace, options: argparse.Namespace) -> dict[str, str]:
    """Name → where it is stored, of the graphs whose data are there."""
    found = {}
    if (options.graphs / CNR).exists() or place.size("graph/cnr/graph.json") is not None:
        found["cnr-2000"] = _cnr(place, options.graphs)
    else:
        leave_out("cnr-2000", f"{options.graphs / CNR} is not there")
    try:
        data = find_corpus(options.data, cache_folder(options.cache), options.quick)
        found["crawl"] = _crawl(place, data)
    except SystemExit as error:
        leave_out("the crawl", str(error))
    if not found:
        raise SystemExit("no graph is there: name cnr-2000's folder with --graphs or a crawl with --data")
    return found


def _figures(name: str, runs: dict[str, list[dict[str, Any]]], warm: list[dict[str, Any]]) -> list[Figure]:
    def ratio(kind: str, of: str) -> float:
        return statistics.median(a[of] / b[of] for a, b in zip(runs[kind], runs["bare"], strict=True))

    saved = next(1 - row["warm"] / row["cold"] for row in warm if row["share"] == SHARES[1])
    return [
        Figure(
            f"{name}: local engine ÷ bare loop", ratio("local", "seconds"), "×", GOAL, True, most=1000, by_clock=True
        ),
        Figure(f"{name}: memory ÷ bare loop", ratio("local", "memory"), "×", most=1000),
        Figure(f"{name}: iterations that a warm restart saves, 1 % new pages", saved, least=-100.0, most=1.0),
    ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add_usual(parser, "one round; of the crawl a small one")
    add("--data", type=Path, help="data folder of a crawl (the corpus in the cache)")
    add("--graphs", type=Path, default=GRAPHS, help="folder of cnr-2000.edges.tsv.zst")
    add("--cache", default="", help="folder for graphs ($XDG_CACHE_HOME/gossamer-bench)")
    add("--rounds", type=int, help="(5; 1 with --quick)")
    add("--tolerance", type=float, default=Rules().tolerance)
    add("--ray", action="store_true", help="also on Ray, which must be installed")
    add("--child", nargs=4, metavar=("KIND", "PLACE", "PREFIX", "RESULT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.rounds = options.rounds or (1 if options.quick else 5)
    return options


def _cnr(place: LocalPlace, folder: Path) -> str:
    """The stored graph cnr-2000, in one block and in several."""
    if place.size("graph/cnr/graph.json") is None:
        with (folder / CNR).open("rb") as file:
            text = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(file).read()
        links = np.array(text.split(), np.int64).reshape(-1, 2)
        nodes = int(links.max()) + 1
        indptr, sources = links_by_target(links[:, 0], links[:, 1], nodes)
        for blocks in (1, BLOCKS):
            _store(place, _prefix("graph/cnr", blocks), indptr, sources, np.arange(nodes), blocks)
    return "graph/cnr"


def _crawl(place: LocalPlace, data: Path) -> str:
    """The stored graph of a crawl, in one block and in several."""
    name = f"graph/crawl-{(data / 'frontier.db').stat().st_ino}"
    if place.size(f"{name}/graph.json") is None:
        engine = LocalEngine()
        source = GraphSource(str((data / "segments").absolute()), _segments(data))
        began = time.perf_counter()
        made = build_graph(engine, place, "made", source, time.time())
        engine.close()
        print(f"link graph of {data}: {time.perf_counter() - began:.1f} s, {len(made.info.blocks)} blocks")
        parts = [made.block(number) for number in range(len(made.info.blocks))]
        indptr = np.concatenate([[0], *(np.diff(part.indptr) for part in parts)]).cumsum()
        sources = np.concatenate([part.sources for part in parts])
        for blocks in (BLOCKS, 1):
            _store(place, _prefix(name, blocks), indptr, sources, made.keys(), blocks)
        place.delete(list(place.names("graph/made/")))
    return name


def _prefix(name: str, blocks: int) -> str:
    return name if blocks == 1 else f"{name}-{blocks}"


def _store(place: LocalPlace, prefix: str, indptr: Array, sources: Array, keys: Array, blocks: int) -> None:
    """Write a graph in so many blocks of about as many links each; URLs and sites are of no account here."""
    nodes = len(keys)
    inner = np.searchsorted(indptr, len(sources) * np.arange(1, blocks) // blocks)
    cuts = [0, *inner.tolist(), nodes]
    for number in range(blocks):
        first, end = cuts[number], cuts[number + 1]
        part = indptr[first : end + 1]
        write_block(
            place, prefix, number, part - part[0], sources[part[0] : part[-1]], keys[first:end], [""] * (end - first)
        )
    info = GraphInfo(nodes, len(sources), cuts[:-1], time.time(), 0, 1)
    write_graph(place, prefix, info, keys, np.zeros(nodes), [""], out_degrees(sources, nodes))


def _measured(options: argparse.Namespace, place: LocalPlace, prefix: str) -> dict[str, Any]:
    """Run all contestants in turn, and print the table."""
    kinds = {"bare": 1, "local": 1, f"local, {BLOCKS} blocks": BLOCKS, f"tasks, {BLOCKS} blocks": BLOCKS}
    if options.ray:
        kinds[f"ray, {BLOCKS} blocks"] = BLOCKS
    runs: dict[str, list[Run]] = {kind: [] for kind in kinds}
    ranks: dict[str, Array] = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            for kind, blocks in kinds.items():
                result = Path(folder) / "ranks.npy"
                runs[kind].append(_run(options, kind, place, _prefix(prefix, blocks), result))
                ranks[kind] = np.load(result)
    _print(GraphFiles(place, prefix).info, prefix, runs, ranks)
    return {kind: [msgspec.to_builtins(run) for run in found] for kind, found in runs.items()}


def _run(options: argparse.Namespace, kind: str, place: LocalPlace, prefix: str, result: Path) -> Run:
    command = [sys.executable, __file__, "--tolerance", str(options.tolerance), "--child", kind, place.url, prefix]
    command.append(str(result))
    if kind.startswith("ray"):
        command = _on_ray(command, result.parent)
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=Run)


def _on_ray(command: list[str], scratch: Path) -> list[str]:
    """Ray listens without asking who calls: it gets a network in which there is nobody else, and dies with it."""
    ray = Path(sys.executable).with_name("ray")
    inside = (
        "ip link set lo up; export RAY_USAGE_STATS_ENABLED=0; "
        f"{ray} start --head --node-ip-address=127.0.0.1 --port=6399 --num-cpus={os.cpu_count()} "
        f"--include-dashboard=false --temp-dir={scratch}/ray >{scratch}/ray.log 2>&1; "
        '"$@"'
    )
    alone = ["unshare", "-r", "-n", "-p", "-f", "--kill-child=SIGKILL", "--mount-proc"]
    return [*alone, "sh", "-c", inside, "sh", *command]


def _child(options: argparse.Namespace) -> Run:
    kind, url, prefix, result = options.child
    graph = GraphFiles(LocalPlace(Path(url)), prefix)
    with _engine(kind) as engine:
        if engine is not None:
            list(engine.run(abs, range(8)))  # processes that are there already
        began, cpu = time.perf_counter(), _cpu(kind)
        if engine is None:
            values, iterations, residual = _bare(graph, options.tolerance)
        else:
            found = page_ranks(engine, graph, Rules(tolerance=options.tolerance))
            values, iterations, residual = found.values, found.iterations, found.residual
        seconds, used, memory = time.perf_counter() - began, _cpu(kind) - cpu, _peak(kind)
    np.save(result, values)
    return Run(seconds, used, memory, iterations, residual)


@contextmanager
def _engine(kind: str) -> Iterator[Engine | None]:
    if kind == "bare":
        yield None
        return
    if kind.startswith("ray"):
        from gossamer.engine.ray import RayEngine

        engine: Engine = RayEngine("127.0.0.1:6399")
    else:
        engine = Processes() if kind.startswith("tasks") else LocalEngine()
    try:
        yield engine
    finally:
        engine.close()


def _bare(graph: GraphFiles, tolerance: float) -> tuple[Array, int, float]:
    """What one would write by hand."""
    block, out = graph.block(0), np.asarray(graph.out())
    nodes = len(out)
    matrix = csr_array((1.0 / out[block.sources], block.sources, block.indptr), shape=(nodes, nodes))
    dangling = np.flatnonzero(out == 0)
    ranks, residual, iterations = np.ones(nodes), 1.0, 0
    while residual > tolerance:
        after = DAMPING * (matrix @ ranks) + (1 - DAMPING + DAMPING * ranks[dangling].sum() / nodes)
        residual = np.abs(after - ranks).sum() / nodes
        ranks = after
        iterations += 1
    return ranks, iterations, float(residual)


def _processes(kind: str) -> list[Path]:
    """This process and all below it; with Ray all of its namespace, since its workers are nobody's children."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    found = [os.getpid()]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return [Path(f"/proc/{process}") for process in (parents if kind.startswith("ray") else found)]


def _peak(kind: str) -> int:
    total = 0
    for folder in _processes(kind):
        with suppress(OSError):
            lines = (folder / "status").read_text().splitlines()
            total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    return total


def _cpu(kind: str) -> float:
    ticks = 0
    for folder in _processes(kind):
        with suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _print(info: GraphInfo, name: str, runs: dict[str, list[Run]], ranks: dict[str, Array]) -> None:
    print(f"\n{name}: {info.nodes:,} pages, {info.edges:,} links\n")
    print("| | seconds | CPU s | ÷ bare | peak MB | iterations | residual | largest difference |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for kind, found in runs.items():
        seconds, cpu = (statistics.median(getattr(run, of) for run in found) for of in ("seconds", "cpu"))
        ratio = statistics.median(run.seconds / bare.seconds for run, bare in zip(found, runs["bare"], strict=True))
        memory = max(run.memory for run in found) / 1e6
        apart = np.abs(ranks[kind] - ranks["bare"]).max()
        if not apart < AGREEMENT:
            _problems.append(f"{name}: ranks of {kind} differ by {apart:.1e} from the bare loop's")
        print(
            f"| {kind} | {seconds:.2f} | {cpu:.2f} | {ratio:.2f} | {memory:.0f} | {found[0].iterations} "
            f"| {found[0].residual:.1e} | {apart:.1e} |"
        )
    print(f"\nThe goal is local ÷ bare ≤ {GOAL}.")


def _warm(graph: GraphFiles, tolerance: float) -> list[dict[str, Any]]:
    """Iterations that earlier ranks save."""
    rng = np.random.default_rng(1)
    nodes, rules = graph.info.nodes, Rules(tolerance=tolerance)
    block = graph.block(0)
    sources, targets = np.asarray(block.sources), np.repeat(np.arange(nodes), np.diff(block.indptr))
    cold = rank(block.indptr, block.sources, graph.out(), rules)
    found = []
    for share in SHARES:
        chosen = rng.random(nodes) < share
        lost = rng.random(len(sources)) < 0.5
        before = {
            "new pages": ~(chosen[sources] | chosen[targets]),
            "changed pages": ~(chosen[sources] & lost),
        }
        for change, kept in before.items():
            earlier = _earlier(sources[kept], targets[kept], nodes, chosen if change == "new pages" else None, rules)
            warm = rank(block.indptr, block.sources, graph.out(), rules, start=earlier)
            apart = float(np.abs(warm.values - cold.values).mean())
            found.append(
                {"change": change, "share": share, "cold": cold.iterations, "warm": warm.iterations, "apart": apart}
            )
    print(f"\nWarm restart, {graph.prefix}, tolerance {tolerance}\n")
    print("| change | iterations, cold | warm | saved | mean difference |\n|---|---:|---:|---:|---:|")
    for row in found:
        saved = 1 - row["warm"] / row["cold"]
        print(
            f"| {row['share']:.1%} {row['change']} | {row['cold']} | {row['warm']} | {saved:.0%} | {row['apart']:.1e} |"
        )
    return found


def _earlier(sources: Array, targets: Array, nodes: int, missing: Array | None, rules: Rules) -> Array:
    """Ranks before the change, for all pages of today; pages that were missing count for nothing then."""
    there = np.ones(nodes, np.bool_) if missing is None else ~missing
    number = np.cumsum(there) - 1
    indptr, origins = links_by_target(number[sources], number[targets], int(there.sum()))
    start = np.full(nodes, NEW_PAGE)
    start[there] = rank(indptr, origins, out_degrees(origins, int(there.sum())), rules).values
    return start


if __name__ == "__main__":
    main()

"""How large the package is, and what each kind of process loads when it starts.

    python bench/house.py [--source src] [--quick] [--json out.json]

Lines are those of the Python files that a wheel holds. *Reachable* are the modules that a process may import, at its
start or later. What it loads at its start is measured in a new interpreter that imports the module of the process and
nothing else: our modules, processor time (the least of five runs), peak memory.
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from _figures import Figure, add_usual, conclude

ROOT = Path(__file__).resolve().parent.parent
PROCESSES = {
    "settings": "settings",
    "cli": "cli.main",
    "cli crawl": "cli.crawling.crawl",
    "worker": "crawl.worker_process",
    "parser": "crawl.parser_process",
    "indexer": "indexer.indexer_process",
    "alerts": "alerts.alert_process",
    "chore: merging": "upkeep.compacting",
    "chore: ranking": "upkeep.ranking_run",
    "cli search": "cli.searching.search",
    "cli serve": "cli.searching.serve",
}
CORE = ("cli crawl", "worker", "parser", "indexer", "cli search")
HEAVY = ("tantivy", "numpy", "pyarrow", "scipy", "sqlite3", "jinja2", "asyncio", "httptools")
PROBE = """
import importlib, json, resource, sys, time
start = time.process_time()
importlib.import_module(sys.argv[1])
used = time.process_time() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([used, peak, sorted(sys.modules)]))
"""
LONG = 40


class Loaded(NamedTuple):
    """What a process has loaded when it is ready to begin."""

    modules: int
    lines: int
    seconds: float
    mebibytes: float
    heavy: list[str]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--source", type=Path, default=ROOT / "src")
    add_usual(options, "one run of each process instead of five")
    asked = options.parse_args()
    source = asked.source.resolve()
    known = modules(source)
    figures: dict[str, Any] = {"folders": folders(known), "lines": sum(map(lines_of, known.values()))}
    for name, (count, lines) in figures["folders"].items():
        print(f"{name:30} {count:4} modules {lines:7,} lines")
    print(f"{'all':30} {len(known):4} modules {figures['lines']:7,} lines")
    graph = {name: imports(name, path, known) for name, path in known.items()}
    core = reachable((f"gossamer.{PROCESSES[kind]}" for kind in CORE), graph)
    figures["core"] = sum(lines_of(known[name]) for name in core)
    print(f"reachable from crawl, index and search: {len(core)} modules, {figures['core']:,} lines")
    figures |= shape(known)
    print(f"functions over {LONG} lines: {len(figures['long'])}; most methods: {figures['classes'][0]}")
    figures["processes"] = {}
    for kind, module in PROCESSES.items():
        name = f"gossamer.{module}"
        got = loaded(name, source, known, 1 if asked.quick else 5)
        figures["processes"][kind] = {**got._asdict(), "reachable": len(reachable([name], graph))}
        print(
            f"{kind:15} {got.modules:4} modules {got.lines:7,} lines {1000 * got.seconds:5.0f} ms "
            f"{got.mebibytes:4.0f} MiB  {' '.join(got.heavy)}"
        )
    side_by_side = max(count for count, _ in figures["folders"].values())
    start = figures["processes"]
    conclude(asked, [
        Figure("most modules side by side", side_by_side, "", 25, True, least=1),
        Figure("lines of Python in the wheel", figures["lines"], "", 70_000, True, least=1_000),
        Figure("lines reachable from crawl, index and search", figures["core"], "", 38_000, True, least=1_000),
        *(Figure(f"CPU to start: {kind}", 1000 * start[kind]["seconds"], "ms", most=60_000) for kind in CORE),
        *(Figure(f"memory at the start: {kind}", start[kind]["mebibytes"], "MiB", most=10_000) for kind in CORE),
    ], figures)  # fmt: skip


def modules(source: Path) -> dict[str, Path]:
    found = {}
    for path in sorted(source.glob("gossamer/**/*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def folders(known: dict[str, Path]) -> dict[str, tuple[int, int]]:
    """Modules side by side and their lines, by folder."""
    found: dict[str, tuple[int, int]] = {}
    for path in known.values():
        name = str(path.parent).partition("gossamer/")[2].rpartition("src/gossamer")[2] or "gossamer"
        name = name.removeprefix("/")
        count, lines = found.get(name, (0, 0))
        found[name] = count + (path.name != "__init__.py"), lines + lines_of(path)
    return dict(sorted(found.items()))


def imports(name: str, path: Path, known: dict[str, Path]) -> set[str]:
    """Modules of ours that one names, wherever it does, with the packages they are in."""
    named: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            named |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            named |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {".".join(one.split(".")[:depth]) for one in named & known.keys() for depth in range(1, one.count(".") + 2)}


def reachable(starts: Iterable[str], graph: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    todo = list(starts)
    while todo:
        one = todo.pop()
        if one not in seen:
            seen.add(one)
            todo.extend(graph[one])
    return seen


def shape(known: dict[str, Path]) -> dict[str, Any]:
    """Long functions, and the classes with the most methods."""
    long, classes = [], []
    for name, path in known.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                size = (node.end_lineno or 0) - node.lineno + 1
                if size > LONG:
                    long.append((size, f"{name}.{node.name}"))
            elif isinstance(node, ast.ClassDef):
                methods = sum(isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) for one in node.body)
                classes.append((methods, f"{name}.{node.name}"))
    return {"long": sorted(long, reverse=True), "classes": sorted(classes, reverse=True)[:10]}


def loaded(module: str, source: Path, known: dict[str, Path], runs: int) -> Loaded:
    command = [sys.executable, "-c", PROBE, module]
    environment = {"PYTHONPATH": str(source), "PATH": "/usr/bin:/bin"}
    done = [
        json.loads(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)
        for _ in range(runs)
    ]
    ours = [name for name in done[0][2] if name in known]
    lines = sum(lines_of(known[name]) for name in ours)
    heavy = [name for name in HEAVY if name in done[0][2]]
    return Loaded(len(ours), lines, min(one[0] for one in done), min(one[1] for one in done), heavy)


if __name__ == "__main__":
    main()

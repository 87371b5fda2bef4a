"""All figures on one page: runs the scripts of this folder and writes docs/figures.md and the line of README.

    python bench/figures.py                         writes the pages from bench/figures.json
    python bench/figures.py --run                   measures everything first: hours
    python bench/figures.py --run --quick           minutes
    python bench/figures.py --run --only crawl,dates
    python bench/figures.py --take crawl.json       takes the `--json` of a script that was run by hand

Each script runs by itself and has a time limit; one that fails or has not what it needs does not stop the others, and
what was measured before stays. The last full run of a script counts, or its last quick one while there is none: a quick
run is too short for most goals, so it is not judged. `--run` exits with 1 if a script failed.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import msgspec

from _corpus import NAME
from _figures import Figure, Measured, goal_of, shown
from _sites import cache_folder
from _tree import tree

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "bench" / "figures.json"
PAGE = ROOT / "docs" / "figures.md"
README = ROOT / "README.md"
RESULTS = ROOT / "bench" / "results"
"""What the scripts write, with all details; not in the repository."""
BUSY = 0.3
"""Cores."""
QUICK_LIMIT, LIMIT = 600.0, 7200.0
SCRIPTS = {
    "crawl": "Pages per second, against Scrapy and wget2 on the same pages",
    "peers": "The same work by Gossamer, Scrapy, Crawlee and wget2",
    "today": "Real pages of today over TLS",
    "polite": "How close a polite crawl of many hosts comes to the shortest possible time",
    "useful": "Useful pages first",
    "latency": "From download to searchable",
    "extraction": "Main text",
    "dates": "Publication dates",
    "lists": "Lists behind the pages that they list",
    "sites": "What a crawl knows of whole sites",
    "page_markdown": "Markdown of tables and code",
    "reading": "What reading a page costs a parser",
    "instructions": "Instructions of a page, which do not depend on how busy the machine is",
    "copies": "Copies of a page, and objects made for it, from the socket to the segment",
    "rendering": "What a rendered page costs",
    "index": "Indexing, against other libraries on the same texts",
    "query": "Answers, against the bare library on the same index",
    "every_query": "Every query gets an answer",
    "ranking": "Ranking on judged collections",
    "known_items": "Known items: the page that somebody looks for",
    "clicks": "Clicks of readers as a factor of the ranking, with readers who are made up",
    "shards": "A divided index against one index",
    "under_load": "Searches while a crawl and a job run",
    "frontier_cost": "What parts of the frontier cost a page",
    "frontier_growth": "The frontier with few and with many known URLs",
    "frontier_postgres": "The frontier on PostgreSQL",
    "kv": "Stores for the table of URLs",
    "scale": "More workers, more pages",
    "partition": "One site in several parts",
    "pagerank": "PageRank",
    "qrank": "Importance guessed from URLs",
    "revisit": "Estimators of change",
    "feeds": "News found by polls",
    "pattern_engines": "Patterns of rules and filters",
    "house": "Size of the package, cost of a start",
}
"""In the order of the page."""
OF_CORPUS = {"index", "query", "shards", "pagerank", "kv"}
HEADLINES = (
    ("crawl", "CPU of a page"),
    ("today", "pages per CPU second, new connections"),
    ("latency", "from commit to searchable, p95"),
    ("polite", "rude requests"),
    ("every_query", "queries without an answer"),
    ("extraction", "WCXB: word F1 of the main text"),
    ("dates", "right days of pages with a date"),
    ("qrank", "URLs ranked per second and core"),
)
"""What README shows."""
_INTRODUCTION = """# Figures

Written by `make bench` (`bench/figures.py`) from the last run of each script; nothing here is typed by hand.
[bench/README.md](../bench/README.md) says what each script measures and how to read it.

A *quick* run shows that a script and the product work. It is too short to be judged by its goals: starts and ends of
crawls are most of what it sees. *Busy* means that other programs took more than 0.3 cores meanwhile; then figures that
go by the clock are *not told*, and CPU times are too high by a good part.
"""
_README_LINE = re.compile(r"(<!-- figures: .*? -->).*?(?=<!-- end of figures -->)", re.DOTALL)

Kept = dict[str, dict[str, Measured]]
"""Script → `full` or `quick` → its last run."""


def main() -> None:
    """Runs what is asked for, and writes the pages."""
    options = _options()
    failed = []
    if options.run:
        scripts = options.only or [*SCRIPTS]
        if not options.quick and OF_CORPUS.intersection(scripts):
            make_corpus()
        for script in scripts:
            found = run(script, options.quick)
            if found is None:
                failed.append(script)
            else:
                take(found)
    for path in options.take:
        take(msgspec.json.decode(path.read_bytes(), type=Measured))
    write(load())
    if failed:
        raise SystemExit(f"{len(failed)} scripts have no new figures, see above: {', '.join(failed)}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", action="store_true", help="measure first")
    parser.add_argument("--quick", action="store_true", help="with --run: each script's quick run")
    parser.add_argument("--only", type=lambda text: text.split(","), help="these scripts, by comma")
    parser.add_argument("--take", type=Path, nargs="+", default=[], metavar="FILE", help="results to take in")
    options = parser.parse_args()
    if unknown := set(options.only or ()) - set(SCRIPTS):
        parser.error(f"no script is called {', '.join(sorted(unknown))}")
    return options


def load() -> Kept:
    """What was measured before."""
    return msgspec.json.decode(KEPT.read_bytes(), type=Kept) if KEPT.exists() else {}


def take(found: Measured) -> None:
    """Into the file and the pages at once, so that a run that is stopped has lost nothing."""
    kept = load()
    keep(kept, found)
    write(kept)


def keep(kept: Kept, found: Measured) -> None:
    """Takes the place of the last run of its kind; details stay in the results."""
    of_script = kept.setdefault(found.script, {})
    of_script["quick" if found.quick else "full"] = msgspec.structs.replace(found, details=None)


def make_corpus() -> None:
    """The corpus of the benchmarks of search, if it is not there; a quick run makes a small one when it needs it."""
    if not (cache_folder() / NAME / "data" / "frontier.db").exists():
        _run([sys.executable, str(ROOT / "bench" / "_corpus.py")], LIMIT)


def run(script: str, quick: bool) -> Measured | None:
    """One script in a process group of its own."""
    RESULTS.mkdir(exist_ok=True)
    result = RESULTS / f"{script}{'-quick' if quick else ''}.json"
    result.unlink(missing_ok=True)
    print(f"== {script}", flush=True)
    command = [sys.executable, str(ROOT / "bench" / f"{script}.py"), "--json", str(result)]
    code = _run([*command, "--quick"] if quick else command, QUICK_LIMIT if quick else LIMIT)
    return msgspec.json.decode(result.read_bytes(), type=Measured) if code == 0 and result.exists() else None


def _run(command: list[str], seconds: float) -> int:
    process = subprocess.Popen(command, start_new_session=True)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        print(f"ended after {seconds:.0f} s", file=sys.stderr)
    finally:
        if process.poll() is None:
            _end(process)
    return -1


def _end(process: subprocess.Popen[bytes]) -> None:
    family = tree(process.pid)
    process.terminate()  # most scripts end their servers and crawls when they are told to end
    with suppress(subprocess.TimeoutExpired):
        process.wait(30)
    for one in family:
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)
    process.wait()


def write(kept: Kept) -> None:
    """The file, the page and README's line."""
    ordered = {script: dict(sorted(kept[script].items())) for script in SCRIPTS if script in kept}
    KEPT.write_bytes(msgspec.json.format(msgspec.json.encode(ordered)) + b"\n")
    PAGE.write_text(page(kept), encoding="utf-8")
    README.write_text(with_headlines(README.read_text(encoding="utf-8"), kept), encoding="utf-8")


def page(kept: Kept) -> str:
    """docs/figures.md."""
    return "\n".join([_INTRODUCTION, *(_section(script, best(kept, script)) for script in SCRIPTS)])


def best(kept: Kept, script: str) -> Measured | None:
    """The run that counts."""
    runs = kept.get(script, {})
    return runs.get("full") or runs.get("quick")


def _section(script: str, found: Measured | None) -> str:
    lines = [f"## {script}.py", "", f"{SCRIPTS[script]}.", "", "| figure | measured | goal | | beside it | run |",
             "|---|---:|---:|---|---|---|"]  # fmt: skip
    if found is None:
        lines.append("| not measured yet | – | – | – | – | – |")
    else:
        lines += [_row(figure, found) for figure in found.figures]
        if found.left_out:
            lines += ["", f"Left out: {'; '.join(map(_without_places, found.left_out))}."]
    return "\n".join(lines) + "\n"


def _row(figure: Figure, found: Measured) -> str:
    goal, untold = goal_of(figure) or "–", is_untold(figure, found)
    cells = ("not told", goal, "", "") if untold else (_measured(figure), goal, verdict(figure, found), _beside(figure))
    return f"| {figure.name} | {' | '.join(cells)} | {_when(found)} |"


def is_untold(figure: Figure, found: Measured) -> bool:
    """Whether the machine was too busy for a figure that goes by the clock."""
    return figure.by_clock and found.others > BUSY


def verdict(figure: Figure, found: Measured) -> str:
    """Met or missed; a quick run tells neither, but where nothing at all may happen."""
    if figure.goal is None:
        return ""
    if found.quick and figure.goal:
        return "not judged"
    return "met" if figure.is_met else "**missed**"


def _measured(figure: Figure) -> str:
    return f"{shown(figure.value)} {figure.unit}".strip()


def _beside(figure: Figure) -> str:
    return ", ".join(f"{name} {shown(value)}" for name, value in figure.beside.items())


def _when(found: Measured) -> str:
    busy = ", busy" if found.others > BUSY else ""
    return f"{found.date}, {'quick' if found.quick else 'full'}{busy}"


def _without_places(text: str) -> str:
    """Folders of one machine say nothing to a reader."""
    return re.sub(r"/\S*/(\S+)", r"\1", text).removesuffix(".")


def with_headlines(text: str, kept: Kept) -> str:
    """README with its line of figures."""
    line = "; ".join(_headlines(kept)) + "."
    changed, count = _README_LINE.subn(lambda found: found[1] + line, text)
    if count != 1:
        raise SystemExit("README.md has no place for the figures")
    return changed


def _headlines(kept: Kept) -> list[str]:
    parts = []
    for script, name in HEADLINES:
        found = best(kept, script)
        figure = next((one for one in found.figures if one.name == name), None) if found else None
        if found and figure and _is_headline(figure, found):
            goal = f" (goal {goal_of(figure)}: {verdict(figure, found)})" if figure.goal is not None else ""
            parts.append(f"[{name}](docs/figures.md#{script}py) {_measured(figure)}{goal}")
    return parts


def _is_headline(figure: Figure, found: Measured) -> bool:
    """Full runs only, which a reader may take as they are; a quick one tells of nothing but what may never happen."""
    return not is_untold(figure, found) and (not found.quick or figure.goal == 0)


if __name__ == "__main__":
    main()

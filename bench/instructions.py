"""Instructions of a page: what fetching, reading, handing over and committing it cost, whatever else the machine does.

    python bench/instructions.py                 perf, else valgrind; real pages of four sites; a few minutes
    python bench/instructions.py --quick         made-up pages, counted once
    python bench/instructions.py --by calls      where neither counts: calls of functions

- *fetching*: the worker's request and its answer, compressed and in pieces, from the event loop on; no socket, no TLS;
- *reading*: a parser's work (`PageParser`), with a new parser each round and a warm process, as bench/reading.py does;
- *hand-over*: the job as msgpack to the parser and the answer back, both ends;
- *commit*: the worker's work after that (`understand`), the segment, and the transaction on SQLite.

Each part goes through N pages to warm up, and then N are counted. `perf stat` counts if the processor lets it (in many
containers it does not): there two processes of a part, one with N and one with 2 N pages after the first, tell the
difference. Else valgrind executes and counts each instruction, fifty times as slow; it needs a C compiler besides.
Hashes of strings are the same in every run (`PYTHONHASHSEED=0`). *Spread* is the distance of the highest from the
lowest of three runs. Calls are those of Python functions and of functions in C that Python calls (`sys.setprofile`):
the same number on every machine, but blind to what compiled functions do inside; with GOSSAMER_PURE=1 they see the
twins in Python. `--ceilings FILE` writes what was counted for `tests/unit/bench/test_growth.py`, which says how.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from _counting import compiled_library
from _data import SHARED
from _figures import Figure, add_ceilings, add_usual, conclude, keep_ceilings, leave_out
from gossamer import compiled

PARTS = ("fetching", "reading", "hand-over", "commit")
_SOURCES = ("itw66", "ex-animo", "learningischange", "linuxcn")
_PAGES, _QUICK_PAGES = 8, 4
"""Of each source; of made-up pages four times as many. Three times as many are read: a warm-up, N and N more."""
_RUNS = 3
_LIMIT = 900
_OWN = Path(__file__).resolve()
_SWITCH = _OWN.with_name("_switch.c")


def main() -> None:
    options = _options()
    if options.work:
        print(json.dumps(_work(options)))
        return
    counter = options.by or _best()
    unit = "calls" if counter == "calls" else "M"
    import_module("gossamer.crawl.reading")  # asks for the compiled modules
    print(f"counted by {counter}; compiled: {', '.join(compiled.running()) or 'nothing'}")
    found: dict[str, list[float]] = {part: [] for part in PARTS}
    for _ in range(options.runs):
        for part, value in _COUNTERS[counter][1](options).items():
            found[part].append(value)
    for part, values in found.items():
        print(f"  {part}: {', '.join(f'{one:,.3f}' for one in values)}", flush=True)
    lowest = {part: min(runs) for part, runs in found.items()}
    spreads = {part: 100 * (max(runs) - min(runs)) / min(runs) for part, runs in found.items()}
    what = "calls" if counter == "calls" else "instructions"
    rows = [Figure(f"{what} of a page", sum(lowest.values()), unit, least=1e-3)]
    rows += [Figure(f"{what} of a page, {part}", value, unit, least=1e-4) for part, value in lowest.items()]
    if options.runs > 1:
        rows.append(Figure("largest spread of three runs", max(spreads.values()), "%", most=100))
    if options.ceilings:
        build = "compiled" if compiled.running() else "pure"
        keep_ceilings(options.ceilings, f"{what}, {build}", lowest)
    conclude(options, rows, {"counter": counter, "runs": found})


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_usual(parser, f"{4 * _QUICK_PAGES} made-up pages, one run")
    parser.add_argument("--by", choices=list(_COUNTERS), help="what counts (the first of these that works)")
    parser.add_argument("--made-up", action="store_true", help="made-up pages in place of real ones")
    parser.add_argument("--pages", type=int, help=f"of each source ({_PAGES})")
    parser.add_argument("--runs", type=int, help=f"of each part ({_RUNS})")
    parser.add_argument("--shared", type=Path, default=SHARED, help="folder of the real data")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="what callgrind wrote, for callgrind_annotate")
    add_ceilings(parser)
    parser.add_argument("--work", type=lambda text: text.split(","), help=argparse.SUPPRESS)
    parser.add_argument("--times", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--count", choices=list(_COUNTED), default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.pages = options.pages or (_QUICK_PAGES if options.quick else _PAGES)
    options.runs = options.runs or (1 if options.quick else _RUNS)
    options.made_up = options.made_up or options.quick
    if not options.made_up and not any((options.shared / "data" / "sites").glob("*.tar.zst")):
        leave_out("real pages", "there are none: name the folder of the real data with --shared")
        options.made_up = True
    return options


# -- counting -----------------------------------------------------------------------------------------------------


def _best() -> str:
    for name, (works, _) in _COUNTERS.items():
        if works():
            return name
    raise AssertionError("calls can always be counted")


def _run(options: argparse.Namespace, *words: str, before: Sequence[str] = ()) -> tuple[Any, str]:
    """What the process of some parts says, and what its counter says."""
    own = [sys.executable, str(_OWN), *words, "--pages", str(options.pages), "--shared", str(options.shared)]
    own += ["--made-up"] * options.made_up
    environment = os.environ | {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*before, *own], env=environment, capture_output=True, text=True, check=False, timeout=_LIMIT
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{' '.join([*before[:1], *words])} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


def _by_perf(options: argparse.Namespace) -> dict[str, float]:
    """Millions of instructions of a page."""
    found = {}
    for part in PARTS:
        totals = []
        for times in (1, 2):
            command = ["perf", "stat", "-x", ",", "-e", "instructions:u"]
            said, counted = _run(options, "--work", part, "--times", str(times), before=command)
            totals.append(float(re.findall(r"^(\d+),", counted, re.MULTILINE)[-1]))
        found[part] = (totals[1] - totals[0]) / said["pages"] / 1e6
    return found


def _by_valgrind(options: argparse.Namespace) -> dict[str, float]:
    """Millions of instructions of a page; nothing but the parts themselves is slow."""
    with tempfile.TemporaryDirectory(prefix="instructions-") as folder:
        command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/counted"]
        said, _ = _run(options, "--work", ",".join(PARTS), "--count", "valgrind", before=command)
        texts = {path: path.read_text(errors="replace") for path in Path(folder).glob("counted.*")}
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            for path in texts:
                shutil.copy(path, options.keep)
    found = {}
    for text in texts.values():
        part = re.search(r"^desc: Trigger: Client Request: (\S+)$", text, re.MULTILINE)
        total = re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)
        if part and total:
            found[part[1]] = int(total[1]) / said["pages"] / 1e6
    return {part: found[part] for part in PARTS}


def _by_calls(options: argparse.Namespace) -> dict[str, float]:
    said, _ = _run(options, "--work", ",".join(PARTS), "--count", "calls")
    return {part: said["counted"][part] / said["pages"] for part in PARTS}


def _perf_counts() -> bool:
    if shutil.which("perf") is None:
        return False
    tried = subprocess.run(
        ["perf", "stat", "-x", ",", "-e", "instructions:u", "true"], capture_output=True, text=True, check=False
    )  # fmt: skip
    return tried.returncode == 0 and re.search(r"^\d+,", tried.stderr, re.MULTILINE) is not None


def _valgrind_counts() -> bool:
    return shutil.which("valgrind") is not None and compiled_library(_SWITCH) is not None


_COUNTERS: dict[str, tuple[Callable[[], bool], Callable[[argparse.Namespace], dict[str, float]]]] = {
    "perf": (_perf_counts, _by_perf),
    "valgrind": (_valgrind_counts, _by_valgrind),
    "calls": (lambda: True, _by_calls),
}
"""Whether it works here, and what it counts of a page, by part."""


# -- what is counted ----------------------------------------------------------------------------------------------


def _work(options: argparse.Namespace) -> dict[str, Any]:
    """Parts in rounds; the last one of each is counted, if it is for this process to count."""
    import uvloop

    from _page_way import NOW, Way, fetcher_of, response_of
    from gossamer.fetch.request import Request

    rounds = _pages(options)
    pages = [page for batch in rounds for page in batch]
    with (
        tempfile.TemporaryDirectory(prefix="instructions-") as folder,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop,
    ):
        way = Way(Path(folder), pages)
        responses = {page.url: response_of(page, NOW + number) for number, page in enumerate(pages)}
        jobs = {url: way.job(response) for url, response in responses.items()}
        parsed = {url: way.read(job) for url, job in jobs.items()}

        fetcher = fetcher_of(rounds[0])

        async def fetch_all() -> None:
            for page in rounds[0]:
                response = await fetcher.fetch(Request(page.url, address="127.0.0.1"))
                assert response.body == page.body, response.reason

        def fetch(_round: int) -> None:
            loop.run(fetch_all())

        def read(_round: int) -> None:
            way.renew_parser()
            for page in rounds[0]:
                way.read(jobs[page.url])

        def hand_over(_round: int) -> None:
            for page in rounds[0]:
                way.take_job(way.send_job(jobs[page.url]))
                way.take_answer(way.send_answer(parsed[page.url]))

        def commit(number: int) -> None:
            results = [way.understand(responses[page.url], parsed[page.url]) for page in rounds[number]]
            way.commit(results, NOW + 1000 + number)

        counted = {}
        for part, run in zip(PARTS, (fetch, read, hand_over, commit), strict=True):
            if part in options.work:
                for number in range(options.times):
                    run(number)
                counted[part] = _COUNTED[options.count](partial(run, options.times), part)
        way.close()
    return {"pages": len(rounds[0]), "counted": counted}


def _plainly(run: Callable[[], None], _part: str) -> int:
    run()
    return 0


def _calls_of(run: Callable[[], None], _part: str) -> int:
    counted = 0

    def note(_frame: Any, event: str, _what: Any) -> None:
        nonlocal counted
        if event in ("call", "c_call"):
            counted += 1

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return counted


def _under_valgrind(run: Callable[[], None], part: str) -> int:
    """The total is in valgrind's own file."""
    switch = ctypes.CDLL(str(compiled_library(_SWITCH)))
    switch.counting_on()
    run()
    switch.counting_off(part.encode())
    return 0


_COUNTED: dict[str, Callable[[Callable[[], None], str], int]] = {
    "": _plainly, "calls": _calls_of, "valgrind": _under_valgrind
}  # fmt: skip


def _pages(options: argparse.Namespace) -> list[Sequence[Any]]:
    """Three batches of pages that are much alike."""
    from _page_way import canonical, made_up

    if options.made_up:
        pages = list(made_up(3 * 4 * options.pages))
        return [pages[number::3] for number in range(3)]
    found: list[list[Any]] = [[], [], []]
    for jobs in _sources(options):
        pages = canonical(jobs)
        pages = pages[: len(pages) // 3 * 3]
        for number in range(3):
            found[number] += pages[number::3]
    return found


def _sources(options: argparse.Namespace) -> Iterator[list[Any]]:
    from reading import HOSTS, SOURCES, pages_of

    for name in _SOURCES:
        path = options.shared / "data" / SOURCES[name]
        if path.exists():
            yield list(pages_of(path, HOSTS[name], 3 * options.pages))


if __name__ == "__main__":
    main()

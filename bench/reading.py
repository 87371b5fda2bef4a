"""What reading a page costs a parser process, step by step, on real pages.

    python bench/reading.py                    four archived sites and WCXB's development set; two minutes
    python bench/reading.py --quick            a few pages of each; seconds
    python bench/reading.py --json out.json    the same as figures for others
    GOSSAMER_PURE=1 python bench/reading.py    without the compiled modules

Each page is read as in a crawl (`PageParser`): tree, metadata, dates, links and the scope, main text, language,
fingerprints, what it shows of its site. Every round begins with a new parser, so that references are resolved as in a
crawl; what a process remembers of words and names is warm from the second round on, as in a long one. A figure is CPU
time of the thread, the least of the rounds for each page, summed. The steps are timed by wrapping the functions that do
them, each without what it calls of the others; the row "a page" is measured in rounds without wrappers.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import io
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import zstandard

from _data import SHARED
from _figures import Figure, add_usual, conclude, leave_out
from gossamer import compiled
from gossamer.crawl.parser_config import ParserConfig
from gossamer.crawl.reading import PageParser
from gossamer.model.records import Kind, ParseJob
from gossamer.model.url import CanonicalRules
from gossamer.parse.limits import ParseLimits
from gossamer.scope.chain import ScopeConfig

SOURCES = {
    "itw66": "sites/itw66.tar.zst",
    "ex-animo": "sites/ex-animo.tar.zst",
    "learningischange": "sites/learningischange.tar.zst",
    "linuxcn": "sites/linuxcn.tar.zst",
    "wcxb-dev": "extraction/wcxb-dev.tar.zst",
}
HOSTS = {
    "itw66": "itw66.ru",
    "ex-animo": "mircsgo.ru",
    "learningischange": "learningischange.com",
    "linuxcn": "linux.cn",
}
_PAGES, _QUICK_PAGES = 150, 12
_LARGEST = 1_000_000
_WINDOW = 2**31

STEPS = (
    ("gossamer.parse.document", "decode", "characters"),
    ("gossamer.parse.document", "Tree", "tree"),
    ("gossamer.parse.document", "read_structured", "structured data"),
    ("gossamer.parse.document", "read_metadata", "metadata"),
    ("gossamer.parse.metadata", "own_title", "title"),
    ("gossamer.parse.metadata", "shared_names", "title"),
    ("gossamer.parse.metadata", "find_author", "by-lines"),
    ("gossamer.parse.document", "find_dates", "dates"),
    ("gossamer.parse.document", "collect_links", "links"),
    ("gossamer.parse.document", "_decide_targets", "scope"),
    ("gossamer.parse.document", "main_text", "text: rest"),
    ("gossamer.parse.html:Tree", "lean_body", "text: lean body"),
    ("gossamer.parse.text.model:TextModel", "read", "text: blocks and tags"),
    ("gossamer.parse.text", "Measures", "text: measures"),
    ("gossamer.parse.text.model:TextModel", "judge", "text: choice"),
    ("gossamer.parse.text.model", "write_first", "text: features"),
    ("gossamer.parse.text.model", "write_second", "text: features"),
    ("gossamer.parse.text.model", "page_shape", "text: features"),
    ("gossamer.parse.text.model", "type_matrix", "text: features"),
    ("gossamer.parse.text.forest:Forest", "scores", "text: forests"),
    ("gossamer.site.view:PageView", "furniture", "what the site shares"),
    ("gossamer.site.view:PageView", "sketch", "what the site shares"),
    ("gossamer.parse.document", "page_kind", "kind"),
    ("gossamer.parse.document", "page_language", "language"),
    ("gossamer.crawl.reading", "content_hash", "fingerprints"),
    ("gossamer.crawl.reading", "page_hash", "fingerprints"),
    ("gossamer.crawl.reading", "own_text", "fingerprints"),
    ("gossamer.dedup.near.minhash:MinHash", "fingerprint", "fingerprints"),
    ("gossamer.crawl.reading:PageParser", "read", "rest"),
)
"""Where a function is looked up, its name, and the step that it is."""
GOAL = 1.1
"""CPU ms of a page of about 25 KB, such as those of itw66: tree, text, title, links, dates, language, fingerprints."""
NAMES = tuple(dict.fromkeys(step for *_, step in STEPS))


class Read(msgspec.Struct, frozen=True):
    """Pages of one source."""

    source: str
    pages: int
    bytes: float
    """Of a page."""
    links: float
    """Of a page."""
    total: float
    """CPU ms a page, without timing the steps."""
    steps: dict[str, float]
    """CPU ms a page of each step."""


class _Clock:
    """Gives each moment to the innermost step that runs."""

    def __init__(self) -> None:
        self.taken = dict.fromkeys(NAMES, 0)
        self._running: list[str] = []
        self._since = 0

    def timed(self, function: Callable[..., Any], step: str) -> Callable[..., Any]:
        @functools.wraps(function, updated=())
        def run(*args: Any, **options: Any) -> Any:
            self._turn()
            self._running.append(step)
            try:
                return function(*args, **options)
            finally:
                self._turn()
                self._running.pop()

        return run

    def _turn(self) -> None:
        now = time.thread_time_ns()
        if self._running:
            self.taken[self._running[-1]] += now - self._since
        self._since = now


def main() -> None:
    options = _options()
    print(f"compiled: {', '.join(compiled.running()) or 'nothing'}")
    found = []
    for name in options.sources:
        path = options.shared / "data" / SOURCES[name]
        if not path.exists():
            leave_out(name, f"there is no {path}")
            continue
        jobs = list(pages_of(path, HOSTS.get(name, f"{name}.test"), options.pages))
        found.append(measured(name, jobs, options.rounds))
        print_figures(found[-1])
    if not found:
        raise SystemExit("no pages: name the folder of the real data with --shared")
    print_figures(overall(found))
    rows = [
        Figure(f"reading a page, {one.source}", one.total, "ms", GOAL if one.source == "itw66" else None, at_most=True)
        for one in (overall(found), *found)
    ]
    conclude(options, rows, found)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_usual(parser, f"{_QUICK_PAGES} pages a source, two rounds")
    parser.add_argument("--sources", type=lambda text: text.split(","), default=list(SOURCES), help="by comma")
    parser.add_argument("--pages", type=int, help=f"of each source ({_PAGES})")
    parser.add_argument("--rounds", type=int, help="with and without timing the steps (5)")
    parser.add_argument("--shared", type=Path, default=SHARED, help="folder of the real data")
    options = parser.parse_args()
    options.pages = options.pages or (_QUICK_PAGES if options.quick else _PAGES)
    options.rounds = options.rounds or (2 if options.quick else 5)
    return options


def pages_of(path: Path, host: str, most: int) -> Iterator[ParseJob]:
    """Pages of an archive, spread evenly over it."""
    with path.open("rb") as packed:
        plain = zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(packed).read()
    with tarfile.open(fileobj=io.BytesIO(plain)) as archive:
        members = sorted((m for m in archive if _is_page(m)), key=lambda member: member.name)
        for member in members[:: max(len(members) // most, 1)][:most]:
            url = f"http://{host}/{member.name.removeprefix('./')}"
            yield ParseJob(url, Kind.PAGE, "text/html", archive.extractfile(member).read())


def _is_page(member: tarfile.TarInfo) -> bool:
    return member.isreg() and member.name.endswith((".html", ".htm")) and 0 < member.size < _LARGEST


def reader() -> PageParser:
    return PageParser(ParserConfig(CanonicalRules(), ScopeConfig(), (), ParseLimits()))


def measured(name: str, jobs: list[ParseJob], rounds: int) -> Read:
    """The least time of each page over the rounds."""
    links = sum(len(reader().read(job).links) for job in jobs)
    whole = [min(times) for times in zip(*(_timed_whole(jobs) for _ in range(rounds)), strict=True)]
    clock = _Clock()
    with _steps_timed(clock):
        by_round = [_timed_steps(jobs, clock) for _ in range(rounds)]
    least = [
        min((one[number] for one in by_round), key=lambda taken: sum(taken.values())) for number in range(len(jobs))
    ]
    count = len(jobs)
    return Read(
        name, count, sum(len(job.body) for job in jobs) / count, links / count, sum(whole) / count / 1e6,
        {step: sum(taken[step] for taken in least) / count / 1e6 for step in NAMES},
    )  # fmt: skip


def _timed_whole(jobs: list[ParseJob]) -> list[int]:
    page_parser, times = reader(), []
    for job in jobs:
        began = time.thread_time_ns()
        page_parser.read(job)
        times.append(time.thread_time_ns() - began)
    return times


def _timed_steps(jobs: list[ParseJob], clock: _Clock) -> list[dict[str, int]]:
    page_parser, found = reader(), []
    for job in jobs:
        clock.taken = dict.fromkeys(NAMES, 0)
        page_parser.read(job)
        found.append(clock.taken)
    return found


@contextmanager
def _steps_timed(clock: _Clock) -> Iterator[None]:
    places = []
    for where, name, step in STEPS:
        module, _, owner = where.partition(":")
        place = importlib.import_module(module)
        place = getattr(place, owner) if owner else place
        places.append((place, name, getattr(place, name)))
        setattr(place, name, clock.timed(getattr(place, name), step))
    try:
        yield
    finally:
        for place, name, function in places:
            setattr(place, name, function)


def overall(found: list[Read]) -> Read:
    """Each page counts the same."""
    count = sum(one.pages for one in found)

    def mean(of: Callable[[Read], float]) -> float:
        return sum(of(one) * one.pages for one in found) / count

    steps = {step: mean(lambda one, step=step: one.steps[step]) for step in NAMES}
    return Read("all", count, mean(lambda one: one.bytes), mean(lambda one: one.links), mean(_total), steps)


def _total(one: Read) -> float:
    return one.total


def print_figures(one: Read) -> None:
    print(f"\n{one.source}: {one.pages} pages, {one.bytes / 1000:.0f} KB and {one.links:.0f} links each")
    print(f"{'a page':24}{one.total:8.3f} ms")
    for step, taken in one.steps.items():
        print(f"  {step:22}{taken:8.3f}")
    print(f"  {'all steps':22}{sum(one.steps.values()):8.3f}", flush=True)


if __name__ == "__main__":
    main()

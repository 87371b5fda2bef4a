"""Copies of a page on its way from the socket to the segment, and the objects that are made for it.

    python bench/copies.py             the table; a minute
    python bench/copies.py --quick     fewer pages; seconds
    python bench/copies.py --markdown  the table for docs/decisions/0032-copies.md

Made-up pages of about the mean size of real ones (33 KB, 77 links, 4,000 characters of text) come over loopback into a
worker's fetcher, go through a parser process and are committed 32 at a time, with the parts of a real worker
(`_page_way.py`). A hook in the C library counts each step (`_counting.c`): blocks of memory and their bytes, calls of
memcpy, bytes read and written through the kernel.

How often the *body* is copied shows in pages that are longer by a comment of 64 KB, which nothing needs but the
archive: the bytes that a step takes more, by 64 KB. *Made* are blocks of memory, *moved* is memcpy; a conversion (bytes
to str) makes a block and moves nothing, a copy into a block that is there moves only. The *text* and the *links* are
counted in the same way, less what they take as a part of the body. Nothing depends on the machine's speed.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import os
import signal
import socket
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import uvloop

import _counting
from _counting import Counters, Counts
from _figures import Figure, add_ceilings, add_usual, conclude, keep_ceilings
from _page_way import NOW, PIECE, Page, Shape, Way, answer_of, made_up
from gossamer import compiled
from gossamer.clock import SystemClock
from gossamer.crawl.parsers import ParserPool
from gossamer.fetch.dns import DnsConfig, Resolver
from gossamer.fetch.guard import AddressPolicy
from gossamer.fetch.http import Fetcher
from gossamer.fetch.limits import FetchConfig
from gossamer.fetch.request import Request
from gossamer.model.records import ParseJob, Response

FETCH, SEND, WAIT, UNDERSTAND, COMMIT = "fetch", "job to the parser", "answer of the parser", "result", "commit: rest"
PARSER = "parser process"
WORKER = (FETCH, SEND, WAIT, UNDERSTAND)
"""Steps of a worker that are not part of the commit."""
COMMITTING = (
    ("gossamer.store.segments:SegmentWriter", "write_links", "commit: links"),
    ("gossamer.store.segments:SegmentWriter", "write_archive", "commit: raw responses"),
    ("gossamer.store.segments:SegmentWriter", "write_pages", "commit: page rows"),
    ("gossamer.store.segments:SegmentWriter", "sync", "commit: sync"),
    ("gossamer.frontier.sql:SqlFrontier", "foresee", "commit: transaction"),
    ("gossamer.frontier.sql:SqlFrontier", "report", "commit: transaction"),
)
"""Where a function is looked up, its name, and the step that it is."""
INSIDE = ("parser: take the job", "parser: read the page", "parser: send the answer")
"""Steps of the parser process, counted once more in this process."""
STEPS = (*WORKER, *dict.fromkeys(step for *_, step in COMMITTING), COMMIT, PARSER, *INSIDE)
_BATCH, _QUICK_BATCH = 32, 4
_BATCHES = 4
"""The first one warms up."""
_PAUSE = 0.0002
"""Seconds between two looks whether a piece was read."""
_TURNS = 3
"""Of the event loop, until a job is written: a pipe holds a usual page."""
_USUAL = Shape()
_LONGER = {
    "body": (msgspec.structs.replace(_USUAL, filler=_USUAL.filler + 64_000), 64_000),
    "text": (msgspec.structs.replace(_USUAL, paragraphs=_USUAL.paragraphs + 40), 0),
    "known": (msgspec.structs.replace(_USUAL, menu=_USUAL.menu + 100), 100),
    "new": (msgspec.structs.replace(_USUAL, further=_USUAL.further + 20), 20),
}
"""What grows → pages in which it is more, and by how much; 0: by the characters of the text."""


class Run(msgspec.Struct, frozen=True):
    """Pages of one shape."""

    steps: dict[str, Counts]
    """Of a page: the median of the batches."""
    body: float
    """Bytes."""
    text: float
    """Characters."""


class Row(msgspec.Struct, frozen=True):
    """A step."""

    step: str
    allocations: float
    allocated: float
    copied: float
    crossed: float
    """Bytes through the kernel."""
    body: tuple[float, float, float]
    """Times that its bytes are made, moved, and read or written."""
    text: tuple[float, float, float]
    known: float
    """Allocations for each link that is on every page."""
    new: float
    """The same for one that no page had before."""


def main() -> None:
    options = _options()
    if why := _counting.why_not():
        raise SystemExit(f"copies: nothing can be counted; {why}")
    _counting.begin()
    print(f"compiled: {', '.join(compiled.running()) or 'nothing'}")
    usual = measured(_USUAL, options.batch)
    longer = {what: measured(shape, options.batch) for what, (shape, _) in _LONGER.items()}
    rows = [_row(step, usual, longer) for step in STEPS]
    rows.insert(0, _sum("worker", rows, [row.step for row in rows if row.step not in (PARSER, *INSIDE)]))
    print(f"a page of {usual.body / 1000:.1f} KB, {usual.text:,.0f} characters of text, {options.batch} a commit")
    print("\n".join(_markdown(rows) if options.markdown else _plain(rows)))
    worker, parser = rows[0], next(row for row in rows if row.step == PARSER)
    figures = [
        Figure("worker, allocations of a page", worker.allocations, least=1),
        Figure("worker, allocations of a known link", worker.known, least=-1),
        Figure("worker, allocations of a new link", worker.new, least=-1),
        Figure("worker, bytes made of a byte of body", worker.body[0], least=0.5, most=1000),
        Figure("worker, bytes moved of a byte of body", worker.body[1], least=0.5, most=1000),
        Figure("worker, bytes made of a character of text", worker.text[0], least=0.5, most=1000),
        Figure("worker, KB made of a page", worker.allocated / 1000, "KB", least=1),
        Figure("parser, allocations of a page", parser.allocations, least=1),
        Figure("parser, bytes made of a byte of body", parser.body[0], least=0.5, most=1000),
        Figure("parser, KB made of a page", parser.allocated / 1000, "KB", least=1),
    ]  # fmt: skip
    if options.ceilings:
        build = "compiled" if compiled.running() else "pure"
        keep_ceilings(options.ceilings, f"copies, {build}", {figure.name: figure.value for figure in figures})
    conclude(options, figures, rows)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_usual(parser, f"{_QUICK_BATCH} pages a commit")
    parser.add_argument("--batch", type=int, help=f"pages a commit ({_BATCH})")
    add_ceilings(parser)
    parser.add_argument("--markdown", action="store_true", help="the table for a page of the documentation")
    options = parser.parse_args()
    options.batch = options.batch or (_QUICK_BATCH if options.quick else _BATCH)
    return options


# -- counting -----------------------------------------------------------------------------------------------------


class Meter:
    """Gives what this process does to the step that runs."""

    def __init__(self) -> None:
        self.taken: dict[str, Counts] = {}
        self._own, self._step = Counters(), ""
        self._cost = Counts()
        self._last = self._own.read()
        empty = []
        for _ in range(5):
            self.turn("nothing")
            empty.append(self.taken.pop("nothing", Counts()))
        self._cost = Counts(*map(statistics.median, zip(*empty[1:], strict=True)))
        self.turn("")
        self.taken.clear()

    def turn(self, step: str) -> str:
        """What follows belongs to this step; returns the one before."""
        now, before = self._own.read(), self._step
        if before:
            self.taken[before] = self.taken.get(before, Counts()).plus(now - self._last).plus(self._cost, -1)
        self._step = step
        self._last = self._own.read()
        return before

    def wrapped(self, function: Callable[..., Any], step: str) -> Callable[..., Any]:
        def run(*args: Any, **options: Any) -> Any:
            before = self.turn(step)
            try:
                return function(*args, **options)
            finally:
                self.turn(before)

        return run


@contextmanager
def _steps_counted(meter: Meter) -> Iterator[None]:
    places = []
    for where, name, step in COMMITTING:
        module, _, owner = where.partition(":")
        place = getattr(importlib.import_module(module), owner)
        places.append((place, name, getattr(place, name)))
        setattr(place, name, meter.wrapped(getattr(place, name), step))
    try:
        yield
    finally:
        for place, name, function in places:
            setattr(place, name, function)


def measured(shape: Shape, batch: int) -> Run:
    """Pages of a shape on their way."""
    pages = list(made_up(_BATCHES * batch, shape))
    with tempfile.TemporaryDirectory(prefix="copies-") as folder, _served(pages) as port:
        pages = [Page(page.url.replace(".example/", f".example:{port}/"), page.body) for page in pages]
        way = Way(Path(folder), pages)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            batches, text = runner.run(_crawled(way, pages, batch))
        way.close()
    steps = {
        step: Counts(*map(statistics.median, zip(*(one.get(step, Counts()) for one in batches[1:]), strict=True)))
        for step in STEPS
    }
    return Run(steps, sum(len(page.body) for page in pages) / len(pages), text)


async def _crawled(way: Way, pages: Sequence[Page], batch: int) -> tuple[list[dict[str, Counts]], float]:
    """What each step did for a page of each batch; characters of a page's text."""
    before, meter = _counting.pids(), Meter()
    config = FetchConfig(user_agent="Gossamer/bench")
    guard, clock = AddressPolicy(("127.0.0.0/8",), ""), SystemClock()
    found, characters = [], 0
    async with Fetcher(config, guard, Resolver(DnsConfig(), guard, clock), clock) as fetcher, _pool(way) as pool:
        await pool.parse(ParseJob(pages[0].url, way.tasks[pages[0].url][1].kind, "text/html", b"<p>The first one."))
        (parser,) = _counting.pids() - before
        counters = Counters(parser)
        for start in range(0, len(pages), batch):
            meter.taken, results, its = {}, [], Counts()
            for number, page in enumerate(pages[start : start + batch], start):
                meter.turn(FETCH)
                response = await fetcher.fetch(Request(page.url, address="127.0.0.1"))
                meter.turn("")
                _check(response, page, number)
                since = counters.read()
                os.kill(parser, signal.SIGSTOP)  # it must not answer before the job is written
                meter.turn(SEND)
                answer = asyncio.ensure_future(pool.parse(way.job(response)))
                for _ in range(_TURNS):
                    await asyncio.sleep(0)
                meter.turn("")
                os.kill(parser, signal.SIGCONT)
                meter.turn(WAIT)
                parsed = await answer
                meter.turn("")
                its = its.plus(counters.read() - since)
                assert parsed.ok, parsed.problem
                characters += len(parsed.text)
                meter.turn(UNDERSTAND)
                results.append(way.understand(response, parsed))
                meter.turn("")
                _count_inside(way, response, meter)
            with _steps_counted(meter):
                meter.turn(COMMIT)
                way.commit(results, NOW + 1000 + start)
                meter.turn("")
            found.append({step: taken.per(batch) for step, taken in {**meter.taken, PARSER: its}.items()})
    return found, characters / len(pages)


def _pool(way: Way) -> ParserPool:
    return ParserPool(way.config, 1, 20.0)


def _check(response: Response, page: Page, number: int) -> None:
    if response.body != page.body:
        raise SystemExit(f"page {number} did not arrive: {response.reason}")
    # the time of a visit is in many columns: the same in each run
    response.started_at = response.answered_at = response.finished_at = NOW + number


def _count_inside(way: Way, response: Response, meter: Meter) -> None:
    sent = way.send_job(way.job(response))
    meter.turn(INSIDE[0])
    job = way.take_job(sent)
    meter.turn(INSIDE[1])
    parsed = way.read(job)
    meter.turn(INSIDE[2])
    way.send_answer(parsed)
    meter.turn("")


@contextmanager
def _served(pages: Sequence[Page]) -> Iterator[int]:
    """A server of these pages, a process of its own; its port on loopback."""
    answers = {page.url.partition(".example")[2].encode(): answer_of(page) for page in pages}
    with socket.create_server(("127.0.0.1", 0)) as listening:
        pid = os.fork()
        if pid == 0:
            try:
                _serve(listening, answers)
            finally:
                os._exit(0)
        try:
            yield listening.getsockname()[1]
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _serve(listening: socket.socket, answers: dict[bytes, bytes]) -> None:
    while True:
        connection, _ = listening.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection:
            asked = b""
            while piece := connection.recv(65_536):
                asked += piece
                while b"\r\n\r\n" in asked:
                    head, _, asked = asked.partition(b"\r\n\r\n")
                    answer = answers[head.split()[1]]
                    for start in range(0, len(answer), PIECE):
                        connection.sendall(answer[start : start + PIECE])
                        while _is_unread(connection):  # else a busy machine would make one piece of two
                            time.sleep(_PAUSE)


def _is_unread(connection: socket.socket) -> bool:
    """Whether the other end, on this machine, still has something to read."""
    own, other = (f":{address[1]:04X}" for address in (connection.getsockname(), connection.getpeername()))
    with Path("/proc/net/tcp").open(encoding="ascii") as lines:
        for line in lines:
            _, local, remote, _, queues, *_ = line.split()
            if local.endswith(other) and remote.endswith(own):
                return queues.rpartition(":")[2].strip("0") != ""
    return False


# -- the table ----------------------------------------------------------------------------------------------------


def _row(step: str, usual: Run, longer: dict[str, Run]) -> Row:
    own = usual.steps[step]
    more = {what: run.steps[step] - own for what, run in longer.items()}
    of_body = more["body"].per(_LONGER["body"][1])

    def without_body(what: str) -> Counts:
        """What a part takes beyond being bytes of the body."""
        return more[what].plus(of_body, usual.body - longer[what].body)

    text = without_body("text").per(longer["text"].text - usual.text)
    return Row(
        step, own.allocations, own.allocated, own.copied, own.crossed,
        (of_body.allocated, of_body.copied, of_body.crossed), (text.allocated, text.copied, text.crossed),
        without_body("known").allocations / _LONGER["known"][1], without_body("new").allocations / _LONGER["new"][1],
    )  # fmt: skip


def _sum(name: str, rows: Sequence[Row], steps: Sequence[str]) -> Row:
    mine = [row for row in rows if row.step in steps]

    def both(of: Callable[[Row], tuple[float, ...]]) -> Any:
        return tuple(map(sum, zip(*map(of, mine), strict=True)))

    return Row(
        name, *both(lambda row: (row.allocations, row.allocated, row.copied, row.crossed)), both(lambda row: row.body),
        both(lambda row: row.text), *both(lambda row: (row.known, row.new)),
    )  # fmt: skip


_HEADS = (
    "step", "objects", "KB made", "KB moved", "KB through the kernel", "body made", "moved", "kernel", "text made",
    "moved", "objects a known link", "a new link",
)  # fmt: skip


def _cells(row: Row) -> list[str]:
    sizes = [f"{size / 1000:,.1f}" for size in (row.allocated, row.copied, row.crossed)]
    times = [_short(value) for value in (*row.body, *row.text[:2], row.known, row.new)]
    return [row.step, f"{row.allocations:,.0f}", *sizes, *times]


def _short(value: float) -> str:
    return f"{round(value, 1) + 0.0:.1f}"  # no -0.0


def _plain(rows: Sequence[Row]) -> Iterator[str]:
    table = [list(_HEADS), *map(_cells, rows)]
    widths = [max(len(line[column]) for line in table) for column in range(len(_HEADS))]
    for line in table:
        first, *others = (cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        yield "  ".join([line[0].ljust(len(first)), *others])


def _markdown(rows: Sequence[Row]) -> Iterator[str]:
    yield f"| {' | '.join(_HEADS)} |"
    yield f"|---|{'---:|' * (len(_HEADS) - 1)}"
    for row in rows:
        yield f"| {' | '.join(_cells(row))} |"


if __name__ == "__main__":
    main()

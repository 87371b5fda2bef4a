"""From download to searchable: how long after a page was committed by the crawl a searcher finds it.

    python bench/latency.py              three sites of up to 2,000 pages, 0.03 s between requests: about a minute
    python bench/latency.py --quick      150 pages each, 0.05 s
    python bench/latency.py --sites linuxcn --pages 5000 --delay 0.01

nginx serves cuts of real sites (as for `crawl.py`) on loopback and `gossamer crawl` crawls them with its
indexer inside. This process looks on from outside. It reads the frontier database for new segments
and asks a searcher of its own, which follows the index by itself, for some 300 pages drawn by their
URL's hash, again and again until each is found:

- *from commit*: from the time of the segment's transaction (`segments.created_at`, taken before the
  transaction ends, so the figure is rather too long) to the moment the searcher first found the page;
- *from download*: the same from the time of the request (`urls.fetched_at`); the crawl's own half
  second of collecting is in it.

The goal is *from commit* p95 ≤ 2 s. A look comes every 20 ms at best; `longest look` is the greatest time
between two, by which a figure can be too long. Looking takes CPU from the crawl: see `this process`.
Pages that are never found count as failures and make the exit code 1.
"""

from __future__ import annotations

import argparse
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

import msgspec

from _crawlers import Gossamer, end_cleanly_when_told, find_gossamer
from _data import ARCHIVES
from _figures import Figure, add_usual, conclude
from _nginx import Nginx
from _sites import cache_folder, prepare
from gossamer.errors import GossamerError
from gossamer.search.searcher import Searcher

GOAL = 2.0
SITES = ("linuxcn", "itw66", "openoffice")
_LOOK = 0.02
_GRACE = 15.0
"""Seconds after the end of the crawl in which a page may still appear."""


class Figures(msgspec.Struct):
    """What was seen."""

    from_commit: list[float] = []
    """Seconds, a number for each page."""
    from_download: list[float] = []
    missing: list[str] = []
    """Pages that were never found."""
    pages: int = 0
    """Pages the crawl kept, sampled or not."""
    seconds: float = 0.0
    longest_look: float = 0.0
    cpu: float = 0.0
    """CPU seconds of this process."""
    code: int = 0


def main() -> None:
    """Crawls, looks on, and prints the table."""
    options = _options()
    end_cleanly_when_told()
    pages = options.pages or (150 if options.quick else 2_000)
    sites = prepare(options.sites or SITES, pages, options.port, cache_folder(options.cache), options.archives)
    if not sites:
        raise SystemExit("no site is left to crawl")
    total = sum(len(site.cut.paths) for site in sites)
    every = max(1, round(total / options.sample))
    with tempfile.TemporaryDirectory(prefix="bench-latency-", ignore_cleanup_errors=True) as folder, Nginx(sites):
        job = Gossamer(find_gossamer(options.gossamer), options.workers, archive=False, index=True).job(
            sites, Path(folder)
        )
        command = list(job.command)
        delay = options.delay if options.delay is not None else (0.05 if options.quick else 0.03)
        command[command.index("--delay") + 1] = str(delay)
        with (Path(folder) / "said").open("wb") as said:
            crawl = subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True)
        try:
            figures = _Onlooker(Path(folder) / "data", every).watch(crawl, total * delay * 10 + 120)
        finally:
            _end(crawl)
        if figures.code:
            print((Path(folder) / "said").read_text(errors="replace")[-2000:], file=sys.stderr)
    _print(figures)
    conclude(options, _figures(figures), figures, _problems(figures))


def _figures(found: Figures) -> list[Figure]:
    if not found.from_commit:
        return []
    return [
        Figure("from commit to searchable, p50", _quantile(found.from_commit, 0.5), "s", most=60, by_clock=True),
        Figure(
            "from commit to searchable, p95",
            _quantile(found.from_commit, 0.95),
            "s",
            GOAL,
            True,
            most=60,
            by_clock=True,
        ),
        Figure("from download to searchable, p95", _quantile(found.from_download, 0.95), "s", most=60, by_clock=True),
    ]


def _problems(found: Figures) -> list[str]:
    problems = [f"{len(found.missing)} pages were never found"] if found.missing else []
    return [*problems, f"the crawl ended with {found.code}"] if found.code else problems


def _quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add_usual(parser, "150 pages a site")
    add("--sites", type=lambda text: tuple(text.split(",")), help=f"of those of crawl.py ({','.join(SITES)})")
    add("--pages", type=int, help="pages a site at most (2,000; 150 with --quick)")
    add("--delay", type=float, help="seconds between two requests to a site (0.03; 0.05 with --quick)")
    add("--sample", type=int, default=300, help="pages that are looked for, about")
    add("--workers", type=int, default=os.cpu_count())
    add("--gossamer", default="", help="the command, if not the one of this environment")
    add("--archives", type=Path, default=ARCHIVES, help="folder of NAME.tar.zst sites")
    add("--cache", default="", help="folder for unpacked sites ($XDG_CACHE_HOME/gossamer-bench)")
    add("--port", type=int, default=8085)
    return parser.parse_args()


class _Onlooker:
    """Sees pages being committed, and looks for those of the sample."""

    def __init__(self, data: Path, every: int) -> None:
        self._data, self._every = data, every
        self._database: sqlite3.Connection | None = None
        self._searcher: Searcher | None = None
        self._known: set[str] = set()
        self._waiting: dict[str, tuple[float, float]] = {}
        self._segments: set[str] = set()

    def watch(self, crawl: subprocess.Popen[bytes], longest: float) -> Figures:
        """Looks on until the crawl has ended and everything was found, or for `longest` seconds."""
        figures = Figures()
        started, ended = time.monotonic(), 0.0
        last = started
        cpu = time.process_time()
        while time.monotonic() - started < longest:
            if not ended and crawl.poll() is not None:
                ended = time.monotonic()
                figures.seconds, figures.code = ended - started, crawl.returncode
            self._see_commits()
            self._look(figures)
            if ended and (not self._waiting or time.monotonic() - ended > _GRACE):
                break
            figures.longest_look = max(figures.longest_look, time.monotonic() - last)
            last = time.monotonic()
            time.sleep(_LOOK)
        else:
            figures.code = figures.code or 1
        figures.missing = list(self._waiting)
        figures.pages = len(self._known)
        figures.cpu = time.process_time() - cpu
        return figures

    def _see_commits(self) -> None:
        """Take note of pages committed since the last look."""
        try:
            if self._database is None:
                place = f"file:{self._data / 'frontier.db'}?mode=ro"
                self._database = sqlite3.connect(place, uri=True, isolation_level=None)
            segments = self._database.execute("SELECT id, created_at FROM segments").fetchall()
            for segment, committed in segments:
                if segment not in self._segments:
                    self._see_segment(segment, committed)
        except sqlite3.OperationalError:  # not there yet, or being made
            self._database = None

    def _see_segment(self, segment: str, committed: float) -> None:
        assert self._database
        pages = "SELECT url, fetched_at FROM urls WHERE segment = ? AND outcome = 'document'"
        for url, fetched in self._database.execute(pages, (segment,)).fetchall():
            if url not in self._known:  # a merged segment names its pages again
                self._known.add(url)
                if zlib.crc32(url.encode()) % self._every == 0:
                    self._waiting[url] = fetched, committed
        self._segments.add(segment)

    def _look(self, figures: Figures) -> None:
        """Look for every page of the sample that was not found yet."""
        if not self._waiting:
            return
        try:
            self._searcher = self._searcher or Searcher.open(self._data / "index")
            for url, (fetched, committed) in list(self._waiting.items()):
                if self._searcher.page(url) is not None:
                    now = time.time()
                    figures.from_commit.append(now - committed)
                    figures.from_download.append(now - fetched)
                    del self._waiting[url]
        except GossamerError:  # no index yet
            return


def _end(crawl: subprocess.Popen[bytes]) -> None:
    if crawl.poll() is None:
        crawl.terminate()
        try:
            crawl.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(crawl.pid, signal.SIGKILL)
            crawl.wait()


def _print(figures: Figures) -> None:
    found, lost = len(figures.from_commit), len(figures.missing)
    print(f"\n{figures.pages} pages kept in {figures.seconds:.0f} s; {found} of {found + lost} looked for were found\n")
    print("| seconds | p50 | p90 | p95 | p99 | max |\n|---|---:|---:|---:|---:|---:|")
    for name, values in (("from commit", figures.from_commit), ("from download", figures.from_download)):
        cells = [f"{_quantile(values, share):.2f}" if values else "–" for share in (0.5, 0.9, 0.95, 0.99, 1)]
        print(f"| {name} | {' | '.join(cells)} |")
    share = figures.cpu / figures.seconds if figures.seconds else 0.0
    print(f"\nlongest look {figures.longest_look:.2f} s; this process used {share:.2f} of a core")
    for url in figures.missing[:10]:
        print(f"  never found: {url}")


if __name__ == "__main__":
    main()

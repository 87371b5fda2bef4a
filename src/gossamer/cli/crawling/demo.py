"""`gossamer demo`: a small bundled web, served on loopback, crawled, reported on, ranked and searched. Offline."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from threading import Timer
from typing import Annotated, Any

from cyclopts import Parameter
from msgspec.structs import replace

from gossamer import settings as settings_file
from gossamer.cli.common import Debug, duration, err, out, seconds
from gossamer.cli.crawling.crawl import run_crawl
from gossamer.cli.searching.rank import rank_crawl
from gossamer.cli.searching.serve import run_server, warn
from gossamer.compose.console import console_of
from gossamer.compose.crawl import CrawlOrder
from gossamer.compose.serve import crawl_services, search_server
from gossamer.data import exporting
from gossamer.data.folder import DataFolder
from gossamer.data.stored_ranks import rank_place
from gossamer.database.database import Database
from gossamer.demo.web import DemoWeb
from gossamer.discover.seeds import read_seeds
from gossamer.errors import OperationError
from gossamer.frontier.views.inspect import all_urls
from gossamer.model.counts import counted
from gossamer.operate.ranked_pages import RankedPages

_BEST = 3
"""Pages by rank that are shown."""
_UNATTENDED = 300.0
"""Seconds the search page stays open where nobody sits at a terminal."""


def command(
    *,
    data: Path | None = None,
    delay: float = 0.05,
    serve: bool = True,
    port: int | None = None,
    lasting: Annotated[str | None, Parameter(name="--for")] = None,
    debug: Debug = False,
) -> None:
    """Crawl a small bundled web, without a network, and open the search page on it.

    The demo reports which pages it kept and why it refused others, and ranks the pages by their links.

    Parameters
    ----------
    data
        Keep the crawl in this folder; default: a temporary folder that the demo deletes at the end.
    delay
        Seconds between two requests to a site.
    serve
        Serve the search page after the crawl, until Ctrl-C.
    port
        Port of the search page; default: 8017, or any free port.
    lasting
        Close the search page after this time: 90s, 10m. Default without a terminal: 5m.
    """
    limit = seconds(lasting) if lasting else None if sys.stdin.isatty() else _UNATTENDED
    folder = data or Path(tempfile.mkdtemp(prefix="gossamer-demo-"))
    try:
        with DemoWeb() as web:
            changes: dict[str, dict[str, Any]] = {
                "network": {"allow": [web.network], "resolve": web.resolve},
                "politeness": {"delay": delay},
                "crawl": {"linger": 10.0},
            }
            settings = settings_file.load(folder, changes)
            out.print(f"Serving {len(web.seeds)} hosts on {web.network}, port {web.port}. Crawling politely …")
            run_crawl(CrawlOrder(settings, folder, read_seeds(web.seeds, [], None), options=changes, debug=debug))
            _report(DataFolder(folder), web)
            _rank(folder, settings)
            if serve:
                _search_page(folder, settings, port, limit)
    finally:
        if data is None:
            shutil.rmtree(folder, ignore_errors=True)


def _search_page(folder: Path, settings: settings_file.Settings, port: int | None, limit: float | None) -> None:
    """The search page, until Ctrl-C or for a while."""
    out.print('\nTry: spider, паутина, 图书馆, gfenbyf, "orb weaver" -silk, site:news.weaver.test sort:date')
    out.print("Your browser cannot open the sites of this demo. To read a result, follow its link Cached text.")
    if limit is not None:
        out.print(f"The page closes in {duration(limit)}.")
        timer = Timer(limit, lambda: os.kill(os.getpid(), signal.SIGTERM))
        timer.daemon = True
        timer.start()
    has_screen = sys.stdin.isatty() and bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    services = crawl_services(folder, settings)
    console, login = console_of(folder, settings, services, sys.stdout.isatty(), warn)

    def page(chosen: settings_file.ServeSettings) -> None:
        run_server(search_server(services, chosen, warn, console, login), folder, has_screen)

    try:
        page(settings.serve if port is None else replace(settings.serve, port=port))
    except OperationError:
        if port is not None:
            raise
        page(replace(settings.serve, port=0))  # somebody else has the usual one


def _report(folder: DataFolder, web: DemoWeb) -> None:
    db = folder.read()
    _, tables = exporting.pages(folder, db)
    documents = [row for table in tables for row in table.select(["url", "title", "lang"]).to_pylist()]
    out.print("\nDocuments by language: " + ", ".join(
        f"{lang or 'unknown'} {sum(row['lang'] == lang for row in documents)}"
        for lang in sorted({row["lang"] for row in documents}, key=str)
    ))  # fmt: skip
    _examples(db)
    problems = web.expected.problems(row["url"] for row in documents)
    for problem in problems:
        err.print(problem, markup=False)
    if problems:
        raise OperationError(f"the crawl differs from the demo web in {counted(problems, 'place')}")
    out.print(f"\nThe crawl found all {web.expected.documents} documents of the demo web, each once.")


def _rank(folder: Path, settings: settings_file.Settings) -> None:
    """Ranks for the search page, and the best pages by them."""
    run, _ = rank_crawl(folder, settings, settings.rank)
    out.print(
        f"\nRanked {counted(run.graph.nodes, 'page')} by "
        f"{counted(run.graph.edges, 'link')} between them. The best (1 is the average):"
    )
    for page in RankedPages(rank_place(folder, settings)).best(_BEST):
        out.print(f"  {page.rank:6.3f}  {page.url}", markup=False)


def _examples(db: Database) -> None:
    """One URL of each fate, with the reason."""
    shown: set[str] = set()
    out.print("\nOne URL for each outcome:")
    for record in all_urls(db):
        fate = record.rule or record.outcome or record.state
        if fate not in shown:
            shown.add(fate)
            out.print(f"  {fate:18} {record.url}  {record.reason or record.target or ''}"[:160], markup=False)

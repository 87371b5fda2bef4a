"""`gossamer lab replay`: other policies on a recorded crawl, before a setting is changed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from msgspec.structs import replace
from rich.table import Table
from rich.text import Text

from gossamer.cli.common import DEFAULT_DATA, Debug, Json, duration, err, out, print_json, seconds
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.errors import UsageError
from gossamer.lab.simulation.settings_of import sites_of
from gossamer.lab.simulation.what_if import (
    VARIANTS,
    FilterMode,
    Outlook,
    RevisitPolicy,
    check,
    compare,
    report,
    variants,
    write_fetches,
)
from gossamer.lab.tables import Table as Figures
from gossamer.lab.tables import shown
from gossamer.lab.webs.recorder import record
from gossamer.lab.webs.web import RecordedWeb, load_web
from gossamer.settings import Settings


def replay(
    source: Path = DEFAULT_DATA,
    /,
    *,
    strategy: list[str] | None = None,
    revisit: list[RevisitPolicy] | None = None,
    filters: list[FilterMode] | None = None,
    delay: float | None = None,
    length: Annotated[str, Parameter(name="--for")] = "",
    pages: int | None = None,
    seed: int = 1,
    fetches: Path | None = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Crawl a recorded web again in the simulator under several policies, and compare them.

    Repeat an option to compare its values; if you repeat several options, `replay` compares every combination. Options
    that you leave out keep the settings of the data folder. The simulator sends no requests and does not change the
    data folder.

    Parameters
    ----------
    source
        A data folder, or a file that `gossamer lab record` wrote.
    strategy
        Which URLs to fetch first, such as "fit * opic".
    revisit
        How to divide the visits among known pages.
    filters
        Whether to make automatic filters.
    delay
        Seconds between two requests to a site.
    length
        How long to crawl, in simulated time: 12h, 7d. Default: until nothing is left to fetch.
    pages
        Stop after this many page requests.
    seed
        Start value of the random numbers; the same value gives the same crawl.
    fetches
        Write every request of every variant to this CSV file: time, URL and outcome.
    """
    span = seconds(length) if length else None
    if span == 0 or (pages is not None and pages < 1):
        raise UsageError("--for and --pages must be greater than 0")
    web, settings = _opened(source)
    if delay is not None:
        settings = replace(settings, politeness=replace(settings.politeness, delay=delay))
    settings = replace(settings, crawl=replace(settings.crawl, watch=span is not None))
    if revisit and span is None:
        raise UsageError("--revisit needs --for: say how long to crawl, such as 7d")
    ways = variants(settings, strategy or (), revisit or (), filters or ())
    check(web, ways)
    if fetches is not None:
        _check_file(fetches)
    started = time.monotonic()
    tell = (lambda _text: None) if json else (lambda text: err.print(text, markup=False))
    outlooks = compare(web, ways, seconds=span, pages=pages, seed=seed, tell=tell)
    took = round(time.monotonic() - started, 1)
    found = report(web, outlooks)
    if fetches is not None:
        _write(web, outlooks, fetches)
    if json:
        print_json(found)
        return
    for table in found.tables:
        _print(table, turned=table.name == VARIANTS)
    simulated = sum(one.done.ended_at - one.done.started_at for one in outlooks)
    out.print(f"{found.ours} {found.differs}", markup=False)
    out.print(f"{duration(simulated)} of crawling simulated in {duration(took)}", markup=False)


def _opened(source: Path) -> tuple[RecordedWeb, Settings]:
    """The web, and the settings that it is crawled by."""
    if source.is_dir():
        folder = DataFolder(source)
        if not folder.has_crawl():
            raise UsageError(f"there is no crawl in {source}: name a data folder, or a file of `gossamer lab record`")
        return record(folder, source.resolve().name), settings_of_crawl(source)
    if not source.exists():
        raise UsageError(f"there is no {source}: name a data folder, or a file of `gossamer lab record`")
    web, usual = load_web(source), Settings()
    return web, replace(usual, scope=replace(usual.scope, hosts=sites_of(web)))


def _check_file(path: Path) -> None:
    try:
        path.open("a").close()
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def _write(web: RecordedWeb, outlooks: Sequence[Outlook], path: Path) -> None:
    try:
        write_fetches(web, outlooks, path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def _print(figures: Figures, turned: bool) -> None:
    """`turned`: a row for each head and a column for each row, where there are too many heads for a terminal."""
    grid = [list(figures.columns), *shown(figures)]
    heads, *rows = [list(row) for row in zip(*grid, strict=True)] if turned else grid
    table = Table(box=None, pad_edge=False, title=figures.title, title_justify="left")
    for place, head in enumerate(heads):
        table.add_column(Text(head), justify="left" if place == 0 else "right")
    for row in rows:
        table.add_row(*map(Text, row))
    out.print(table)

"""`gossamer rank`: the link graph of the crawl, and the ranks of its pages and sites."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, Literal

import msgspec
from cyclopts import Parameter
from rich.text import Text

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, err, out, print_json
from gossamer.cli.searching.search import plain
from gossamer.clock import SystemClock
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.data.locks import rank_lock
from gossamer.data.stored_ranks import rank_place
from gossamer.engine.opening import open_engine
from gossamer.errors import UsageError
from gossamer.graph.config import RankConfig
from gossamer.model.counts import counted
from gossamer.operate.ranked_pages import RankedPage, RankedPages
from gossamer.settings import Settings
from gossamer.upkeep.ranking_run import RankRun, run_ranking


def command(
    *,
    data: Data = DEFAULT_DATA,
    form: Literal["normalised", "paper"] | None = None,
    damping: float | None = None,
    tolerance: float | None = None,
    personalise: Literal["uniform", "seeds"] | None = None,
    cold: Annotated[bool, Parameter(negative="")] = False,
    hosts: int = 10,
    top: int = 10,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Rank pages and sites by the links between them. Searches use the new ranks at once.

    Parameters
    ----------
    form
        normalised, or paper: the formula of the papers, PR = (1 - d) + d · Σ PR/out; default: the setting rank.form.
    damping
        Share of its rank that a page passes on; default: the setting rank.damping.
    tolerance
        Stop when the ranks change by less than this on average in one iteration; default: the setting rank.tolerance.
    personalise
        Where somebody goes who does not follow a link: to any page (uniform), or to a seed of the crawl (seeds).
    cold
        Do not start from the last ranks. The result is the same but takes more iterations.
    hosts
        How many sites to list.
    top
        How many pages to list.
    output
        Write the ranks of all pages to this file: Parquet if it ends in .parquet, otherwise lines of URL, tab and rank,
        compressed if it ends in .gz.
    """
    if top < 0 or hosts < 0:
        raise UsageError("--top and --hosts must be at least 0")
    settings = settings_of_crawl(data)
    given: dict[str, Any] = {"form": form, "damping": damping, "tolerance": tolerance, "personalise": personalise}
    changes = {name: value for name, value in given.items() if value is not None}
    config = msgspec.structs.replace(settings.rank, **changes)
    config.check()
    started = monotonic()
    run, engine = rank_crawl(data, settings, config, cold)
    ranked = RankedPages(rank_place(data, settings))
    written = ranked.write(output) if output else None
    _show(run, ranked, engine, monotonic() - started, hosts, top, json)
    if written is not None and not json:
        out.print(f"Wrote {written} ranks to {output}", markup=False)


def rank_crawl(data: Path, settings: Settings, config: RankConfig, cold: bool = False) -> tuple[RankRun, str]:
    """Rank the pages of a data folder; returns what came of it, and the engine's name."""
    folder = DataFolder(data)
    with (
        closing(folder.read()) as db,
        rank_lock(folder),
        err.status("ranking") as status,
        closing(open_engine(settings.engine)) as engine,
    ):
        place = rank_place(data, settings)
        run = run_ranking(folder, db, engine, place, config, SystemClock().now(), cold, status.update)
    return run, engine.name


def _show(run: RankRun, ranked: RankedPages, engine: str, seconds: float, hosts: int, top: int, json: bool) -> None:
    pages, sites = ranked.best(top), ranked.best_sites(hosts)
    if json:
        names = ("form", "damping", "tolerance", "iterations", "residual", "converged", "warm")
        figures = {name: getattr(run.ranks, name) for name in names}
        cold = run.cold.iterations if run.cold else None
        counts = {"pages": run.graph.nodes, "links": run.graph.edges, "sites": run.graph.sites, "texts": run.texts}
        more = {"personalise": run.personalise, "cold_iterations": cold, "engine": engine, "seconds": seconds}
        print_json({**counts, **figures, **more, "top": pages, "hosts": sites})
        return
    out.print(
        f"{counted(run.graph.nodes, 'page')} of {counted(run.graph.sites, 'site')}, "
        f"{counted(run.graph.edges, 'link')} between them",
        markup=False,
    )
    out.print(_how(run, seconds), markup=False)
    if not run.ranks.converged:
        err.print("warning: the ranks still change: raise rank.iterations or rank.tolerance", style="yellow")
    show_pages("pages by rank, 1 is the average", pages)
    if sites:
        out.print("sites by rank", style="bold")
    for site in sites:
        out.print(f"{site.rank:8.3f}  {plain(site.site)}", markup=False)


def _how(run: RankRun, seconds: float) -> str:
    ranks = run.ranks
    text = f"PageRank ({ranks.form}, d = {ranks.damping:g}): {_iterations(ranks.iterations)}, "
    text += f"mean change {ranks.residual:.1e}, {seconds:.1f} s"
    if not ranks.warm:
        return f"{text}; cold start"
    before = f" (the last cold start took {_iterations(run.cold.iterations)})" if run.cold else ""
    return f"{text}; started from the last ranks{before}"


def _iterations(count: int) -> str:
    return counted(count, "iteration")


def show_pages(title: str, pages: list[RankedPage]) -> None:
    """Pages with their values, under a title."""
    if pages:
        out.print(title, style="bold")
    for page in pages:
        text = f"  “{plain(page.text)}”" if page.text else ""
        out.print(Text(f"{page.rank:8.3f}  {plain(page.url)}") + Text(text, style="dim"))

"""`gossamer partition`: whether a large site is worth splitting, into what, and what an operator says about it."""

from __future__ import annotations

import tempfile
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Literal

from cyclopts import App
from msgspec.structs import replace

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, err, operator_name, out, print_json
from gossamer.cli.crawling.crawl import run_crawl
from gossamer.clock import SystemClock
from gossamer.compose.crawl import CrawlOrder
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.data.locks import crawl_lock
from gossamer.data.stored_links import stored_in
from gossamer.discover.seeds import Seed, read_seeds
from gossamer.errors import UsageError
from gossamer.frontier import partitions
from gossamer.frontier.views.sites import is_fetched
from gossamer.model.counts import counted, noun
from gossamer.model.site import site_of
from gossamer.model.url import Canonicalizer
from gossamer.operate.canonical import canonical_or_error
from gossamer.partition.assignment import one_part
from gossamer.partition.decision import MOST_COMPARED, Prediction
from gossamer.partition.planning import Share
from gossamer.settings import Settings
from gossamer.store.config import StorageConfig
from gossamer.tables.audit import note
from gossamer.upkeep.partitioning import PartPlan, SitePlan, nothing_stored, plan_site, read_site

command = App(name="partition", help="Split a large site into parts that the crawl fetches at the same time.")

By = Literal["paths", "urls", "auto"]

_SHOWN = 8
"""Directories and first pages of a part to print; --json has all."""


@command.command
def plan(
    site: str,
    *,
    parts: int | None = None,
    by: By = "auto",
    sample: int | None = None,
    data: Data = DEFAULT_DATA,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Predict from the stored links how fast 1 to 10 parts are, and print the best plan. Changes nothing.

    Parameters
    ----------
    site
        A host, with its port if that is not the default one, or any URL of the site.
    parts
        Print the plan with this many parts instead of the best one.
    by
        Split by paths, or by the hash of URLs; auto: by paths if most known URLs of the site were fetched.
    sample
        First crawl up to this many pages of the site into a temporary folder, if none are stored yet.
    """
    _check_parts(parts)
    settings, folder = settings_of_crawl(data), DataFolder(data)
    if sample is not None:
        (seed,) = read_seeds([site], [], None, Canonicalizer(settings.urls))
        found = _plan_of_sample(seed, sample, parts, by, settings, folder, json, debug)
    else:
        found = _plan_of_stored(_site(site, settings), parts, by, settings, folder)
    if json:
        print_json(found)
    else:
        _print(found, settings)


@command.command
def show(site: str = "", *, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """List the split sites with their parts.

    Parameters
    ----------
    site
        Only this site: a host, with its port if that is not the default one, or any URL of the site.
    """
    name = _site(site, settings_of_crawl(data)) if site else ""
    with closing(DataFolder(data).read()) as db:
        found = [one for one in partitions.partitions(db) if name in ("", one.site)]
    if json:
        print_json(found)
        return
    for one in found:
        urls = " + ".join(map(str, one.urls))
        waiting = "; a new plan takes effect when no worker holds the site" if one.waiting else ""
        out.print(f"{one.site}: {_parts(one.plan.parts)}, {urls} {noun(sum(one.urls), 'URL')}{waiting}", markup=False)
    if not found:
        out.print(f"{name} is not split." if name else "No site is split.", markup=False)


@command.command(name="set")
def set_parts(site: str, parts: str, *, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """Split a site, or stop splitting it. A running crawl follows.

    Parameters
    ----------
    site
        A host, with its port if that is not the default one, or any URL of the site.
    parts
        Number of parts; `none`: do not split the site.
    """
    settings, folder = settings_of_crawl(data), DataFolder(data)
    name, count = _site(site, settings), _count(parts)
    folder.read().close()  # there must be a crawl
    assignment = _plan_of_stored(name, count, "auto", settings, folder).assignment if count > 1 else one_part()
    with closing(folder.open_database()) as db:
        now = SystemClock().now()
        partitions.adopt(db, name, assignment, now)
        note(db, now, operator_name(), "split site", name, _parts(count))
    if json:
        print_json({"site": name, "parts": count})
    else:
        out.print(f"{name}: {_parts(count)}, as soon as no worker holds it under the old plan.", markup=False)


def _plan_of_stored(site: str, parts: int | None, by: By, settings: Settings, folder: DataFolder) -> SitePlan:
    if not folder.has_crawl():
        raise nothing_stored(site)
    with closing(folder.read()) as db:
        stored = read_site(stored_in(folder), db, site)
    return plan_site(stored, settings.partition, settings.politeness.delay, parts, by)


def _plan_of_sample(
    seed: Seed, pages: int, parts: int | None, by: By, settings: Settings, folder: DataFolder, quiet: bool, debug: bool
) -> SitePlan:
    if pages < 1:
        raise UsageError("--sample must be at least 1")
    site = site_of(seed.url)
    if folder.has_crawl() and _is_stored(site, folder):
        raise UsageError(f"pages of {site} are already stored: leave out --sample")
    if not quiet:
        err.print(f"Crawling up to {counted(pages, 'page')} of {site} …", markup=False)
    with tempfile.TemporaryDirectory(prefix="gossamer-sample-") as scratch:
        # The sample has clocks of its own: nobody else may ask the site's address meanwhile.
        with crawl_lock(folder) if folder.has_crawl() else nullcontext():
            run_crawl(CrawlOrder(_sampling(settings), Path(scratch), [seed], pages, debug=debug), quiet=True)
        return _plan_of_stored(site, parts, by, settings, DataFolder(Path(scratch), StorageConfig()))


def _sampling(settings: Settings) -> Settings:
    """Settings that look at one site, breadth first, and keep no more than links."""
    return replace(
        settings,
        crawl=replace(settings.crawl, strategy="breadth", archive=False, index=False, watch=False, workers=1),
        scope=replace(settings.scope, mode="host", hosts=()),
        storage=StorageConfig(),
    )


def _is_stored(site: str, folder: DataFolder) -> bool:
    with closing(folder.read()) as db:
        return is_fetched(db, site)


def _site(text: str, settings: Settings) -> str:
    return site_of(canonical_or_error(text, settings))


def _check_parts(parts: int | None) -> None:
    if parts is not None and not 1 <= parts <= MOST_COMPARED:
        raise UsageError(f"--parts must be from 1 to {MOST_COMPARED}")


def _count(text: str) -> int:
    if text == "none":
        return 1
    if not text.isdecimal() or not 1 <= int(text) <= MOST_COMPARED:
        raise UsageError(f"{text} is not a number of parts: write 2 to {MOST_COMPARED}, or none")
    return int(text)


def _parts(count: int) -> str:
    return counted(count, "part")


def _print(found: SitePlan, settings: Settings) -> None:
    out.print(
        f"{found.site}: {counted(found.urls, 'URL')} known, {found.fetched:.0%} of them fetched; {found.key_paths} of "
        f"{found.paths} paths hold 90 % of the pages; {found.same_path:.0%} of a page's links stay in its path.\n",
        markup=False,
    )
    out.print("            the rule of the papers                  cut by " + found.cut_by)
    out.print("parts      A       C       O   total         A       C       O   total   waiting")
    for row in found.predictions:
        out.print(_row(row), markup=False)
    out.print("\nA: times as fast as one part; C: share of the pages found; O: share of double downloads.\n")
    out.print(_picked(found, settings), markup=False)
    for number, part in enumerate(found.parts):
        _print_part(number, part)


def _row(row: Prediction) -> str:
    seed, ours = (
        f"{one.acceleration:7.2f} {one.coverage:7.1%} {one.overlap:7.1%} {one.total:7.2f}"
        for one in (row.seed, row.ours)
    )
    return f"{row.parts:5}{seed}   {ours}   {row.waiting:7.1%}"


def _picked(found: SitePlan, settings: Settings) -> str:
    if found.picked == 1:
        return "Best: none. Do not split the site."
    text = f"Best: {counted(found.picked, 'part')} (partition.most_parts = {settings.partition.most_parts})."
    if found.urls < settings.partition.min_urls:
        text += f" A crawl does not split the site by itself: it has fewer than {settings.partition.min_urls} URLs."
    return text


def _print_part(number: int, part: PartPlan) -> None:
    out.print(f"\nPart {number}: {counted(part.urls, 'URL')}", markup=False)
    for share in part.holds[:_SHOWN]:
        out.print(f"  {share.urls:7}  {_held(share)}", markup=False)
    _print_rest(len(part.holds), "directories")
    for seed in part.seeds[:_SHOWN]:
        out.print(f"     from  {seed}", markup=False)
    _print_rest(len(part.seeds), "first pages")


def _held(share: Share) -> str:
    return f"{share.directory}  ({share.buckets} of its buckets)" if share.buckets else share.directory


def _print_rest(count: int, what: str) -> None:
    if count > _SHOWN:
        out.print(f"           … and {count - _SHOWN} more {what}")

"""`gossamer stats`: how many URLs each site has under each prefix, and what became of them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, err, out, print_json
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database, require_crawl
from gossamer.errors import UsageError
from gossamer.frontier.views import table_statistics
from gossamer.model.counts import counted, noun
from gossamer.model.site import site_of
from gossamer.operate.canonical import canonical_or_error
from gossamer.scope.shape import path_shape
from gossamer.scope.statistics import SEGMENTS, Counts, depth_of, roll_up

_SITES = 50
_HEADS = ("known", "unfetched", "fetched", "fit", "documents", "failed", "duplicate", "near")


class _Line(msgspec.Struct):
    site: str
    prefix: str
    known: int
    unfetched: int
    fetched: int
    fit: int
    documents: int
    failed: int
    duplicate: int
    near: int


def command(
    site: str = "",
    *,
    depth: int = SEGMENTS + 1,
    min_: Annotated[int, Parameter(name="--min")] = 1,
    recount: Annotated[bool, Parameter(negative="")] = False,
    rebuild: Annotated[bool, Parameter(negative="")] = False,
    data: Data = DEFAULT_DATA,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Count the URLs of SITE by prefix and outcome. Without SITE, list the largest sites.

    `<n>` stands for digits in a prefix. The counts of `/a/` include those of `/a/b/`. `/a/?page` counts the URLs in
    `/a/` that have a parameter called page.

    Parameters
    ----------
    site
        A host, with its port if that is not the default one, or any URL of the site.
    depth
        Show prefixes of up to this many path segments.
    min_
        Show prefixes with at least this many URLs.
    recount
        Count the URLs of SITE from scratch and show which stored counts differ. This takes long.
    rebuild
        Count the URLs of all sites from scratch, as a job on the engine of the settings, and correct the stored counts.
    """
    if rebuild:
        if site or recount:
            raise UsageError("--rebuild counts all sites: leave out SITE and --recount")
        _rebuild(data, json)
        return
    with closing(DataFolder(data).read()) as db:
        if recount:
            _recount(db, _name(site, data), json)
            return
        lines = _site_lines(db, _name(site, data), depth, min_) if site else _all_lines(db, min_)
    if json:
        print_json(lines)
    else:
        _print(lines, "prefix" if site else "site")


def _name(site: str, data: Path) -> str:
    if not site:
        raise UsageError("--recount counts one site: name it")
    return site_of(canonical_or_error(site, settings_of_crawl(data)))


def _all_lines(db: Database, least: int) -> list[_Line]:
    sites = table_statistics.sites_by_size(db, _SITES)
    return [_line(one.site, "/", one.counts) for one in sites if one.counts.known >= least]


def _site_lines(db: Database, site: str, depth: int, least: int) -> list[_Line]:
    leaves = table_statistics.leaves(db, site)
    if not leaves:
        raise UsageError(f"there are no URLs of {site}: see `gossamer stats`")
    sums = roll_up(leaves.items(), least)
    return [_line(site, prefix, sums[prefix]) for prefix in sorted(sums) if depth_of(prefix) <= depth]


def _recount(db: Database, site: str, json: bool) -> None:
    kept = {text: msgspec.structs.replace(counts, near=0) for text, counts in table_statistics.leaves(db, site).items()}
    true = table_statistics.recount(db, site, path_shape)
    wrong = [
        (text, kept.get(text, Counts()), true.get(text, Counts()))
        for text in sorted(kept.keys() | true.keys())
        if kept.get(text, Counts()) != true.get(text, Counts())
    ]
    if json:
        print_json({"site": site, "leaves": len(true), "wrong": wrong})
        return
    for text, before, now in wrong:
        out.print(f"{text}  stored {before}  counted {now}", markup=False)
    differ = f"{len(wrong)} {noun(len(wrong), 'differs', 'differ')} from the stored count"
    out.print(f"Counted {counted(true, 'prefix')}: {differ}.")


def _rebuild(data: Path, json: bool) -> None:
    from gossamer.cli.searching.jobs import job_context
    from gossamer.jobs.prefix_statistics import rebuild_counters

    folder = DataFolder(data)
    require_crawl(folder.database)
    with (
        closing(folder.open_database()) as db,
        err.status("counting all URLs"),
        job_context("prefix-statistics", data, database=db) as context,
    ):
        report, wrong = rebuild_counters(context)
    if json:
        print_json({"urls": report.urls, "sites": report.sites, "leaves": report.leaves, "wrong": wrong})
        return
    for one in wrong:
        out.print(f"{one.site} {one.prefix}  stored {one.kept}  counted {one.counted}", markup=False)
    out.print(
        f"Counted {counted(report.urls, 'URL')} of {counted(report.sites, 'site')} and corrected "
        f"{len(wrong)} of {counted(report.leaves, 'prefix')}."
    )


def _line(site: str, prefix: str, counts: Counts) -> _Line:
    return _Line(
        site, prefix, counts.known, counts.unfetched, counts.visited, counts.fit, counts.documents, counts.failed,
        counts.duplicates, counts.near,
    )  # fmt: skip


def _print(lines: list[_Line], first: str) -> None:
    if not lines:
        out.print("There are no URLs yet.")
        return
    names = [line.prefix if first == "prefix" else line.site for line in lines]
    width = max(map(len, (*names, first)))
    out.print(f"{first:{width}}  " + "".join(f"{head:>11}" for head in _HEADS), style="bold", markup=False)
    for name, line in zip(names, lines, strict=True):
        out.print(f"{name:{width}}  " + "".join(f"{getattr(line, head):>11}" for head in _HEADS), markup=False)

"""`gossamer filters`: filters that the crawler made itself, their evidence, and what an operator says about them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from cyclopts import App

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, operator_name, out, print_json
from gossamer.clock import SystemClock
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.data.stored_links import stored_in
from gossamer.database.database import Database, open_database
from gossamer.errors import UsageError
from gossamer.frontier.steering import filters
from gossamer.frontier.steering.filters import StoredFilter
from gossamer.model.counts import counted
from gossamer.model.site import site_of
from gossamer.operate.canonical import canonical_or_error
from gossamer.tables.audit import note
from gossamer.upkeep.filters.look import Report
from gossamer.upkeep.filters.run import all_sites, run_filters, switch

command = App(name="filters", help="List, try and switch automatic filters, which refuse URLs that were never useful.")


@command.default
def show(site: str = "", *, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """List the automatic filters with state and evidence, and how many URLs each refuses.

    Parameters
    ----------
    site
        Only filters of this site: a host, with its port if that is not the default one, or any URL of the site.
    """
    name = _site(site, data) if site else ""
    with closing(DataFolder(data).read()) as db:
        rows, refused = filters.list_filters(db, name), filters.refused(db, name)
    if json:
        print_json([_as_json(row, refused[row.site, row.kind, row.pattern]) for row in rows])
        return
    for row in rows:
        out.print(_line(row, refused[row.site, row.kind, row.pattern]), markup=False)
    if not rows:
        out.print("There are no automatic filters.")


@command.command
def propose(site: str = "", *, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """Propose filters, and check that every useful page stays reachable. They refuse nothing yet.

    Parameters
    ----------
    site
        Only for this site: a host, with its port if that is not the default one, or any URL of the site.
    """
    _run(site, data, json, propose_only=True)


@command.command
def run(site: str = "", *, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """Propose, try and activate filters now, as a crawl does every few minutes.

    Parameters
    ----------
    site
        Only for this site: a host, with its port if that is not the default one, or any URL of the site.
    """
    _run(site, data, json, propose_only=False)


@command.command
def on(site: str, pattern: str, *, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """Activate a filter, whatever its state. Matching URLs leave the queue.

    Parameters
    ----------
    site
        A host, with its port if that is not the default one, or any URL of the site.
    pattern
        The pattern as `gossamer filters` lists it; write its kind before it (`prefix /tag/`) if two have the same
        pattern.
    """
    _switch(site, pattern, True, data, json)


@command.command
def off(site: str, pattern: str, *, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """Switch a filter off for good, and queue the URLs that it refused.

    Parameters
    ----------
    site
        A host, with its port if that is not the default one, or any URL of the site.
    pattern
        The pattern as `gossamer filters` lists it; write its kind before it (`prefix /tag/`) if two have the same
        pattern.
    """
    _switch(site, pattern, False, data, json)


def _run(site: str, data: Path, json: bool, propose_only: bool) -> None:
    config = settings_of_crawl(data).filters
    folder, db = _open(data)
    try:
        sites = [_site(site, data)] if site else all_sites(db, config)
        report = run_filters(stored_in(folder), db, config, SystemClock().now(), sites, propose_only)
    finally:
        db.close()
    if json:
        print_json(report)
    else:
        _print_report(report)


def _switch(site: str, pattern: str, on: bool, data: Path, json: bool) -> None:
    name, config = _site(site, data), settings_of_crawl(data).filters
    _, db = _open(data)
    try:
        row = _find(db, name, pattern)
        now = SystemClock().now()
        urls = switch(db, row, on, config, now)
        what = f"{name} {row.kind} {row.pattern}"
        note(db, now, operator_name(), f"filter {'on' if on else 'off'}", what, counted(urls, "URL"))
    finally:
        db.close()
    if json:
        print_json({"site": name, "kind": row.kind, "pattern": row.pattern, "on": on, "urls": urls})
    else:
        done = (
            f"is on. {counted(urls, 'URL')} left the queue"
            if on
            else f"is off for good. Queued {counted(urls, 'URL')} again"
        )
        out.print(f"{name} {row.kind} {row.pattern} {done}.", markup=False)


def _find(db: Database, site: str, pattern: str) -> StoredFilter:
    rows = filters.list_filters(db, site)
    found = [row for row in rows if pattern in (row.pattern, f"{row.kind} {row.pattern}")]
    if len(found) > 1:
        kinds = ", ".join(f"'{row.kind} {row.pattern}'" for row in found)
        raise UsageError(f"{site} has several filters with the pattern {pattern}: write one of {kinds}")
    if not found:
        raise UsageError(f"{site} has no filter {pattern}: see `gossamer filters {site}`")
    return found[0]


def _site(text: str, data: Path) -> str:
    return site_of(canonical_or_error(text, settings_of_crawl(data)))


def _open(data: Path) -> tuple[DataFolder, Database]:
    folder = DataFolder(data)
    folder.read().close()  # there must be a crawl
    return folder, open_database(folder.database)


def _as_json(row: StoredFilter, refused: int) -> dict[str, Any]:
    names = ("site", "kind", "pattern", "state", "made_by", "evidence", "proposed_at", "changed_at")
    return {name: getattr(row, name) for name in names} | {"refused": refused}


def _line(row: StoredFilter, refused: int) -> str:
    evidence = row.evidence
    text = f"{row.state:9} {row.site} {row.kind} {row.pattern}  ({row.made_by}): {evidence.sentence()}"
    if evidence.reachable:
        text += f"; all {counted(evidence.reachable, 'useful page')} stay reachable"
    if refused:
        text += f"; refuses {counted(refused, 'URL')}"
    return text + (f"; {evidence.note}" if evidence.note else "")


def _print_report(report: Report) -> None:
    for row in report.rejected:
        out.print(f"no        {row.site} {row.kind} {row.pattern}: {row.evidence.note}", markup=False)
    for title, rows in (("new", report.proposed), ("active", report.activated), ("withdrawn", report.withdrawn)):
        for row in rows:
            out.print(f"{title:9} {row.site} {row.kind} {row.pattern}: {row.evidence.sentence()}", markup=False)
    out.print(
        f"Checked {counted(report.sites, 'site')}: {counted(report.proposed, 'filter')} "
        f"proposed, {len(report.activated)} activated, "
        f"{len(report.withdrawn)} withdrawn; {counted(report.left, 'URL')} left the queue, {report.back} came back."
    )

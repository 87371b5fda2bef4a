"""`gossamer status`: how the crawl stands."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, duration, out, print_json, size
from gossamer.clock import SystemClock
from gossamer.crawl.folder import DataFolder
from gossamer.crawl.indexed import index_standing
from gossamer.frontier.inspect import segment_ids, status, waiting_sites
from gossamer.store.segments import check_segment


def command(
    *,
    data: Data = DEFAULT_DATA,
    check: Annotated[bool, Parameter(negative="")] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show counts, queue, errors, and the sites that must rest with the reason.

    Parameters
    ----------
    check
        First read every stored byte; a damaged file is named.
    """
    now = SystemClock().now()
    folder = DataFolder(data)
    db = folder.read()
    for segment in segment_ids(db) if check else ():
        check_segment(folder.segments, segment)
    standing = status(db, now)
    waiting = waiting_sites(db, now)
    index = index_standing(folder, db)
    if json:
        figures = {name: getattr(standing, name) for name in standing.__struct_fields__}
        print_json({**figures, "resting": waiting, "index": index})
        return
    rows = [
        ("pages", f"{standing.pages} kept, {standing.fetched} fetched, {standing.duplicates} duplicates"),
        ("urls", f"{standing.urls_known} known, {standing.urls_due} due, {standing.urls_scheduled} later, "
                 f"{standing.urls_refused} refused"),
        ("sites", f"{standing.sites} known, {standing.sites_active} active, {standing.sites_waiting} waiting, "
                  f"{standing.sites_blocked} of them blocked"),
        ("errors", f"{standing.errors}  " + "  ".join(f"{k}:{n}" for k, n in standing.errors_by_kind.items())),
        ("queue", "  ".join(f"{level}:{urls}" for level, urls in standing.queue_by_level.items()) or "empty"),
        ("workers", str(standing.workers)),
        ("disk", f"{size(standing.bytes)} in {standing.segments} segments"),
        ("index", index.problem or f"{index.documents} pages can be searched, {index.behind} changes behind"),
    ]  # fmt: skip
    for name, value in rows:
        out.print(f"{name:8} {value}", markup=False)
    for site in waiting:
        out.print(f"{'resting':8} {site.site} for {duration(site.until - now)}: {site.reason}", markup=False)

"""`gossamer status`: how the crawl stands."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, duration, out, print_json, settings_of_crawl, size
from gossamer.clock import SystemClock
from gossamer.crawl.folder import DataFolder
from gossamer.crawl.indexed import index_standing
from gossamer.frontier.delays import distribution
from gossamer.frontier.inspect import segment_ids, status, waiting_sites
from gossamer.frontier.revisits import collection_freshness
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
    fresh = collection_freshness(db, settings_of_crawl(data).revisit, now)
    delays = distribution(db)
    if json:
        figures = {name: getattr(standing, name) for name in standing.__struct_fields__}
        print_json({**figures, "freshness": fresh, "news": delays, "resting": waiting, "index": index})
        return
    rows = [
        ("pages", f"{standing.pages} kept, {standing.fetched} fetched, {standing.duplicates} duplicates"),
        ("urls", f"{standing.urls_known} known, {standing.urls_due} due, {standing.urls_scheduled} later, "
                 f"{standing.urls_refused} refused"),
        ("sites", f"{standing.sites} known, {standing.sites_active} active, {standing.sites_waiting} waiting, "
                  f"{standing.sites_blocked} of them blocked"),
        ("errors", f"{standing.errors}  " + "  ".join(f"{k}:{n}" for k, n in standing.errors_by_kind.items())),
        ("queue", "  ".join(f"{level}:{urls}" for level, urls in standing.queue_by_level.items()) or "empty"),
        ("fresh", f"{100 * fresh.fresh:.1f} % of the pages are believed to be up to date; mean age "
                  f"{duration(fresh.age)}; {fresh.visits_per_day:.3g} visits a day keep it so" if fresh.pages else ""),
        ("news", f"{delays.documents} announced documents; published → searchable: half within "
                 f"{duration(delays.median)}, 95 % within {duration(delays.p95)}" if delays.documents else ""),
        ("workers", "  ".join([str(standing.workers), *(f"{m}:{n}" for m, n in standing.workers_by_machine.items())])),
        ("disk", f"{size(standing.bytes)} in {standing.segments} segments"),
        ("index", index.problem or f"{index.documents} pages can be searched, {index.behind} changes behind"),
    ]  # fmt: skip
    for name, value in rows:
        if value:
            out.print(f"{name:8} {value}", markup=False)
    for site in waiting:
        out.print(f"{'resting':8} {site.site} for {duration(site.until - now)}: {site.reason}", markup=False)

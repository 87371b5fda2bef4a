"""`gossamer status`: how the crawl stands."""

from __future__ import annotations

import sys
from typing import Annotated

from cyclopts import Parameter

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, duration, out, print_json, size
from gossamer.cli.crawling.progress import described, levels_of
from gossamer.cli.crawling.seed_lines import as_json, commands_for, lines_of, sum_of_requests
from gossamer.clock import SystemClock
from gossamer.data.crawl_settings import options_of, settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.data.locks import is_crawled
from gossamer.database.database import Database
from gossamer.errors import OperationError
from gossamer.frontier.freshness import collection_freshness
from gossamer.frontier.steering.controls import paused_sites
from gossamer.frontier.views.backlog import slowest
from gossamer.frontier.views.inspect import Status, segment_ids, status, waiting_sites
from gossamer.indexer.indexed import index_standing
from gossamer.model.counts import counted
from gossamer.operate.health import problems
from gossamer.operate.verdict import verdict_of
from gossamer.settings import Settings
from gossamer.tables.delays import distribution


def command(
    *,
    data: Data = DEFAULT_DATA,
    check: Annotated[bool, Parameter(negative="")] = False,
    healthy: Annotated[bool, Parameter(negative="")] = False,
    prometheus: Annotated[bool, Parameter(negative="")] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show counts, queue and errors, what became of each seed, and which sites wait and why.

    Parameters
    ----------
    check
        First read all stored files and report damage; at the end also check the health, as --healthy does.
    healthy
        Only check whether the crawl is healthy: it kept pages of every seed and stores new ones, the disk has space,
        and the index is up to date. If not, print the reason; exit code 1.
    prometheus
        Print all metrics in the format of Prometheus, if no server serves /metrics.
    """
    now = SystemClock().now()
    folder = DataFolder(data)
    db = folder.read()
    if prometheus:
        sys.stdout.write(_figures(folder, db, settings_of_crawl(data)))
        return
    if check:
        _read_everything(folder, db)
    if healthy:
        _complain(folder, db, settings_of_crawl(data), now)
        out.print("the crawl is healthy", markup=False)
        return
    _show(folder, db, settings_of_crawl(data), now, json)
    if check:
        _complain(folder, db, settings_of_crawl(data), now)


def _read_everything(folder: DataFolder, db: Database) -> None:
    from gossamer.store.segments import check_segment  # Arrow, which takes longer than a status

    for segment in segment_ids(db):
        check_segment(folder.segments, segment)


def _figures(folder: DataFolder, db: Database, settings: Settings) -> str:
    # Imported only where it is wanted: the library takes a tenth of the time of a status.
    from gossamer.operate.metrics import CrawlCollector, text

    return text(CrawlCollector(folder, settings, SystemClock(), lambda question: question(db)))


def _complain(folder: DataFolder, db: Database, settings: Settings, now: float) -> None:
    """An error that names what is not well, where something is not."""
    if found := problems(folder, db, settings, now):
        raise OperationError("; ".join(found))


def _left(db: Database, settings: Settings, standing: Status, now: float) -> str:
    """How long what is due takes at the least; empty where nothing is due."""
    longest = max(slowest(db, settings.polite), key=lambda one: one.seconds(now), default=None)
    if longest is None or not standing.urls_due:
        return ""
    return f"at least {duration(longest.seconds(now))}, for {described(longest)}"


def _show(folder: DataFolder, db: Database, settings: Settings, now: float, json: bool) -> None:
    standing = status(db, now)
    waiting, resting = waiting_sites(db, now), paused_sites(db)
    index = index_standing(folder, db)
    fresh = collection_freshness(db, settings.revisit, now)
    delays = distribution(db)
    commands = commands_for(folder.root, options_of(db), is_crawled(folder))
    verdict = verdict_of(db, settings, commands, standing.pages)
    if json:
        figures = {**standing.as_dict(), "verdict": as_json(verdict)}
        told = {"freshness": fresh, "news": delays, "resting": waiting, "paused_sites": resting, "index": index}
        print_json({**figures, **told})
        return
    rows = [
        ("paused", standing.paused and f"{standing.paused} (run `gossamer resume` to continue)"),
        ("pages", f"{standing.pages} kept, {standing.fetched} fetched"),
        ("fetched", sum_of_requests(standing) if standing.fetched else ""),
        ("urls", f"{standing.urls_known} known, {standing.urls_due} due, {standing.urls_scheduled} later, "
                 f"{standing.urls_refused} refused"),
        ("sites", f"{standing.sites} known, {standing.sites_active} active, {standing.sites_waiting} waiting, "
                  f"{standing.sites_blocked} of them blocked, {standing.sites_paused} paused, "
                  f"{standing.sites_at_limit} at their limit"),
        ("errors", f"{standing.errors}  " + "  ".join(f"{k}:{n}" for k, n in standing.errors_by_kind.items())),
        ("queue", levels_of(standing.queue_by_level) if standing.queue_by_level else "empty"),
        ("left", _left(db, settings, standing, now)),
        ("fresh", f"{100 * fresh.fresh:.1f} % of the pages are probably up to date; mean age {duration(fresh.age)}; "
                  f"{fresh.visits_per_day:.3g} revisits a day" if fresh.pages else ""),
        ("news", f"{counted(delays.documents, 'announced document')}; published → searchable: half within "
                 f"{duration(delays.median)}, 95 % within {duration(delays.p95)}" if delays.documents else ""),
        ("workers", "  ".join([str(standing.workers), *(f"{m}:{n}" for m, n in standing.workers_by_machine.items())])),
        ("disk", f"{size(standing.bytes)} in {counted(standing.segments, 'segment')}"),
        ("index", index.problem or f"{counted(index.documents, 'page')}, "
                  f"{counted(index.behind, 'change')} behind"),
    ]  # fmt: skip
    for name, value in rows:
        if value:
            out.print(f"{name:8} {value}", markup=False)
    for line in lines_of(verdict, commands, now):
        out.print(f"{'seed':8} {line}" if not line.startswith(" ") else f"{'':8} {line.strip()}", markup=False)
    for one in resting[:20]:
        out.print(f"{'paused':8} {one.site}: {one.reason}", markup=False)
    for site in waiting:
        out.print(f"{'resting':8} {site.site} for {duration(site.until - now)}: {site.reason}", markup=False)

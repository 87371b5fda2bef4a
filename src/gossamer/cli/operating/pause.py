"""`gossamer pause`: send no requests to a site, or to any, until `gossamer resume`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, operator_name, out, print_json
from gossamer.clock import SystemClock
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.frontier.steering import controls
from gossamer.model.site import site_of
from gossamer.operate.canonical import canonical_or_error
from gossamer.tables.audit import note


def command(*sites: str, data: Data = DEFAULT_DATA, reason: str = "", json: Json = False, debug: Debug = False) -> None:
    """Pause SITES, or the whole crawl. URLs stay in the queue until you resume.

    Parameters
    ----------
    sites
        Hosts, with the port if that is not the default one, or any URL of the site. Without sites: the whole crawl.
    reason
        The reason that `gossamer status` and `gossamer explain` show.
    """
    with opened(data) as (db, now):
        names = named(db, sites, data)
        for name in names:
            controls.pause_site(db, name, reason, now)
            note(db, now, operator_name(), "pause site", name, reason)
        if not sites:
            controls.pause_crawl(db, reason, now)
            note(db, now, operator_name(), "pause crawl", "", reason)
    if json:
        print_json({"paused": names or "crawl", "reason": reason or controls.NO_REASON})
    elif names:
        out.print(f"Paused: {', '.join(names)}. Run `gossamer resume` with the same names to continue.", markup=False)
    else:
        out.print("Paused the crawl: it sends no requests until you run `gossamer resume`.")


def named(db: Database, sites: Sequence[str], data: Path) -> list[str]:
    """The sites a person means; all of them are known, or nothing is done to any."""
    settings = settings_of_crawl(data)
    names = list(dict.fromkeys(site_of(canonical_or_error(text, settings)) for text in sites))
    for name in names:
        controls.controls_of(db, name)
    return names


@contextmanager
def opened(data: Path) -> Iterator[tuple[Database, float]]:
    """The database of an existing crawl, and the time."""
    folder = DataFolder(data)
    folder.read().close()  # there must be a crawl
    with closing(folder.open_database()) as db:
        yield db, SystemClock().now()

"""`gossamer feeds`: the sources of the crawl, the URLs they had, and the next poll of each."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

from cyclopts import Parameter

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, duration, out, print_json
from gossamer.clock import SystemClock
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.frontier.sources import Source, list_sources
from gossamer.model.counts import counted
from gossamer.model.site import site_of
from gossamer.operate.canonical import canonical_or_error


def command(
    site: str = "",
    *,
    limit: Annotated[int, Parameter(help="Show this many sources; 0: all.")] = 50,
    data: Data = DEFAULT_DATA,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """List the feeds, sitemaps and start pages that the crawl polls, most productive first.

    Parameters
    ----------
    site
        Only the sources of this host.
    """
    name = site_of(canonical_or_error(site, settings_of_crawl(data))) if site else ""
    with closing(DataFolder(data).read()) as db:
        sources = list_sources(db, name)
    if json:
        print_json(sources)
        return
    now = SystemClock().now()
    for source in sources[: limit or None]:
        out.print(_line(source, now), markup=False)
    spoiled = sum(bool(source.problem) for source in sources)
    if spoiled:
        out.print(f"The crawl could not read {spoiled} of {len(sources)}, or not to the end.")
    if not sources:
        out.print("There are no feeds, sitemaps or start pages yet.")
    elif limit and len(sources) > limit:
        out.print(f"… and {len(sources) - limit} more. Show all with --limit 0.")


def _line(source: Source, now: float) -> str:
    news = f"{counted(source.found, 'URL')} in {source.hits} of {counted(source.polls, 'poll')}"
    when = "not planned" if source.next_at is None else f"in {duration(max(source.next_at - now, 0.0))}"
    line = f"{source.kind:8}{source.url}  {news}; next {when}"
    if source.retired:
        line += f"; retired: {source.retired}"
    if source.problem:
        line += f"; {source.problem}"
    return line + (f"; push {source.push}" if source.push else "")

"""`gossamer recrawl`: fetch again."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, operator_name, out, print_json
from gossamer.clock import SystemClock
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.data.opening import open_frontier
from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.frontier.steering import operate
from gossamer.frontier.views.inspect import segment_ids
from gossamer.model.counts import counted
from gossamer.operate.canonical import canonical_or_error
from gossamer.store.segment_folder import delete_segments
from gossamer.tables.audit import note


def command(
    *prefixes: str,
    data: Data = DEFAULT_DATA,
    failed: Annotated[bool, Parameter(negative="")] = False,
    segment: str = "",
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Queue known URLs again: all that start with one of PREFIXES.

    Parameters
    ----------
    prefixes
        URLs or beginnings of URLs, such as https://example.org/news/.
    failed
        Queue every URL whose last visit failed.
    segment
        Delete a damaged segment (the name of its folder) and queue its URLs.
    """
    if not prefixes and not failed and not segment:
        raise UsageError("name a URL or the beginning of URLs, or pass --failed or --segment")
    settings = settings_of_crawl(data)
    folder = DataFolder(data)
    folder.read().close()
    frontier = open_frontier(folder, settings)
    now = SystemClock().now()
    try:
        named = [canonical_or_error(text, settings) for text in prefixes]
        for what in (*named, *(["failed URLs"] if failed else []), *([f"segment {segment}"] if segment else [])):
            note(frontier.db, now, operator_name(), "recrawl", what)
        urls = sum(operate.recrawl(frontier.db, url, now) for url in named)
        urls += operate.recrawl_failed(frontier.db, now) if failed else 0
        urls += _withdraw(folder, frontier.db, segment, now) if segment else 0
    finally:
        frontier.db.close()
    if json:
        print_json({"queued": urls})
    else:
        out.print(f"{counted(urls, 'URL')} queued again.")


def _withdraw(folder: DataFolder, db: Database, segment: str, now: float) -> int:
    if segment not in segment_ids(db):
        raise UsageError(f"there is no segment {segment} in {folder.segments}: name one of the folders there")
    urls = operate.withdraw(db, segment, now)
    delete_segments(folder.segments, [segment])
    return urls

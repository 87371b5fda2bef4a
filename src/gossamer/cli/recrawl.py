"""`gossamer recrawl`: fetch again."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from gossamer import settings as settings_file
from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, out, print_json
from gossamer.clock import SystemClock
from gossamer.crawl.explain import canonical_or_error
from gossamer.crawl.folder import DataFolder
from gossamer.errors import UsageError
from gossamer.frontier import operate


def command(
    *prefixes: str,
    data: Data = DEFAULT_DATA,
    failed: Annotated[bool, Parameter(negative="")] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Queue the known URLs that start with one of PREFIXES again.

    Parameters
    ----------
    prefixes
        URLs or beginnings of URLs, such as https://example.org/news/.
    failed
        Queue every URL whose last visit failed.
    """
    if not prefixes and not failed:
        raise UsageError("name a URL or a beginning of URLs, or pass --failed")
    settings = settings_file.load(data)
    folder = DataFolder(data)
    folder.read().close()
    frontier = folder.open_frontier(settings)
    now = SystemClock().now()
    try:
        urls = sum(operate.recrawl(frontier.db, canonical_or_error(text, settings), now) for text in prefixes)
        urls += operate.recrawl_failed(frontier.db, now) if failed else 0
    finally:
        frontier.db.close()
    if json:
        print_json({"queued": urls})
    else:
        out.print(f"{urls} URLs queued again.")

"""`gossamer remove`: take URLs out and keep them out."""

from __future__ import annotations

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, out, print_json, settings_of_crawl
from gossamer.cli.index import update_if_there
from gossamer.clock import SystemClock
from gossamer.crawl.explain import canonical_or_error
from gossamer.crawl.folder import DataFolder
from gossamer.errors import UsageError
from gossamer.frontier import operate


def command(
    *prefixes: str, data: Data = DEFAULT_DATA, reason: str = "", json: Json = False, debug: Debug = False
) -> None:
    """Remove the URLs that start with one of PREFIXES: they leave queue, exports and search, and stay out.

    Parameters
    ----------
    prefixes
        URLs or beginnings of URLs; https://example.org/ removes the site.
    reason
        Why, for `gossamer explain`.
    """
    if not prefixes:
        raise UsageError("nothing to remove: name a URL or a beginning of URLs")
    settings = settings_of_crawl(data)
    folder = DataFolder(data)
    folder.read().close()
    frontier = folder.open_frontier(settings)
    now = SystemClock().now()
    try:
        urls = 0
        for text in prefixes:
            prefix = canonical_or_error(text, settings)
            urls += operate.remove(frontier.db, prefix, reason or "removed by the operator", now)
    finally:
        frontier.db.close()
    update_if_there(folder)
    if json:
        print_json({"removed": urls})
    else:
        out.print(f"{urls} {'URL' if urls == 1 else 'URLs'} removed; what starts so will not be fetched again.")

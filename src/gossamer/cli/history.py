"""`gossamer history URL`: all stored visits of a page."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, out, print_json, settings_of_crawl
from gossamer.crawl.explain import canonical_or_error
from gossamer.crawl.folder import DataFolder
from gossamer.frontier.inspect import segment_ids
from gossamer.store.versions import versions


def command(url: str, *, data: Data = DEFAULT_DATA, json: Json = False, debug: Debug = False) -> None:
    """List every visit to URL that is stored, the newest first."""
    settings = settings_of_crawl(data)
    folder = DataFolder(data)
    found = versions(folder.segments, segment_ids(folder.read()), canonical_or_error(url, settings))
    if json:
        print_json([{"segment": v.segment, "row": v.row, **msgspec.to_builtins(v.page)} for v in found])
        return
    for version in found:
        page = version.page
        when = datetime.fromtimestamp(page.fetched_at, UTC).isoformat(timespec="seconds")
        text = "" if page.text is None else f"{len(page.text)} characters"
        out.print(
            f"{when}  {page.status:3} {page.outcome:14} {text:18} {page.title or page.reason or ''}",
            markup=False,
        )
    if not found:
        out.print("No visit is stored.")

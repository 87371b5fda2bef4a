"""`gossamer sync`: keeps another system in step with the pages of the crawl."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

from cyclopts import Parameter

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, err
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.model.counts import counted
from gossamer.sinks.opening import open_sink
from gossamer.sinks.syncing import sync


def command(
    target: str,
    *,
    data: Data = DEFAULT_DATA,
    follow: Annotated[bool, Parameter(negative="")] = False,
    debug: Debug = False,
) -> None:
    """Bring another system up to the crawl: new, changed and removed pages since the last time.

    Killed anywhere, the next run continues. docs/sync.md tells what each system gets.

    Parameters
    ----------
    target
        folder:PATH (Markdown files), webhook:URL (each page as a signed POST), postgres:DSN (a table),
        elasticsearch:URL or meilisearch:URL with http://host:port/index.
    follow
        Do not end: bring each further change when it happens, and wait for a system that cannot take it now.
    """
    DataFolder(data).read().close()
    with closing(open_sink(target, data, settings_of_crawl(data))) as sink:
        done = sync(data, sink, follow)
    err.print(f"{counted(done.pages, 'page')} brought, {done.removed:,} removed", markup=False)

"""`gossamer serve`: the search page and the API."""

from __future__ import annotations

import os
import signal
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from threading import Thread
from typing import Annotated, Any

from cyclopts import Parameter

from gossamer import settings as settings_file
from gossamer.cli.common import DEFAULT_DATA, Data, Database, Debug, Segments, err, out
from gossamer.cli.searching.observing import observing
from gossamer.cli.searching.operating import operating
from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder, remember_storage
from gossamer.data.index_place import index_place
from gossamer.data.stored_ranks import stored_ranks
from gossamer.database.database import require_crawl
from gossamer.errors import UsageError
from gossamer.index.folder import IndexFolder
from gossamer.search.searcher import Searcher
from gossamer.search.shards.config import parse_nodes
from gossamer.search.shards.shard import ShardSearcher
from gossamer.search.shards.sharded import ShardedSearcher
from gossamer.serving.clicks import StoredClicks
from gossamer.serving.leaders import StoredLeaders
from gossamer.serving.pushed import StoredPush
from gossamer.serving.stories import StoredStories
from gossamer.settings import ServeSettings, Settings
from gossamer.web.app import Extension, create_app
from gossamer.web.clicks import ClickService
from gossamer.web.push import PushService
from gossamer.web.server import beyond_loopback, run
from gossamer.web.service import SearchService, Services, StoryService
from gossamer.web.shards.client import RemoteNodes
from gossamer.web.shards.server import create_shard_app
from gossamer.web.shards.stories import RemoteStories


def command(
    *,
    data: Data = DEFAULT_DATA,
    host: str | None = None,
    port: int | None = None,
    shard: str | None = None,
    shards: Annotated[list[str] | None, Parameter(negative="")] = None,
    index: Path | None = None,
    database: Database = None,
    segments: Segments = None,
    open_browser: Annotated[bool, Parameter(name="--open", negative="")] = False,
    until_stdin_ends: Annotated[bool, Parameter(negative="", show=False)] = False,
    debug: Debug = False,
) -> None:
    """Serve the search page, the JSON API and feeds of queries, until Ctrl-C.

    Parameters
    ----------
    host
        Address to listen on; 0.0.0.0 for everybody.
    port
        Port to listen on; 0 for any free one.
    shard
        Serve one part of a divided index, such as 2/4, to front ends. Default: shards.shard of the settings.
    shards
        Be the front end of a divided index: addresses of shard servers, `;` between shards, `,` between replicas of
        one shard. Default: shards.nodes of the settings.
    index
        Folder of the index; default: shards.index of the settings, or `index` in the data folder.
    open_browser
        Open the page in a browser.
    until_stdin_ends
        Stop when standard input ends: for whoever starts a server beside itself.
    """
    if until_stdin_ends:
        Thread(target=_stop_with_stdin, daemon=True).start()
    given: dict[str, Any] = {"host": host, "port": port}
    divided = {"shard": shard, "nodes": shards, "index": str(index) if index is not None else None}
    if shard and shards:
        raise UsageError("a server is a shard (--shard) or the front end of all of them (--shards), not both")
    if shard:
        divided["nodes"] = []
    if shards:
        divided["shard"] = ""
    changes = {
        section: {name: value for name, value in values.items() if value is not None}
        for section, values in (("serve", given), ("shards", divided))
    }
    remember_storage(data, database, segments)
    settings = settings_file.load(data, changes)
    if settings.shards.nodes:
        if settings.shards.shard:
            raise UsageError("the settings name a shard and a list of shards: say which with --shard or --shards")
        if settings.serve.clicks or settings.push.callback:
            err.print("A front end has no crawl: serve.clicks and push.callback have no effect here.", style="yellow")
        service, stories = open_front_end(settings)
        serve(service, settings.serve, open_browser, stories)
        return
    if settings.shards.shard:
        serve_shard(data, settings)
        return
    push = StoredPush(DataFolder(data), settings, settings.push, SystemClock()) if settings.push.callback else None
    clicks = StoredClicks(DataFolder(data), settings.revisit, SystemClock()) if settings.serve.clicks else None
    services = Services(open_service(data, settings), open_stories(data))
    console, greeting = operating(data, settings, services)
    extensions = [observing(data, settings), *console]
    serve(services.search, settings.serve, open_browser, services.stories, push, clicks, extensions, greeting)


def _stop_with_stdin() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def serve(
    service: SearchService, settings: ServeSettings, open_browser: bool = False, stories: StoryService | None = None,
    push: PushService | None = None, clicks: ClickService | None = None, extensions: Sequence[Extension] = (),
    greeting: str = "",
) -> None:  # fmt: skip
    """Serve until a signal; the address is printed as soon as requests are answered, then the greeting, in which
    `{address}` stands for it."""
    if beyond_loopback(settings.host):
        bare = "without encryption or a login"
        if any(extension.private for extension in extensions):
            bare = "without encryption, and without a login but for the console, whose passwords can be overheard"
        err.print(
            f"Others can reach this server: it listens on {settings.host}, {bare}. "
            "Put a reverse proxy in front of it, and name it in serve.proxies.",
            style="yellow", markup=False,
        )  # fmt: skip

    def ready(address: str) -> None:
        shown = settings.base_url or address
        out.print(f"Search at {shown} (Ctrl-C ends it)", markup=False)
        if greeting:
            out.print(greeting.replace("{address}", shown.rstrip("/")), markup=False)
        if open_browser:
            webbrowser.open(shown)

    app = create_app(service, settings, stories=stories, push=push, clicks=clicks, extensions=extensions)
    run(app, settings, ready)


def serve_shard(data: Path, settings: Settings) -> None:
    """Serve one part of a divided index until a signal."""
    folder = DataFolder(data)
    require_crawl(folder.database)
    place = index_place(folder, settings.shards)
    node = ShardSearcher(
        IndexFolder(place.root), place.cut, stored_ranks(data, settings), leaders=StoredLeaders(folder)
    )
    app = create_shard_app(node, settings.serve, settings.shards.secret, open_stories(data))
    run(app, settings.serve, lambda at: out.print(f"Shard {place.cut} at {at} (Ctrl-C ends it)", markup=False))


def open_front_end(settings: Settings) -> tuple[SearchService, StoryService]:
    """The searcher of a divided index: it needs no data folder, only the addresses of the shards."""
    nodes = RemoteNodes(parse_nodes(settings.shards.nodes), settings.shards.secret)
    service = ShardedSearcher(nodes, settings.search, deadline=settings.shards.deadline)
    return service, RemoteStories(nodes, settings.shards.deadline)


def open_service(data: Path, settings: Settings) -> SearchService:
    """The searcher of a data folder; the server may be up before there is anything to search."""
    folder = DataFolder(data)
    require_crawl(folder.database)
    place = index_place(folder, settings.shards)
    return Searcher(
        IndexFolder(place.root), settings.search, stored_ranks(data, settings), leaders=StoredLeaders(folder)
    )


def open_stories(data: Path) -> StoryService:
    """What the crawl of a data folder knows of the past of its pages."""
    return StoredStories(DataFolder(data))

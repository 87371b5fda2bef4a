"""Searchers of a data folder, or of the shards of a divided index."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.clock import SystemClock
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.data.index_place import index_place
from gossamer.data.stored_ranks import stored_ranks
from gossamer.database.database import require_crawl
from gossamer.index.folder import IndexFolder
from gossamer.search.desk.acting import DeskRules
from gossamer.search.remembered import MEBIBYTE, RememberingSearcher
from gossamer.search.searcher import Searcher
from gossamer.search.shards.config import parse_nodes
from gossamer.search.shards.sharded import ShardedSearcher
from gossamer.serving.choices import StoredEvidence
from gossamer.serving.desk import FileDesk, StoredDesk
from gossamer.serving.leaders import StoredLeaders
from gossamer.settings import Settings

if TYPE_CHECKING:
    from gossamer.web.shards.client import RemoteNodes


def open_searcher(data: Path) -> Searcher:
    """The searcher of a data folder, which must have an index."""
    searcher = _searcher(Searcher, data, settings_of_crawl(data))
    searcher.state()
    return searcher


def open_service(data: Path, settings: Settings, desk: DeskRules | None = None) -> Searcher:
    """The searcher of a server, whose crawl may not have an index yet; `desk`: the rules that count."""
    require_crawl(DataFolder(data).database)
    memory = settings.serve.remembered * MEBIBYTE
    return _searcher(partial(RememberingSearcher, most_bytes=memory), data, settings, desk)


def open_front_end(settings: Settings, desk: DeskRules | None = None) -> tuple[ShardedSearcher, RemoteNodes]:
    """The searcher of a divided index: it needs no data folder, only the addresses of the shards; `desk`: rules that
    are open already."""
    from gossamer.web.shards.client import RemoteNodes  # HTTP: who searches an index that is here goes without

    nodes = RemoteNodes(parse_nodes(settings.shards.nodes), settings.shards.secret)
    desk = desk or file_desk(settings)
    return ShardedSearcher(nodes, settings.search, deadline=settings.shards.deadline, desk=desk), nodes


def file_desk(settings: Settings) -> FileDesk | None:
    """The rules of a front end; none where the settings name no file."""
    return FileDesk(Path(settings.shards.desk)) if settings.shards.desk else None


def _searcher(kind: Callable[..., Searcher], data: Path, settings: Settings, desk: DeskRules | None = None) -> Searcher:
    folder = DataFolder(data)
    index = IndexFolder(index_place(folder, settings.shards).root)
    desk = desk or StoredDesk(folder)
    ranks, leaders = stored_ranks(data, settings), StoredLeaders(folder)
    counts = settings.serve.clicks and settings.search.clicks > 0
    choices = StoredEvidence(folder, settings.search, SystemClock()) if counts else None
    return kind(index, settings.search, ranks, leaders=leaders, desk=desk, choices=choices)

"""`gossamer index`: bring the index up to date, follow a crawl, or build it anew."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from gossamer import settings as settings_file
from gossamer.cli.common import DEFAULT_DATA, Data, Database, Debug, Json, Segments, err, out, print_json
from gossamer.cli.signals import told_to_end
from gossamer.compose.index import HeldIndex, hold_index
from gossamer.data.folder import DataFolder
from gossamer.data.storage import remember_storage
from gossamer.database.database import require_crawl
from gossamer.indexer.indexer_process import catch_up
from gossamer.indexer.indexing import Indexer
from gossamer.model.counts import counted

Flag = Annotated[bool, Parameter(negative="")]


def command(
    *,
    data: Data = DEFAULT_DATA,
    rebuild: Flag = False,
    following: Annotated[bool, Parameter(name="--follow", negative="")] = False,
    shard: str | None = None,
    index: Path | None = None,
    built: Annotated[str | None, Parameter(name="--from")] = None,
    vectors: Flag = False,
    database: Database = None,
    segments: Segments = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Bring the index of a data folder up to date. `gossamer crawl` does this by itself.

    Parameters
    ----------
    rebuild
        Build a new index from the segments. Searches use the old one until the new one is complete.
    following
        Keep the index up to date until Ctrl-C: for crawls whose workers you start with `gossamer work`.
    shard
        Index only one shard of the documents: 2/4 is the second of four. Default: the setting shards.shard.
    index
        Folder of the index; default: the setting shards.index, or `index` in the data folder.
    built
        Start from the index that `gossamer jobs run index-build -o PLACE` built: name its PLACE.
    vectors
        Make all vectors that pages lack now, so that searches go by meaning, too (see the setting search.semantic).
    """
    folder = DataFolder(data, remember_storage(data, database, segments))
    require_crawl(folder.database)
    given = {"shard": shard, "index": str(index) if index is not None else None}
    changes = {"shards": {name: value for name, value in given.items() if value is not None}}
    with hold_index(folder, settings_file.load(data, changes)) as held:
        if built is not None:
            held.install(built)
        with _Bar(enabled=not json) as bar:
            indexer = held.open(rebuild, bar.show)
        with closing(indexer):
            if following:
                _follow(held, indexer)
            else:
                catch_up(indexer)
            report: dict[str, Any] = {
                "documents": indexer.documents, "generation": indexer.generation, "behind": indexer.behind(),
                "shard": str(held.place.cut),
            }  # fmt: skip
        if vectors:
            with _Bar(enabled=not json, what="Making vectors") as bar:
                report["vectors"] = held.make_vectors(partial(bar.show, total=report["documents"]))
    if json:
        print_json(report)
    else:
        out.print(f"{counted(report['documents'], 'page')} in the index.", markup=False)
        if vectors:
            out.print(f"{counted(report['vectors'], 'page')} with a vector.", markup=False)


def _follow(held: HeldIndex, indexer: Indexer) -> None:
    stopped: list[bool] = []
    out.print("Following the crawl. Press Ctrl-C to stop.")
    with told_to_end(lambda: stopped.append(True)):
        held.follow(indexer, lambda: not stopped)


class _Bar(Progress):
    """A bar for a build from scratch."""

    def __init__(self, enabled: bool, what: str = "Indexing") -> None:
        columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        super().__init__(*columns, console=err, transient=True, disable=not enabled or not err.is_terminal)
        self._task = self.add_task("", total=None)

    def show(self, done: int, total: int) -> None:
        """Called after every commit."""
        self.update(self._task, completed=done, total=total)

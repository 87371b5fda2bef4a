"""`gossamer index`: bring the index up to date, follow a crawl, or build it anew."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from gossamer import settings as settings_file
from gossamer.cli.common import DEFAULT_DATA, Data, Database, Debug, Json, Segments, err, out, print_json
from gossamer.cli.signals import told_to_end
from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder, remember_storage
from gossamer.data.index_place import index_lock, index_place
from gossamer.database.database import open_database, require_crawl
from gossamer.errors import BusyError
from gossamer.index.folder import IndexFolder
from gossamer.indexer.indexer_process import catch_up, follow
from gossamer.indexer.indexing import Indexer
from gossamer.jobs.index_build import install_shard
from gossamer.model.counts import counted
from gossamer.store.place import open_place
from gossamer.supervise.alert_child import AlertProcess

Flag = Annotated[bool, Parameter(negative="")]


def command(
    *,
    data: Data = DEFAULT_DATA,
    rebuild: Flag = False,
    following: Annotated[bool, Parameter(name="--follow", negative="")] = False,
    shard: str | None = None,
    index: Path | None = None,
    built: Annotated[str | None, Parameter(name="--from")] = None,
    database: Database = None,
    segments: Segments = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Bring the index of a data folder up to date; `gossamer crawl` does so by itself.

    Parameters
    ----------
    rebuild
        Build a new index from the segments beside the old one, and switch to it when it is complete.
    following
        Keep following the crawl until stopped (Ctrl-C): the indexer alone, beside workers started by hand.
    shard
        Hold only a part of the documents: 2/4 is the second of four. Default: shards.shard of the settings.
    index
        Folder of the index; default: shards.index of the settings, or `index` in the data folder.
    built
        Begin with the index that `gossamer jobs run index-build -o PLACE` built on a cluster, in that place.
    """
    folder, clock = DataFolder(data, remember_storage(data, database, segments)), SystemClock()
    require_crawl(folder.database)
    given = {"shard": shard, "index": str(index) if index is not None else None}
    changes = {"shards": {name: value for name, value in given.items() if value is not None}}
    place = index_place(folder, settings_file.load(data, changes).shards)
    with index_lock(folder, place):
        db = open_database(folder.database)
        try:
            if built is not None:
                IndexFolder(place.root).clean()
                install_shard(open_place(built, folder.root / "cache"), place.cut, place.root)
            with _Bar(enabled=not json) as bar:
                make = Indexer.rebuild if rebuild else Indexer.open
                indexer = make(folder, db, clock, bar.show, place)
            try:
                if following:
                    _follow(indexer, AlertProcess(folder.root, db))
                else:
                    catch_up(indexer)
                report: dict[str, Any] = {
                    "documents": indexer.documents, "generation": indexer.generation, "behind": indexer.behind(),
                    "shard": str(place.cut),
                }  # fmt: skip
            finally:
                indexer.close()
        finally:
            db.close()
    if json:
        print_json(report)
    else:
        out.print(f"{counted(report['documents'], 'page')} can be searched.", markup=False)


def update_if_there(folder: DataFolder) -> None:
    """Bring an index that exists up to date, whatever it holds; where an indexer is at work, it does so by itself."""
    place = index_place(folder, settings_file.load(folder.root).shards)
    if IndexFolder(place.root).current() is None:
        return
    with contextlib.suppress(BusyError), index_lock(folder, place):
        db = open_database(folder.database)
        try:
            place = msgspec.structs.replace(place, cut=IndexFolder(place.root).cut() or place.cut)
            indexer = Indexer.open(folder, db, SystemClock(), place=place)
            try:
                while indexer.behind():
                    indexer.step()
            finally:
                indexer.close()
        finally:
            db.close()


def _follow(indexer: Indexer, alerts: AlertProcess) -> None:
    going = True

    def stop() -> None:
        nonlocal going
        going = False

    out.print("Following the crawl; Ctrl-C stops in good order.")
    with told_to_end(stop):
        follow(indexer, lambda: going, alerts.tick)
        alerts.finish()


class _Bar(Progress):
    """A bar for a build from scratch."""

    def __init__(self, enabled: bool) -> None:
        columns = (TextColumn("Indexing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        super().__init__(*columns, console=err, transient=True, disable=not enabled or not err.is_terminal)
        self._task = self.add_task("", total=None)

    def show(self, done: int, total: int) -> None:
        """Called after every commit."""
        self.update(self._task, completed=done, total=total)

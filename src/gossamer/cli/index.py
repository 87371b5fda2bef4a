"""`gossamer index`: bring the index up to date, follow a crawl, or build it anew."""

from __future__ import annotations

import contextlib
import signal
from typing import Annotated

from cyclopts import Parameter
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, err, out, print_json
from gossamer.clock import SystemClock
from gossamer.crawl.folder import DataFolder
from gossamer.crawl.indexer_process import catch_up, follow
from gossamer.crawl.indexing import Indexer
from gossamer.errors import BusyError
from gossamer.frontier.database import open_database, require_crawl
from gossamer.index.folder import IndexFolder

Flag = Annotated[bool, Parameter(negative="")]


def command(
    *,
    data: Data = DEFAULT_DATA,
    rebuild: Flag = False,
    following: Annotated[bool, Parameter(name="--follow", negative="")] = False,
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
    """
    folder, clock = DataFolder(data), SystemClock()
    require_crawl(folder.database)
    with folder.index_lock():
        db = open_database(folder.database)
        try:
            with _Bar(enabled=not json) as bar:
                make = Indexer.rebuild if rebuild else Indexer.open
                indexer = make(folder, db, clock, bar.show)
            try:
                if following:
                    _follow(indexer)
                else:
                    catch_up(indexer)
                report = {"documents": indexer.documents, "generation": indexer.generation, "behind": indexer.behind()}
            finally:
                indexer.close()
        finally:
            db.close()
    if json:
        print_json(report)
    else:
        out.print(f"{report['documents']} pages can be searched.", markup=False)


def update_if_there(folder: DataFolder) -> None:
    """Bring an index that exists up to date; where an indexer is at work, it does so by itself."""
    if IndexFolder(folder.index).current() is None:
        return
    with contextlib.suppress(BusyError), folder.index_lock():
        db = open_database(folder.database)
        try:
            indexer = Indexer.open(folder, db, SystemClock())
            try:
                while indexer.behind():
                    indexer.step()
            finally:
                indexer.close()
        finally:
            db.close()


def _follow(indexer: Indexer) -> None:
    going = True

    def stop(*_: object) -> None:
        nonlocal going
        going = False

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    out.print("Following the crawl; Ctrl-C stops in good order.")
    follow(indexer, lambda: going)


class _Bar(Progress):
    """A bar for a build from scratch."""

    def __init__(self, enabled: bool) -> None:
        columns = (TextColumn("Indexing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        super().__init__(*columns, console=err, transient=True, disable=not enabled or not err.is_terminal)
        self._task = self.add_task("", total=None)

    def show(self, done: int, total: int) -> None:
        """Called after every commit."""
        self.update(self._task, completed=done, total=total)

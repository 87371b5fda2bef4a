"""`gossamer remove`: take URLs out and keep them out; undo it, list what is out, erase what is stored of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Annotated

from cyclopts import Parameter
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, err, operator_name, out, print_json
from gossamer.clock import SystemClock
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.data.opening import open_frontier
from gossamer.database.database import Database
from gossamer.errors import UsageError
from gossamer.model.counts import counted
from gossamer.operate.takedown import carry_on, covering, listed, restore, take_down
from gossamer.settings import Settings
from gossamer.tables import audit
from gossamer.upkeep.erasing import erase_removed

Flag = Annotated[bool, Parameter(negative="")]


def command(
    *prefixes: str,
    data: Data = DEFAULT_DATA,
    reason: str = "",
    exact: Flag = False,
    undo: Flag = False,
    erase: Flag = False,
    listing: Annotated[bool, Parameter(name="--list", negative="")] = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Take URLs out of the queue, the search and exports, and keep them out.

    Parameters
    ----------
    prefixes
        URLs or beginnings of URLs; https://example.org/ removes the site, example.org the host with all its ports.
    reason
        The reason that `gossamer explain`, the console and the audit log show.
    exact
        Remove only these URLs, not the URLs that start with them.
    undo
        Undo the removal of these prefixes. The crawl fetches their URLs again.
    erase
        Also erase texts and raw responses from the segments; without prefixes, those of all removed URLs. Stop the
        crawl first.
    listing
        List all removals.
    """
    if listing:
        _list(data, json)
        return
    if not prefixes and not erase:
        raise UsageError("nothing to remove: name a URL or the beginning of URLs")
    if undo and erase:
        raise UsageError("--undo and --erase exclude each other: Gossamer cannot restore erased pages")
    settings = settings_of_crawl(data)
    folder = DataFolder(data)
    folder.read().close()
    named = [covering(text, settings, exact) for text in prefixes]
    frontier = open_frontier(folder, settings)
    try:
        if undo:
            _undo(folder, frontier.db, settings, named, json)
        else:
            _remove(folder, frontier.db, settings, named, reason, erase, json)
    finally:
        frontier.db.close()


def _remove(
    folder: DataFolder, db: Database, settings: Settings, named: Sequence[str], reason: str, erase: bool, json: bool
) -> None:
    now, why, urls = SystemClock().now(), reason or "removed by the operator", 0
    carry_on(folder, db, settings, now)
    with _Bar(enabled=not json) as bar:
        for what in named:
            audit.note(db, now, operator_name(), "remove", what, why)
            urls += take_down(folder, db, settings, what, why, now, partial(bar.show_more, urls))
    report = {"removed": urls}
    if erase:
        covered = list(named) or [one.what for one in listed(db)]
        with _Bar(enabled=not json) as bar:
            report["erased"] = erase_removed(folder, db, covered, now, bar.show)
        audit.note(db, now, operator_name(), "erase", " ".join(covered), counted(report["erased"], "stored visit"))
    if json:
        print_json(report)
        return
    if named:
        out.print(f"Removed {counted(urls, 'URL')}. The crawl will not fetch them again.")
    if erase:
        out.print(f"Erased {counted(report['erased'], 'stored visit')}.")


def _undo(folder: DataFolder, db: Database, settings: Settings, named: Sequence[str], json: bool) -> None:
    now, urls = SystemClock().now(), 0
    for what in named:
        queued = restore(folder, db, settings, what, now)
        audit.note(db, now, operator_name(), "restore", what, f"{counted(queued, 'URL')} queued")
        urls += queued
    if json:
        print_json({"queued": urls})
    else:
        out.print(f"Undid the removal and queued {counted(urls, 'URL')}.")


def _list(data: Data, json: bool) -> None:
    found = listed(DataFolder(data).read())
    if json:
        print_json(found)
        return
    for one in found:
        when = datetime.fromtimestamp(one.removed_at, UTC).isoformat(timespec="seconds")
        unfinished = "  (unfinished: run `gossamer remove` with this prefix again)" if one.unfinished else ""
        out.print(f"{when}  {one.what}  {one.reason}{unfinished}", markup=False)
    if not found:
        out.print("There are no removals.")


class _Bar(Progress):
    """How far it is, where there is a terminal to say so."""

    def __init__(self, enabled: bool) -> None:
        columns = (TextColumn("Removing"), BarColumn(), MofNCompleteColumn())
        super().__init__(*columns, console=err, transient=True, disable=not enabled or not err.is_terminal)
        self._task = self.add_task("", total=None)

    def show(self, done: int, total: int | None = None) -> None:
        """Called after every step."""
        self.update(self._task, completed=done, total=total)

    def show_more(self, before: int, done: int) -> None:
        """The same with what was done before."""
        self.show(before + done)

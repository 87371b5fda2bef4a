"""`gossamer import`: pages from archives, without a request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from gossamer.cli.common import DEFAULT_DATA, Data, Debug, Json, err, operator_name, out, print_json
from gossamer.cli.signals import told_to_end
from gossamer.clock import SystemClock
from gossamer.compose.importing import Importing, Watch, open_import
from gossamer.crawl.archived.importing import Imported
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.errors import CorruptError, UsageError
from gossamer.model.counts import counted
from gossamer.tables.audit import note

_NAMED = 3
"""Damaged records that the error names."""


def command(
    *files: Path,
    data: Data = DEFAULT_DATA,
    index: Annotated[bool, Parameter(negative="--no-index")] = True,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Import pages from WARC and WACZ files, as if they had been crawled when they were archived. Makes no request.

    Parameters
    ----------
    files
        WARC files (.warc, .warc.gz) of any program, also of Common Crawl, and WACZ files.
    index
        Bring the index up to date at the end.
    """
    if not files:
        raise UsageError("name WARC or WACZ files: `gossamer import crawl.warc.gz`")
    paths = list(files)
    with open_import(settings_of_crawl(data), data, paths) as importing, told_to_end(importing.stop):
        with _told(json) as watch:
            is_complete = importing.run(paths, watch)
        indexed = importing.index() if index and is_complete else None
    _note(data, paths, importing)
    _tell(importing.done, is_complete, indexed, json)
    if importing.done.damages:
        raise _damaged(importing.done)


@contextmanager
def _told(quiet: bool) -> Iterator[Watch]:
    """Shows on a terminal how far it is."""
    if quiet or not err.is_terminal:
        yield lambda done: None
        return
    with err.status("Importing") as status:
        yield lambda done: status.update(
            f"Importing: {counted(done.pages, 'page')}, {counted(done.records, 'record')} read"
        )


def _note(data: Path, paths: list[Path], importing: Importing) -> None:
    db = DataFolder(data).open_database()
    try:
        words = " ".join(map(str, paths))[:500]
        note(db, SystemClock().now(), operator_name(), "import", words, counted(importing.done.pages, "page"))
    finally:
        db.close()


def _tell(done: Imported, is_complete: bool, indexed: int | None, json: bool) -> None:
    if json:
        print_json({"complete": is_complete, "indexed": indexed, "imported": done})
        return
    kinds = ", ".join(f"{number} {name}" for name, number in sorted(done.outcomes.items(), key=lambda one: -one[1]))
    out.print(f"Imported {counted(done.pages, 'response')}{f': {kinds}' if kinds else ''}.", markup=False)
    passed = [
        f"{number} {words}"
        for number, words in (
            (done.known, "no newer than what is stored"), (done.refused, "refused by scope or filters"),
            (done.others, "of other kinds"), (done.damaged, "damaged"),
        )
        if number
    ]  # fmt: skip
    if passed:
        out.print(f"Passed over {counted(done.records - done.pages, 'record')}: {', '.join(passed)}.", markup=False)
    if indexed is not None:
        out.print(f"{counted(indexed, 'page')} in the index.", markup=False)
    if not is_complete:
        out.print("Stopped. Run the same command again to import the rest.")


def _damaged(done: Imported) -> CorruptError:
    """One line: what could not be read; everything else was imported."""
    more = f"; and {done.damaged - _NAMED} more (--json names them)" if done.damaged > _NAMED else ""
    return CorruptError(
        f"cannot read {counted(done.damaged, 'record')}; everything else was imported: "
        f"{'; '.join(done.damages[:_NAMED])}{more}. Get the files anew and import them again"
    )

"""Writes what a study found into a folder: tables, pictures, a page for browsers and one for forges, and an index.

    FOLDER/index.html, README.md          all studies, one paragraph each, and all goals
    FOLDER/NAME/index.html, README.md     one study
    FOLDER/NAME/TABLE.csv, TABLE.md
    FOLDER/NAME/FIGURE.svg, FIGURE.png
    FOLDER/NAME/report.json               all of it as data: what the rest is made from

A study that is run again replaces its files; those of a table or figure that it no longer has are deleted.
"""

from __future__ import annotations

from pathlib import Path

from gossamer.errors import GossamerError, StorageError, UsageError
from studies.reports import pages, stored, tables
from studies.reports.report import Figure, Report
from studies.reports.stored import Run, Stored

__all__ = ["Run", "Stored", "check_pictures", "publish", "redraw", "write_index"]


def publish(report: Report, folder: Path, run: Run) -> Path:
    """Write a report into `folder`/NAME; gives the page. The index is another matter: `write_index`."""
    check_pictures()
    found = Stored(stored.settled(report), run)
    place = folder / report.name
    before = _files_of_last_run(place)
    files = _files(found)
    try:
        place.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (place / name).write_bytes(content)
        for name in before - files.keys():
            (place / name).unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"cannot write into {place}: {error.strerror or error}: choose another --out") from error
    stored.save(found, place)
    return place / "index.html"


def redraw(folder: Path) -> list[Stored]:
    """Make all pages, tables and pictures of a folder again from its reports; nothing is measured anew."""
    studies = stored.load_all(folder)
    for one in studies:
        publish(one.report, folder, one.run)
    write_index(folder)
    return studies


def write_index(folder: Path) -> Path:
    """Write the page that leads to all studies in a folder, from their reports; gives the page."""
    studies = stored.load_all(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "README.md").write_text(pages.index_markdown(studies), encoding="utf-8")
        (folder / "index.html").write_text(pages.index_html(studies), encoding="utf-8")
    except OSError as error:
        raise StorageError(f"cannot write into {folder}: {error.strerror or error}: choose another --out") from error
    return folder / "index.html"


def check_pictures() -> None:
    """`UsageError` where pictures cannot be drawn: better said before a study than after it."""
    try:
        import matplotlib  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise UsageError("pictures need matplotlib: pip install matplotlib") from error


def _files(found: Stored) -> dict[str, bytes]:
    """Everything but `report.json`, by name."""
    files = {"index.html": pages.study_html(found).encode(), "README.md": pages.study_markdown(found).encode()}
    for table in found.report.tables:
        files[f"{table.name}.csv"] = tables.csv_text(table).encode()
        files[f"{table.name}.md"] = tables.markdown_text(table).encode()
    for figure in found.report.figures:
        files[f"{figure.name}.svg"], files[f"{figure.name}.png"] = _pictures(figure)
    return files


def _pictures(figure: Figure) -> tuple[bytes, bytes]:
    from studies.reports.plots import pictures  # matplotlib takes a second to load

    return pictures(figure)


def _files_of_last_run(place: Path) -> set[str]:
    try:
        last = stored.load(place).report
    except GossamerError:
        return set()
    texts = {f"{table.name}.{end}" for table in last.tables for end in ("csv", "md")}
    return texts | {f"{figure.name}.{end}" for figure in last.figures for end in ("svg", "png")}

"""`gossamer export`: the data for other tools."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from cyclopts import Parameter

from gossamer.cli.common import DEFAULT_DATA, Data, Debug
from gossamer.cli.searching.changes_out import write_changes
from gossamer.data import exporting
from gossamer.data.archives.cdxj import cdxj
from gossamer.data.archives.wacz import write_wacz
from gossamer.data.archives.warc import warc
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.data.folder import DataFolder
from gossamer.errors import CorruptError, StorageError, UsageError
from gossamer.model.cells import FORMULA, as_cell
from gossamer.model.counts import counted

_ARCHIVES = ("warc", "cdxj", "wacz")


def command(
    what: Literal["pages", "links", "urls", "warc", "cdxj", "wacz"],
    *,
    data: Data = DEFAULT_DATA,
    format: Literal["jsonl", "parquet", "csv"] | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    markdown: Annotated[bool, Parameter(negative="")] = False,
    since: str | None = None,
    follow: Annotated[bool, Parameter(negative="")] = False,
    debug: Debug = False,
) -> None:
    """Export the documents, the links, the whole URL table, or the raw responses as a web archive.

    Parameters
    ----------
    what
        pages: the newest version of each document; links: the links of every visit; urls: every known URL.
        warc: all raw responses as one WARC file; cdxj: an index of the raw responses in the data folder; wacz: raw
        responses, index and pages in one file for ReplayWeb.page.
    format
        For pages, links and urls. Default: by the suffix of the output file, otherwise jsonl.
    output
        The file to write; default: standard output.
    markdown
        Add a column markdown to pages: the main text with headings, lists, tables, code and links.
    since
        Only pages that came, changed or left after this change, in order, each line with its position (docs/sync.md).
        Give the position of the last line that you have, or 0 for all pages.
    follow
        Do not end: write each further change when it happens.
    """
    if since is not None or follow:
        if what != "pages" or format not in (None, "jsonl") or output is not None:
            raise UsageError("--since and --follow write pages to standard output as JSON lines: leave out the rest")
        write_changes(sys.stdout.buffer, data, since or "0", follow, markdown)
        return
    if markdown and what != "pages":
        raise UsageError(f"--markdown is for pages: {what} have no text")
    if format and what in _ARCHIVES:
        raise UsageError(f"--format is for pages, links and urls: {what} is a format")
    chosen = format or _by_ending(output)
    if (chosen == "parquet" or what == "wacz") and output is None:
        raise UsageError(f"{'WACZ' if what == 'wacz' else 'Parquet'} needs a file: name one with -o")
    folder = DataFolder(data)
    lost: exporting.Lost = {}
    write = _writer(what, folder, data, chosen, markdown, lost)
    if output is None:
        write(sys.stdout.buffer)
        sys.stdout.buffer.flush()
        written = None
    else:
        try:
            written = _write_file(output, write, lost)
        except OSError as error:
            raise StorageError(
                f"cannot write {output}: {error.strerror or error}: choose another file, or make room for it"
            ) from error
    if lost:
        raise _incomplete(lost, written, data)


def _writer(
    what: str, folder: DataFolder, data: Path, format: str, markdown: bool, lost: exporting.Lost
) -> Callable[[BinaryIO], None]:
    """What writes the export into a file."""
    db = folder.read()
    if what == "wacz":
        return lambda sink: write_wacz(sink, folder, db, lost)
    if what in _ARCHIVES:
        return lambda sink: sink.writelines((warc if what == "warc" else cdxj)(folder, db, lost))
    if markdown:
        schema, tables = exporting.pages_with_markdown(folder, db, settings_of_crawl(data), lost)
    else:
        schema, tables = getattr(exporting, what)(folder, db, lost)
    return partial(_write, format=format, schema=schema, tables=tables)


def _incomplete(lost: exporting.Lost, written: Path | None, data: Path) -> CorruptError:
    """One line for all: what is missing and why, where the rest is, and how to get the missing pages back."""
    rest = f"; the rest is in {written}" if written else ""
    causes = "; ".join(str(error) for error in lost.values())
    again = "; ".join(f"`gossamer recrawl --segment {name} --data {data}`" for name in lost)
    segments = counted(len(lost), "segment")
    return CorruptError(f"the export is incomplete: cannot read {segments}{rest}: {causes}. Run {again}")


def _write_file(output: Path, write: Callable[[BinaryIO], None], lost: exporting.Lost) -> Path:
    """Write a file that appears when it is complete, so that a failure leaves an older export as it was. An export
    that lacks damaged segments gets a name of its own: nobody may take it for a whole one."""
    if output.exists() and not output.is_file():
        with output.open("wb") as sink:
            write(sink)
        return output
    part = output.with_name(f"{output.name}.part")
    try:
        with part.open("wb") as sink:
            write(sink)
        return part.replace(output.with_name(f"{output.name}.incomplete") if lost else output)
    finally:
        part.unlink(missing_ok=True)


def _by_ending(output: Path | None) -> str:
    ending = output.suffix.lstrip(".") if output else ""
    return {"parquet": "parquet", "csv": "csv"}.get(ending, "jsonl")


def _write(sink: BinaryIO, format: str, schema: pa.Schema, tables: Iterator[pa.Table]) -> None:
    if format == "parquet":
        with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
            for table in tables:
                writer.write_table(table)
    elif format == "csv":
        _write_csv(sink, schema, tables)
    else:
        for table in tables:
            for row in table.to_pylist():
                sink.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z))
    sink.flush()


def _write_csv(sink: BinaryIO, schema: pa.Schema, tables: Iterator[pa.Table]) -> None:
    """Lists become text with one item a line: CSV has no lists."""
    flat = pa.schema([(f.name, pa.string() if _is_text(f.type) else f.type) for f in schema])
    with pyarrow.csv.CSVWriter(sink, flat) as writer:
        for table in tables:
            columns = [_as_cells(column) if _is_text(column.type) else column for column in table.columns]
            writer.write_table(pa.Table.from_arrays(columns, schema=flat))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_string(kind) or pa.types.is_dictionary(kind))


def _as_cells(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    """A column of texts or lists of texts; most have nothing that a spreadsheet could take for a formula."""
    if pa.types.is_list(column.type):
        column = pa.array([None if value is None else "\n".join(value) for value in column.to_pylist()], pa.string())
    column = column.cast(pa.string())
    if not pc.any(pc.match_substring_regex(column, FORMULA)).as_py():
        return column
    return pa.array([as_cell(value) for value in column.to_pylist()], pa.string())

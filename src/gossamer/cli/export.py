"""`gossamer export`: the data for other tools."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, BinaryIO, Literal

import orjson
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from cyclopts import Parameter

from gossamer.cli.common import DEFAULT_DATA, Data, Debug
from gossamer.crawl import exporting
from gossamer.crawl.folder import DataFolder
from gossamer.errors import StorageError, UsageError

Tables = tuple[pa.Schema, Iterator[pa.Table]]


def command(
    what: Literal["pages", "links", "urls"],
    *,
    data: Data = DEFAULT_DATA,
    format: Literal["jsonl", "parquet", "csv"] | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    debug: Debug = False,
) -> None:
    """Write the documents, the links, or the whole URL table.

    Parameters
    ----------
    what
        pages: the newest version of each document; links: those of every visit; urls: every known URL.
    format
        Default: by the ending of the output file, else jsonl.
    output
        A file; default: standard output.
    """
    chosen = format or _by_ending(output)
    folder = DataFolder(data)
    schema, tables = getattr(exporting, what)(folder, folder.read())
    if chosen == "parquet" and output is None:
        raise UsageError("Parquet needs a file: name one with -o")
    if output is None:
        _write(sys.stdout.buffer, chosen, schema, tables)
        return
    try:
        _write_file(output, chosen, schema, tables)
    except OSError as error:
        raise StorageError(
            f"cannot write {output}: {error.strerror or error}: choose another file, or make room for it"
        ) from error


def _write_file(output: Path, format: str, schema: pa.Schema, tables: Iterator[pa.Table]) -> None:
    """A file appears when it is complete, so a failure leaves an older export as it was."""
    if output.exists() and not output.is_file():
        with output.open("wb") as sink:
            _write(sink, format, schema, tables)
        return
    partial = output.with_name(f"{output.name}.part")
    try:
        with partial.open("wb") as sink:
            _write(sink, format, schema, tables)
        partial.replace(output)
    finally:
        partial.unlink(missing_ok=True)


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
    flat = pa.schema([(f.name, pa.string() if pa.types.is_list(f.type) else f.type) for f in schema])
    with pyarrow.csv.CSVWriter(sink, flat) as writer:
        for table in tables:
            columns = [
                pa.array([None if v is None else "\n".join(v) for v in column.to_pylist()], pa.string())
                if pa.types.is_list(column.type) else column
                for column in table.columns
            ]  # fmt: skip
            writer.write_table(pa.Table.from_arrays(columns, schema=flat))

"""A text of a stranger is no formula in a spreadsheet, whichever CSV file it gets into."""

import csv
import io
from pathlib import Path

import pyarrow as pa
import pytest

from gossamer.cli.searching import export
from gossamer.lab.tables import Table
from gossamer.model.cells import as_cell
from studies.reports import tables

FORMULAS = ("=1+2", "+1", "-cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "\r=1")


@pytest.mark.parametrize("text", FORMULAS)
def test_what_begins_like_a_formula_is_text(text: str) -> None:
    assert as_cell(text) == f"'{text}"


@pytest.mark.parametrize("value", ["", "a=b", "http://site.test/", "'=1", -5, -1.5, None, True])
def test_other_cells_are_left_alone(value: object) -> None:
    assert as_cell(value) is value


def test_exported_pages_have_no_formulas(tmp_path: Path) -> None:
    schema = pa.schema([("title", pa.string()), ("headings", pa.list_(pa.string())), ("status", pa.int32())])
    rows = [{"title": text, "headings": [text, "x"], "status": -1} for text in (*FORMULAS, "plain")]
    rows.append({"title": None, "headings": None, "status": None})
    file = tmp_path / "pages.csv"
    tables = iter([pa.Table.from_pylist(rows, schema)])
    export._write_file(file, lambda sink: export._write(sink, "csv", schema, tables), {})
    with file.open(newline="") as source:
        read = list(csv.DictReader(source))
    assert [row["title"] for row in read] == [*(f"'{text}" for text in FORMULAS), "plain", ""]
    assert [row["headings"] for row in read[:-2]] == [f"'{text}\nx" for text in FORMULAS]
    assert {row["status"] for row in read[:-1]} == {"-1"}


def test_tables_of_studies_have_no_formulas() -> None:
    text = tables.csv_text(Table("sites", "Sites", ("site", "change"), (("=cmd()", -5), ("a.test", 0.5))))
    assert list(csv.reader(io.StringIO(text)))[1:] == [["'=cmd()", "-5"], ["a.test", "0.5"]]

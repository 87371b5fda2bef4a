"""docs/segments.md: its examples run, and its tables are the schema."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

from gossamer.model.records import Link
from gossamer.store import schema
from gossamer.store.layout import new_segment_id
from gossamer.store.segment_folder import LocalSegments
from gossamer.store.segments import SegmentWriter

PAGE = Path(__file__).parents[3] / "docs" / "segments.md"
TEXT = PAGE.read_text()
SQL = re.findall(r"```sql\n(.*?)```", TEXT, re.DOTALL)
PYTHON = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def table(columns: tuple[schema.Column, ...]) -> str:
    lines = ["| column | type | | meaning |", "|---|---|---|---|"]
    for column in columns:
        kind = str(column.type).replace("element: ", "").replace(", tz=", ", ")
        lines.append(f"| `{column.name}` | {kind} | {'null' if column.null else ''} | {column.meaning} |")
    return "\n".join(lines)


@pytest.fixture
def crawl(tmp_path, monkeypatch, segment, page):
    """A data folder with three visits to two sites."""
    monkeypatch.chdir(tmp_path)
    segments = LocalSegments(tmp_path / "gossamer-data" / "segments")
    first = page("https://a.example/", title="old", fetched_at=1.0)
    segment(segments, 1, [first, page("https://a.example/x", outcome="gone")])
    segment(segments, 2, [page("https://a.example/", title="new", fetched_at=2.0)])
    return segments


@pytest.mark.parametrize(("name", "columns"), [("pages", schema.PAGES), ("links", schema.LINKS)])
def test_the_page_lists_the_columns_as_they_are(name, columns):
    found = re.search(rf"<!-- {name} -->\n(.*?)\n?<!-- /{name} -->", TEXT, re.DOTALL)
    assert found is not None
    assert found[1] == table(columns)


def test_the_page_names_the_schema_version():
    assert f"Schema version {schema.VERSION}," in TEXT


def test_there_are_examples_for_both_tools():
    assert (len(SQL), len(PYTHON)) == (3, 2)


def test_the_sql_examples_run(crawl):
    newest, outcomes, linked = (duckdb.sql(query).pl().rows() for query in SQL)
    assert [row[1] for row in newest] == ["new", "old"]
    assert [row[:3] for row in outcomes] == [("a.example", "document", 2), ("a.example", "gone", 1)]
    assert linked == []  # its links stay on their site


def test_the_link_example_counts_pages_of_other_sites(crawl):
    writer = SegmentWriter(crawl, new_segment_id("w1", 9.0, 9))
    away = [Link("https://c.example/", "see c"), Link("https://c.example/", "see c")]
    writer.write_links([("https://a.example/", 1.0, away), ("https://b.example/", 1.0, away)])
    writer.write_pages([])
    writer.sync()
    assert duckdb.sql(SQL[2]).fetchall() == [("https://c.example/", 2, "see c")]


def test_the_python_examples_run(crawl):
    polars_example, warc_example = PYTHON
    names: dict[str, object] = {}
    exec(polars_example, names)
    assert names["latest"].select("url", "title").rows() == [("https://a.example/", "new")]
    exec(warc_example, names)
    assert names["status"] == "200"
    assert names["html"].startswith(b"body 1 of https://a.example/")

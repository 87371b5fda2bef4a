"""Segments of an older version are read, merged and searched for old visits as if they had all columns."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gossamer.store import schema
from gossamer.store.compaction import compact
from gossamer.store.layout import PAGES
from gossamer.store.segments import check_segment, iter_pages, read_page
from gossamer.store.versions import versions


def as_version(path: Path, version: int) -> None:
    """What an older version of the schema would have written."""
    form = schema.schema_at(version, schema.PAGES_SCHEMA)
    table = pq.read_table(path).select(form.names)
    with pq.ParquetWriter(path, form, store_schema=False) as writer:
        writer.write_table(table.cast(form))
        writer.add_key_value_metadata({schema.VERSION_KEY: str(version)})


@pytest.fixture(params=range(1, schema.VERSION))
def old(request, root, segments, segment, page):
    name = segment(segments, 1, [page(f"https://a.example/{n}", title=f"page {n}") for n in range(3)])
    as_version(root / name / PAGES, request.param)
    return name


def test_an_old_page_is_read_with_nothing_in_the_new_columns(segments, old):
    found = read_page(segments, old, 1)
    assert (found.title, found.author, found.cluster, found.alternates) == ("page 1", None, None, None)
    assert check_segment(segments, old).pages == 3


def test_new_columns_of_old_pages_can_be_asked_for(segments, old):
    (batch,) = iter_pages(segments, [old], ["url", "cluster", "title"])
    assert batch.schema.names == ["url", "cluster", "title"]
    assert batch.column("cluster").to_pylist() == [None] * 3
    assert batch.schema.field("cluster").type == pa.int64()


def test_old_and_new_versions_of_a_page_stand_side_by_side(segments, segment, page, old):
    new = segment(segments, 2, [page("https://a.example/1", title="new", author="Ada", fetched_at=9e8)])
    found = versions(segments, [old, new], "https://a.example/1")
    assert {(version.page.title, version.page.author) for version in found} == {("page 1", None), ("new", "Ada")}


def test_old_and_new_segments_are_merged_into_one_of_the_present_version(root, segments, segment, page, old):
    new = segment(segments, 2, [page("https://a.example/9", author="Ada", cluster=7)])
    name = "20240101T000000000-compact-000001"
    compact(segments, [old, new], name)
    file = pq.ParquetFile(root / name / PAGES)
    assert schema.version_of(file) == schema.VERSION
    rows = pq.read_table(root / name / PAGES).to_pylist()
    assert [(row["author"], row["cluster"]) for row in rows] == [(None, None)] * 3 + [("Ada", 7)]

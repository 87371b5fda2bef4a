"""Damaged files: one line that names the file and the way out, never wrong data."""

from __future__ import annotations

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gossamer.errors import CorruptError, StorageError
from gossamer.store import schema
from gossamer.store.durable import SegmentMissingError
from gossamer.store.layout import LINKS, PAGES, RESPONSES
from gossamer.store.segments import check_segment, iter_pages, read_page, read_response
from gossamer.store.versions import versions

FILES = (PAGES, LINKS, RESPONSES)


@pytest.fixture
def stored(segments, segment, page):
    return segment(segments, 1, [page(f"https://a.example/{i}", text=f"text {i} " * 50) for i in range(40)])


def _one_line(error: pytest.ExceptionInfo[CorruptError], name: str) -> None:
    message = str(error.value)
    assert name in message
    assert "\n" not in message
    assert "gossamer recrawl" in message or "upgrade" in message


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("keep", [0, 1, 7, 0.3, 0.9, -1])
def test_a_truncated_file_is_found(root, segments, stored, name, keep):
    path = root / stored / name
    raw = path.read_bytes()
    path.write_bytes(raw[: int(keep * len(raw)) if isinstance(keep, float) else keep])
    with pytest.raises(CorruptError) as error:
        check_segment(segments, stored)
    _one_line(error, name)


@pytest.mark.parametrize("name", (PAGES, LINKS))
def test_a_missing_file_is_named(root, segments, stored, name):
    (root / stored / name).unlink()
    with pytest.raises(SegmentMissingError) as error:
        check_segment(segments, stored)
    _one_line(error, name)


def test_a_missing_archive_is_found_because_pages_point_into_it(root, segments, stored):
    (root / stored / RESPONSES).unlink()
    with pytest.raises(CorruptError, match=RESPONSES):
        check_segment(segments, stored)
    with pytest.raises(SegmentMissingError, match=RESPONSES):
        read_response(segments, stored, 0)


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_never_yields_other_data(root, segments, stored, name):
    """400 single-bit errors over the file: an error, or the very same rows and responses."""
    path = root / stored / name
    raw = path.read_bytes()
    before = _contents(segments, stored)
    dice = random.Random(7)
    found = 0
    for _ in range(400):
        at, bit = dice.randrange(len(raw)), 1 << dice.randrange(8)
        path.write_bytes(raw[:at] + bytes([raw[at] ^ bit]) + raw[at + 1 :])
        try:
            after = _contents(segments, stored)
        except CorruptError:
            found += 1
        else:
            assert after == before, f"byte {at} bit {bit} went unnoticed"
    assert found > 200


def _contents(segments, segment_id):
    check_segment(segments, segment_id)
    rows = pa.Table.from_batches(iter_pages(segments, [segment_id])).to_pylist()
    links = pq.read_table(segments.file(segment_id, LINKS)).to_pylist()
    bodies = [read_response(segments, segment_id, row["warc_offset"]) for row in rows]
    return rows, links, bodies


def test_a_foreign_parquet_file_is_refused(root, segments, stored):
    pq.write_table(pa.table({"url": ["x"]}), root / stored / PAGES)
    for read in (
        lambda: read_page(segments, stored, 0),
        lambda: list(iter_pages(segments, [stored])),
        lambda: versions(segments, [stored], "x"),
    ):
        with pytest.raises(CorruptError) as error:
            read()
        _one_line(error, PAGES)


def test_a_file_of_a_newer_version_asks_for_an_upgrade(root, segments, stored):
    path = root / stored / PAGES
    table = pq.read_table(path)
    with pq.ParquetWriter(path, table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"gossamer.schema": str(schema.VERSION + 1)})
    with pytest.raises(CorruptError, match="upgrade"):
        read_page(segments, stored, 0)


def test_pages_that_point_at_another_page_are_found(root, segments, segment, page, stored):
    other = segment(segments, 2, [page(f"https://b.example/{i}") for i in range(40)])
    (root / stored / RESPONSES).write_bytes((root / other / RESPONSES).read_bytes())
    with pytest.raises(CorruptError, match=RESPONSES):
        check_segment(segments, stored)


def test_no_right_to_read_is_not_damage(segments, stored, monkeypatch):
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("gossamer.store.archive.Path.open", refuse)
    with pytest.raises(StorageError, match="read access"):
        read_response(segments, stored, 0)

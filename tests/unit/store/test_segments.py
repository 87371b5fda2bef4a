from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import duckdb
import msgspec
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import CorruptError, StorageError
from gossamer.model.records import Link, PageRow
from gossamer.store import schema
from gossamer.store.layout import BUILDING, LINKS, PAGES, new_segment_id
from gossamer.store.orphans import survey
from gossamer.store.segment_folder import LocalSegments, segment_bytes
from gossamer.store.segments import (
    SegmentWriter,
    check_segment,
    iter_pages,
    open_links,
    read_page,
    read_response,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
I32 = st.integers(-(2**31), 2**31 - 1)
I64 = st.integers(-(2**63), 2**63 - 1)
TIME = st.integers(0, 2**42).map(lambda microseconds: microseconds / 1e6)
WORDS = st.none() | st.lists(TEXT, max_size=3)
_BY_TYPE = {
    "string": TEXT, "int32": I32, "int64": I64, "double": st.floats(allow_nan=False), "bool": st.booleans(),
    "binary": st.binary(max_size=40),
}  # fmt: skip


def _values(column: schema.Column) -> st.SearchStrategy[object]:
    kind = str(column.type)
    values = TIME if kind.startswith("timestamp") else WORDS if kind.startswith("list") else _BY_TYPE[kind]
    return st.none() | values if column.null else values


ROWS = st.builds(PageRow, **{column.name: _values(column) for column in schema.PAGES})


def _write(segments, rows, links=(), n: int = 1) -> str:
    writer = SegmentWriter(segments, new_segment_id("w1", 1.0, n), archive=False)
    writer.write_links(links)
    writer.write_pages(rows)
    writer.sync()
    return writer.segment_id


def test_the_columns_are_the_fields_of_the_records():
    assert [column.name for column in schema.PAGES] == list(PageRow.__struct_fields__)
    assert [column.name for column in schema.LINKS] == ["source", "target", "anchor", "rel", "tag", "fetched_at"]


@given(st.lists(ROWS, max_size=8))
def test_rows_come_back_as_they_were(rows):
    """Whatever characters a page holds: NUL, controls, bidi marks, astral planes, nothing at all."""
    with tempfile.TemporaryDirectory() as folder:
        segment_id = _write(LocalSegments(Path(folder)), rows)
        assert [read_page(LocalSegments(Path(folder)), segment_id, i) for i in range(len(rows))] == rows


@given(st.lists(st.tuples(TEXT, st.lists(st.builds(Link, TEXT, TEXT, TEXT, TEXT), max_size=4)), max_size=6))
def test_links_come_back_page_after_page(pages):
    with tempfile.TemporaryDirectory() as folder:
        segment_id = _write(LocalSegments(Path(folder)), [], [(source, 5.5, links) for source, links in pages])
        file = open_links(LocalSegments(Path(folder)), segment_id)
        found = [row for table in file.groups() for row in table.drop(["fetched_at"]).to_pylist()]
    assert found == [
        {"source": source, "target": link.url, "anchor": link.anchor, "rel": link.rel, "tag": link.tag}
        for source, links in pages
        for link in links
    ]


def test_a_lone_surrogate_costs_a_character_and_not_the_commit(segments, page):
    segment_id = _write(
        segments,
        [page(title="a\ud800b", headings=["x\udfff", "plain"]), page(title="fine 🙂")],
        [("https://a.example/", 1.0, [Link("https://b.example/", "c\udc80")])],
    )
    assert read_page(segments, segment_id, 0).title == "a\ufffdb"
    assert read_page(segments, segment_id, 0).headings == ["x\ufffd", "plain"]
    assert read_page(segments, segment_id, 1).title == "fine 🙂"
    assert next(open_links(segments, segment_id).groups()).column("anchor").to_pylist() == ["c\ufffd"]


def test_a_simhash_keeps_its_bits(segments, page):
    segment_id = _write(segments, [page(simhash=2**64 - 1), page(simhash=1 << 63), page(simhash=7)])
    found = [read_page(segments, segment_id, i).simhash for i in range(3)]
    assert [value & (2**64 - 1) for value in found if value is not None] == [2**64 - 1, 1 << 63, 7]


def test_a_lookup_reads_the_row_group_it_needs(root, segments, page):
    rows = [page(f"https://a.example/{i}") for i in range(3 * schema.PAGE_GROUP + 1)]
    segment_id = _write(segments, rows)
    assert pq.ParquetFile(root / segment_id / PAGES).metadata.num_row_groups == 4
    for i in (0, schema.PAGE_GROUP - 1, schema.PAGE_GROUP, len(rows) - 1):
        assert read_page(segments, segment_id, i) == rows[i]


@pytest.mark.parametrize("row", [-1, 1, 10**9])
def test_a_row_that_is_not_there_is_an_error(segments, page, row):
    segment_id = _write(segments, [page()])
    with pytest.raises(CorruptError, match="only 1 row"):
        read_page(segments, segment_id, row)


def test_threads_share_open_files(segments, page):
    ids = [_write(segments, [page(f"https://a.example/{n}/{i}") for i in range(50)], n=n) for n in range(3)]
    wrong: list[object] = []

    def read() -> None:
        for i in range(50):
            wrong.extend(n for n in range(3) if read_page(segments, ids[n], i).url != f"https://a.example/{n}/{i}")

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_iter_pages_selects_columns_and_outcomes_in_order(segments, page):
    one = _write(segments, [page("u1"), page("u2", outcome="gone"), page("u3")], n=1)
    two = _write(segments, [page("u4", outcome="duplicate")], n=2)
    batches = list(iter_pages(segments, [two, one], ["title", "url"], {"document", "duplicate"}))
    assert all(isinstance(batch, pa.RecordBatch) and batch.schema.names == ["title", "url"] for batch in batches)
    assert [url for batch in batches for url in batch.column("url").to_pylist()] == ["u4", "u1", "u3"]
    everything = pa.Table.from_batches(iter_pages(segments, [one, two]))
    assert everything.schema.names == schema.PAGES_SCHEMA.names
    assert everything.num_rows == 4
    assert list(iter_pages(segments, [one], ["url"], [])) == [] or not any(
        batch.num_rows for batch in iter_pages(segments, [one], ["url"], [])
    )


def test_duckdb_and_polars_read_the_files_as_they_are(root, segments, page):
    nasty = "nul\x00 bell\x07 rtl\u202e tab\t newline\n 漢字 🙂"
    _write(segments, [page("https://a.example/1", title=nasty)], [("https://a.example/1", 1.0, [Link("x", nasty)])])
    _write(segments, [page("https://a.example/2", outcome="gone", title=None, headings=None)], n=2)
    SegmentWriter(segments, new_segment_id("w1", 1.0, 3)).write_links([])  # half built: not to be seen
    pattern = str(root / "*" / PAGES)

    rows = duckdb.sql(f"SELECT url, title, headings[1], epoch_us(fetched_at) FROM '{pattern}' ORDER BY url").fetchall()
    assert rows[0] == ("https://a.example/1", nasty, "One", 1_794_713_465_123_456)
    assert rows[1][:3] == ("https://a.example/2", None, None)

    frame = pl.read_parquet(pattern).sort("url")
    assert frame["title"].to_list() == [nasty, None]
    assert frame.schema["fetched_at"] == pl.Datetime("us", "UTC")
    assert frame.schema["headings"] == pl.List(pl.String)
    assert frame["simhash"].to_list() == [-5, -5]

    links = pl.read_parquet(root / "*" / LINKS)
    assert links.schema["source"] == pl.String
    assert links["anchor"].to_list() == [nasty]
    assert duckdb.sql(f"SELECT count(*) FROM '{root}/*/{LINKS}'").fetchall() == [(1,)]


def test_the_schema_version_is_in_each_file(root, segments, page):
    segment_id = _write(segments, [page()])
    for name in (PAGES, LINKS):
        assert pq.read_metadata(root / segment_id / name).metadata[b"gossamer.schema"] == str(schema.VERSION).encode()


def test_nothing_is_in_sight_before_sync_and_all_after(root, segments, page, response):
    writer = SegmentWriter(segments, new_segment_id("w1", 1.0, 1))
    writer.write_archive([response()], 1.0)
    writer.write_links([])
    writer.write_pages([page()])
    assert list(root.glob("*/*.parquet")) == list(root.glob("2*")) == []
    writer.sync()
    assert len(list((root / writer.segment_id).iterdir())) == 3
    assert list((root / BUILDING).iterdir()) == []
    assert writer.bytes == segment_bytes(segments, writer.segment_id)


@pytest.mark.parametrize("synced", [False, True])
def test_abandon_leaves_nothing(root, segments, page, synced):
    writer = SegmentWriter(segments, new_segment_id("w1", 1.0, 1))
    writer.write_links([])
    writer.write_pages([page()])
    if synced:
        writer.sync()
    writer.abandon()
    assert [path.name for path in root.rglob("*")] == [BUILDING]


@pytest.mark.parametrize("synced", [True, False])
def test_pages_written_again_replace_those_of_the_first_attempt(root, segments, page, response, synced):
    """A transaction that is run again comes to other verdicts: the last ones are stored, beside the same archive."""
    writer = SegmentWriter(segments, new_segment_id("w1", 1.0, 1))
    [place] = writer.write_archive([response()], 1.0)
    row = page(warc_offset=place[0], warc_length=place[1])
    writer.write_links([])
    writer.write_pages([row, page("https://a.example/lost")])
    if synced:
        writer.sync()
        read_page(segments, writer.segment_id, 0)  # its open file must not be taken for the new one
    writer.write_pages([msgspec.structs.replace(row, outcome="duplicate", text=None)])
    writer.sync()
    assert read_page(segments, writer.segment_id, 0).outcome == "duplicate"
    assert msgspec.structs.astuple(check_segment(segments, writer.segment_id)) == (1, 0, 1)
    assert writer.bytes == segment_bytes(segments, writer.segment_id)
    assert survey(segments) == ([writer.segment_id], [])


def test_a_second_attempt_that_is_given_up_leaves_nothing(root, segments, page):
    writer = SegmentWriter(segments, new_segment_id("w1", 1.0, 1))
    writer.write_pages([page()])
    writer.sync()
    writer.write_pages([page(), page()])
    writer.abandon()
    assert [path.name for path in root.rglob("*")] == [BUILDING]


def test_an_id_used_twice_is_refused_and_the_first_segment_stays(segments, page):
    segment_id = _write(segments, [page("first")])
    with pytest.raises(StorageError, match="already exists"):
        SegmentWriter(segments, segment_id)
    assert read_page(segments, segment_id, 0).url == "first"


def test_a_name_that_is_no_segment_id_is_refused(segments):
    with pytest.raises(ValueError, match="not a segment id"):
        SegmentWriter(segments, "../elsewhere")


def test_a_page_and_its_raw_bytes_belong_together(segments, page, segment):
    segment_id = segment(segments, 1, [page(f"https://a.example/{i}") for i in range(10)])
    for i in range(10):
        row = read_page(segments, segment_id, i)
        stored = read_response(segments, segment_id, row.warc_offset, row.warc_length)
        assert stored.url == row.url
        assert stored.wire_body.startswith(f"body 1 of {row.url}".encode())
    assert msgspec.structs.asdict(check_segment(segments, segment_id)) == {
        "pages": 10,
        "links": 20,
        "records": 10,
    }


def test_a_kill_at_any_point_leaves_whole_segments_or_orphans(tmp_path):
    """The order files → transaction, killed everywhere: what the database knows can be read."""
    root, database = tmp_path / "segments", tmp_path / "frontier.db"
    program = _KILLED.format(conftest=str(Path(__file__).with_name("conftest.py")))
    for step in range(8):
        subprocess.run([sys.executable, "-c", program, str(root), str(database), str(step)], check=False)
    with sqlite3.connect(database) as db:
        known = [row[0] for row in db.execute("SELECT id FROM segments ORDER BY id")]
    assert len(known) == 2  # killed after the commit, and not killed at all
    for segment_id in known:
        assert check_segment(LocalSegments(root), segment_id).pages == 2
    seen = {path.parent.name for path in root.glob("*/pages.parquet")}
    assert len(seen - set(known)) == 1  # killed between sync and commit


_KILLED = """
import importlib.util, os, signal, sqlite3, sys
from pathlib import Path
spec = importlib.util.spec_from_file_location("kit", {conftest!r})
kit = importlib.util.module_from_spec(spec); spec.loader.exec_module(kit)
root, database, fatal = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
done = -1
def step():
    global done
    done += 1
    if done == fatal:
        os.kill(os.getpid(), signal.SIGKILL)
db = sqlite3.connect(database, isolation_level=None)
db.execute("CREATE TABLE IF NOT EXISTS segments (id TEXT)")
step()
writer = kit.SegmentWriter(kit.LocalSegments(root), kit.new_segment_id("w1", 1.0, fatal)); step()
rows = [kit.make_page(), kit.make_page("https://a.example/2")]
places = writer.write_archive([kit.make_response(row.url) for row in rows], 1.0); step()
for row, place in zip(rows, places):
    row.warc_offset, row.warc_length = place
writer.write_links([(row.url, 1.0, []) for row in rows]); step()
db.execute("BEGIN IMMEDIATE"); db.execute("INSERT INTO segments VALUES (?)", [writer.segment_id])
writer.write_pages(rows); step()
writer.sync(); step()
db.execute("COMMIT"); step()
"""

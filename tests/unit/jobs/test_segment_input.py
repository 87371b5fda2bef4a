"""Each document is read once, in the version that counts; what cannot be read is named and costs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stored_kit import KINDS, Stored, row

from gossamer.errors import UsageError
from gossamer.jobs.segment_input import (
    LiveSegment,
    PageSource,
    Unread,
    all_unread,
    balanced,
    newest_pages,
    run_over_pages,
)
from gossamer.upkeep.compacting import compact_once


class Read(msgspec.Struct, frozen=True):
    pages: list[tuple[str, str]]
    unread: list[Unread]


def read(source: PageSource) -> Read:
    unread: list[Unread] = []
    pages = [(one["url"], one["text"]) for table in source.tables(["url", "text"], unread) for one in table.to_pylist()]
    return Read(pages, unread)


def read_all(stored: Stored, parts: int = 3, tell: Callable[[str, int, int], None] | None = None) -> Read:
    context = stored.context(parts, tell=tell)
    sources = newest_pages(context).sources
    results = run_over_pages(context, "reading", read, sources, lambda _, source: source)
    return Read(sorted(page for one in results for page in one.pages), all_unread(results))


@pytest.fixture(params=KINDS)
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stored]:
    stored = Stored(tmp_path, request.param)
    yield stored
    stored.db.close()


@given(st.lists(st.integers(0, 10**9), max_size=60), st.integers(1, 9))
def test_groups_hold_every_segment_once_and_are_even(sizes: list[int], groups: int) -> None:
    segments = [LiveSegment(f"s{number:03}", 1, size) for number, size in enumerate(sizes)]
    found = balanced(segments, groups)
    assert sorted(name for group in found for name in group) == [one.id for one in segments]
    assert all(found), "no group is empty"
    assert len(found) == min(groups, len(segments))
    weight = {one.id: max(1, one.bytes) for one in segments}
    loads = [sum(weight[name] for name in group) for group in found]
    if loads:
        assert max(loads) - min(loads) <= max(weight.values())


@pytest.mark.parametrize("parts", [1, 4, 50])
def test_the_version_that_the_table_names_is_read_however_it_is_cut(stored: Stored, parts: int) -> None:
    stored.write([row("http://a.test/1", "old"), row("http://a.test/2", "two")])
    stored.write([row("http://a.test/1", "new"), row("http://b.test/", "gone", outcome="gone")])
    stored.write([row(f"http://c.test/{number}", str(number)) for number in range(600)])
    many = [(f"http://c.test/{number}", str(number)) for number in range(600)]
    assert read_all(stored, parts) == Read(sorted([("http://a.test/1", "new"), ("http://a.test/2", "two"), *many]), [])


def test_a_later_visit_that_found_nothing_new_does_not_hide_the_document(stored: Stored) -> None:
    first = stored.write([row("http://a.test/1", "text")])
    stored.write([row("http://a.test/1", outcome="not_modified", at=200.0)])
    stored.know("http://a.test/1", "document", 100.0, first, 0)
    assert read_all(stored).pages == [("http://a.test/1", "text")]


def test_what_the_operator_removed_is_not_read(stored: Stored) -> None:
    stored.write([row("http://a.test/1", "one"), row("http://a.test/2", "two")])
    stored.db.execute("UPDATE urls SET state = 4 WHERE url = 'http://a.test/1'")
    assert read_all(stored).pages == [("http://a.test/2", "two")]


def test_a_missing_segment_is_named_and_the_others_are_read(stored: Stored) -> None:
    lost = stored.write([row("http://a.test/1", "one"), row("http://a.test/2", "two")])
    stored.write([row("http://b.test/1", "three")])
    stored.segments.discard(lost)
    found = read_all(stored)
    assert found.pages == [("http://b.test/1", "three")]
    assert [(one.segment, one.pages, one.is_missing) for one in found.unread] == [(lost, 2, True)]
    assert "is missing" in found.unread[0].problem


def test_a_segment_that_the_database_does_not_know_is_named(stored: Stored) -> None:
    lost = stored.write([row("http://a.test/1", "one")])
    stored.write([row("http://b.test/1", "two")])
    stored.db.execute("DELETE FROM segments WHERE id = ?", (lost,))
    stored.segments.discard(lost)
    found = read_all(stored)
    assert found.pages == [("http://b.test/1", "two")]
    assert [(one.segment, one.pages) for one in found.unread] == [(lost, 1)]


def test_a_damaged_row_group_costs_its_own_pages_only(stored: Stored) -> None:
    pages = [row(f"http://a.test/{number:04}", f"text {number} " * 50) for number in range(600)]
    damaged = stored.write(pages)
    file = stored.segments.file(damaged, "pages.parquet")
    data = bytearray(file.read_bytes())
    group = pq.read_metadata(file).row_group(1)
    texts = next(one for one in map(group.column, range(group.num_columns)) if one.path_in_schema == "text")
    data[texts.data_page_offset + texts.total_compressed_size // 2] ^= 0xFF
    file.write_bytes(data)
    found = read_all(stored)
    assert [(one.segment, one.pages, one.is_missing) for one in found.unread] == [(damaged, 256, False)]
    assert found.pages == [(one.url, one.text) for number, one in enumerate(pages) if not 256 <= number < 512]


def test_a_file_that_is_none_is_named(stored: Stored) -> None:
    damaged = stored.write([row("http://a.test/1", "one")])
    stored.segments.file(damaged, "pages.parquet").write_bytes(b"no Parquet")
    found = read_all(stored)
    assert found.pages == []
    assert [(one.segment, one.pages, one.is_missing) for one in found.unread] == [(damaged, 1, False)]


def test_segments_that_are_merged_while_the_job_runs_are_read_where_they_went(stored: Stored) -> None:
    for number in range(12):
        stored.write([row(f"http://a.test/{number}", str(number)), row(f"http://b.test/{number}", f"b{number}")])
    expected = read_all(stored)
    merged = []

    def tell(stage: str, done: int, total: int) -> None:
        if stage == "reading" and not merged:
            merged.append(compact_once(stored.db, stored.segments, 1_700_000_100.0, set()))

    assert read_all(stored, 4, tell) == expected
    assert len(expected.pages) == 24
    assert merged[0] >= 10


def test_merges_of_merges_before_the_job_are_followed(stored: Stored) -> None:
    for number in range(12):
        stored.write([row(f"http://a.test/{number}", str(number))])
    expected = read_all(stored)
    assert compact_once(stored.db, stored.segments, 1_700_000_100.0, set())
    for number in range(12, 24):
        stored.write([row(f"http://a.test/{number}", str(number))])
    assert compact_once(stored.db, stored.segments, 1_700_000_200.0, set())
    more = [(f"http://a.test/{number}", str(number)) for number in range(12, 24)]
    assert read_all(stored) == Read(sorted([*expected.pages, *more]), [])


def test_nothing_stored_is_said_so(stored: Stored) -> None:
    with pytest.raises(UsageError, match="nothing is stored yet"):
        read_all(stored)
    stored.write([row("http://a.test/1", outcome="gone")])
    with pytest.raises(UsageError, match="no document is stored yet"):
        read_all(stored)

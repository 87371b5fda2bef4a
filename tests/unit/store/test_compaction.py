from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from gossamer.errors import CorruptError
from gossamer.store import schema
from gossamer.store.compaction import compact
from gossamer.store.durable import SegmentMissingError
from gossamer.store.layout import BUILDING, LINKS, PAGES, RESPONSES, new_segment_id
from gossamer.store.merge_plan import ENOUGH, plan, size_class
from gossamer.store.segment_folder import delete_segments, segment_bytes
from gossamer.store.segments import (
    check_segment,
    iter_pages,
    open_links,
    open_pages,
    read_page,
    read_response,
)

MERGED = new_segment_id("w1", 99.0, 99)


def test_a_row_of_an_old_segment_is_found_by_its_offset(root, segments, page, segment):
    sizes = [3, 0, 1, 300, 20]
    ids = [
        segment(segments, n, [page(f"https://a.example/{n}/{i}", fetched_at=n + i / 8) for i in range(size)])
        for n, size in enumerate(sizes)
    ]
    before = {
        (segment_id, row): read_page(segments, segment_id, row)
        for segment_id, size in zip(ids, sizes, strict=True)
        for row in range(size)
    }
    tables = [table for segment_id in ids for table in open_links(segments, segment_id).groups()]
    links = [row for table in tables for row in table.to_pylist()]
    old_bytes = [segment_bytes(segments, segment_id) for segment_id in ids]

    done = compact(segments, ids, MERGED)
    assert [segment_bytes(segments, segment_id) for segment_id in ids] == old_bytes
    assert delete_segments(segments, ids) == ids

    assert done.first_rows == dict(zip(ids, [0, 3, 3, 4, 304], strict=True))
    assert (done.pages, done.links) == (324, 648)
    assert done.bytes == segment_bytes(segments, MERGED) < sum(old_bytes)
    for (segment_id, row), old in before.items():
        new = read_page(segments, MERGED, done.first_rows[segment_id] + row)
        stored = read_response(segments, MERGED, new.warc_offset, new.warc_length)
        assert stored.wire_body.startswith(f"body {ids.index(segment_id)} of {new.url}".encode())
        new.warc_offset = old.warc_offset
        assert new == old
    assert [row for table in open_links(segments, MERGED).groups() for row in table.to_pylist()] == links
    assert check_segment(segments, MERGED).records == 324
    assert sorted(path.name for path in root.iterdir()) == [BUILDING, MERGED]


def test_row_groups_are_full_again(segments, page, segment):
    """Otherwise a merged file would keep one row group per commit."""
    ids = [segment(segments, n, [page() for _ in range(30)]) for n in range(20)]
    compact(segments, ids, MERGED)
    group = schema.PAGE_GROUP
    assert open_pages(segments, MERGED).starts == [0, group, 2 * group, 600]


def test_the_joined_archive_is_a_standard_one(root, segments, page, segment):
    ids = [segment(segments, n, [page(f"https://a.example/{n}")]) for n in range(3)]
    compact(segments, ids, MERGED)
    with (root / MERGED / RESPONSES).open("rb") as file:
        kinds = [(record.rec_type, record.rec_headers["WARC-Target-URI"]) for record in ArchiveIterator(file)]
    assert [url for kind, url in kinds if kind == "response"] == [f"https://a.example/{n}" for n in range(3)]


def test_merged_segments_merge_again(segments, page, segment):
    ids = [segment(segments, n, [page(f"https://a.example/{n}")]) for n in range(4)]
    first, second = new_segment_id("w1", 97.0, 97), new_segment_id("w1", 98.0, 98)
    compact(segments, ids[:2], first)
    compact(segments, ids[2:], second)
    done = compact(segments, [first, second], MERGED)
    assert done.first_rows == {first: 0, second: 2}
    assert check_segment(segments, MERGED).records == 4
    urls = [url for batch in iter_pages(segments, [MERGED], ["url"]) for url in batch.column(0).to_pylist()]
    assert urls == [f"https://a.example/{n}" for n in range(4)]


def test_segments_without_archive_merge_with_others(segments, page, segment):
    ids = [
        segment(segments, 1, [page("https://a.example/1")], archive=False),
        segment(segments, 2, [page("https://a.example/2")]),
    ]
    compact(segments, ids, MERGED)
    assert read_page(segments, MERGED, 0).warc_offset is None
    row = read_page(segments, MERGED, 1)
    assert read_response(segments, MERGED, row.warc_offset).url == "https://a.example/2"
    compact(segments, ids[:1], new_segment_id("w1", 98.0, 98))
    assert check_segment(segments, MERGED).records == 1


@pytest.mark.parametrize("name", [PAGES, LINKS, RESPONSES])
@pytest.mark.parametrize("gone", [True, False])
def test_damage_is_not_merged(root, segments, page, segment, name, gone):
    ids = [segment(segments, n, [page(f"https://a.example/{i}") for i in range(20)]) for n in range(3)]
    path = root / ids[1] / name
    raw = path.read_bytes()
    if gone:
        path.unlink()
    else:
        path.write_bytes(raw[:-100])
    with pytest.raises(SegmentMissingError if gone else CorruptError, match=ids[1]):
        compact(segments, ids, MERGED)
    assert not (root / MERGED).exists()
    assert list((root / BUILDING).iterdir()) == []
    assert len(list((root / ids[0]).iterdir())) == 3


def test_the_new_id_must_be_free(segments, page, segment):
    ids = [segment(segments, n, [page()]) for n in range(2)]
    with pytest.raises(Exception, match="already exists"):
        compact(segments, ids, ids[0])
    assert check_segment(segments, ids[0]).pages == 1


def test_the_times_and_types_survive_a_merge(segments, page, segment):
    segment_id = segment(segments, 1, [page(fetched_at=1_794_713_465.123457, headings=None)])
    compact(segments, [segment_id], MERGED)
    [old] = pa.Table.from_batches(iter_pages(segments, [segment_id])).to_pylist()
    [new] = pa.Table.from_batches(iter_pages(segments, [MERGED])).to_pylist()
    assert new == old


FULL = 10**5
SIZES = st.lists(st.integers(1, 2 * FULL), max_size=80).map(lambda sizes: {f"s{i:03}": s for i, s in enumerate(sizes)})
SKEWED = st.lists(st.integers(0, 50).map(lambda x: int(1.3**x)), max_size=150).map(
    lambda sizes: {f"s{i:03}": s for i, s in enumerate(sizes)}
)


@given(SIZES | SKEWED)
def test_a_group_is_ten_or_more_of_one_size_class_in_order(sizes):
    groups = plan(sizes, FULL)
    chosen = [segment_id for group in groups for segment_id in group]
    assert len(chosen) == len(set(chosen))
    for group in groups:
        assert len(group) >= ENOUGH
        assert group == sorted(group)
        [digits] = {size_class(sizes[segment_id]) for segment_id in group}
        total = sum(sizes[segment_id] for segment_id in group)
        assert size_class(total) > digits
        assert all(sizes[segment_id] < FULL for segment_id in group)
        assert total - sizes[group[-1]] < FULL or len(group) == ENOUGH


@given(SIZES | SKEWED)
def test_nothing_is_left_to_merge_but_nine_of_a_class(sizes):
    left = dict(sizes)
    for group in plan(sizes, FULL):
        for segment_id in group:
            del left[segment_id]
    classes = [size_class(size) for size in left.values() if size < FULL]
    assert all(classes.count(digits) < ENOUGH for digits in classes)


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=400))
def test_a_byte_is_copied_once_per_digit_and_few_segments_remain(arrivals):
    """A whole life: segments arrive one by one, and the plan is carried out after each."""
    sizes: dict[str, int] = {}
    copied = 0
    for n, size in enumerate(arrivals):
        sizes[f"{n:05}"] = size
        while groups := plan(sizes, FULL):
            for group in groups:
                total = sum(sizes.pop(segment_id) for segment_id in group)
                copied += total
                sizes[group[-1]] = total
    digits = size_class(FULL) - 1
    assert copied <= digits * sum(arrivals)
    small = [size for size in sizes.values() if size < FULL]
    assert len(small) <= (ENOUGH - 1) * digits
    assert sum(sizes.values()) == sum(arrivals)

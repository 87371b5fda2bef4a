from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.store.durable import delete_orphans
from gossamer.store.layout import BUILDING, new_segment_id, orphans, segment_bytes, worker_of
from gossamer.store.segments import SegmentWriter, read_page

workers = st.from_regex(r"[A-Za-z0-9._-]{1,20}", fullmatch=True)
times = st.integers(0, 4_000_000_000_000).map(lambda ms: ms / 1000)


@settings(deadline=None)
@given(workers, times, st.integers(0, 10**9))
def test_an_id_tells_its_worker(worker, time, n):
    assert worker_of(new_segment_id(worker, time, n)) == worker


@settings(deadline=None)
@given(workers, workers, times, times, st.integers(0, 10**6), st.integers(0, 10**6))
def test_ids_sort_by_time(one, two, early, late, i, j):
    early, late = sorted((early, late))
    first, second = new_segment_id(one, early, i), new_segment_id(two, late, j)
    assert first[:18] <= second[:18]
    if late - early > 0.002:
        assert first < second


def test_ids_of_one_moment_sort_by_count():
    assert new_segment_id("w", 1.0, 9) < new_segment_id("w", 1.0, 10)


@pytest.mark.parametrize("worker", ["", "a/b", "..\n", "ü", "a b"])
def test_a_worker_id_that_is_no_file_name_is_refused(worker):
    with pytest.raises(ValueError, match="worker id"):
        new_segment_id(worker, 1.0, 1)


@pytest.mark.parametrize("name", ["", "notes", ".building", "20261115T033105123", "20261115T033105123--1", "../x"])
def test_a_name_that_is_not_ours_has_no_worker(name):
    assert worker_of(name) is None


def test_an_orphan_is_a_folder_the_database_does_not_know_and_no_live_worker_owns(root, segment, page):
    known = segment(root, 1, [page()], worker="dead")
    lost = segment(root, 2, [page()], worker="dead")
    coming = segment(root, 3, [page()], worker="alive")
    half = SegmentWriter(root, new_segment_id("dead", 5.0, 4))
    half.write_archive([], 5.0)
    SegmentWriter(root, new_segment_id("alive", 6.0, 5))
    (root / "my notes").mkdir()
    (root / "README").touch()

    assert orphans(root, {known}, {"alive"}) == sorted([root / lost, root / BUILDING / half.segment_id])
    assert len(delete_orphans(root, {known}, {"alive"})) == 2
    assert orphans(root, {known}, {"alive"}) == []
    assert read_page(root, known, 0).url == "https://a.example/"
    assert (root / coming).is_dir() and (root / "my notes").is_dir()


def test_a_known_segment_survives_though_a_half_built_one_has_its_name(root, segment, page):
    known = segment(root, 1, [page()])
    (root / BUILDING / known).mkdir()
    assert delete_orphans(root, {known}, set()) == [root / BUILDING / known]
    assert read_page(root, known, 0) == page(warc_offset=read_page(root, known, 0).warc_offset,
                                            warc_length=read_page(root, known, 0).warc_length)  # fmt: skip


def test_no_folder_no_orphans(tmp_path: Path):
    assert orphans(tmp_path / "none", set(), set()) == []
    assert segment_bytes(tmp_path, "none") == 0

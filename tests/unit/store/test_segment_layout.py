from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.store.layout import BUILDING, new_segment_id, time_of, worker_of
from gossamer.store.orphans import delete_orphans, survey
from gossamer.store.segment_folder import LocalSegments, segment_bytes
from gossamer.store.segments import SegmentWriter, read_page

workers = st.from_regex(r"[A-Za-z0-9._-]{1,20}", fullmatch=True)
times = st.integers(0, 4_000_000_000_000).map(lambda ms: ms / 1000)


@given(workers, times, st.integers(0, 10**9))
def test_an_id_tells_its_worker(worker, time, n):
    assert worker_of(new_segment_id(worker, time, n)) == worker


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


def test_an_orphan_is_a_folder_the_database_does_not_know_and_no_live_worker_owns(root, segments, segment, page):
    known = segment(segments, 1, [page()], worker="dead")
    lost = segment(segments, 2, [page()], worker="dead")
    coming = segment(segments, 3, [page()], worker="alive")
    half = SegmentWriter(segments, new_segment_id("dead", 5.0, 4))
    half.write_archive([], 5.0)
    SegmentWriter(segments, new_segment_id("alive", 6.0, 5))
    (root / "my notes").mkdir()
    (root / "README").touch()

    assert delete_orphans(segments, survey(segments), {known}, {"alive"}) == sorted([lost, half.segment_id])
    assert delete_orphans(segments, survey(segments), {known}, {"alive"}) == []
    assert read_page(segments, known, 0).url == "https://a.example/"
    assert (root / coming).is_dir() and (root / "my notes").is_dir()


def test_where_others_may_be_writing_an_orphan_must_be_old(segments, segment, page, now):
    """Whoever merges segments on another machine is no worker that the database knows."""
    old, young = (segment(segments, n, [page()], worker="compact") for n in (0, 7000))
    half = SegmentWriter(segments, new_segment_id("compact", now + 7000, 8)).segment_id
    found = survey(segments)
    assert delete_orphans(segments, found, set(), set(), older_than=3600, now=now + 7200) == [old]
    assert survey(segments) == ([young], [half])
    assert len(delete_orphans(segments, found, set(), set(), older_than=3600, now=now + 10_600)) == 3
    assert survey(segments) == ([], [])


def test_whose_worker_is_known_to_be_dead_need_not_be_old(segments, segment, page, now):
    mine, theirs = (segment(segments, n, [page()], worker=worker) for n, worker in enumerate(("mine", "theirs")))
    found = survey(segments)
    assert delete_orphans(segments, found, set(), set(), dead_workers={"mine"}, older_than=3600, now=now) == [mine]
    assert survey(segments) == ([theirs], [])


@given(workers, times)
def test_an_id_tells_when_its_segment_was_begun(worker, time):
    assert abs(time_of(new_segment_id(worker, time, 1)) - time) <= 0.001


def test_what_is_committed_after_the_survey_is_not_deleted(segments, segment, page):
    """Recovery on one machine, a worker on another that commits its last segment and ends."""
    found = survey(segments)
    coming = segment(segments, 1, [page()], worker="ending")
    assert delete_orphans(segments, found, set(), set()) == []
    assert read_page(segments, coming, 0).url == "https://a.example/"


def test_a_known_segment_survives_though_a_half_built_one_has_its_name(root, segments, segment, page):
    known = segment(segments, 1, [page()])
    (root / BUILDING / known).mkdir()
    assert delete_orphans(segments, survey(segments), {known}, set()) == [known]
    assert not (root / BUILDING / known).exists()
    assert read_page(segments, known, 0).title == page().title


def test_no_folder_no_orphans(tmp_path: Path):
    nothing = LocalSegments(tmp_path / "none")
    assert survey(nothing) == ([], [])
    assert segment_bytes(nothing, "none") == 0
    assert nothing.free_bytes() > 0

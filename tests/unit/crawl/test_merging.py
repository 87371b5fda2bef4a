"""Segments are merged by a process of its own, once, and beside everything else that a crawl does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gossamer.data.folder import DataFolder
from gossamer.data.locks import merging_lock
from gossamer.data.machine import MERGER, helper_name
from gossamer.data.notes import write_note
from gossamer.data.opening import open_frontier
from gossamer.data.recovery import recover
from gossamer.database.database import Database
from gossamer.frontier.views.inspect import place_of, segment_ids
from gossamer.model.records import PageRow
from gossamer.settings import load
from gossamer.store.compaction import compact
from gossamer.store.config import StorageConfig
from gossamer.store.layout import new_segment_id, role_of, worker_of
from gossamer.store.merge_plan import ENOUGH
from gossamer.store.segments import SegmentWriter, iter_pages
from gossamer.tables import holds
from gossamer.upkeep.compacting import merge
from gossamer.upkeep.due import merging_is_due, segments_to_merge

NOW = 1_700_000_000.0
SMALL, LARGE = 10**6 - 1, 10**6
"""Bytes of two size classes."""


def add(folder: DataFolder, db: Database, number: int, size: int) -> str:
    """A segment of one page, of which the table says that it has so many bytes."""
    writer = SegmentWriter(folder.segments, new_segment_id("w1", NOW, number), archive=False)
    writer.write_links([])
    writer.write_pages([PageRow(f"http://a.org/{number}", "a.org", "a.org", NOW, "document", 200, text="hello")])
    writer.sync()
    db.execute(
        "INSERT INTO segments (id, worker, created_at, pages, bytes) VALUES (?, 'w1', ?, 1, ?)",
        (writer.segment_id, NOW + number, size),
    )
    return writer.segment_id


@pytest.fixture
def small(folder: DataFolder, db: Database) -> list[str]:
    return [add(folder, db, number, SMALL) for number in range(ENOUGH)]


@pytest.fixture
def large(folder: DataFolder, db: Database) -> list[str]:
    return [add(folder, db, 100 + number, LARGE) for number in range(ENOUGH)]


def test_each_size_is_merged_by_itself(folder: DataFolder, db: Database, small: list[str], large: list[str]) -> None:
    assert merge(folder, db, NOW) == 2 * ENOUGH
    assert len(segment_ids(db)) == 2 and set(folder.segments.ids()) == set(segment_ids(db))
    for number, old in enumerate([*small, *large]):
        place = place_of(db, old, 0)
        assert place is not None and worker_of(place[0]) == MERGER
        assert urls(folder, place[0])[place[1]] == f"http://a.org/{number % ENOUGH + 100 * (number >= ENOUGH)}"


def urls(folder: DataFolder, segment: str) -> list[str]:
    return [url for batch in iter_pages(folder.segments, [segment], ["url"]) for url in batch["url"].to_pylist()]


def test_the_process_of_a_crawl_merges_them_and_ends(folder: DataFolder, db: Database, large: list[str]) -> None:
    command = [sys.executable, "-m", "gossamer.upkeep.process", "merge", str(folder.root)]
    subprocess.run(command, check=True, timeout=120)
    [merged] = segment_ids(db)
    assert worker_of(merged) == MERGER and folder.segments.ids() == [merged]


def test_what_it_has_written_is_no_orphan_before_it_counts(folder: DataFolder, db: Database, large: list[str]) -> None:
    """A worker that dies has the crawl tidy up, at any moment of merging."""
    frontier = open_frontier(folder, load(folder.root))
    written = compact(folder.segments, large, new_segment_id(MERGER, NOW, 0)).segment_id
    with merging_lock(folder):
        assert recover(folder, frontier, NOW) == []
        assert written in folder.segments.ids()
    assert recover(folder, frontier, NOW) == [f"deleted unfinished segment {written}"]
    frontier.db.close()


class TestWhetherAProcessIsStarted:
    def test_not_for_few_nor_while_somebody_holds_them(self, folder: DataFolder, db: Database) -> None:
        few = [add(folder, db, number, LARGE) for number in range(ENOUGH - 1)]
        assert not merging_is_due(folder, db, NOW)
        enough = [*few, add(folder, db, ENOUGH, LARGE)]
        holds.take(db, "backup", NOW)
        assert not merging_is_due(folder, db, NOW)
        holds.release(db, "backup")
        assert merging_is_due(folder, db, NOW) and segments_to_merge(db, NOW) == [enough]

    def test_those_beside_a_damaged_one_are_left_alone_for_a_day_and_others_are_merged(
        self, folder: DataFolder, db: Database, large: list[str], caplog: pytest.LogCaptureFixture
    ) -> None:
        (folder.root / "segments" / large[3] / "pages.parquet").write_bytes(b"PAR1 no more PAR1")
        assert merge(folder, db, NOW) == 0
        assert "cannot merge segments" in caplog.text and large[3] in caplog.text
        assert not merging_is_due(folder, db, NOW + 60)
        others = [add(folder, db, 200 + number, LARGE) for number in range(ENOUGH)]
        assert merging_is_due(folder, db, NOW + 60)
        caplog.clear()
        assert merge(folder, db, NOW + 60) == ENOUGH and not caplog.text
        assert not merging_is_due(folder, db, NOW + 120)
        assert {place_of(db, old, 0) == (old, 0) for old in large} == {True}
        assert {place_of(db, old, 0) == (old, 0) for old in others} == {False}
        assert merging_is_due(folder, db, NOW + 90_000)

    @pytest.mark.parametrize("text", ["", "no list", "[]", '{"a": "b"}'])
    def test_a_note_of_damaged_ones_that_cannot_be_read_is_none(
        self, folder: DataFolder, db: Database, large: list[str], text: str
    ) -> None:
        write_note(folder, "merge.damaged", text)
        assert merging_is_due(folder, db, NOW)


def test_each_machine_of_a_crawl_knows_what_its_own_helpers_left(tmp_path: Path) -> None:
    shared = StorageConfig(database="postgresql://somewhere/crawl")
    one, other = (DataFolder(tmp_path / name, shared) for name in ("one", "other"))
    assert helper_name(one, MERGER) == helper_name(one, MERGER) != helper_name(other, MERGER)
    assert role_of(new_segment_id(helper_name(one, MERGER), NOW, 1)) == MERGER
    assert helper_name(DataFolder(tmp_path / "alone"), MERGER) == MERGER

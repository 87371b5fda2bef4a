"""A ranking of a data folder: segments that move meanwhile, a crawl that ranks by itself, ranks that are damaged."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from gossamer.clock import SystemClock
from gossamer.data.folder import DataFolder
from gossamer.engine.contract import InlineEngine
from gossamer.errors import UsageError
from gossamer.graph.config import RankConfig
from gossamer.jobs.graph_files import read_current
from gossamer.model.records import Link, PageRow
from gossamer.store.compaction import compact
from gossamer.store.durable import SegmentMissingError
from gossamer.store.layout import new_segment_id
from gossamer.store.place import LocalPlace
from gossamer.store.segment_folder import delete_segments
from gossamer.store.segments import SegmentWriter
from gossamer.supervise.chores import Chore
from gossamer.upkeep import compacting, due
from gossamer.upkeep.ranking_run import run_ranking

A, B = "http://a.test/", "http://a.test/b"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[DataFolder]:
    """A data folder with two pages in two segments."""
    folder = DataFolder(tmp_path)
    folder.create()
    db = folder.open_database()
    for number, (url, target) in enumerate([(A, B), (B, A)]):
        writer = SegmentWriter(folder.segments, new_segment_id("w1", 1e9, number), archive=False)
        writer.write_links([(url, 1.0, [Link(target)])])
        writer.write_pages([PageRow(url, "a.test", "a.test", 1.0, "document", 200)])
        writer.sync()
        _note(db, writer.segment_id)
    db.close()
    yield folder


def _note(db: Any, segment: str) -> None:
    db.execute(
        "INSERT INTO segments (id, worker, created_at, pages, bytes, first_row) VALUES (?, 'w1', 1, 1, 1, 0)",
        (segment,),
    )


def ranked(folder: DataFolder, engine: Any = None, now: float = 5.0) -> Any:
    db = folder.read()
    try:
        return run_ranking(folder, db, engine or InlineEngine(), LocalPlace(folder.root), RankConfig(), now)
    finally:
        db.close()


class Merging(InlineEngine):
    """Before the first task all segments are merged into one, as a crawl would do it if it were let to."""

    def __init__(self, folder: DataFolder) -> None:
        self._folder = folder
        self.merged = False

    def run(self, function: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        if not self.merged:
            self.merged = True
            self._merge()
        yield from super().run(function, arguments)

    def _merge(self) -> None:
        segments = self._folder.segments
        old = segments.ids()
        done = compact(segments, old, new_segment_id("w1", 1e9, 9))
        db = self._folder.open_database()
        for name in old:
            db.execute("UPDATE segments SET merged_into = ? WHERE id = ?", (done.segment_id, name))
        _note(db, done.segment_id)
        db.close()
        delete_segments(segments, old)


def test_segments_that_are_merged_meanwhile_are_found_again(folder: DataFolder) -> None:
    engine = Merging(folder)
    run = ranked(folder, engine)
    assert engine.merged and len(folder.segments.ids()) == 1
    assert (run.graph.nodes, run.graph.edges, run.graph.segments) == (2, 2, 1)


def merged_by_the_crawl(folder: DataFolder) -> int:
    """How many segments a crawl merges at this moment, where two are many enough for it."""
    db = folder.open_database()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(due, "plan", lambda sizes: [sorted(sizes)] if len(sizes) > 1 else [])
        merged = compacting.compact_once(db, folder.segments, SystemClock().now(), set())
    db.close()
    return merged


class BesideCrawl(InlineEngine):
    """Before each task the crawl merges what it may."""

    def __init__(self, folder: DataFolder) -> None:
        self._folder = folder
        self.merged: list[int] = []

    def run(self, function: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        self.merged.append(merged_by_the_crawl(self._folder))
        yield from super().run(function, arguments)


def test_segments_are_not_merged_away_under_a_ranking(folder: DataFolder) -> None:
    """It reads them for the links, and once more for the texts of links."""
    engine = BesideCrawl(folder)
    run = ranked(folder, engine)
    assert (run.graph.nodes, run.graph.edges, run.graph.segments) == (2, 2, 2)
    assert len(engine.merged) > 1 and set(engine.merged) == {0}
    assert merged_by_the_crawl(folder) == 2


def test_what_failed_rankings_left_goes_with_the_next(folder: DataFolder) -> None:
    ranked(folder)
    lost = folder.segments.ids()[0]
    (folder.root / "segments" / lost).rename(folder.root / "away")
    for now in (9.0, 10.0, 11.0):
        with pytest.raises(SegmentMissingError):
            ranked(folder, now=now)
    assert len([path for path in (folder.root / "graph").iterdir() if path.is_dir()]) <= 2
    (folder.root / "away").rename(folder.root / "segments" / lost)
    assert ranked(folder, now=12.0).ranks.warm


def test_a_segment_that_is_lost_is_an_error_and_the_ranks_before_stay(folder: DataFolder) -> None:
    before = ranked(folder)
    delete_segments(folder.segments, folder.segments.ids()[:1])
    with pytest.raises(SegmentMissingError):
        ranked(folder, now=9.0)
    current = read_current(LocalPlace(folder.root))
    assert current is not None and current.info == before.ranks
    assert not list(LocalPlace(folder.root).names("work/"))


def test_damaged_ranks_are_no_start_and_no_obstacle(folder: DataFolder) -> None:
    ranked(folder)
    (file,) = (folder.root / "ranks").glob("*/ranks.npy")
    file.write_bytes(b"nothing")
    again = ranked(folder, now=9.0)
    assert not again.ranks.warm and again.ranks.converged


def test_only_the_newest_graph_and_ranks_are_kept(folder: DataFolder) -> None:
    ranked(folder)
    assert ranked(folder, now=9.0).ranks.warm
    for kind in ("graph", "ranks"):
        assert len([path for path in (folder.root / kind).iterdir() if path.is_dir()]) == 1


def test_nothing_stored_is_the_callers_mistake(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.create()
    folder.open_database().close()
    with pytest.raises(UsageError, match="nothing is stored"):
        ranked(folder)


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def test_a_crawl_ranks_by_itself_when_told_to(folder: DataFolder) -> None:
    never, often = (Chore("ranking", "rank", folder, every) for every in (0.0, 0.01))
    current = folder.root / "ranks" / "current"

    def ticked() -> bool:
        never.tick()
        often.tick()
        return current.exists()

    try:
        _until(ticked)
        first = current.read_text()
        _until(lambda: ticked() and current.read_text() != first)
    finally:
        often.kill()
    never.kill()

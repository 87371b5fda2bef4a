"""An export beside a running crawl: segments that are merged meanwhile are followed, each page comes once."""

from __future__ import annotations

import json
import time
from pathlib import Path
from unittest import mock

import pytest
from crawl_kit import crawl, unmerged, wait_until

from gossamer.cli.main import main
from gossamer.data import exporting, holding
from gossamer.data.folder import DataFolder
from gossamer.database.database import Database
from gossamer.errors import CorruptError, OperationError
from gossamer.frontier.views import inspect
from gossamer.store import segments
from gossamer.tables import holds
from gossamer.testing import FakeClock, FakeWeb
from gossamer.upkeep import compacting, due

PAGES = 60


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    """A crawl whose pages lie in several segments."""
    web = FakeWeb()
    web.site("a.test", pages=PAGES)
    with web, unmerged(tmp_path / "data"):
        crawl(web, tmp_path / "data", [web.url("a.test")], crawl={"commit_pages": 9}, politeness={"delay": 0.01})
    return DataFolder(tmp_path / "data")


def urls(folder: DataFolder) -> list[str]:
    db = folder.read()
    try:
        _, tables = exporting.pages(folder, db)
        return sorted(url for table in tables for url in table.column("url").to_pylist())
    finally:
        db.close()


def test_segments_that_are_merged_during_an_export_are_followed(folder: DataFolder) -> None:
    before, opened = urls(folder), []
    assert len(before) == PAGES

    def open_after_merging(place: object, name: str) -> object:
        """The first file is opened; then all segments become one."""
        if len(opened) == 1:
            db = folder.open_database()
            with mock.patch.object(due, "plan", lambda sizes: [list(sizes)]):
                assert compacting.compact_once(db, folder.segments, time.time(), set()) > 1
            db.close()
        opened.append(name)
        return segments.open_pages(folder.segments, name)

    with mock.patch.object(exporting, "open_pages", open_after_merging):
        assert urls(folder) == before
    assert len(opened) > 2, "a file that was gone was asked for"


def merge_all(folder: DataFolder, now: float) -> int:
    """Make one segment of all; how many there were, and 0 where somebody holds them."""
    db = folder.open_database()
    try:
        with mock.patch.object(due, "plan", lambda sizes: [list(sizes)]):
            return compacting.compact_once(db, folder.segments, now, set())
    finally:
        db.close()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    fake = FakeClock(time.time())
    monkeypatch.setattr(exporting, "SystemClock", lambda: fake)
    monkeypatch.setattr(holding, "_RENEW", 0.02)
    return fake


def held_until(db: Database) -> float:
    return max((until for _, until in holds._holds(db)), default=0.0)


def test_links_that_are_read_on_and_on_are_held(folder: DataFolder, clock: FakeClock) -> None:
    db = folder.read()
    _, tables = exporting.links(folder, db)
    read = 0
    for table in tables:
        read += table.num_rows
        clock.advance(holding.STILL - 1)
        wait_until(lambda: held_until(db) == clock.now() + holds.LASTING)
        assert merge_all(folder, clock.now()) == 0
    assert read == sum(table.num_rows for table in exporting.links(folder, db)[1]) > 0
    db.close()
    assert merge_all(folder, clock.now()) > 1


def test_links_that_nobody_reads_on_are_merged_after_a_while_and_the_export_says_so(
    folder: DataFolder, clock: FakeClock
) -> None:
    db = folder.read()
    _, tables = exporting.links(folder, db)
    assert next(tables).num_rows > 0
    until = clock.advance(1) + holds.LASTING
    wait_until(lambda: held_until(db) == until)
    clock.advance(holding.STILL + 1)
    time.sleep(0.5)  # many times as long as between two renewals
    assert held_until(db) == until
    assert merge_all(folder, clock.now() + holds.LASTING) > 1
    with pytest.raises(OperationError, match=r"stopped for so long .* run it again, with -o FILE"):
        list(tables)
    db.close()


def test_a_segment_without_its_links_is_told_as_damage_while_it_is_held(folder: DataFolder) -> None:
    db = folder.read()
    name = inspect.segment_ids(db)[-1]
    folder.segments.file(name, "links.parquet").unlink()
    with pytest.raises(CorruptError, match=name):
        list(exporting.links(folder, db)[1])
    db.close()


def test_a_segment_that_is_lost_is_told(folder: DataFolder) -> None:
    db = folder.read()
    name = db.execute("SELECT segment FROM urls WHERE segment IS NOT NULL LIMIT 1")[0][0]
    db.close()
    folder.segments.file(name, "pages.parquet").unlink()
    with pytest.raises(CorruptError, match=name):
        urls(folder)


@pytest.mark.parametrize(("what", "column"), [("pages", "url"), ("links", "source")])
def test_an_export_goes_on_without_a_damaged_segment_and_says_so(
    folder: DataFolder, tmp_path: Path, what: str, column: str, capsys: pytest.CaptureFixture[str]
) -> None:
    db = folder.read()
    name = inspect.segment_ids(db)[-1]
    whole = {url for table in getattr(exporting, what)(folder, db)[1] for url in table.column(column).to_pylist()}
    db.close()
    stored = getattr(segments, f"open_{what}")(folder.segments, name)
    lost = {url for table in stored.groups() for url in table.column(column).to_pylist()}
    damaged = folder.segments.file(name, f"{what}.parquet")
    damaged.write_bytes(damaged.read_bytes()[:-100])
    file = tmp_path / f"{what}.jsonl"
    assert main(["export", what, "--data", str(folder.root), "-o", str(file)]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "the export is incomplete: cannot read 1 segment" in said
    assert f"gossamer recrawl --segment {name} --data {folder.root}" in said
    rest = tmp_path / f"{what}.jsonl.incomplete"
    assert f"the rest is in {rest}" in said
    found = {json.loads(line)[column] for line in rest.read_text().splitlines()}
    assert found == whole - lost != whole
    assert not file.exists()

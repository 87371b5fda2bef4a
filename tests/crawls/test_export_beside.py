"""An export beside a running crawl: segments that are merged meanwhile are followed, each page comes once."""

from __future__ import annotations

import time
from pathlib import Path
from unittest import mock

import pytest
from crawl_kit import crawl, unmerged

from gossamer.crawl import compacting, exporting
from gossamer.crawl.folder import DataFolder
from gossamer.errors import CorruptError
from gossamer.store import segments
from gossamer.testing import FakeWeb

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
            with mock.patch.object(compacting, "plan", lambda sizes: [list(sizes)]):
                assert compacting.compact_once(db, folder.segments, time.time(), set()) > 1
            db.close()
        opened.append(name)
        return segments.open_pages(folder.segments, name)

    with mock.patch.object(exporting, "open_pages", open_after_merging):
        assert urls(folder) == before
    assert len(opened) > 2, "a file that was gone was asked for"


def test_a_segment_that_is_lost_is_told(folder: DataFolder) -> None:
    db = folder.read()
    name = db.execute("SELECT segment FROM urls WHERE segment IS NOT NULL LIMIT 1")[0][0]
    db.close()
    folder.segments.file(name, "pages.parquet").unlink()
    with pytest.raises(CorruptError, match=name):
        urls(folder)

"""A crawl on a damaged index says so, with the command that mends it; so does its status."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "search"))
from searcher_kit import SmallIndex, page

from gossamer.cli.crawling.crawl import warn_of_damage
from gossamer.data.folder import DataFolder
from gossamer.index import checksums
from gossamer.indexer.indexed import index_standing
from gossamer.settings import Settings


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    data = DataFolder(tmp_path)
    data.open_database().close()
    SmallIndex(data.index, page("/a", "rocket"))
    return data


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[0] ^= 1
    path.write_bytes(content)


def problem(folder: DataFolder) -> str:
    db = folder.read()
    try:
        return index_standing(folder, db).problem
    finally:
        db.close()


def said(folder: DataFolder, capsys: pytest.CaptureFixture[str]) -> str:
    warn_of_damage(folder, Settings())
    return " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("harm", [flip, Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:-20])])
def test_a_damaged_index_is_named_with_the_way_out(
    folder: DataFolder, harm: object, large: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if large:
        monkeypatch.setattr(checksums, "_SMALL", 0)
    assert problem(folder) == "" and said(folder, capsys) == ""
    harmed = next((folder.index / "g000001" / "tantivy").glob("*.term"))
    harm(harmed)
    if large and harm is flip:  # only a full check reads that much
        assert problem(folder) == ""
        return
    for text in (problem(folder), said(folder, capsys)):
        assert harmed.name in text and f"gossamer index --rebuild --data {folder.root}" in text


def test_no_index_yet_is_no_damage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(DataFolder(tmp_path), capsys) == ""

"""A folder keeps the contract of places."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from place_contract import PlaceContract

from gossamer.errors import StorageError, UsageError
from gossamer.store.place import LocalPlace, Place, open_place


class TestLocalPlace(PlaceContract):
    @pytest.fixture
    def open_place(self, tmp_path: Path) -> Callable[[], Place]:
        return lambda: open_place(str(tmp_path / "place"))


def test_a_place_is_named_by_a_path_or_an_address(tmp_path: Path) -> None:
    assert open_place(str(tmp_path)).url == open_place(f"file://{tmp_path}").url == str(tmp_path)
    with pytest.raises(UsageError, match="s3://bucket/prefix"):
        open_place("ftp://example.org/x")


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="file"):
        LocalPlace(tmp_path / "file").put("x", b"")


def test_no_half_file_is_left_where_a_write_fails(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="No such file"):
        LocalPlace(tmp_path / "place").upload("x", tmp_path / "nothing")
    assert [path for path in (tmp_path / "place").rglob("*") if path.is_file()] == []

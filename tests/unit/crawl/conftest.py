"""What several tests of a data folder ask for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.data.folder import DataFolder
from gossamer.database.database import Database


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    """One without a crawl."""
    folder = DataFolder(tmp_path)
    folder.create()
    return folder


@pytest.fixture
def db(folder: DataFolder) -> Iterator[Database]:
    """Its database."""
    db = folder.open_database()
    yield db
    db.close()
